"""Core clusters of single cells: from an AnnData object and back into it."""

from __future__ import annotations

import json
import random
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.neighbors import kneighbors_graph
from sklearn.utils import check_array

from coreclust._inspection.tables import item_strengths
from coreclust.core_clustering import CoreClustering
from coreclust.resampling import Subsample

if TYPE_CHECKING:
    from anndata import AnnData

WEAK = "weak"
TRIMMED = "trimmed"

_ONE_AT_A_TIME = threading.Lock()  # igraph has one generator of random numbers a process


@dataclass(frozen=True)
class Leiden:
    """Communities of the graph of nearest neighbors: a clustering function for cells.

    The graph joins every cell with its nearest neighbors; an edge weighs the share of
    neighbors that the two cells have in common. Needs the package igraph.

    Parameters
    ----------
    n_neighbors : int, default=15
    resolution : float, default=1.0
        More of it makes more and smaller clusters.
    n_iterations : int, default=2
        Of the Leiden algorithm.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.single_cell import Leiden
    >>> labels = Leiden(resolution=0.5)(load_iris().data, random_state=0)
    >>> labels.shape
    (150,)
    """

    n_neighbors: int = 15
    resolution: float = 1.0
    n_iterations: int = 2

    def __call__(self, Z: ArrayLike, random_state: int | None = None) -> NDArray[np.int64]:
        """Return the community of every cell."""
        igraph = _import_igraph()
        cells = check_array(Z, ensure_min_samples=2)
        n_neighbors = min(self.n_neighbors, len(cells) - 1)
        near = kneighbors_graph(cells, n_neighbors, include_self=False, mode="connectivity")
        shared = (near @ near.T).multiply(near.maximum(near.T)).tocoo()
        upper = shared.row < shared.col
        graph = igraph.Graph(
            n=len(cells), edges=np.column_stack([shared.row, shared.col])[upper].tolist()
        )
        weights = (shared.data[upper] / (2 * n_neighbors - shared.data[upper])).tolist()
        # igraph draws from one generator for all: Python's, of which it gets one of its own.
        with _ONE_AT_A_TIME:
            igraph.set_random_number_generator(random.Random(random_state))  # noqa: S311
            try:
                found = graph.community_leiden(
                    objective_function="modularity",
                    weights=weights,
                    resolution=self.resolution,
                    n_iterations=self.n_iterations,
                )
            finally:
                igraph.set_random_number_generator(random)
        return np.array(found.membership, dtype=np.int64)


def core_clustering(
    adata: AnnData,
    estimator: Any = None,
    *,
    use_rep: str = "X_pca",
    key_added: str = "core_cluster",
    resampling: Any = None,
    **parameters: Any,
) -> CoreClustering:
    """Find the core clusters of cells and write them into the object.

    Parameters
    ----------
    adata : AnnData
        Changed in place: ``adata.obs[key_added]`` gets the core of every cell as a category,
        "weak" for those in none; ``adata.obs[key_added + "_reference"]`` the cluster, "trimmed"
        for cells that the clusterer left out, and ``adata.obs[key_added + "_strength"]`` how
        often a cell sits with the others of its cluster. ``adata.uns[key_added]`` holds the
        parameters and the table of clusters.
    estimator : clusterer or callable, default=None
        None is :class:`Leiden` with its defaults.
    use_rep : str, default="X_pca"
        What of ``adata.obsm`` to cluster, or "X" for the matrix itself.
    key_added : str, default="core_cluster"
    resampling : scheme, default=None
        None is ``Subsample(0.8)``: duplicates, as a bootstrap has them, are nearest neighbors
        of each other.
    **parameters : object
        Of :class:`~coreclust.CoreClustering`: alpha, n_resamples, n_jobs, random_state, …

    Returns
    -------
    cc : CoreClustering
        Fitted.

    Examples
    --------
    >>> from anndata import AnnData
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.single_cell import Leiden, core_clustering
    >>> adata = AnnData(load_iris().data, obsm={"X_pca": load_iris().data})
    >>> cc = core_clustering(adata, Leiden(resolution=0.5), n_resamples=20, random_state=0)
    >>> adata.obs["core_cluster"].shape, "weak" in set(adata.obs["core_cluster"])
    ((150,), True)
    """
    X = _representation(adata, use_rep)
    cc = CoreClustering(
        Leiden() if estimator is None else estimator,
        resampling=Subsample(0.8) if resampling is None else resampling,
        **parameters,
    ).fit(X)
    names = np.asarray(cc.cluster_names_).astype(str)
    with config_context(transform_output="pandas"):  # what AnnData can hold
        clusters = cc.summary().astype({"cluster": str})
    adata.obs[key_added] = _categories(cc.labels_, names, WEAK)
    adata.obs[f"{key_added}_reference"] = _categories(cc.reference_labels_, names, TRIMMED)
    adata.obs[f"{key_added}_strength"] = item_strengths(cc)
    adata.uns[key_added] = {
        "params": {
            "use_rep": use_rep,
            "estimator": repr(cc.estimator),
            "resampling": repr(cc.resampling),
            "alpha": cc.alpha,
            "n_resamples": cc.n_resamples_,
            "random_state": json.dumps(cc.random_state, default=repr),
        },
        "clusters": clusters,
    }
    return cc


def _representation(adata: Any, use_rep: str) -> Any:
    if use_rep == "X":
        return adata.X
    if use_rep not in adata.obsm:
        known = ", ".join(sorted(adata.obsm)) or "nothing"
        raise ValueError(
            f"use_rep={use_rep!r} is not in adata.obsm, which has {known}; compute it first, "
            'or take use_rep="X".'
        )
    return np.asarray(adata.obsm[use_rep])


def _categories(labels: NDArray[np.int64], names: NDArray[np.str_], none: str) -> Any:
    """Return the names of clusters as a category, `none` where there is none."""
    import pandas as pd

    words = np.append(names.astype(object), none)[labels]
    known = [name for name in names.tolist() if name != none]
    return pd.Categorical(words, categories=[*known, none]).remove_unused_categories()


def _import_igraph() -> Any:
    try:
        import igraph
    except ImportError as error:
        raise ImportError(
            "Leiden needs the package igraph: pip install 'coreclust[single-cell]', or pass "
            "another estimator."
        ) from error
    return igraph
