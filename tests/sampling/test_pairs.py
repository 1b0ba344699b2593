"""Algorithm 2: against a transcription of the pseudo-code, an exact probability, and itself."""

import itertools

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.stats import norm
from sklearn.cluster import AgglomerativeClustering
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coreclust import CoreClustering, core_clusters
from coreclust._utils.seeds import ESTIMATOR, ROWS, draw_random_states, seeds_of
from coreclust.cluster import HierarchicalClustering, KMeans, TClust, TrimmedKMeans
from coreclust.plotting import CoreClusterDisplay
from coreclust.resampling import KnownDistribution


def mixture(n, rng):
    classes = rng.integers(3, size=n)
    return rng.normal(size=(n, 2)) + 2.0 * classes[:, None] * [1.0, 0.5], classes


def grid(n, rng):
    """Few different values, so that items and pairs repeat."""
    return rng.integers(4, size=(n, 2)).astype(float)


def draw(sampler, n=14, seed=1):
    drawn = sampler(n, np.random.default_rng(seed))
    return drawn if isinstance(drawn, tuple) else (drawn, None)


def fit(estimator, X, y=None, *, scheme=None, m=60, **parameters):
    scheme = KnownDistribution(mixture) if scheme is None else scheme
    return CoreClustering(
        estimator, resampling=scheme, n_resamples=m, random_state=3, **parameters
    ).fit(X, y)


def algorithm_2(estimator, X, y, i, j, sampler, m, entropy):
    """The resamples of one pair as the pseudo-code has them; returns the labels of the two."""
    n = len(X)
    labels = []
    for block, place in (divmod(k, 100) for k in range(m)):
        rng = np.random.default_rng(seeds_of(entropy, i, j, block, ROWS))
        drawn = sampler(100 * (n - 2), rng)
        rest, classes = drawn if isinstance(drawn, tuple) else (drawn, None)
        rows = slice(place * (n - 2), (place + 1) * (n - 2))
        R = np.concatenate([X[[i, j]], rest[rows]])
        seed = draw_random_states(seeds_of(entropy, i, j, block, ESTIMATOR), 100)[place]
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=seed)
        if y is None:
            labels.append(estimator.fit_predict(R)[:2])
        else:
            estimator.fit(R, np.concatenate([y[[i, j]], classes[rows]]))
            labels.append(estimator.predict(R[:2]))
    return np.array(labels)


