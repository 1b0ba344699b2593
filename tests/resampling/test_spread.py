"""Alpha has the same meaning for subsamples of any share and for the bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.datasets import load_iris

from coreclust import CoreClustering, core_clusters
from coreclust._sampling.adaptive import StoppingRule
from coreclust._utils.normal import stretch, unstretch_slope
from coreclust.cluster import KMeans
from coreclust.evidence import CoreRule
from coreclust.resampling import (
    Bootstrap,
    KnownDistribution,
    Scheme,
    SmoothedBootstrap,
    Subsample,
    check_resampling,
    required_resamples,
)

SHARES = st.floats(0.01, 0.99)


@given(p=st.floats(1e-6, 1 - 1e-6), factor=st.floats(0.1, 4))
def test_stretching_scales_the_quantile_and_can_be_undone(p, factor):
    assert stretch(p, factor) == pytest.approx(norm.cdf(factor * norm.ppf(p)), abs=1e-12)
    if 1e-9 < stretch(p, factor) < 1 - 1e-9:
        assert stretch(stretch(p, factor), 1 / factor) == pytest.approx(p, rel=1e-5)
    assert stretch(p, 1.0) == p
    assert (stretch(0, factor), stretch(1, factor)) == (0, 1)


@given(p=st.floats(0.05, 0.95), factor=st.floats(0.3, 2.5))
def test_the_slope_is_that_of_the_inverse(p, factor):
    step = 1e-6
    rise = stretch(p + step, factor) - stretch(p - step, factor)
    assert unstretch_slope(p, factor) == pytest.approx(2 * step / rise, rel=1e-3)


@pytest.mark.parametrize(
    ("scheme", "n_units", "spread"),
    [
        (Subsample(0.5), 100, 1),
        (Subsample(), 100, 1),
        (Subsample(0.8), 100, 0.5),
        (Subsample(0.2), 100, 2),
        (Subsample(0.02), 100, 2),  # the threshold is not lowered any further
        (Subsample(0.9), 100, 1 / 3),
        (Subsample(0.8, label="all"), 100, 0.5),
        (Subsample(0.8, label="oob"), 100, 0.5),
        (Subsample(size=80), 100, 0.5),
        (Subsample(size=80, label="oob"), 100, 0.5),
        (Subsample(size=75, label="all"), 100, 0.5),  # the reference is a fit to 75 items, too
        (Subsample(size=10, label="all"), 10**6, 1),
        (Subsample(0.5), 5, 1.5**0.5),  # 2 of 5
        (Subsample(0.8, rescale=False), 100, 1),
        (Bootstrap(), 100, 1),
        (Bootstrap("all"), 100, 1),
        (SmoothedBootstrap(), 100, 1),
        (KnownDistribution(np.zeros((9, 1))), 100, 1),
        pytest.param(Scheme(), 100, 1, id="any other scheme"),
    ],
    ids=repr,
)
def test_the_spread_of_each_scheme(scheme, n_units, spread):
    assert scheme.spread(n_units) == pytest.approx(spread, rel=1e-5)
    if spread == 1 and n_units == 100:
        assert scheme.spread(n_units) == 1  # exactly, so that nothing changes


def test_schemes_of_users_may_state_their_spread():
    class Half:
        def draw(self, n_units, seeds):
            return np.random.default_rng(seeds).permutation(n_units)[: n_units // 2]

    class Stated(Half):
        def spread(self, n_units):
            return 0.25

    class Own(Subsample):
        def draw(self, n_units, seeds):
            return np.arange(n_units)

    assert check_resampling(Half()).spread(100) == 1
    assert check_resampling(Stated()).spread(100) == 0.25
    assert Own(0.8).spread(100) == 1  # it draws in its own way
    cc = CoreClustering(KMeans(3), resampling=Stated(), n_resamples=200, alpha=0.4, random_state=0)
    assert cc.fit(load_iris().data).rule_.spread == 0.25


def test_the_setting_is_shown_and_earlier_checkpoints_stay_valid():
    assert repr(Subsample(0.8, label="all", rescale=False)) == (
        "Subsample(0.8, label='all', rescale=False)"
    )
    assert vars(Subsample(0.8)) == {"fraction": 0.8, "size": None, "label": "drawn"}
    with pytest.raises(ValueError, match="rescale must be True or False, got 1"):
        Subsample(0.8, rescale=1)


def test_every_answer_of_a_fit_uses_the_rescaled_threshold():
    X = load_iris().data
    cc = CoreClustering(
        KMeans(3), resampling=Subsample(0.8), n_resamples=600, keep_models=True, random_state=0
    ).fit(X)
    rule, threshold = cc.rule_, 1 - norm.cdf(2 * norm.ppf(0.1))
    assert rule.spread == 0.5
    assert 1 - rule.resampled_alpha == pytest.approx(threshold)

    def least(cores):
        """Return the smallest co-occurrence of two items of one core."""
        return min(
            cc.ensemble_.cooccurrence_matrix(core.core).min() for core in cores if core.n_core > 1
        )

    assert threshold <= least(cc.cores_) < 1
    # The same cores as with the threshold itself.
    same = core_clusters(cc.ensemble_, cc.reference_labels_, alpha=rule.resampled_alpha)
    assert [core.core.tolist() for core in same] == [core.core.tolist() for core in cc.cores_]
    wide = cc.recut(alpha=0.3)
    assert least(wide.cores_) < threshold
    assert wide.rule_.spread == 0.5
    path = cc.alpha_path([0.1, 0.3])
    assert path.core_sizes[0].sum() == cc.core_sample_indices_.size
    assert path.core_sizes[1].sum() == wide.core_sample_indices_.size
    # A pair that is together in 98 % of the resamples is below 0.9 under the bootstrap.
    core = max(cc.cores_, key=lambda core: core.n_weak)
    p = cc.cooccurrence(core.core[0], core.weak)
    near = core.weak[(p > 0.92) & (p < 0.98)]
    assert near.size
    assert not cc.test_pair(core.core[0], near).together.any()
    assert (cc.test_pair(core.core[0], near).p_value > 0.5).all()
    inside = np.flatnonzero(cc.predict(X) >= 0)
    assert np.isin(cc.core_sample_indices_, inside).all()
    assert (cc.predict(X)[near] == -1).all()
    # With the old meaning the cores are larger.
    old = CoreClustering(
        KMeans(3), resampling=Subsample(0.8, rescale=False), n_resamples=600, random_state=0
    ).fit(X)
    assert old.ensemble_ == cc.ensemble_
    assert old.core_sample_indices_.size > cc.core_sample_indices_.size


def test_bounds_and_the_stopping_rule_use_it_as_well():
    X = load_iris().data
    cc = CoreClustering(
        KMeans(3), resampling=Subsample(0.7), confidence=0.95, n_resamples="auto", random_state=0
    ).fit(X)
    alpha = norm.cdf(norm.ppf(0.1) / (3 / 7) ** 0.5)
    assert cc.rule_.resampled_alpha == pytest.approx(alpha)
    for core in cc.cores_:
        i, j = core.core[:, None], core.core[None]
        p = cc.test_pair(i, j).p_value[~np.eye(core.n_core, dtype=bool)]
        assert p.max() <= 0.05  # each pair by itself, the more so all at once
    stop, same = (
        StoppingRule(cc.reference_labels_, rule, 300)._tables
        for rule in (cc.rule_, CoreRule(cc.rule_.resampled_alpha))
    )
    np.testing.assert_array_equal(stop, same)


def test_groups_and_sizes_have_the_share_of_groups_and_items():
    X = load_iris().data
    settings = {"n_resamples": 60, "alpha": 0.3, "random_state": 0}
    cc = CoreClustering(KMeans(3), resampling=Subsample(0.4), **settings)
    assert cc.fit(X, groups=np.arange(150) // 15).rule_.spread == 1.5**0.5
    cc = CoreClustering(KMeans(3), resampling=Subsample(size=60), **settings)
    assert cc.fit(X).rule_.spread == 1.5**0.5


def test_too_large_a_share_is_warned_of_with_a_number():
    cc = CoreClustering(KMeans(3), resampling=Subsample(0.9), n_resamples=200, random_state=0)
    with pytest.warns(UserWarning, match=r"0.99994 \(0.9 under the bootstrap\).*at least 20,558"):
        cc.fit(load_iris().data)
    cc.set_params(resampling=Subsample(0.99))
    with pytest.warns(UserWarning, match="larger alpha, or draw a smaller share of the items"):
        cc.fit(load_iris().data)


@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("share", [0.2, 0.8, 0.99])
@pytest.mark.filterwarnings("ignore:No number of resamples")
def test_the_ends_of_alpha_are_the_same_for_every_share(alpha, share):
    cc = CoreClustering(
        KMeans(3), alpha=alpha, resampling=Subsample(share), n_resamples=50, random_state=0
    ).fit(load_iris().data)
    assert cc.rule_.resampled_alpha == alpha
    assert cc.core_sample_indices_.size == (150 if alpha else 3)


def test_required_resamples_are_for_the_error_of_the_bootstrap_probability():
    """By the delta method; here against the spread of simulated estimates."""
    for share in (0.3, 0.7, 0.8):
        spread = ((1 - share) / share) ** 0.5
        m = required_resamples(0.1, 0.02, resampling=Subsample(share, label="all"))
        p = 1 - stretch(0.1, 1 / spread)
        found = np.random.default_rng(0).binomial(m, p, size=20_000) / m
        error = np.std(norm.cdf(spread * norm.ppf(np.minimum(found, 1 - 0.5 / m))))
        assert error == pytest.approx(0.02, rel=0.2)
    with pytest.raises(ValueError, match="draws so many of the items that resamples hardly differ"):
        required_resamples(resampling=Subsample(0.9999))
    assert required_resamples(resampling=Subsample(0.8, rescale=False)) == 626


def two_groups(n_items, rng):
    return rng.normal(size=(n_items, 2)) + 2.5 * rng.integers(2, size=(n_items, 1)) * [1, 0]


def true_cooccurrence(X, rng, n_datasets=600):
    """Estimate how often two items get the same label from clusterings of new data."""
    labels = np.array(
        [
            KMeans(2, n_init=3, random_state=seed).fit(two_groups(len(X), rng)).predict(X)
            for seed in range(n_datasets)
        ],
        dtype=float,
    )
    return (labels.T @ labels + (1 - labels).T @ (1 - labels)) / n_datasets


@pytest.mark.slow
def test_subsamples_and_the_bootstrap_agree_on_the_size_and_on_the_truth_of_cores():
    """Four datasets of two overlapping groups; pairs are compared with 0.88, as in the study.

    Fits to 20 of 100 items vary a little more than the correction assumes, so those cores are
    smaller by several percent.
    """
    schemes = {
        "bootstrap": (Bootstrap(), 1500),
        **{
            share: (Subsample(share), n_resamples)
            for share, n_resamples in (
                (0.2, 6000),
                (0.35, 3000),
                (0.5, 2000),
                (0.65, 1500),
                (0.8, 2000),
                (0.9, 30_000),
            )
        },
        "old": (Subsample(0.8, rescale=False), 2000),
    }
    sizes, good, pairs = (dict.fromkeys(schemes, 0) for _ in range(3))
    for seed in range(4):
        rng = np.random.default_rng([seed, 1])
        X = two_groups(100, rng)
        truth = true_cooccurrence(X, rng)
        for name, (scheme, n_resamples) in schemes.items():
            cc = CoreClustering(
                KMeans(2, n_init=3), resampling=scheme, n_resamples=n_resamples, random_state=seed
            ).fit(X)
            sizes[name] += cc.core_sample_indices_.size
            for core in cc.cores_:
                p = truth[np.ix_(core.core, core.core)][np.triu_indices(core.n_core, 1)]
                good[name] += int((p >= 0.88).sum())
                pairs[name] += p.size
    holds = {name: good[name] / pairs[name] for name in schemes}
    for share in (0.2, 0.35, 0.5, 0.65, 0.8, 0.9):
        assert sizes[share] == pytest.approx(sizes["bootstrap"], rel=0.1), sizes
        assert holds[share] == pytest.approx(holds["bootstrap"], abs=0.04), holds
    # Without the correction, subsamples of 80 % promise too much.
    assert sizes["old"] > 1.05 * sizes["bootstrap"]
    assert holds["old"] < holds["bootstrap"] - 0.04, holds
