import functools

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import pairwise_distances
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from coreclust._sampling.function import ClusteringFunction
from coreclust._sampling.native import takes_weights
from coreclust._utils.seeds import seeds_of


def test_kinds_are_recognized():
    def kind(estimator):
        return ClusteringFunction.of(estimator).kind

    assert kind(KMeans(3)) == "clusterer"
    assert kind(GaussianMixture(2)) == "clusterer"
    assert kind(make_pipeline(PCA(2), KMeans(2))) == "clusterer"
    assert kind(SVC()) == "classifier"
    assert kind(make_pipeline(PCA(2), SVC())) == "classifier"
    assert kind(lambda Z: Z) == "callable"
    assert kind(len) == "callable"
    assert kind(functools.partial(np.full, fill_value=0)) == "callable"


@pytest.mark.parametrize("wrong", [None, 3, "KMeans", LinearRegression(), PCA(2), [KMeans(3)]])
def test_what_is_no_clustering_function(wrong):
    with pytest.raises(TypeError, match="estimator must be a clusterer"):
        ClusteringFunction.of(wrong)


def test_a_class_is_not_an_instance():
    with pytest.raises(TypeError, match=r"got the class KMeans; pass KMeans\(\.\.\.\)"):
        ClusteringFunction.of(KMeans)


class Recorder(BaseEstimator):
    """Labels everything alike and remembers what it was given."""

    seen: list = []  # noqa: RUF012 - shared on purpose: clones are what is fitted

    def __init__(self, inner=None, random_state=None):
        self.inner = inner
        self.random_state = random_state

    def fit(self, X, y=None):
        return self

    def fit_predict(self, X, y=None):
        params = self.get_params(deep=True)
        self.seen.append({k: v for k, v in params.items() if k.endswith("random_state")})
        return np.zeros(len(X), int)


def test_every_nested_random_state_is_seeded_from_the_stream():
    Recorder.seen.clear()
    estimator = Recorder(make_pipeline(PCA(2, random_state=3), KMeans(2)), random_state=5)
    function = ClusteringFunction.of(estimator)
    X, rows = np.zeros((4, 2)), np.array([0, 0, 1, 3])
    for key in [(0, 1), (0, 1), (1, 1)]:
        function.label_resample(X, None, rows, seeds_of(0, *key))
    first, again, other = Recorder.seen
    assert set(first) == {
        "random_state",
        "inner__pca__random_state",
        "inner__kmeans__random_state",
    }
    assert first == again
    assert len(set(first.values())) == 3
    assert not set(first.values()) & set(other.values())
    assert all(0 <= seed < 2**31 for seed in first.values())
    assert estimator.random_state == 5  # the user's own is never touched


def test_the_reference_clustering_leaves_a_given_random_state_alone():
    Recorder.seen.clear()
    estimator = Recorder(make_pipeline(PCA(2, random_state=3), KMeans(2)), random_state=None)
    ClusteringFunction.of(estimator).label_all(np.zeros((4, 2)), None, seeds_of(0, 0))
    (seeds,) = Recorder.seen
    assert seeds["inner__pca__random_state"] == 3
    assert isinstance(seeds["random_state"], int)
    assert isinstance(seeds["inner__kmeans__random_state"], int)


def test_a_callable_with_a_random_state_gets_a_seed():
    seeds = []

    def f(Z, random_state=None):
        seeds.append(random_state)
        return np.zeros(len(Z), int)

    function = ClusteringFunction.of(f)
    for key in [(0, 1), (0, 1), (1, 1)]:
        function.label_resample(np.zeros(4), None, np.arange(4), seeds_of(0, *key))
    assert seeds[0] == seeds[1] != seeds[2]
    bound = ClusteringFunction.of(functools.partial(f, random_state=7))
    bound.label_resample(np.zeros(4), None, np.arange(4), seeds_of(0, 0, 1))
    assert seeds[3] == 7


def test_only_distinct_items_are_labeled_by_their_first_copy():
    rows = np.array([3, 1, 3, 0, 1])
    labels = np.array([10, 20, 99, 30, 98])  # 99 and 98: copies of items 3 and 1
    items, codes = ClusteringFunction.of(lambda Z: labels).label_resample(
        np.zeros(5), None, rows, seeds_of(0, 0, 1)
    )
    np.testing.assert_array_equal(items, [0, 1, 3])
    np.testing.assert_array_equal(codes[[2, 1, 0]], [0, 1, 2])


