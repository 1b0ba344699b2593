"""Tests of core clusters of single cells, on a dataset of scanpy."""

import warnings

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from coreclust import CoreClustering
from coreclust.cluster import KMeans, TrimmedKMeans
from coreclust.resampling import Subsample
from coreclust.single_cell import Leiden, core_clustering, select_resolution
from coreclust.single_cell._colors import GRAY, colors_of
from coreclust.stability import jaccard_stability

anndata = pytest.importorskip("anndata", reason="the extra single-cell is not installed")


@pytest.fixture(scope="module")
def cells():
    """700 blood cells, reduced to 50 principal components."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scanpy = pytest.importorskip("scanpy", reason="scanpy is not installed")
        return scanpy.datasets.pbmc68k_reduced()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:::anndata")
def test_cells_keep_their_cores_through_a_file(cells, tmp_path):
    adata = cells.copy()
    cc = core_clustering(adata, n_resamples=100, random_state=0)
    cores = adata.obs["core_cluster"]
    assert (np.asarray(cores) != "weak").sum() == cc.core_sample_indices_.size > 300
    named = np.asarray(cores) != "weak"
    assert (
        np.asarray(adata.obs["core_cluster_reference"])[named] == np.asarray(cores)[named]
    ).all()
    assert adata.obs["core_cluster_strength"].between(0, 1).all()
    # Cores agree with the cell types at least as well as the whole clusters do.
    types = np.asarray(adata.obs["bulk_labels"])
    whole = adjusted_rand_score(types, cc.reference_labels_)
    assert adjusted_rand_score(types[named], cc.labels_[named]) >= whole
    adata.write_h5ad(tmp_path / "cells.h5ad")
    back = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert (np.asarray(back.obs["core_cluster"]) == cores).all()
    assert back.uns["core_cluster"]["params"]["n_resamples"] == 100
    assert back.uns["core_cluster"]["clusters"]["n_core"].sum() == named.sum()


def test_it_is_a_core_clustering_of_the_representation(cells):
    adata = cells.copy()
    cc = core_clustering(
        adata, KMeans(6), key_added="k", resampling=Subsample(0.5), n_resamples=100, random_state=1
    )
    direct = CoreClustering(
        KMeans(6), resampling=Subsample(0.5), n_resamples=100, random_state=1
    ).fit(adata.obsm["X_pca"])
    np.testing.assert_array_equal(cc.labels_, direct.labels_)
    assert set(adata.obs["k"].cat.categories) <= {"0", "1", "2", "3", "4", "5", "weak"}


def test_a_missing_representation_is_named(cells):
    with pytest.raises(
        ValueError, match=r"use_rep='X_scvi' is not in adata\.obsm, which has X_pca"
    ):
        core_clustering(cells.copy(), use_rep="X_scvi")


@pytest.mark.filterwarnings("ignore")
def test_the_cores_of_the_users_own_clusters(cells):
    scanpy = pytest.importorskip("scanpy", reason="scanpy is not installed")
    adata = cells.copy()
    scanpy.pp.neighbors(adata, use_rep="X_pca")
    scanpy.tl.leiden(adata, resolution=0.7, flavor="igraph", n_iterations=3)
    settings = {"n_resamples": 60, "random_state": 0}
    cc = core_clustering(adata, reference="leiden", **settings)
    own = adata.obs["leiden"].astype(str).to_numpy()
    np.testing.assert_array_equal(cc.cluster_names_[cc.reference_labels_], own)
    inside = cc.labels_ >= 0
    assert inside.sum() > 200
    assert (adata.obs["core_cluster"].astype(str).to_numpy()[inside] == own[inside]).all()
    leiden = cc.estimator
    assert (leiden.metric, leiden.resolution, leiden.n_iterations) == ("precomputed", 0.7, 3)
    assert cc.engine_ == "batched"
    graph = core_clustering(adata, use_graph="connectivities", **settings)
    assert graph.estimator.resolution == 1
    vectors = core_clustering(adata, Leiden(resolution=0.7), reference="leiden", **settings)
    np.testing.assert_array_equal(vectors.reference_labels_, cc.reference_labels_)
    assert vectors.summary()["n_core"].sum() == (vectors.labels_ >= 0).sum()


def test_groups_of_cells_are_drawn_as_a_whole(cells):
    adata = cells.copy()
    adata.obs["donor"] = np.arange(700) % 20
    cc = core_clustering(adata, KMeans(4), groups="donor", n_resamples=40, random_state=0)
    first = cc.ensemble_.labels[:, 0] != cc.ensemble_.ABSENT
    assert set(np.unique(np.arange(700)[first] % 20)).isdisjoint(np.arange(700)[~first] % 20)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"use_graph": "none"}, r"use_graph='none' is not in adata\.obsp"),
        ({"reference": "none"}, r"reference='none' is not in adata\.obs"),
        ({"groups": "none"}, r"groups='none' is not in adata\.obs"),
        (
            {"use_graph": "connectivities", "estimator": KMeans(3)},
            r"needs an estimator with metric='precomputed', got KMeans",
        ),
    ],
)
def test_wrong_keys_are_named(cells, given, said):
    with pytest.raises(ValueError, match=said):
        core_clustering(cells.copy(), **given)


def labels_of(Z):
    return np.array(["weak", "b"])[(Z[:, 0] > 1).astype(int)]


@pytest.mark.filterwarnings("ignore:::anndata")
def test_trimmed_cells_and_clusters_of_any_name():
    X, _ = make_blobs(60, random_state=0)
    adata = anndata.AnnData(X, obsm={"X_pca": X})
    cc = core_clustering(adata, TrimmedKMeans(3, trim=0.1), n_resamples=100, random_state=0)
    assert repr(cc.resampling) == "Subsample(0.5)"  # which varies as much as the bootstrap
    assert (adata.obs["core_cluster_reference"] == "trimmed").sum() == 6
    with sklearn.config_context(transform_output="polars"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        core_clustering(adata, labels_of, n_resamples=40, random_state=0)
    assert set(adata.obs["core_cluster_reference"]) == {"weak", "b"}
    assert adata.uns["core_cluster"]["clusters"]["cluster"].tolist() == ["b", "weak"]


def simple_cells():
    X, groups = make_blobs(90, n_features=5, random_state=0)
    return anndata.AnnData(X, obsm={"X_pca": X}), groups


@pytest.mark.filterwarnings("ignore:::anndata")
def test_colors_and_tables_survive_a_file(tmp_path):
    adata, _ = simple_cells()
    core_clustering(adata, KMeans(5), n_resamples=100, random_state=0)
    found = select_resolution(adata, [0.1, 1.0], n_nulls=3, random_state=0)
    nothing = select_resolution(adata, [1.0], n_nulls=0, key_added="swept", random_state=0)
    assert nothing.resolution is None
    adata.write_h5ad(tmp_path / "cells.h5ad")
    back = anndata.read_h5ad(tmp_path / "cells.h5ad")
    for key in ("core_cluster", "core_cluster_reference"):
        colors = back.uns[f"{key}_colors"]
        shown = back.obs[key].cat.categories
        assert len(colors) == len(set(colors)) == shown.size
    weak = shown_colors(back, "core_cluster").pop("weak")
    assert weak == GRAY
    cores, clusters = (shown_colors(back, f"core_cluster{end}") for end in ("", "_reference"))
    assert {name: clusters[name] for name in cores if name != "weak"} == {
        name: color for name, color in cores.items() if name != "weak"
    }
    stored = back.uns["core_cluster"]["clusters"]
    assert stored["n_items"].sum() == 90
    assert stored.shape == adata.uns["core_cluster"]["clusters"].shape
    resolution = back.uns["core_resolution"]
    assert resolution["reason"] == found.reason
    assert resolution["table"]["n_clusters"].tolist() == found.n_clusters.tolist()
    assert np.isnan(back.uns["swept"]["resolution"])


def shown_colors(adata, key):
    return dict(zip(adata.obs[key].cat.categories, adata.uns[f"{key}_colors"], strict=True))


@pytest.mark.filterwarnings("ignore:::anndata")
def test_cores_have_the_colors_of_the_users_clusters():
    adata, groups = simple_cells()
    adata.obs["type"] = np.array(["T", "B", "NK"])[groups]
    adata.obs["type"] = adata.obs["type"].astype("category")
    adata.uns["type_colors"] = ["#010101", "#020202", "#030303"]  # of B, NK, T
    core_clustering(adata, KMeans(3), reference="type", n_resamples=60, random_state=0)
    expected = {"B": "#010101", "NK": "#020202", "T": "#030303", "weak": GRAY}
    shown = shown_colors(adata, "core_cluster")
    assert shown == {name: expected[name] for name in shown}
    assert len(shown) >= 3


def test_many_clusters_have_different_colors():
    names = [str(number) for number in range(60)]
    colors = colors_of([*names, "weak"], names, "weak", None, None)
    assert len(set(colors)) == 61
    assert all(len(color) == 7 and int(color[1:], 16) >= 0 for color in colors)


@pytest.mark.filterwarnings("ignore:::anndata")
def test_the_resolution_of_cells_from_vectors_or_a_graph():
    adata, _ = simple_cells()
    found = select_resolution(adata, [0.1], n_nulls=20, random_state=0)
    assert (found.resolution, found.null, found.n_clusters.tolist()) == (0.1, "gaussian", [3])
    near = Leiden(n_neighbors=15)
    adata.obsp["near"] = csr_matrix(
        kneighbors_graph(adata.obsm["X_pca"], near.n_neighbors, mode="connectivity")
    )
    graph = select_resolution(adata, [0.1], use_graph="near", n_nulls=3, random_state=0)
    assert graph.null == "rewired"
    with pytest.raises(ValueError, match=r"needs an estimator with metric='precomputed'"):
        select_resolution(adata, [0.1], use_graph="near", estimator=near)
    adata.obs["donor"] = np.arange(90) % 30
    donors = select_resolution(adata, [0.1], groups="donor", n_nulls=0, random_state=0)
    assert donors.measured["ambiguous_pairs"] != found.measured["ambiguous_pairs"] or (
        donors.n_clusters.tolist() == [3]
    )
    with pytest.raises(ValueError, match=r"groups='none' is not in adata\.obs"):
        select_resolution(adata, [0.1], groups="none")


@pytest.mark.parametrize(
    ("reference", "use_graph", "said"),
    [
        (None, None, "merge clusters 2 and 6"),
        (
            "louvain",
            None,
            "Clusters 0 and 9 are not shown to be two clusters: their cores got the same",
        ),
        ("louvain", "connectivities", "split cluster 0;"),
    ],
)
def test_clusters_that_do_not_return_are_named_in_words(cells, reference, use_graph, said):
    """A core can be stable while its cluster is merged with another in most resamples."""
    leiden = Leiden(metric="precomputed" if use_graph else "euclidean", resolution=1.0)
    cc = core_clustering(
        cells.copy(),
        leiden,
        reference=reference,
        use_graph=use_graph,
        n_resamples=200,
        random_state=0,
    )
    found = jaccard_stability(cc.ensemble_, cc.reference_labels_)
    lost = (found.mean_jaccard < 0.6) | (found.n_dissolved > 100)
    assert lost.any()
    summary = cc.summary()
    if reference == "louvain":  # these have stable cores, which said nothing about the cluster
        assert (summary["weak_fraction"].to_numpy() < 0.2)[lost].any()
    named = summary["finding"].str.contains("found again").to_numpy()
    assert named.tolist() == lost.tolist()
    text = repr(cc).replace("\n", " ")
    assert said in text
    numbers = [np.unique(column[column >= 0]).size for column in cc.ensemble_.labels.T]
    low, high, most = min(numbers), max(numbers), np.bincount(numbers).argmax()
    assert f"The resamples have {low} to {high} clusters, most often {most}; " in text


def test_the_settings_of_older_files_are_arrays_of_one_number(cells):
    adata = cells.copy()
    adata.uns["louvain"] = {"params": {"resolution": np.array([0.7]), "n_iterations": None}}
    cc = core_clustering(adata, reference="louvain", n_resamples=50, random_state=0)
    assert (cc.estimator.resolution, cc.estimator.n_iterations) == (0.7, Leiden().n_iterations)


@pytest.mark.filterwarnings("ignore:::anndata")
def test_only_the_resamples_are_clustered_if_a_reference_is_given(monkeypatch):
    adata, groups = simple_cells()
    adata.obs["type"] = np.array(["T", "B", "NK"])[groups]
    sizes, fit = [], Leiden.fit

    def count(self, X, y=None, sample_weight=None):
        sizes.append(X.shape[0])
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(Leiden, "fit", count)
    how = {"reference": "type", "n_resamples": 9, "engine": "generic", "random_state": 0}
    with pytest.warns(UserWarning, match="Use at least") as caught:
        cc = core_clustering(adata, Leiden(), **how)
    assert sizes == [45] * 9
    assert len(caught) == 1
    assert (
        cc.fit(adata.obsm["X_pca"]).n_clusters_
        == Leiden().fit(adata.obsm["X_pca"]).labels_.max() + 1
    )
    again = core_clustering(adata, make_pipeline(StandardScaler(), KMeans(4)), **how)
    assert again.cluster_names_.tolist() == ["B", "NK", "T"]
    check_is_fitted(again.estimator_[:-1])  # which the diagnosis needs
