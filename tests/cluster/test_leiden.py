"""Leiden communities, and their graphs of nearest neighbors."""

import gc
import sys
import warnings

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import brentq
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from coreclust import CoreClustering
from coreclust._sampling.parallel import in_parallel
from coreclust._utils.constants import ABSENT
from coreclust._utils.seeds import ESTIMATOR, draw_random_states, seeds_of
from coreclust.cluster import Leiden, _leiden, _neighbors
from coreclust.resampling import Subsample

pytest.importorskip("igraph", reason="the extra graph is not installed")

COPIES = "a weight stands for copies that are no neighbors of each other"


@parametrize_with_checks(
    [Leiden(), Leiden(5, objective="CPM", resolution=0.1)],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": COPIES,
        "check_sample_weights_invariance": COPIES,
    },
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def cells(n_items=400, n_features=8, seed=0):
    return make_blobs(n_items, n_features, centers=5, cluster_std=2.5, random_state=seed)[0]


def slow_lists(X, drawn, n_neighbors):
    """The nearest neighbors of each drawn item among those drawn, by all distances."""
    Z = X[drawn]
    distances = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(-1))
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    return order, np.take_along_axis(distances, order, axis=1)


def slow_weights(distances):
    """The weights of one item: the bandwidth by root finding."""
    positive = distances[distances > 0]
    beyond = np.maximum(distances - (positive[0] if positive.size else 0), 0)
    target = np.log2(distances.size + 1)

    def excess(log_inverse):
        return np.exp(-beyond * np.exp(log_inverse)).sum() - target

    if not beyond.any():
        return np.ones_like(beyond)
    inverse = np.exp(brentq(excess, -50, 50)) if excess(50) < 0 else np.inf
    if distances.size <= target:  # one neighbor: any bandwidth will do
        inverse = 0
    least = 1e-3 * distances.sum() / (distances.size + 1)
    return np.exp(-beyond * min(inverse, 1 / least))


def as_matrix(edges, n_items):
    matrix = np.zeros((n_items, n_items))
    np.add.at(matrix, (edges.source, edges.target), edges.weight)
    return matrix + matrix.T


@given(
    n_items=st.integers(3, 40),
    n_listed=st.integers(1, 12),
    n_neighbors=st.integers(1, 8),
    share=st.floats(0.1, 1),
    digits=st.sampled_from([0, 12]),  # 0 gives ties and copies
    seed=st.integers(0, 10**6),
)
@settings(deadline=None)
def test_the_graph_of_a_resample_is_that_of_a_new_search(
    n_items, n_listed, n_neighbors, share, digits, seed
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_items, 3)).round(digits)
    drawn = np.sort(rng.permutation(n_items)[: max(2, round(share * n_items))])
    edges = _neighbors.neighbor_lists(X, n_listed).edges_within(drawn, n_neighbors)
    k = min(n_neighbors, drawn.size - 1)
    near, distances = slow_lists(X, drawn, k)
    if digits == 0:  # items at the same distance can take each other's place
        assert edges.source.size <= near.size
        assert (edges.weight >= 0).all()
        assert (edges.source != edges.target).all()
        return
    directed = np.zeros((drawn.size, drawn.size))
    directed[np.arange(drawn.size)[:, None], near] = [slow_weights(row) for row in distances]
    expected = 2 * (directed + directed.T - directed * directed.T)
    found = as_matrix(edges, drawn.size)
    np.testing.assert_allclose(found, expected, atol=2e-4)
    assert (np.unique([edges.source, edges.target], axis=1).shape[1]) == edges.source.size


def test_more_features_are_searched_for_by_comparing_all():
    X = np.random.default_rng(0).normal(size=(60, 20)).astype(np.float32)
    lists = _neighbors.neighbor_lists(X, 7)
    near, distances = slow_lists(X.astype(float), np.arange(60), 7)
    np.testing.assert_array_equal(lists.neighbors, near)
    np.testing.assert_allclose(lists.distances, distances)