ESTIMATORS = [
    KMeans(3, n_init=2),
    KMeans(3, n_init=2, n_local_trials=1),
    *(
        HierarchicalClustering(3, linkage=link)
        for link in ("complete", "single", "average", "ward")
    ),
    TrimmedKMeans(3, trim=0.1, n_init=5),
    TrimmedKMeans(2, trim=0.2, init="subsets", n_init=5),
    TClust(2, trim=0.1, n_init=5),
    AgglomerativeClustering(3),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "engine"),
    [
        *((estimator, engine) for estimator in ESTIMATORS for engine in ("auto", "generic")),
        (SklearnKMeans(3, n_init=1), "generic"),  # its native twin draws other random numbers
    ],
    ids=repr,
)
def test_counts_are_those_of_the_pseudo_code(estimator, engine):
    X, _ = draw(mixture)
    is_seeded = "random_state" in estimator.get_params()
    cc = fit(estimator, X, engine=engine, m=130)
    assert cc.engine_ == ("batched" if engine == "auto" else "generic")
    pairs = [pair for pair in itertools.combinations(range(len(X)), 2) if _together(cc, *pair)]
    for i, j in pairs[:: 1 + len(pairs) // 6]:
        labels = algorithm_2(estimator, X, None, i, j, mixture, 130, 3)
        same = (labels[:, 0] == labels[:, 1]) & (labels[:, 0] >= 0)
        assert cc.ensemble_.cooccurrence_counts(i, j) == (same.sum(), 130)
        both_noise = (labels < 0).all(axis=1)
        together = cc.ensemble_.cooccurrence_counts(i, j, noise="together")
        assert together == ((same | both_noise).sum(), 130)
        absent = cc.ensemble_.cooccurrence_counts(i, j, noise="absent")
        assert absent == (same.sum(), (labels >= 0).all(axis=1).sum())
    if is_seeded:
        estimator.set_params(random_state=None)


def _together(cc, i, j):
    return cc.reference_labels_[i] == cc.reference_labels_[j] >= 0


@pytest.mark.slow
def test_a_classifier_gets_the_classes_of_what_is_drawn():
    X, y = draw(mixture)
    classifier = make_pipeline(StandardScaler(), LogisticRegression())
    cc = fit(classifier, X, y, m=20)
    for i, j in [pair for pair in itertools.combinations(range(14), 2) if _together(cc, *pair)][:4]:
        labels = algorithm_2(classifier, X, y, i, j, mixture, 20, 3)
        assert cc.ensemble_.cooccurrence_counts(i, j) == ((labels[:, 0] == labels[:, 1]).sum(), 20)


@pytest.mark.slow
def test_the_estimate_is_the_probability():
    """Two items are apart iff the mean of the resample falls between them.

    The mean of a, b and three standard normal items is normal. The standard error is at
    most 0.5 / sqrt(4000) = 0.008; four of them allow a false alarm in 5,000 runs of the
    ten pairs, and the seed is fixed.
    """
    X = np.array([[-1.0], [-0.4], [-0.1], [0.05], [0.3]])

    def above_mean(Z):
        # All items are in one cluster of the data itself, so that all pairs are resampled.
        return np.zeros(5, int) if np.array_equal(Z, X) else (Z[:, 0] > Z.mean()).astype(int)

    scheme = KnownDistribution(lambda n, rng: rng.normal(size=(n, 1)))
    cc = fit(above_mean, X, scheme=scheme, m=4000)
    for i, j in itertools.combinations(range(5), 2):
        a, b = sorted([X[i, 0], X[j, 0]])
        between = norm(loc=(a + b) / 5, scale=np.sqrt(3) / 5)
        expected = 1 - (between.cdf(b) - between.cdf(a))
        assert cc.cooccurrence(i, j) == pytest.approx(expected, abs=4 * 0.008)


def test_a_population_is_drawn_from_evenly():
    """2,000 draws from 4 items: a standard error of 19; the seed is fixed."""
    scheme = KnownDistribution(np.arange(4.0)[:, None], list("abcd"))
    items, classes = scheme.draw_items(2000, np.random.default_rng(0))
    assert [list("abcd")[int(item)] for item in items[:, 0]] == classes.tolist()
    np.testing.assert_allclose(np.bincount(items[:, 0].astype(int)), 500, atol=80)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [KMeans(2, n_init=1), TClust(2, trim=0.1, n_init=4)])
