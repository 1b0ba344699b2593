"""The prediction of what holds on new data: its definition, its inputs, its errors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from coreclust import CoreClustering
from coreclust._inspection.audit import _FIT, _KEY, _ROWS, _for_share, ratio_of_sums
from coreclust._utils.constants import ABSENT
from coreclust._utils.seeds import draw_random_states, seeds_of
from coreclust.cluster import KMeans, Leiden
from coreclust.resampling import Bootstrap, KnownDistribution, Subsample


@pytest.fixture
def overlapping():
    rng = np.random.default_rng(1)
    return np.repeat([[0.0, 0.0], [2.2, 0.0]], 25, axis=0) + rng.normal(size=(50, 2))


def fit(X, *args, **parameters):
    given = {"n_resamples": 120, "random_state": 3, **parameters}
    return CoreClustering(given.pop("estimator", KMeans(2, n_init=2)), **given).fit(X, *args)


@pytest.mark.parametrize(
    ("scheme", "outer", "estimator", "in_draws"),
    [
        (Bootstrap("all"), Bootstrap(), KMeans(2, n_init=2), KMeans(2, n_init=2)),
        (Subsample(0.5), Subsample(0.5), Leiden(9, resolution=0.3), Leiden(5, resolution=0.3)),
    ],
)
def test_the_share_follows_its_definition(overlapping, scheme, outer, estimator, in_draws):
    cc = fit(overlapping, estimator=estimator, resampling=scheme)
    n_held = n_pairs = 0
    for draw in range(3):
        rows = np.sort(outer.draw(50, seeds_of(3, _KEY, draw, _ROWS)))
        state = draw_random_states(seeds_of(3, _KEY, draw, _FIT), 1)[0]
        parameters = {"n_resamples": 120, "resampling": scheme, "random_state": state}
        again = CoreClustering(in_draws, **parameters).fit(overlapping[rows])
        for core in again.cores_:
            for place, a in enumerate(core.core):
                for b in core.core[:place]:
                    i, j = rows[a], rows[b]
                    if i != j:
                        labels = cc.ensemble_.labels[[i, j]]
                        both = labels[:, (labels != ABSENT).all(axis=0)]
                        n_pairs += 1
                        n_held += (both[0] == both[1]).mean() >= 0.88
    audit = cc.audit(overlapping, n_draws=3)
    assert 0 < n_held < n_pairs
    assert audit.share == pytest.approx(n_held / n_pairs)
    assert audit.alphas["alpha"].iloc[-1] == 0.1
    assert audit.alphas["share"].iloc[-1] == audit.share


def test_half_of_the_items_have_half_the_neighbors():
    leiden = Leiden(n_neighbors=21)
    assert _for_share(leiden, 0.5).n_neighbors == 11  # one of them is the item itself
    piped = _for_share(make_pipeline(StandardScaler(), leiden), 0.5)
    assert piped[-1].n_neighbors == 11
    assert leiden.n_neighbors == 21
    assert _for_share(leiden, 1.0) is leiden
    assert _for_share(len, 0.5) is len


def test_far_groups_hold_and_the_answer_is_certain():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0]], 20, axis=0) + rng.normal(size=(60, 2))
    audit = fit(X, estimator=KMeans(3)).audit(X, n_draws=4)
    assert (audit.share, audit.standard_error, audit.suggested_alpha) == (1.0, 0.0, 0.1)
    assert (audit.clusters["share"] == 1).all()
    assert repr(audit) == "Audit(100 % of core pairs hold on new data, ± 0.0 %)"
    assert len(audit.sentences) == 2


def test_overlap_is_predicted_to_fail_more_often_and_a_smaller_alpha_is_suggested(overlapping):
    between = np.random.default_rng(2).normal(loc=(1.1, 0.0), size=(20, 2))
    items = np.concatenate([overlapping, between])
    audit = fit(items, estimator=KMeans(3), n_resamples=400).audit(items, n_draws=8, target=0.9)
    assert audit.share < 0.9
    assert audit.standard_error > 0
    fractions = audit.alphas["core_fraction"].to_numpy()
    assert (np.diff(fractions) >= 0).all()
    assert audit.suggested_alpha < 0.1
    assert f"alpha={audit.suggested_alpha:g}" in audit.sentences[-1]


def test_the_answer_depends_only_on_the_seed(overlapping):
    cc = fit(overlapping)
    first = cc.audit(overlapping, n_draws=3)
    again = fit(overlapping, n_jobs=2).audit(overlapping, n_draws=3, random_state=3)
    pd.testing.assert_frame_equal(first.alphas, again.alphas)
    other = cc.audit(overlapping, n_draws=3, random_state=4)
    assert not first.alphas.equals(other.alphas)


def test_a_frame_need_not_be_given_again(overlapping):
    cc = fit(pd.DataFrame(overlapping, columns=["a", "b"]))
    assert cc.audit(n_draws=2).share == cc.audit(overlapping, n_draws=2).share


def test_distances(overlapping):
    distances = pairwise_distances(overlapping)
    by_distance = AgglomerativeClustering(2, metric="precomputed", linkage="average")
    by_items = AgglomerativeClustering(2, linkage="average")
    found = fit(distances, estimator=by_distance).audit(distances, n_draws=2)
    expected = fit(overlapping, estimator=by_items).audit(overlapping, n_draws=2)
    assert found.share == expected.share


def test_groups_are_drawn_as_a_whole(overlapping):
    groups = np.arange(50) // 2
    cc = CoreClustering(KMeans(2, n_init=2), n_resamples=120, random_state=3)
    cc.fit(overlapping, groups=groups)
    by_group = cc.audit(overlapping, groups=groups, n_draws=3)
    assert by_group.share != cc.audit(overlapping, n_draws=3).share
    assert 0 < by_group.share <= 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"resampling": Subsample(0.5)},
        {"confidence": 0.9, "guarantee": "new-data", "n_resamples": 300},
        {"confidence": 0.5, "n_resamples": 200},
        {"noise": "together"},
    ],
    ids=str,
)
def test_schemes_and_rules(overlapping, parameters):
    audit = fit(overlapping, **parameters).audit(overlapping, n_draws=2)
    assert 0 < audit.share <= 1
    assert audit.n_draws == 2


def test_a_classifier(overlapping):
    y = np.repeat([0, 1], 25)
    cc = fit(overlapping, y, estimator=DecisionTreeClassifier(max_depth=2))
    assert cc.audit(overlapping, y, n_draws=2).clusters["cluster"].tolist() == [0, 1]


def test_draws_that_fail_are_left_out_unless_they_are_most(overlapping):
    given = {"calls": 0}

    def label(Z):
        return (Z[:, 0] > Z[:, 0].mean()).astype(int)

    cc = fit(overlapping, estimator=label)

    def fragile(Z):
        given["calls"] += 1
        if given["calls"] > given["most"]:
            raise RuntimeError("no")
        return label(Z)

    cc.estimator = fragile
    given["most"] = 1_000_000
    assert cc.audit(overlapping, n_draws=3).n_draws == 3
    given.update(calls=0, most=2 * 121)
    assert cc.audit(overlapping, n_draws=3).n_draws == 2
    given.update(calls=0, most=121)
    with pytest.raises(RuntimeError, match="2 of 3 draws of the data could not be clustered"):
        cc.audit(overlapping, n_draws=3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_draws": 1}, "n_draws must be a whole number, 2 or more, got 1"),
        ({"target": 1.5}, "target must be a number above 0, up to 1, got 1.5"),
        ({"random_state": -1}, "random_state must be"),
        ({"X": [[0.0, 1.0]]}, "X must have a row for each of 50 items, got 1"),
        ({"X": None}, "X must be the data that was fitted, got None"),
    ],
)
def test_errors(overlapping, given, message):
    with pytest.raises(ValueError, match=message):
        fit(overlapping).audit(**{"X": overlapping, **given})


def test_a_known_distribution_needs_no_prediction(overlapping):
    def draw(n_items, rng):
        return rng.normal(size=(n_items, 2))

    cc = fit(overlapping[:8], resampling=KnownDistribution(draw), n_resamples=20)
    with pytest.raises(ValueError, match="audit cannot be used with draws from a known"):
        cc.audit(overlapping[:8])


def test_the_standard_error_is_that_of_a_ratio_of_sums():
    rng = np.random.default_rng(0)
    pairs = rng.integers(50, 150, size=(4000, 12)).astype(float)
    held = rng.binomial(pairs.astype(int), rng.beta(8, 2, size=pairs.shape)).astype(float)
    both = zip(held, pairs, strict=True)
    shares, errors = np.array([ratio_of_sums(h[:, None], p[:, None]) for h, p in both])[:, :, 0].T
    # The spread of 4,000 ratios is known to about 1.1 %; the error is biased low by a few percent.
    assert errors.mean() == pytest.approx(shares.std(), rel=0.06)
