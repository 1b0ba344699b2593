"""Schemes that users write: subclasses that override `draw`, and objects that only have `draw`."""

import numpy as np
import pytest

from coreclust import CoreClustering
from coreclust.cluster import KMeans
from coreclust.resampling import Bootstrap, Subsample, check_resampling

GROUPS = np.arange(60) // 3


def fit(X, resampling, engine, groups=None, **settings):
    settings = {"n_resamples": 40, "random_state": 0} | settings
    cc = CoreClustering(KMeans(3), resampling=resampling, engine=engine, **settings)
    return cc.fit(X, groups=groups)


class UpperHalf(Bootstrap):
    """Draws from the second half of the units only."""

    def draw(self, n_units, seeds):
        return n_units // 2 + super().draw(n_units // 2, seeds)


class EveryThird(Subsample):
    """Draws every third unit, beginning with one of the first three."""

    def draw(self, n_units, seeds):
        return np.arange(np.random.default_rng(seeds).integers(3), n_units, 3)


@pytest.mark.parametrize("label", ["drawn", "all"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["items", "groups"])
@pytest.mark.parametrize("scheme", [UpperHalf, EveryThird])
def test_a_subclass_that_overrides_draw_counts_what_it_draws(scheme, label, groups, blobs):
    scheme = scheme(label=label)
    n_units = 60 if groups is None else 20
    seeds = [np.random.SeedSequence(seed) for seed in range(30)]
    counts = np.array([np.bincount(scheme.draw(n_units, one), minlength=n_units) for one in seeds])
    np.testing.assert_array_equal(scheme.counts(n_units, seeds), counts)
    batched, generic = (fit(blobs, scheme, engine, groups) for engine in ("batched", "generic"))
    assert (batched.engine_, generic.engine_) == ("batched", "generic")
    assert batched.ensemble_ == generic.ensemble_
    drawn = (batched.ensemble_.labels != -2).any(axis=1)
    expected = counts.any(axis=0) | (label == "all")
    np.testing.assert_array_equal(drawn, expected if groups is None else expected[groups])


@pytest.mark.parametrize("scheme", [UpperHalf(), EveryThird()], ids=repr)
def test_a_subclass_that_overrides_draw_shares_pairs_as_it_draws(scheme):
    """The share of a pair is estimated from trial draws, not taken from the parent."""
    assert 0.05 < scheme.pair_share(60) < 0.3
    assert scheme.pair_share(60) != type(scheme).__base__().pair_share(60)


class Plain:
    """Has nothing but `draw`."""

    def draw(self, n_units, seeds):
        return np.random.default_rng(seeds).integers(n_units, size=n_units)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["batched", "generic"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["items", "groups"])
def test_a_plain_object_with_draw_is_a_scheme(engine, groups, blobs, tmp_path):
    expected = fit(blobs, Plain(), "generic", groups)
    assert (expected.ensemble_.labels == -2).any()
    found = fit(blobs, Plain(), engine, groups, n_jobs=2)
    assert found.engine_ == engine
    assert found.ensemble_ == expected.ensemble_
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    path = tmp_path / "run"
    fit(blobs, Plain(), engine, groups, n_resamples=15, checkpoint=path)
    continued = fit(blobs, Plain(), engine, groups, n_jobs=2, checkpoint=path)
    assert continued.ensemble_ == expected.ensemble_


class Narrow(Plain):
    """A plain scheme with a setting."""

    def __init__(self, size):
        self.size = size

    def draw(self, n_units, seeds):
        return np.random.default_rng(seeds).permutation(n_units)[: self.size]


def test_a_checkpoint_belongs_to_its_plain_scheme(blobs, tmp_path):
    path = tmp_path / "run"
    began = fit(blobs, Narrow(30), "auto", checkpoint=path)
    assert fit(blobs, Narrow(30), "auto", checkpoint=path).ensemble_ == began.ensemble_
    for other in (Narrow(31), Plain(), Bootstrap()):
        with pytest.raises(ValueError, match=r"was made with .*use another path"):
            fit(blobs, other, "auto", checkpoint=path)


class Nonsense:
    def __init__(self, rows):
        self.rows = rows

    def draw(self, n_units, seeds):
        return self.rows


@pytest.mark.parametrize("engine", ["auto", "generic"])
@pytest.mark.parametrize(
    "rows",
    [
        [0.0, 1.5],
        np.ones(60, bool),
        [0, 60],
        [-1, 3],
        np.empty(0, np.int64),
        np.zeros((30, 2), np.int64),
        7,
        None,
        ["a"],
    ],
    ids=str,
)
def test_nonsense_is_refused_before_any_work(rows, engine, blobs, monkeypatch):
    monkeypatch.setattr(KMeans, "fit", lambda *_: pytest.fail("something was clustered"))
    with pytest.raises(ValueError, match=r"^resampling=.* must draw positions from 0 to 59 in"):
        fit(blobs, Nonsense(rows), engine)


@pytest.mark.parametrize("wrong", [Plain, object(), "jackknife", None])
def test_what_is_no_scheme_is_refused(wrong, blobs):
    with pytest.raises(ValueError, match=r"^resampling must be 'bootstrap', a scheme of .* draw\("):
        fit(blobs, wrong, "auto")


@pytest.mark.parametrize(
    "counts", [np.ones((1, 7), int), -np.ones((1, 4), int)], ids=["shape", "sign"]
)
def test_counts_of_a_plain_object_are_checked(counts):
    class Plain:
        def draw(self, n_units, seeds):
            return np.arange(n_units)

        def counts(self, n_units, resamples):
            return counts

    with pytest.raises(ValueError, match=r"must return counts, 0 or more, of shape \(1, 4\)"):
        check_resampling(Plain()).counts(4, [np.random.SeedSequence(0)])


def test_the_share_of_a_scheme_of_fixed_size_is_that_of_all_items():
    class Hundred:
        def draw(self, n_units, seeds):
            return np.random.default_rng(seeds).choice(n_units, 100, replace=False)

    share = check_resampling(Hundred()).pair_share(200_000)
    assert share == pytest.approx(100 * 99 / (200_000 * 199_999))
    assert check_resampling(Hundred()).pair_share(1) == 0.0