@pytest.mark.slow
def test_approximate_neighbors_of_many_items(monkeypatch):
    pytest.importorskip("pynndescent", reason="the extra graph is not installed")
    X = cells(2000, 10)
    exact = _neighbors.neighbor_lists(X, 14).neighbors
    monkeypatch.setattr(_neighbors, "_MOST_EXACT", 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        approximate = _neighbors.neighbor_lists(X, 14)
    same = [np.intersect1d(*rows).size for rows in zip(exact, approximate.neighbors, strict=True)]
    assert np.mean(same) > 0.95 * 14
    assert (np.diff(approximate.distances) >= 0).all()


@pytest.mark.parametrize("objective", ["modularity", "CPM"])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("resampling", ["bootstrap", Subsample(0.8, rescale=False), Subsample(0.3)])
def test_both_engines_give_the_same_labels(objective, metric, resampling):
    X = cells()
    if metric == "precomputed":
        edges = _neighbors.neighbor_lists(X, 14).edges_within(np.arange(400), 14)
        X = sparse.csr_matrix(as_matrix(edges, 400))
    leiden = Leiden(objective=objective, resolution=0.3, metric=metric)
    batched, generic = (
        CoreClustering(
            leiden, n_resamples=12, resampling=resampling, engine=engine, random_state=0
        ).fit(X)
        for engine in ("batched", "generic")
    )
    assert batched.ensemble_ == generic.ensemble_
    np.testing.assert_array_equal(batched.reference_labels_, generic.reference_labels_)


def test_groups_that_are_left_out_are_searched_for_again():
    X = cells()
    groups = np.argsort(np.argsort(X[:, 0])) // 40  # of neighbors
    batched, generic = (
        CoreClustering(Leiden(), n_resamples=10, engine=engine, random_state=0).fit(
            X, groups=groups
        )
        for engine in ("batched", "generic")
    )
    assert batched.ensemble_ == generic.ensemble_


def test_processes_and_threads_give_the_same_labels():
    X = cells(300)
    alone = CoreClustering(Leiden(), n_resamples=20, random_state=0).fit(X)
    two = CoreClustering(Leiden(), n_resamples=20, random_state=0, n_jobs=2).fit(X)
    assert alone.ensemble_ == two.ensemble_
    with joblib.parallel_config(backend="threading", n_jobs=4):
        threads = CoreClustering(Leiden(), n_resamples=20, random_state=0).fit(X)
    assert alone.ensemble_ == threads.ensemble_


def are_mapped(graph, lists):
    arrays = (*graph.edges, lists.items, lists.neighbors, lists.distances)
    return [isinstance(array, np.memmap) for array in arrays]


@pytest.mark.filterwarnings("ignore::UserWarning:joblib")  # a worker that stopped
def test_processes_share_the_neighbors_and_the_graph():
    """Arrays of more than a megabyte are mapped, so that each is in memory once."""
    n_items, n_listed = 60_000, 40
    lists = _neighbors.NeighborLists(
        np.zeros((n_items, 3)),
        np.zeros((n_items, n_listed), dtype=np.int32),
        np.zeros((n_items, n_listed)),
    )
    edges = _neighbors.Edges(*(np.zeros(10**6, dtype) for dtype in (np.int32, np.int32, float)))
    graph = _leiden._PartOfGraph(edges)
    tasks = [(graph, lists)] * 2
    for mapped in in_parallel(are_mapped, iter(tasks), 2, threads=False):
        assert mapped == [True] * 6


def test_with_enough_neighbors_the_labels_are_those_of_a_new_search(monkeypatch):
    """Each resample takes its neighbors from the lists, and has the labels of a fit of its own."""
    X = cells(500)
    for share in (0.5, 0.8):
        with monkeypatch.context() as patch:
            patch.setattr(_leiden, "_LISTED", 6)
            cc = CoreClustering(
                Leiden(), alpha=0.9, resampling=Subsample(share), n_resamples=10, random_state=0
            ).fit(X)
        assert cc.engine_ == "batched"
        labels = cc.ensemble_.labels
        for resample in range(10):
            drawn = np.flatnonzero(labels[:, resample] != cc.ensemble_.ABSENT)
            n_neighbors = Leiden()._parameters_for(share)["n_neighbors"]
            seed = draw_random_states(seeds_of(0, resample, ESTIMATOR), 1)[0]
            new = Leiden(n_neighbors, random_state=seed).fit_predict(X[drawn])
            assert adjusted_rand_score(new, labels[drawn, resample]) == 1.0


def test_the_neighbors_are_searched_for_once(monkeypatch):
    X, searched = cells(), []
    nearest = _neighbors._nearest

    def count(Z, n_neighbors, rows=None):
        searched.append(len(Z) if rows is None else rows.size)
        return nearest(Z, n_neighbors, rows)

    monkeypatch.setattr(_neighbors, "_nearest", count)
    CoreClustering(Leiden(), resampling=Subsample(0.5), n_resamples=30, random_state=0).fit(X)
    assert searched == [400]
    gc.collect()
    assert not _neighbors._IN_USE  # nothing is kept after the fit


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 1])
def test_neighbors_are_scaled_by_the_share_of_items(share):
    leiden = Leiden(15)
    expected = 1 + max(3, round(14 * share))
    assert leiden._parameters_for(share) == {"n_neighbors": expected}
    assert Leiden(3)._parameters_for(share)["n_neighbors"] <= 3


