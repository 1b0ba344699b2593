"""k-means of sparse data, and from random items."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.metrics import adjusted_rand_score

from coreclust import CoreClustering
from coreclust.cluster import KMeans, _lloyd_sparse
from coreclust.cluster._kmeans import _runner
from coreclust.cluster._starts import rows_of, run_from_random_items
from coreclust.resampling import Bootstrap, Subsample


def words(n_items=120, n_features=40, n_groups=4, seed=0, dtype=np.float64):
    """Counts of words; each group has words of its own."""
    rng = np.random.default_rng(seed)
    rates = np.full((n_groups, n_features), 0.05)
    rates[np.arange(n_features) % n_groups, np.arange(n_features)] = 1.5
    counts = rng.poisson(rates[rng.integers(n_groups, size=n_items)]).astype(dtype)
    return sparse.csr_array(counts)


def assert_same_partition(first, second):
    assert adjusted_rand_score(first, second) == 1.0


@given(
    seed=st.integers(0, 10**6),
    tol=st.sampled_from([0.0, 1e-2]),
    max_iter=st.sampled_from([1, 2, 300]),
    n_distinct=st.sampled_from([3, 1000]),
)
@settings(max_examples=60, deadline=None)
def test_same_answer_as_for_dense_data(seed, tol, max_iter, n_distinct):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(8, 60)), int(rng.integers(1, 6))
    Z = rng.normal(size=(n, 12)) * (rng.random((n, 12)) < 0.4)
    Z = Z[rng.integers(min(n, n_distinct), size=n)]  # few distinct rows leave clusters empty
    weights = rng.integers(1, 4, size=n).astype(float)
    kmeans = KMeans(k, n_init=2, tol=tol, max_iter=max_iter)
    given_settings = kmeans._settings(12)
    every = np.arange(n)
    dense, thin = (
        _runner(X)(every, weights, given_settings, seed) for X in (Z, sparse.csr_array(Z))
    )
    assert thin[2] == pytest.approx(dense[2], rel=1e-9, abs=1e-9)
    assert_same_partition(thin[0], dense[0])  # with equal rows, two numbers can be swapped
    np.testing.assert_allclose(thin[1][thin[0]], dense[1][dense[0]], atol=1e-9)


def test_same_inertia_as_scikit_learn_from_the_same_centers():
    X = words()
    init = X[[0, 30, 60, 90]].toarray()
    ours = KMeans(4, init=init).fit(X)
    theirs = SklearnKMeans(4, init=init, n_init=1, tol=0).fit(X)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scheme", [Bootstrap(), Bootstrap("all"), Subsample(0.7, label="all")])
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_both_engines_give_the_same_labels(dtype, scheme, init):
    X = words(dtype=dtype)
    batched, generic = (
        CoreClustering(
            KMeans(4, n_init=2, init=init),
            resampling=scheme,
            n_resamples=25,
            alpha=0.5,
            engine=engine,
            random_state=0,
        ).fit(X)
        for engine in ("batched", "generic")
    )
    assert batched.ensemble_ == generic.ensemble_
    np.testing.assert_array_equal(batched.labels_, generic.labels_)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_scikit_learns_kmeans_of_sparse_data_is_batched(kind):
    X = kind(words())
    cc = CoreClustering(SklearnKMeans(4), n_resamples=60, random_state=0).fit(X)
    assert cc.engine_ == "batched"
    dense = CoreClustering(SklearnKMeans(4), n_resamples=60, random_state=0).fit(X.toarray())
    assert_same_partition(cc.reference_labels_, dense.reference_labels_)
    np.testing.assert_allclose(
        cc.ensemble_.cooccurrence_matrix(), dense.ensemble_.cooccurrence_matrix(), atol=0.1
    )


def test_models_of_sparse_data_are_those_of_the_generic_engine():
    X = words()
    cc = CoreClustering(KMeans(4), n_resamples=30, keep_models=True, random_state=0).fit(X)
    assert cc.engine_ == "generic"
    found = cc.predict(X)
    assert (found[cc.labels_ >= 0] == cc.labels_[cc.labels_ >= 0]).mean() > 0.95


def test_entries_for_the_same_place_are_added_up():
    twice = sparse.csr_array((np.ones(4), [0, 0, 1, 1], [0, 2, 4]), shape=(2, 3))
    rows = rows_of(twice)
    assert rows.data.tolist() == [2.0, 2.0]
    assert twice.data.size == 4  # the data itself is left as it is
    labels = _lloyd_sparse.nearest_centers(rows, np.arange(2), np.array([[0.0, 2, 0], [2.0, 0, 0]]))
    assert labels.tolist() == [1, 0]


def test_sparse_data_is_not_made_dense(monkeypatch):
    def fail(self, *given, **more):
        raise AssertionError("made dense")

    for name in ("toarray", "todense"):
        monkeypatch.setattr(sparse.csr_array, name, fail)
    X = words()
    cc = CoreClustering(KMeans(4), n_resamples=60, random_state=0).fit(X)
    assert cc.engine_ == "batched"
    assert_same_partition(KMeans(4, random_state=0).fit(X).predict(X), cc.reference_labels_)


def test_values_that_cannot_be_squared_are_refused():
    with pytest.raises(ValueError, match="too large"):
        KMeans(2).fit(sparse.csr_array(1e200 * words().toarray()))


class TestRandomItems:
    def test_whole_weights_draw_like_copies(self):
        """The first centers of items with weights, and of their copies, have one distribution."""
        X = np.arange(4.0)[:, None]
        weights = np.array([1.0, 2.0, 3.0, 1.0])
        seen = []

        def run(items, weights, settings, seed):
            seen.append(settings.init.ravel())
            return np.zeros(items.size, int), settings.init, 0.0, 1

        how = KMeans(3, init="random", n_init=4000)._settings(1)
        run_from_random_items(run, X, np.arange(4), weights, how, 0)
        rng = np.random.default_rng(0)
        copies = np.repeat(X.ravel(), weights.astype(int))
        expected = [rng.choice(copies, 3, replace=False) for _ in range(4000)]
        for value in range(4):
            shares = [(np.array(drawn) == value).sum(axis=1).mean() for drawn in (seen, expected)]
            assert shares[0] == pytest.approx(shares[1], abs=0.05)  # four standard errors
        both_ones = [(np.array(drawn) == 1).sum(axis=1).max() for drawn in (seen, expected)]
        assert both_ones == [2, 2]

    def test_mean_inertia_is_that_of_scikit_learn(self):
        X = np.random.default_rng(0).normal(size=(150, 2))
        inertias = np.array(
            [
                [
                    kind(6, init="random", n_init=1, random_state=seed, tol=0).fit(X).inertia_
                    for kind in (KMeans, SklearnKMeans)
                ]
                for seed in range(200)
            ]
        )
        error = inertias.std(axis=0).max() / np.sqrt(200)
        assert abs(np.diff(inertias.mean(axis=0))[0]) < 4 * error

    @pytest.mark.parametrize("n_features", [2, 20])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_both_engines_give_the_same_labels(self, n_features, dtype):
        X = np.random.default_rng(0).normal(size=(60, n_features)).astype(dtype)
        for scheme in (Bootstrap(), Bootstrap("all")):
            batched, generic = (
                CoreClustering(
                    KMeans(5, init="random", n_init=2),
                    resampling=scheme,
                    n_resamples=25,
                    alpha=0.5,
                    engine=engine,
                    random_state=0,
                ).fit(X)
                for engine in ("batched", "generic")
            )
            assert batched.ensemble_ == generic.ensemble_

    def test_scikit_learns_is_batched_and_alike(self):
        X = np.random.default_rng(1).normal(size=(80, 2))
        batched, generic = (
            CoreClustering(
                SklearnKMeans(3, init="random", n_init=3),
                n_resamples=400,
                engine=engine,
                random_state=0,
            ).fit(X)
            for engine in ("auto", "generic")
        )
        assert (batched.engine_, generic.engine_) == ("batched", "generic")
        difference = (
            batched.ensemble_.cooccurrence_matrix() - generic.ensemble_.cooccurrence_matrix()
        )
        assert np.abs(difference).mean() < 0.04
        assert KMeans(3, init="random").fit(X).n_iter_ > 1
