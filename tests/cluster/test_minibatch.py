"""k-means by mini-batches, compared with scikit-learn's MiniBatchKMeans."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import MiniBatchKMeans
from sklearn.cluster._kmeans import _mini_batch_step
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coreclust import CoreClustering
from coreclust._sampling.native import _twin, batch_engine
from coreclust._sampling.threads import one_thread_in_worker
from coreclust._utils.jit import random_state_of
from coreclust.cluster import _minibatch
from coreclust.resampling import KnownDistribution, Subsample


def overlapping(seed, n=200, d=3, k=5):
    rng = np.random.default_rng(seed)
    return 2 * rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))


@given(seed=st.integers(0, 10**6), dtype=st.sampled_from([np.float64, np.float32]))
@settings(max_examples=50, deadline=None)
def test_a_step_is_that_of_scikit_learn(seed, dtype):
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(1, 6)), int(rng.integers(1, 9))
    X = rng.normal(size=(40, d)).astype(dtype)
    batch = rng.integers(40, size=int(rng.integers(1, 30)))
    centers = rng.normal(size=(k, d)).astype(dtype)
    counts = rng.integers(0, 9, size=k).astype(dtype)
    theirs, their_counts = centers.copy(), counts.copy()
    expected = _mini_batch_step(
        X[batch], np.ones(batch.size, dtype), centers, theirs, their_counts, None
    )
    ours, our_counts = np.empty((k, d)), counts.astype(float)
    labels = np.empty(batch.size, dtype=np.int64)
    inertia = _minibatch._assign(X, batch, centers.astype(float), labels)
    _minibatch._move(X, batch, labels, centers.astype(float), ours, our_counts)
    assert inertia == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(our_counts, their_counts)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_centers_that_saw_few_rows_are_replaced(seed):
    rng = np.random.default_rng(seed)
    k, size = int(rng.integers(2, 9)), int(rng.integers(1, 12))
    X = np.arange(100.0)[:, None] + 1000
    batch = rng.integers(100, size=size)
    before = rng.integers(0, 50, size=k).astype(float)
    before[rng.integers(k)] = 50.0
    counts, centers = before.copy(), np.arange(float(k))[:, None]
    _minibatch._replace(X, batch, centers, counts, 0.3, random_state_of(seed))
    few = np.flatnonzero(before < 0.3 * 50)
    changed = np.flatnonzero(centers[:, 0] >= 1000)
    assert set(changed) <= set(few)
    assert changed.size == min(few.size, size // 2)
    kept = np.setdiff1d(np.arange(k), changed)
    if changed.size < few.size:  # those that saw fewest
        assert before[changed].max(initial=0) <= before[np.setdiff1d(few, changed)].min()
    np.testing.assert_array_equal(counts[kept], before[kept])
    assert (counts[changed] == before[kept].min()).all()
    # Rows of the batch, each at most as often as it is in it.
    taken, n_taken = np.unique(centers[changed, 0] - 1000, return_counts=True)
    assert all((batch == row).sum() >= n for row, n in zip(taken, n_taken, strict=True))


def first_rows(X, n_clusters, random_state):
    return X[:n_clusters]


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"init": "random"},
        {"batch_size": 20, "max_iter": 3},
        {"batch_size": 30, "init_size": 40, "n_init": 3, "max_no_improvement": None, "max_iter": 2},
        {"batch_size": 50, "tol": 0.05, "max_no_improvement": 3},
        {"init": overlapping(0)[:5], "batch_size": 64, "reassignment_ratio": 0.5},
    ],
    ids=str,
)
def test_mean_and_spread_of_the_inertia_are_those_of_scikit_learn(how):
    X = overlapping(1)
    twin, rows = _twin(MiniBatchKMeans(5, **how)), np.arange(200)
    found = []
    for seed in range(150):
        with one_thread_in_worker():  # threads are slow for few rows
            theirs = MiniBatchKMeans(5, random_state=seed, **how).fit(X).inertia_
        centers = twin.centers_of(X, rows, seed)
        labels = _minibatch.label_rows(X, rows, centers)
        found.append((((X - centers[labels]) ** 2).sum(), theirs))
    ours, theirs = np.array(found).T
    error = np.sqrt((ours.var() + theirs.var()) / 150)
    assert abs(ours.mean() - theirs.mean()) < 4 * error
    assert 0.6 < (ours.std() + 1e-3) / (theirs.std() + 1e-3) < 1.7


def test_both_engines_agree():
    X = overlapping(2, n=120)
    for scheme in ("bootstrap", Subsample(0.7, label="all")):
        batched, generic = (
            CoreClustering(
                MiniBatchKMeans(3),
                n_resamples=300,
                resampling=scheme,
                engine=engine,
                random_state=0,
            ).fit(X)
            for engine in ("auto", "generic")
        )
        assert (batched.engine_, generic.engine_) == ("batched", "generic")
        difference = (
            batched.ensemble_.cooccurrence_matrix() - generic.ensemble_.cooccurrence_matrix()
        )
        assert np.abs(difference).mean() < 0.05


def test_models_pipelines_pairs_and_single_precision():
    X = overlapping(3, n=90, d=2, k=3)
    how = {"n_resamples": 40, "alpha": 0.5, "random_state": 0}
    cc = CoreClustering(MiniBatchKMeans(3), keep_models=True, **how).fit(X)
    assert cc.engine_ == "batched"
    core = cc.labels_ >= 0
    assert (cc.predict(X)[core] == cc.labels_[core]).mean() > 0.95
    for estimator, Z in [
        (make_pipeline(StandardScaler(), MiniBatchKMeans(3)), X),
        (MiniBatchKMeans(3), X.astype(np.float32)),
    ]:
        found = [CoreClustering(estimator, n_jobs=n, **how).fit(Z) for n in (1, 2)]
        assert found[0].engine_ == "batched"
        assert found[0].ensemble_ == found[1].ensemble_
    pairs = CoreClustering(MiniBatchKMeans(2), resampling=KnownDistribution(X), n_resamples=2)
    assert pairs.fit(X[:6]).engine_ == "batched"


@pytest.mark.parametrize(
    "how",
    [
        {"compute_labels": False},
        {"verbose": 1, "max_iter": 1},
        {"reassignment_ratio": 1.5, "max_iter": 1},
        {"init": first_rows, "n_init": 1},
    ],
    ids=["no labels", "verbose", "reassignments", "callable init"],
)
def test_unusual_parameters_take_the_generic_engine(how):
    assert _twin(MiniBatchKMeans(3, **how)) is None


def test_too_few_rows_and_wrong_centers():
    twin = _twin(MiniBatchKMeans(5))
    assert twin.centers_of(overlapping(0), np.arange(4), 0) is None
    assert batch_engine(MiniBatchKMeans(5), 1e200 * overlapping(0)) is None
    cc = CoreClustering(MiniBatchKMeans(3, init=np.zeros((3, 7)), n_init=1), n_resamples=20)
    with pytest.raises(ValueError, match="init"):
        cc.fit(overlapping(0))