def test_a_pipeline_scales_the_neighbors_too(monkeypatch):
    seen = []
    fit = Leiden.fit

    def spy(self, X, y=None, sample_weight=None):
        seen.append(self.n_neighbors)
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(Leiden, "fit", spy)
    pipeline = make_pipeline(StandardScaler(), Leiden())
    CoreClustering(pipeline, resampling=Subsample(0.5), n_resamples=9, random_state=0).fit(cells())
    assert seen == [15] + [8] * 9


def test_copies_multiply_the_weights_of_edges(monkeypatch):
    """The graph with weights has the strengths of the graph with copies."""
    given_weights = []

    class Graph:
        def __init__(self, n, edges):
            self.edges = list(edges)

        def community_leiden(self, **given):
            given_weights.append((given["weights"], given["node_weights"]))
            return type("Found", (), {"membership": [0, 0, 1]})

    igraph = type("igraph", (), {"Graph": Graph, "set_random_number_generator": lambda _: None})
    monkeypatch.setattr(_leiden, "import_igraph", lambda: igraph)
    edges = _neighbors.Edges(np.array([0, 1]), np.array([1, 2]), np.array([0.5, 2.0]))
    settings = Leiden(objective="CPM")._settings()
    labels = _leiden._communities(edges, 3, np.array([2.0, 3.0, 1.0]), settings, 0)
    assert given_weights == [([3.0, 6.0], [2.0, 3.0, 1.0])]
    assert labels.tolist() == [0, 0, 1]


def test_clusters_are_numbered_by_size():
    labels = Leiden(random_state=0).fit_predict(cells())
    assert (np.diff(np.bincount(labels)) <= 0).all()


def test_bootstrap_and_half_of_the_items_vary_alike():
    """Without weights, a bootstrap would be a subsample of 63 % and vary less."""
    X = cells(500, seed=3)
    agreement = []
    for resampling in ("bootstrap", Subsample(0.5)):
        cc = CoreClustering(
            Leiden(random_state=0), resampling=resampling, n_resamples=60, random_state=0
        ).fit(X)
        labels = cc.ensemble_.labels
        agreement.append(
            np.mean(
                [
                    adjusted_rand_score(cc.reference_labels_[seen], column[seen])
                    for column, seen in zip(labels.T, labels.T != ABSENT, strict=True)
                ]
            )
        )
    assert abs(agreement[0] - agreement[1]) < 0.05


def test_wrong_graphs_and_weights_are_named():
    X = cells(30)
    with pytest.raises(ValueError, match="must be a square matrix"):
        Leiden(metric="precomputed").fit(X)
    with pytest.raises(ValueError, match="must have no negative weights"):
        Leiden(metric="precomputed").fit(X @ X.T)
    with pytest.raises(ValueError, match="sample_weight must be positive"):
        Leiden().fit(X, sample_weight=np.arange(30))


def test_without_igraph_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(ImportError, match=r"coreclust\[graph\]"):
        Leiden().fit(cells(30))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("objective", ["modularity", "CPM"])
def test_graph_and_clusters_are_those_of_scanpy(objective):
    scanpy = pytest.importorskip("scanpy", reason="scanpy is not installed")
    adata = scanpy.datasets.pbmc68k_reduced()
    scanpy.pp.neighbors(adata, n_neighbors=15, use_rep="X_pca")
    X = np.ascontiguousarray(adata.obsm["X_pca"])
    edges = _neighbors.neighbor_lists(X, 14).edges_within(np.arange(700), 14)
    np.testing.assert_allclose(
        as_matrix(edges, 700), 2 * adata.obsp["connectivities"].toarray(), atol=1e-4
    )
    resolution = {"modularity": 0.5, "CPM": 0.02}[objective]
    scanpy.tl.leiden(
        adata,
        resolution=resolution,
        flavor="igraph",
        objective_function=objective,
        n_iterations=-1,
        random_state=0,
    )
    how = {"resolution": resolution, "objective": objective, "n_iterations": -1, "random_state": 0}
    ours = Leiden(15, **how).fit_predict(X)
    given = Leiden(metric="precomputed", **how).fit_predict(adata.obsp["connectivities"])
    assert adjusted_rand_score(adata.obs["leiden"], ours) > 0.95
    assert adjusted_rand_score(adata.obs["leiden"], given) > 0.95