def test_equal_items_share_their_resamples(estimator):
    X, _ = draw(grid, n=20)
    cc = fit(estimator, X, scheme=KnownDistribution(grid), m=30)
    pairs = [pair for pair in itertools.combinations(range(20), 2) if _together(cc, *pair)]
    first = {}
    for i, j in pairs:
        key = tuple(sorted([tuple(X[i]), tuple(X[j])])), cc.reference_labels_[i]
        first.setdefault(key, (i, j))
        counts = cc.ensemble_.cooccurrence_counts(i, j)
        assert counts == cc.ensemble_.cooccurrence_counts(*first[key])
        assert counts == cc.ensemble_.cooccurrence_counts(j, i)
    assert len(first) < len(pairs)
    generic = fit(estimator, X, scheme=KnownDistribution(grid), m=30, engine="generic")
    for one, other in zip(cc.ensemble_.counts, generic.ensemble_.counts, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", "generic"])
def test_jobs_and_backends_do_not_change_the_answer(engine):
    X, _ = draw(mixture, n=10)
    one = fit(KMeans(2, n_init=1), X, m=20, engine=engine, n_jobs=1)
    two = fit(KMeans(2, n_init=1), X, m=20, engine=engine, n_jobs=2)
    with parallel_config(backend="threading"):
        threads = fit(KMeans(2, n_init=1), X, m=20, engine=engine, n_jobs=2)
    for other in (two, threads):
        for left, right in zip(one.ensemble_.counts, other.ensemble_.counts, strict=True):
            np.testing.assert_array_equal(left, right)


def test_the_core_obeys_the_rule_of_algorithm_2():
    X, _ = draw(mixture, n=25)
    cc = fit(KMeans(3), X, alpha=0.2, m=50)
    p = cc.ensemble_.cooccurrence_matrix()
    assert np.isnan(p[0, np.flatnonzero(cc.reference_labels_ != cc.reference_labels_[0])]).all()
    for core in cc.cores_:
        assert (p[np.ix_(core.core, core.core)] >= 0.8).all()
        assert core.optimal
        # Nobody can join: each weak item is below 0.8 with some core item.
        assert (p[np.ix_(core.weak, core.core)] < 0.8).any(axis=1).all()


def test_the_fitted_estimator_answers_as_usual():
    X, _ = draw(mixture, n=20)
    frame = pd.DataFrame(X, columns=["x", "z"])
    cc = fit(TrimmedKMeans(2, trim=0.1, n_init=5), frame, m=40)
    assert cc.cooccurrence(0, 0) == 1
    assert cc.summary()["all_together"].isna().all()
    assert list(cc.item_table().columns[:2]) == ["x", "z"]
    assert cc.recut(alpha=0.5).core_sample_indices_.size >= cc.core_sample_indices_.size
    recut = cc.recut(noise="together")
    direct = fit(TrimmedKMeans(2, trim=0.1, n_init=5), frame, m=40, noise="together")
    np.testing.assert_array_equal(recut.labels_, direct.labels_)
    assert "n_pairs=" in repr(cc.ensemble_)
    assert CoreClusterDisplay.from_estimator(cc, frame).positions.shape == (20, 2)


def test_items_of_any_kind():
    words = ["aa", "ab", "ba", "zz", "zy", "yz"]

    def by_first_letter(items):
        return [item[0] for item in items]

    cc = fit(by_first_letter, words, scheme=KnownDistribution([*words, "mm"]), m=20)
    assert cc.cluster_names_.tolist() == ["a", "b", "y", "z"]
    assert cc.cooccurrence(0, 1) == 1


def test_resamples_that_fail_are_drawn_again_or_dropped():
    X = np.arange(6.0)[:, None]

    def uniform(n, rng):
        return rng.uniform(size=(n, 1))

    def fails_sometimes(Z):
        if Z[2:, 0].max() > 0.9 and Z[5, 0] < 1:
            raise RuntimeError("no luck")
        return np.zeros(len(Z), int)

    # 0.9 ** 4 = 0.66: a third fails, and 0.34 ** 5 = 0.5 % of them five times.
    with pytest.warns(RuntimeWarning, match=r"could not be clustered in 5 tries.*no luck"):
        cc = fit(fails_sometimes, X, scheme=KnownDistribution(uniform), m=100)
    assert 0 < cc.n_dropped_resamples_ < 30
    seen = cc.ensemble_.cooccurrence_counts(np.arange(6)[:, None], np.arange(6)[None])[1]
    assert seen.sum() // 2 == 15 * 100 - cc.n_dropped_resamples_

    def fails_always(Z):
        if Z[5, 0] < 1:
            raise RuntimeError("never")
        return np.zeros(len(Z), int)

    with pytest.raises(RuntimeError, match="More than half are lost"):
        fit(fails_always, X, scheme=KnownDistribution(uniform), m=3)


def test_native_failures_are_dropped():
    X = 2 + np.arange(8.0)[:, None] ** 2

    def mostly_constant(n, rng):
        # With a pair there are four values, unless all six items are 0: 0.95 ** (5 * 6) = 21 %.
        return np.zeros((n, 1)) + (rng.uniform(size=(n, 1)) < 0.05)

    with pytest.warns(RuntimeWarning, match="too few distinct items"):
        cc = fit(TrimmedKMeans(4, trim=0, n_init=3), X, scheme=KnownDistribution(mostly_constant))
    n_pairs = sum(core.n_items * (core.n_items - 1) // 2 for core in cc.cores_)
    assert 0.1 < cc.n_dropped_resamples_ / (60 * n_pairs) < 0.35


@pytest.mark.parametrize("n_items", [2, 3])
def test_two_items_are_enough(n_items):
    cc = fit(KMeans(1, n_init=1), np.arange(float(n_items))[:, None], scheme=_line(), m=12)
    assert cc.labels_.tolist() == [0] * n_items


def _line():
    return KnownDistribution(lambda n, rng: rng.normal(size=(n, 1)))


def test_other_reference_labels_must_be_finer():
    X, _ = draw(mixture, n=12)
    cc = fit(KMeans(2), X, m=12)
    finer = np.where(np.arange(12) < 6, cc.reference_labels_, 2 + cc.reference_labels_)
    assert sum(core.n_items for core in core_clusters(cc.ensemble_, finer)) == 12
    with pytest.raises(ValueError, match="reference_labels must not join items"):
        core_clusters(cc.ensemble_, np.zeros(12, int))


DISTANCES = AgglomerativeClustering(2, metric="precomputed", linkage="average")
X12 = np.arange(24.0).reshape(12, 2)


@pytest.mark.parametrize(
    ("estimator", "X", "y", "scheme", "message"),
    [
        (KMeans(2), X12, None, KnownDistribution(np.ones((9, 3))), "items like those of X"),
        (KMeans(2), X12, None, KnownDistribution(lambda n, _: np.ones((n + 1, 2))), "like those"),
        (KMeans(2), X12, None, KnownDistribution(np.full((9, 2), np.nan)), "finite numbers"),
        (KMeans(2), X12, None, KnownDistribution([["a", "b"]]), "finite numbers"),
        (KMeans(2), X12, None, KnownDistribution(np.ones((0, 2))), "population of at least 1 item"),
        (
            KMeans(2),
            X12,
            None,
            KnownDistribution(X12, [1, 2]),
            "one class in y for each of the 12 items",
        ),
        (LogisticRegression(), X12, [0, 1] * 6, KnownDistribution(X12), "is a classifier"),
        (DISTANCES, np.ones((3, 3)), None, KnownDistribution(X12), "no distances"),
        (len, pd.DataFrame(X12), None, KnownDistribution(X12), "array or, for a callable, a list"),
        (len, ["a", "b"], None, KnownDistribution(lambda n, _: ["a"]), "expected 3, got 1"),
    ],
)
def test_bad_input_is_refused_before_any_work(estimator, X, y, scheme, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(estimator, X, y, scheme=scheme)


def test_a_distribution_that_fails_later_is_named():
    def leaky(n, rng):
        items = rng.normal(size=(n, 1))
        return np.where(rng.uniform(size=(n, 1)) < 0.01, np.nan, items) if n > 3 else items

    def short(n, rng):
        return rng.normal(size=(min(n, 200), 1))

    X = np.arange(12.0)[:, None]
    for engine in ("auto", "generic"):
        with pytest.raises(ValueError, match="must draw finite numbers"):
            fit(KMeans(2), X, scheme=KnownDistribution(leaky), engine=engine)
        with pytest.raises(ValueError, match=r"expected shape \(1000, 1\), got \(200, 1\)"):
            fit(KMeans(2), X, scheme=KnownDistribution(short), engine=engine)


def test_classes_of_another_kind_are_refused():
    X, y = draw(mixture)
    with pytest.raises(ValueError, match="must have the classes of y"):
        fit(LogisticRegression(), X, y.astype(str), m=5)
    with pytest.raises(ValueError, match="y is for a population"):
        KnownDistribution(mixture, [1, 2])


def test_half_of_the_resamples_must_be_left_of_every_pair():
    """Item 0 fails nine times in ten, five times in a row in six of ten resamples."""
    X = np.arange(12.0)[:, None]

    def flaky(Z):
        if Z[0, 0] == 0 and Z[5, 0] != 5 and Z[2, 0] % 1 < 0.9:
            raise RuntimeError("no luck")
        return np.zeros(len(Z), int)

    uniform = KnownDistribution(lambda n, rng: 50 + rng.uniform(size=(n, 1)))
    with pytest.warns(RuntimeWarning, match="no luck"):
        cc = fit(flaky, X, scheme=uniform, m=40)
    seen = cc.ensemble_.cooccurrence_counts(0, np.arange(1, 12))[1]
    assert 0 < seen.min() < 20
    assert cc.ensemble_.cooccurrence(0, int(seen.argmin()) + 1) == 1
    assert 0 in cc.weak_sample_indices_


def test_a_hopeless_function_is_given_up_halfway():
    calls = []

    def hopeless(Z):
        calls.append(1)
        if len(calls) > 1:
            raise RuntimeError("never")
        return np.zeros(len(Z), int)

    with pytest.raises(RuntimeError, match="More than half are lost"):
        fit(hopeless, np.arange(6.0)[:, None], scheme=_line(), m=10, n_jobs=1)
    assert len(calls) < 1 + 5 * 10 * 15


def test_repr():
    assert repr(KnownDistribution(mixture)) == "KnownDistribution(mixture)"
    assert repr(KnownDistribution(np.ones((7, 2)))) == "KnownDistribution(<7 items>)"
