"""Tests of the choice of the resolution."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import t as student
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coreclust import CoreClustering
from coreclust.cluster import Leiden, _neighbors
from coreclust.cluster._rewire import rewired_graph
from coreclust.metrics import weak_fraction
from coreclust.model_selection import select_resolution
from coreclust.model_selection._decision import single_gains
from coreclust.model_selection._null import gaussian_null
from coreclust.resampling import Subsample

igraph = pytest.importorskip("igraph", reason="the extra graph is not installed")


def groups_in(n_features, n_groups, n_items, rng, separation=6):
    centers = separation * rng.standard_normal((n_groups, n_features))
    return np.repeat(centers, n_items // n_groups, axis=0) + rng.standard_normal(
        (n_items, n_features)
    )


def planted_graph(n_groups, size, inside, outside, rng):
    """Return a graph with more edges inside of groups of consecutive items."""
    group = np.repeat(np.arange(n_groups), size)
    chance = np.where(group[:, None] == group, inside, outside)
    upper = np.triu(rng.random(chance.shape) < chance, 1)
    return sparse.csr_matrix((upper | upper.T).astype(float))


def test_the_range_of_resolutions_with_the_planted_groups_is_stable():
    X = groups_in(5, 4, 160, np.random.default_rng(0), separation=3)
    found = select_resolution(X, [0.001, 0.1, 0.3, 4.0], random_state=0)
    right = found.n_clusters == 4
    assert right.tolist() == [False, True, True, False]
    assert found.n_clusters[0] < 4 < found.n_clusters[3]
    assert found.stable[right].all()
    assert not found.stable[3]
    assert found.resolution in (0.1, 0.3)
    assert "its 4 clusters are stable beyond chance (" in found.reason
    assert "by the largest margin; so are those at " in found.reason
    planted = np.repeat(np.arange(4), 40)
    for labels in np.array(found.labels_)[right]:
        core = labels >= 0
        assert len(set(zip(labels[core].tolist(), planted[core].tolist(), strict=True))) == 4
        assert core.mean() > 0.95
    table = found.table()
    assert table.loc[table["recommended"], "resolution"].tolist() == [found.resolution]
    assert table["stable"].tolist() == found.stable.tolist()
    assert table["null_weak_fraction"].between(0, 1).all()


@pytest.mark.parametrize("n_features", [2, 10])
def test_one_gaussian_blob_is_not_stable(n_features):
    X = np.random.default_rng(1).standard_normal((150, n_features))
    found = select_resolution(X, [0.05, 0.3, 1.0, 2.0], random_state=0)
    assert found.resolution is None
    assert not found.stable.any()
    assert found.reason.startswith("No recommendation: ")
    # Not only because of the share of weak items.
    assert (found.p_value > 0.01)[found.n_clusters > 1].all()


def test_a_graph_with_planted_groups_is_stable_and_the_rewired_one_is_not():
    rng = np.random.default_rng(0)
    graph = planted_graph(4, 40, 0.4, 0.02, rng)
    options = {"estimator": Leiden(metric="precomputed"), "random_state": 0, "n_nulls": 6}
    found = select_resolution(graph, [0.01, 1.0], **options)
    assert found.null == "rewired"
    assert found.n_clusters.tolist() == [1, 4]
    assert found.stable.tolist() == [False, True]
    rewired = select_resolution(rewired_graph(graph, rng), [0.01, 1.0], **options)
    assert not rewired.stable.any()
    assert rewired.p_value[1] > 0.01


def test_the_neighbors_of_a_dataset_are_searched_for_once(monkeypatch):
    searched = []
    search = _neighbors._nearest

    def counted(X, n_neighbors, rows=None):
        if rows is None:
            searched.append(len(X))
        return search(X, n_neighbors, rows)

    monkeypatch.setattr(_neighbors, "_nearest", counted)
    X = groups_in(3, 3, 90, np.random.default_rng(0))
    select_resolution(X, [0.1, 0.2, 0.5], n_nulls=3, n_resamples=20, random_state=0)
    assert searched == [90] * 4  # the data and three null datasets


@pytest.mark.filterwarnings("ignore:.*seen.*:UserWarning")
def test_each_resolution_is_a_core_clustering_that_does_not_depend_on_the_others():
    X = groups_in(3, 3, 90, np.random.default_rng(0), separation=1.5)
    options = {"n_nulls": 3, "n_resamples": 60, "random_state": 3}
    found = select_resolution(X, [0.2, 0.5, 1.0], n_jobs=1, **options)
    again = select_resolution(X, [1.0, 0.5, 0.2, 0.5], n_jobs=2, **options)
    assert found.table().equals(again.table())
    alone = select_resolution(X, [0.5], **options)
    np.testing.assert_array_equal(alone.labels_[0], found.labels_[1])
    np.testing.assert_array_equal(alone.reference_labels_[0], found.reference_labels_[1])
    assert alone.p_value[0] == found.p_value[1]
    other = select_resolution(X, [0.5], **{**options, "random_state": 4})
    assert (other.null_measures["mean_jaccard"] != alone.null_measures["mean_jaccard"]).any()
    seed = int(np.random.SeedSequence(3, spawn_key=(2, 0)).generate_state(1)[0] >> 1)
    direct = CoreClustering(
        Leiden(resolution=0.5), resampling=Subsample(0.5), n_resamples=60, random_state=seed
    ).fit(X)
    np.testing.assert_array_equal(direct.labels_, alone.labels_[0])
    assert weak_fraction(direct.labels_) == alone.measured["weak_fraction"][0]


def test_a_sweep_without_null_data_recommends_nothing():
    X = groups_in(3, 3, 90, np.random.default_rng(0))
    found = select_resolution(X, [0.1, 1.0], n_nulls=0, random_state=0)
    assert found.resolution is None
    assert "n_nulls=0" in found.reason
    assert found.table()[["p_value", "null_weak_fraction"]].isna().all(axis=None)
    assert len(found.labels_) == 2


def test_too_many_weak_items_are_named():
    X = groups_in(2, 3, 150, np.random.default_rng(4), separation=2)
    found = select_resolution(X, [0.2], max_weak=0.0, random_state=0)
    assert found.p_value[0] <= 0.01
    assert found.resolution is None
    assert "of the items are weak; at most 0 % are allowed" in found.reason


def test_groups_are_drawn_as_a_whole(monkeypatch):
    given = []
    fit = CoreClustering.fit

    def noted(self, X, y=None, *, groups=None):
        given.append(groups)
        return fit(self, X, y, groups=groups)

    monkeypatch.setattr(CoreClustering, "fit", noted)
    X = groups_in(3, 3, 90, np.random.default_rng(0))
    donors = np.arange(90) % 30
    select_resolution(X, [0.1], groups=donors, n_nulls=3, random_state=0)
    assert len(given) == 4
    assert all(one is donors for one in given)


def test_a_pipeline_with_a_resolution():
    X = groups_in(3, 3, 90, np.random.default_rng(0))
    estimator = make_pipeline(StandardScaler(), Leiden())
    found, scaled = (
        select_resolution(items, [0.3], estimator=estimator, n_nulls=3, random_state=0)
        for items in (X, X * [1, 64, 1])
    )
    np.testing.assert_array_equal(found.labels_[0], scaled.labels_[0])
    assert estimator.get_params()["leiden__resolution"] == 1  # not changed


class OneCluster(ClusterMixin, BaseEstimator):
    """Puts all items into one cluster, at any resolution."""

    def __init__(self, resolution=1.0):
        self.resolution = resolution

    def fit(self, X, y=None):
        self.labels_ = np.zeros(len(X), dtype=int)
        return self


def test_a_single_cluster_shows_no_structure():
    X = groups_in(3, 3, 90, np.random.default_rng(0))
    found = select_resolution(X, [0.1, 1], estimator=OneCluster(), n_nulls=3, random_state=0)
    assert found.measured["weak_fraction"].tolist() == [1, 1]
    assert not found.stable.any()
    assert "one cluster at every resolution" in found.reason


@given(
    st.integers(4, 12),
    st.floats(0.1, 0.9),
    st.integers(0, 99),
)
@settings(max_examples=30)
def test_a_rewired_graph_has_the_same_degrees_and_weights(n_items, density, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(
        np.where(rng.random((n_items, n_items)) < density, rng.random((n_items,) * 2), 0), 1
    )
    graph = upper + upper.T
    drawn = rewired_graph(sparse.csr_matrix(graph), np.random.default_rng(seed)).toarray()
    again = rewired_graph(sparse.csr_matrix(graph), np.random.default_rng(seed)).toarray()
    np.testing.assert_array_equal(drawn, again)
    np.testing.assert_array_equal(drawn, drawn.T)
    assert not drawn.diagonal().any()
    np.testing.assert_array_equal((drawn > 0).sum(axis=0), (graph > 0).sum(axis=0))
    np.testing.assert_allclose(np.sort(drawn[drawn > 0]), np.sort(graph[graph > 0]))


def test_rewiring_destroys_planted_groups():
    rng = np.random.default_rng(0)
    graph = planted_graph(2, 50, 0.4, 0.0, rng)
    across = rewired_graph(graph, rng)[:50, 50:].sum()
    assert 0.4 < 2 * across / graph.sum() < 0.6


def test_gaussian_null_data_has_the_mean_and_covariance_of_the_data():
    rng = np.random.default_rng(0)
    X = groups_in(3, 3, 3000, rng) @ rng.standard_normal((3, 4)) + 5  # of rank 3
    drawn = gaussian_null(X, rng)
    spread = np.sqrt(np.diag(np.cov(X.T)))
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.1 * spread.max())
    np.testing.assert_allclose(
        np.cov(drawn.T) / np.outer(spread, spread), np.corrcoef(X.T), atol=0.1
    )
    assert np.linalg.matrix_rank(drawn - drawn.mean(axis=0)) == 3


@given(st.lists(st.floats(0, 1), min_size=4, max_size=8), st.integers(5, 500))
def test_single_gains_follow_the_definition(shares, n_items):
    data, *null = np.arcsin(np.sqrt(shares))
    spread = max(np.std(null, ddof=1), 0.5 / np.sqrt(n_items)) * np.sqrt(1 + 1 / len(null))
    expected = student.sf((np.mean(null) - data) / spread, len(null) - 1)
    for less, values in ((True, np.array(shares)), (False, 1 - np.array(shares))):
        gain, p_value = single_gains(values[:1], values[1:, None], n_items, less_is_better=less)
        np.testing.assert_allclose(gain, np.mean(null) - data, atol=1e-7)
        np.testing.assert_allclose(p_value, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"estimator": SklearnKMeans()}, ValueError, "KMeans has none"),
        ({"estimator": "leiden"}, TypeError, "estimator must be a clusterer with a parameter res"),
        ({"estimator": Leiden}, TypeError, "estimator must be a clusterer with a parameter res"),
        ({"resolutions": []}, ValueError, "resolutions must hold numbers above 0"),
        ({"resolutions": [0]}, ValueError, "resolutions must hold numbers above 0"),
        ({"resolutions": [np.inf]}, ValueError, "resolutions must hold numbers above 0"),
        ({"resolutions": ["1"]}, ValueError, "resolutions must hold numbers above 0"),
        ({"criterion": "silhouette"}, ValueError, "criterion must be one of"),
        ({"null": "rewired"}, ValueError, "for vectors, got 'rewired'"),
        (
            {"null": "gaussian", "estimator": Leiden(metric="precomputed")},
            ValueError,
            "for a graph, got 'gaussian'",
        ),
        ({"n_nulls": 2}, ValueError, "n_nulls must be 3 or more, or 0"),
        ({"level": 0}, ValueError, "level"),
        ({"max_weak": 1.5}, ValueError, "max_weak"),
        ({"X": np.full((30, 2), np.nan)}, ValueError, "NaN"),
    ],
)
def test_wrong_arguments_are_refused_before_any_work(changes, error, message, monkeypatch):
    monkeypatch.setattr(CoreClustering, "fit", lambda *_: pytest.fail("fit was called"))
    arguments = {"X": np.eye(30), "resolutions": [1.0]} | changes
    with pytest.raises(error, match=message):
        select_resolution(**arguments)
