import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage, linkage
from scipy.spatial.distance import cdist
from sklearn.utils.estimator_checks import parametrize_with_checks

from coreclust.cluster import HierarchicalClustering

LINKAGES = ["single", "complete", "average", "ward"]


@parametrize_with_checks([HierarchicalClustering(3), HierarchicalClustering(3, linkage="ward")])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def same_partition(a, b):
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


def random_data(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 60)
    return (
        rng.normal(size=(n, rng.integers(1, 6))),
        rng.integers(1, 4, size=n),
        rng.integers(1, n + 1),
    )


@pytest.mark.parametrize("method", LINKAGES)
def test_same_tree_and_partition_as_scipy(method):
    for seed in range(200):
        X, _, k = random_data(seed)
        ours = HierarchicalClustering(k, linkage=method).fit(X)
        expected = linkage(X, method)
        np.testing.assert_allclose(ours.distances_, expected[:, 2], rtol=1e-9)
        np.testing.assert_allclose(ours.to_linkage(), expected, rtol=1e-9)
        assert same_partition(ours.labels_, fcluster(expected, k, "maxclust"))
        assert is_valid_linkage(ours.to_linkage())


@pytest.mark.parametrize("method", LINKAGES)
def test_multiplicities_equal_really_duplicated_rows(method):
    for seed in range(200):
        X, counts, k = random_data(seed)
        weighted = HierarchicalClustering(k, linkage=method).fit(X, sample_weight=counts)
        copies = fcluster(linkage(np.repeat(X, counts, axis=0), method), k, "maxclust")
        first = np.cumsum(counts) - counts
        assert same_partition(weighted.labels_, copies[first])


@pytest.mark.parametrize("metric", ["cityblock", "cosine", "chebyshev", "correlation"])
def test_any_metric_of_scipy(metric):
    X = np.random.default_rng(0).random((40, 4))
    ours = HierarchicalClustering(4, linkage="average", metric=metric).fit(X)
    expected = fcluster(linkage(X, "average", metric), 4, "maxclust")
    assert same_partition(ours.labels_, expected)
    given = HierarchicalClustering(4, linkage="average", metric="precomputed")
    distances = cdist(X, X, metric)
    distances = (distances + distances.T) / 2
    np.fill_diagonal(distances, 0)
    before = distances.copy()
    assert same_partition(given.fit_predict(distances), expected)
    np.testing.assert_array_equal(distances, before)


def test_a_callable_metric():
    X = np.random.default_rng(0).random((20, 3))
    ours = HierarchicalClustering(3, metric=lambda a, b: abs(a - b).max()).fit_predict(X)
    np.testing.assert_array_equal(
        ours, HierarchicalClustering(3, metric="chebyshev").fit_predict(X)
    )


def test_ties_are_broken_the_same_way_every_time():
    X = np.random.default_rng(0).integers(0, 3, size=(60, 2)).astype(float)
    for method in LINKAGES:
        one = HierarchicalClustering(4, linkage=method).fit(X)
        two = HierarchicalClustering(4, linkage=method).fit(X.copy())
        np.testing.assert_array_equal(one.labels_, two.labels_)
        np.testing.assert_array_equal(one.children_, two.children_)
        np.testing.assert_allclose(
            np.sort(one.distances_)[-3:], linkage(X, method)[-3:, 2], rtol=0.5
        )


def test_clusters_are_numbered_by_their_first_item():
    X = np.array([[5.0], [0.0], [5.1], [9.0]])
    np.testing.assert_array_equal(HierarchicalClustering(3).fit_predict(X), [0, 1, 0, 2])


def test_extremes():
    X = np.random.default_rng(0).random((7, 2))
    assert HierarchicalClustering(1).fit_predict(X).tolist() == [0] * 7
    assert HierarchicalClustering(7).fit_predict(X).tolist() == list(range(7))
    assert HierarchicalClustering(2).fit_predict(np.ones((5, 2))).max() == 1
    infinite = np.full((4, 4), np.finfo(float).max)
    np.fill_diagonal(infinite, 0)
    labels = HierarchicalClustering(2, metric="precomputed").fit_predict(infinite)
    assert set(labels) == {0, 1}


@pytest.mark.parametrize(
    ("params", "X", "message"),
    [
        ({"n_clusters": 9}, np.zeros((3, 2)), "n_clusters=9 must not exceed .* n_samples=3"),
        ({"linkage": "median"}, np.zeros((3, 2)), "'linkage' parameter"),
        ({"metric": "nonsense"}, np.zeros((3, 2)), "nonsense"),
        ({"linkage": "ward", "metric": "cosine"}, np.ones((3, 2)), "needs metric='euclidean'"),
        ({"metric": "precomputed"}, np.zeros((3, 2)), "X must be a symmetric square matrix"),
        ({"metric": "precomputed"}, [[0, 1], [2, 0]], "X must be a symmetric square matrix"),
        ({"metric": "precomputed"}, [[0, -1], [-1, 0]], "none negative"),
        ({"metric": "precomputed"}, [[1, 1], [1, 1]], "0 on the diagonal"),
    ],
)
def test_bad_input(params, X, message):
    with pytest.raises(ValueError, match=message):
        HierarchicalClustering(**params).fit(X)


def distance_to_cluster(x, members, weights, method):
    """Distance of an item to a cluster, by the definition of the linkage."""
    if method == "ward":
        return np.linalg.norm(x - np.average(members, axis=0, weights=weights))
    distances = np.linalg.norm(members - x, axis=1)
    if method == "average":
        return np.average(distances, weights=weights)
    return distances.min() if method == "single" else distances.max()


@pytest.mark.parametrize("method", LINKAGES)
def test_items_of_weight_zero_get_a_label_but_do_not_change_the_tree(method):
    for seed in range(50):
        rng = np.random.default_rng([1, seed])
        X = rng.normal(size=(30, 3))
        weights = rng.integers(0, 4, size=30)
        counted = weights > 0
        found = HierarchicalClustering(4, linkage=method).fit(X, sample_weight=weights)
        without = HierarchicalClustering(4, linkage=method)
        without.fit(X[counted], sample_weight=weights[counted])
        np.testing.assert_array_equal(found.children_, without.children_)
        np.testing.assert_array_equal(found.to_linkage(), without.to_linkage())
        np.testing.assert_array_equal(found.labels_[counted], without.labels_)
        for item in np.flatnonzero(~counted):
            distances = [
                distance_to_cluster(X[item], X[inside], weights[inside], method)
                for inside in (counted & (found.labels_ == label) for label in range(4))
            ]
            assert found.labels_[item] == np.argmin(distances)
        given = HierarchicalClustering(4, linkage=method, metric="precomputed")
        given.fit(cdist(X, X), sample_weight=weights)
        np.testing.assert_array_equal(given.labels_, found.labels_)


def test_clusters_need_items_of_positive_weight():
    with pytest.raises(ValueError, match=r"must not exceed .* positive weight, n_samples=2"):
        HierarchicalClustering(3).fit(np.zeros((3, 2)), sample_weight=[1, 0, 1])
    alone = HierarchicalClustering(1).fit(np.eye(3), sample_weight=[0, 1, 0])
    assert alone.labels_.tolist() == [0, 0, 0]


def test_items_without_a_distance_are_refused():
    X = np.array([[0.0, 0], [1, 0], [1, 0.1], [0, 1]])
    with pytest.raises(ValueError, match="X has rows without a distance for metric='cosine'"):
        HierarchicalClustering(2, linkage="average", metric="cosine").fit(X)
