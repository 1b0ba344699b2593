"""The kernels for many features: their slow twin is the kernel for few features, to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans as SklearnKMeans

from coreclust import CoreClustering
from coreclust.cluster import KMeans, _kmeans, _lloyd, _lloyd_wide
from coreclust.cluster._frame import frame_of
from coreclust.resampling import Bootstrap, KnownDistribution


def overlapping(rng, n, d, k):
    scales = 1 / np.sqrt(np.arange(1, d + 1))
    return (
        1.5 * rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    ) * scales


def both(X, weights, kmeans, seed):
    """The labels, centers, inertia and iterations of the kernels for few and for many features."""
    given = kmeans._settings(X.shape[1])
    yield _lloyd.best_of_runs(np.ascontiguousarray(X.T), weights, given, seed)
    frame = frame_of(X)
    assert frame.scale > 0
    yield _lloyd_wide.best_of_runs(X, np.arange(len(X)), frame, weights, given, seed)


def assert_same(X, weights, kmeans, seed):
    narrow, wide = both(X, weights, kmeans, seed)
    np.testing.assert_array_equal(narrow[0], wide[0])
    np.testing.assert_array_equal(narrow[1], wide[1])
    assert wide[2] == pytest.approx(narrow[2], rel=1e-12)
    assert narrow[3] == wide[3]


@given(
    seed=st.integers(0, 10**6),
    shift=st.sampled_from([0.0, 1.0, 1e4]),
    unit=st.sampled_from([1e-100, 1e-6, 1.0, 1e6, 1e100]),
    tol=st.sampled_from([0.0, 1e-4, 0.1]),
    max_iter=st.sampled_from([1, 3, 300]),
)
@settings(max_examples=100, deadline=None)
def test_same_answer_as_the_kernel_for_few_features(seed, shift, unit, tol, max_iter):
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(20, 600), rng.integers(1, 90), int(rng.integers(1, 16))
    X = (overlapping(rng, n, d, k) + shift) * unit
    weights = rng.integers(1, 5, size=n).astype(float)
    assert_same(X, weights, KMeans(k, n_init=3, tol=tol, max_iter=max_iter), seed)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_ties_go_to_the_same_center(seed):
    """Values are small integers, so that single precision cannot tell many distances apart."""
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(20, 200), rng.integers(2, 20), int(rng.integers(2, 8))
    X = rng.integers(0, 3, size=(n, d)).astype(float)
    X[0] = 5.0  # never constant
    init = X[rng.choice(n, k, replace=False)]  # may hold equal centers: empty clusters
    assert_same(X, np.ones(n), KMeans(k, init=init), seed)


def test_near_ties_are_decided_in_double_precision():
    X = np.zeros((40, 20))
    X[:, 0] = np.repeat([-1.0, 1.0], 20)
    X[::4, 0] *= 1e-9  # a billionth to the left or right of the middle
    init = np.zeros((2, 20))
    init[:, 0] = [-1.0, 1.0]
    narrow, wide = both(X, np.ones(40), KMeans(2, init=init, max_iter=1), 0)
    np.testing.assert_array_equal(narrow[0], wide[0])
    assert (wide[0] == np.repeat([0, 1], 20)).all()


@pytest.mark.parametrize("seed", range(20))
def test_same_partition_as_scikit_learn_from_the_same_centers(seed):
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(100, 800), rng.integers(16, 300), int(rng.integers(2, 12))
    X = overlapping(rng, n, d, k)
    init = X[rng.choice(n, k, replace=False)]
    weights = rng.integers(1, 5, size=n)
    ours = KMeans(k, init=init).fit(X, sample_weight=weights)
    theirs = SklearnKMeans(k, init=init, n_init=1, tol=0).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-10)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)


@pytest.mark.parametrize("n_features", [7, 60])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("label", ["drawn", "all"])
def test_both_engines_give_the_same_answer_to_the_bit(label, dtype, n_features):
    X = overlapping(np.random.default_rng(0), 120, n_features, 4).astype(dtype)
    assert (_kmeans._wide_frame(X) is None) == (n_features == 7)
    how = {"n_resamples": 40, "random_state": 0, "resampling": Bootstrap(label)}
    batched = CoreClustering(KMeans(4, n_init=2), engine="batched", **how).fit(X)
    generic = CoreClustering(KMeans(4, n_init=2), engine="generic", **how).fit(X)
    assert batched.ensemble_ == generic.ensemble_


@pytest.mark.filterwarnings("ignore:Only .* of n_clusters")
def test_fewer_distinct_items_than_clusters():
    X = np.repeat(overlapping(np.random.default_rng(0), 12, 60, 3), 2, axis=0)
    how = {"n_resamples": 100, "random_state": 0, "alpha": 0.5}
    for k in (10, 14):
        batched, generic = (
            CoreClustering(KMeans(k, n_init=1), engine=engine, **how).fit(X).ensemble_
            for engine in ("batched", "generic")
        )
        np.testing.assert_array_equal(batched.cooccurrence_matrix(), generic.cooccurrence_matrix())


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_single_precision_data_is_not_copied(init, monkeypatch):
    X = overlapping(np.random.default_rng(0), 50, 60, 3).astype(np.float32)
    if init == "k-means++":
        assert KMeans(3)._labeler(X).args[0] is X
        assert KMeans(3)._labeler(X[:, :7].copy()).args[0].dtype == np.float32
    seen, best_of_runs = [], _lloyd_wide.best_of_runs

    def spy(data, *others):
        seen.append(data)
        return best_of_runs(data, *others)

    monkeypatch.setattr(_lloyd_wide, "best_of_runs", spy)
    single = KMeans(3, init=init, n_init=2, random_state=0).fit(X)
    assert all(np.shares_memory(data, X) for data in seen)
    assert len(seen) == (1 if init == "k-means++" else 2)
    double = KMeans(3, init=init, n_init=2, random_state=0).fit(X.astype(np.float64))
    np.testing.assert_array_equal(single.labels_, double.labels_)


def test_datasets_are_labeled_as_by_fit():
    rng = np.random.default_rng(0)
    datasets = np.stack([overlapping(rng, 60, 50, 3) for _ in range(4)])
    kmeans = KMeans(3, n_init=2)
    batch = kmeans.__coreclust_native__().label_datasets(50)(datasets, 10, np.arange(4))
    for dataset, seed, labels in zip(datasets, range(4), batch.labels, strict=True):
        expected = KMeans(3, n_init=2, random_state=seed).fit_predict(dataset)
        np.testing.assert_array_equal(labels, expected[:10])
    X = datasets[0]
    cc = CoreClustering(
        kmeans, resampling=KnownDistribution(X), n_resamples=2, engine="batched", random_state=0
    )
    assert cc.fit(X[:10]).engine_ == "batched"


@pytest.mark.parametrize("unit", [0.0, 1e-200, 1e160, 1e200])
def test_extreme_values_take_the_other_kernels(unit):
    X = overlapping(np.random.default_rng(0), 30, 60, 3) * unit
    assert _kmeans._wide_frame(X) is None
    if unit < 1:
        with pytest.warns(match="Only .* clusters have items"):
            KMeans(3, random_state=0).fit(X)
    else:
        with pytest.raises(ValueError, match="squares are too large"):
            KMeans(3, random_state=0).fit(X)