def random_resamples(n, count):
    rng = np.random.default_rng(11)
    return [rng.integers(0, n, n) for _ in range(count)]


def test_kmeans_with_multiplicities_equals_copies_from_the_same_centers(blobs):
    estimator = KMeans(3, init=blobs[[0, 25, 50]], n_init=1, tol=0)
    assert takes_weights(estimator, 10)
    for rows in random_resamples(60, 25):
        items, counts = np.unique(rows, return_counts=True)
        weighted = clone(estimator).fit(blobs[items], sample_weight=counts)
        copies = clone(estimator).fit(blobs[rows])
        np.testing.assert_allclose(weighted.inertia_, copies.inertia_, rtol=1e-10)
        np.testing.assert_array_equal(weighted.labels_, copies.predict(blobs[items]))


@pytest.mark.slow
def test_kmeans_with_multiplicities_seeds_like_copies():
    # k-means++ alone (no Lloyd step): how often is each item a center? 1500 runs each,
    # so the difference of two shares has a standard error of 0.018 at most; 0.08 is four.
    X = np.array([[0.0], [1.0], [4.0], [9.0]])
    counts = np.array([1, 3, 1, 2])
    shares = np.zeros((2, 4))
    for seed in range(1500):
        for way, (data, weight) in enumerate([(X, counts), (np.repeat(X, counts, 0), None)]):
            kmeans = KMeans(2, n_init=1, max_iter=1, tol=1e9, random_state=seed)
            kmeans.fit(data, sample_weight=weight)
            shares[way] += kmeans.predict(X) == kmeans.predict(X[:1])
    np.testing.assert_allclose(shares[0] / 1500, shares[1] / 1500, atol=0.08)


def test_multiplicities_only_where_they_are_known_to_be_equivalent(blobs):
    assert not takes_weights(KMeans(3, init="random"), 10)
    assert not takes_weights(KMeans(3, init=lambda X, k, random_state: X[:k]), 10)
    assert not takes_weights(KMeans(11), 10)
    assert not takes_weights(SVC(), 10)
    assert not takes_weights(DBSCAN(), 10)  # a border item goes by the order of rows

    class Subclass(KMeans):
        pass

    assert not takes_weights(Subclass(3), 10)


def test_precomputed_matrices_are_taken_on_both_axes(blobs):
    distances = pairwise_distances(blobs)
    for plain, precomputed in [
        (AgglomerativeClustering(3, linkage="complete"), "precomputed"),
        (DBSCAN(eps=1.0), "precomputed"),
    ]:
        given_data = ClusteringFunction.of(plain)
        given_distances = ClusteringFunction.of(clone(plain).set_params(metric=precomputed))
        assert given_distances.pairwise
        assert not given_data.pairwise
        for rows in random_resamples(60, 5):
            one = given_data.label_resample(blobs, None, rows, seeds_of(0, 0, 1))
            two = given_distances.label_resample(distances, None, rows, seeds_of(0, 0, 1))
            np.testing.assert_array_equal(one[1], two[1])


def test_a_precomputed_kernel_of_a_classifier(blobs):
    y = np.repeat([0, 1, 2], 20)
    kernel = blobs @ blobs.T
    plain = ClusteringFunction.of(SVC(kernel="linear"))
    precomputed = ClusteringFunction.of(SVC(kernel="precomputed"))
    for rows in random_resamples(60, 5):
        one = plain.label_resample(blobs, y, rows, seeds_of(0, 0, 1))
        two = precomputed.label_resample(kernel, y, rows, seeds_of(0, 0, 1))
        np.testing.assert_array_equal(one[1], two[1])


def test_a_classifier_labels_its_own_sample(blobs):
    y = np.array(["a", "b", "c"])[np.arange(60) % 3]  # no relation to the data
    function = ClusteringFunction.of(RandomForestClassifier(20, bootstrap=False))
    rows = random_resamples(60, 1)[0]
    items, codes = function.label_resample(blobs, y, rows, seeds_of(0, 0, 1))
    # Grown to purity on this very resample, a forest repeats the classes it was given.
    np.testing.assert_array_equal(codes, np.unique(y[items], return_inverse=True)[1])


def test_an_affinity_is_a_square_matrix_too():
    assert ClusteringFunction.of(SpectralClustering(affinity="precomputed")).pairwise
    assert ClusteringFunction.of(make_pipeline(DBSCAN(metric="precomputed"))).pairwise
    assert not ClusteringFunction.of(make_pipeline(PCA(), DBSCAN(metric="precomputed"))).pairwise
