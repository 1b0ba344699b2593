"""Finds the core clusters of the cells of an AnnData object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn import config_context

from coreclust._utils.validation import encode_labels
from coreclust.cluster import Leiden
from coreclust.core_clustering import CoreClustering
from coreclust.resampling import Subsample
from coreclust.single_cell._colors import colors_of

if TYPE_CHECKING:
    from anndata import AnnData

WEAK = "weak"
TRIMMED = "trimmed"
_GRAPH = "connectivities"  # where scanpy stores the graph of neighbors


def core_clustering(
    adata: AnnData,
    estimator: Any = None,
    *,
    use_rep: str = "X_pca",
    use_graph: str | None = None,
    reference: str | None = None,
    groups: str | None = None,
    key_added: str = "core_cluster",
    resampling: Any = None,
    **parameters: Any,
) -> CoreClustering:
    """Find the core clusters of cells and write them into the AnnData object.

    Parameters
    ----------
    adata : AnnData
        Changed in place. ``adata.obs[key_added]`` gets the core of every cell as a category,
        "weak" for cells in no core; ``adata.obs[key_added + "_reference"]`` gets the cluster,
        "trimmed" for cells in no cluster; ``adata.obs[key_added + "_strength"]`` gets how often
        a cell is together with the other cells of its cluster. ``adata.uns[key_added]`` gets the
        parameters and the summary of the clusters. ``adata.uns[key_added + "_colors"]``
        gets the colors for scanpy's plots: those of `reference` if it has any, and gray for weak
        cells.
    estimator : clusterer or callable, default=None
        None uses :class:`~coreclust.cluster.Leiden`, with the resolution and the number of
        iterations of `reference` if scanpy stored them in ``adata.uns``.
    use_rep : str, default="X_pca"
        The key of ``adata.obsm`` to cluster, or "X" for ``adata.X``.
    use_graph : str, default=None
        The key of a graph in ``adata.obsp`` that is clustered instead of `use_rep`, such as
        "connectivities". An `estimator` must then have ``metric="precomputed"``. With a `reference`
        and neither an `estimator` nor `use_graph`, "connectivities" is used if it is there.
    reference : str, default=None
        The key of clusters in ``adata.obs``, such as "leiden". Their cores are found, instead of
        those of a new clustering of the cells.
    groups : str, default=None
        The key of ``adata.obs`` with the donor or batch of each cell. Donors are drawn as a whole.
    key_added : str, default="core_cluster"
        The name under which the results are stored.
    resampling : scheme, default=None
        None uses ``Subsample(0.5)``. A bootstrap is not recommended, because its duplicates are
        nearest neighbors of each other.
    **parameters : object
        Passed to :class:`~coreclust.CoreClustering`: alpha, n_resamples, n_jobs, random_state, …

    Returns
    -------
    cc : CoreClustering
        The fitted estimator.

    Examples
    --------
    >>> from anndata import AnnData
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.cluster import Leiden
    >>> from coreclust.single_cell import core_clustering
    >>> adata = AnnData(load_iris().data, obsm={"X_pca": load_iris().data})
    >>> cc = core_clustering(adata, Leiden(resolution=0.5), n_resamples=100, random_state=0)
    >>> adata.obs["core_cluster"].shape, "weak" in set(adata.obs["core_cluster"])
    ((150,), True)
    """
    if reference is not None and estimator is None and use_graph is None:
        use_graph = _GRAPH if _GRAPH in adata.obsp else None
    X = representation(adata, use_rep) if use_graph is None else graph_of(adata, use_graph)
    if estimator is None:
        metric = "euclidean" if use_graph is None else "precomputed"
        estimator = Leiden(metric=metric, **_settings_of(adata, reference))
    elif use_graph is not None and getattr(estimator, "metric", None) != "precomputed":
        raise ValueError(
            f"use_graph={use_graph!r} needs an estimator with metric='precomputed', got "
            f"{estimator!r}."
        )
    labels = None if reference is None else encode_labels(column(adata, reference), "reference")
    cc = CoreClustering(
        estimator, resampling=Subsample(0.5) if resampling is None else resampling, **parameters
    )
    cc._given_reference = labels
    cc.fit(X, groups=None if groups is None else column(adata, groups, "groups"))
    del cc._given_reference  # it is not for other data
    names = np.asarray(cc.cluster_names_).astype(str)
    with config_context(transform_output="pandas"):  # AnnData stores only pandas frames
        clusters = cc.summary().astype({"cluster": str})
    adata.obs[key_added] = _categories(cc.labels_, names, WEAK)
    adata.obs[f"{key_added}_reference"] = _categories(cc.reference_labels_, names, TRIMMED)
    adata.obs[f"{key_added}_strength"] = cc.strengths_
    for key, none in ((key_added, WEAK), (f"{key_added}_reference", TRIMMED)):
        shown = adata.obs[key].cat.categories.tolist()
        adata.uns[f"{key}_colors"] = colors_of(shown, names.tolist(), none, adata, reference)
    adata.uns[key_added] = {
        "params": {
            "use_rep": use_rep,
            "use_graph": use_graph or "",
            "reference": reference or "",
            "estimator": repr(cc.estimator),
            "resampling": repr(cc.resampling),
            "alpha": cc.alpha,
            "n_resamples": cc.n_resamples_,
            "random_state": json.dumps(cc.random_state, default=repr),
        },
        "clusters": clusters,
    }
    return cc


def representation(adata: Any, use_rep: str) -> Any:
    """Return the matrix to cluster."""
    if use_rep == "X":
        return adata.X
    if use_rep not in adata.obsm:
        known = ", ".join(sorted(adata.obsm)) or "nothing"
        raise ValueError(
            f"use_rep={use_rep!r} is not in adata.obsm, which has {known}; compute it first, "
            'or pass use_rep="X".'
        )
    return np.asarray(adata.obsm[use_rep])


def graph_of(adata: Any, use_graph: str) -> Any:
    """Return a graph between the cells."""
    if use_graph not in adata.obsp:
        known = ", ".join(sorted(adata.obsp)) or "nothing"
        raise ValueError(
            f"use_graph={use_graph!r} is not in adata.obsp, which has {known}; call "
            "scanpy.pp.neighbors first."
        )
    return csr_matrix(adata.obsp[use_graph])


def column(adata: Any, key: str, name: str = "reference") -> NDArray[Any]:
    """Return a column of adata.obs, as strings if it is a categorical."""
    if key not in adata.obs:
        known = ", ".join(map(str, adata.obs.columns)) or "nothing"
        raise ValueError(f"{name}={key!r} is not in adata.obs, which has {known}.")
    values = adata.obs[key]
    if values.isna().any():
        raise ValueError(f"{name}={key!r} has missing values in adata.obs; fill them or drop them.")
    return np.asarray(values.astype(str) if values.dtype.kind == "O" else values)


def _settings_of(adata: Any, reference: str | None) -> dict[str, Any]:
    """Return the parameters of Leiden that scanpy stored beside its clusters."""
    stored = adata.uns.get(reference)
    stored = stored.get("params", {}) if isinstance(stored, Mapping) else {}
    found = {name: stored[name] for name in ("resolution", "n_iterations") if name in stored}
    kinds = {"resolution": float, "n_iterations": int}
    # Older files hold arrays of one number.
    return {
        name: kinds[name](np.asarray(value).item())
        for name, value in found.items()
        if value is not None
    }


def _categories(labels: NDArray[np.int64], names: NDArray[np.str_], none: str) -> Any:
    """Return the cluster names of the items as a categorical, `none` for negative labels."""
    import pandas as pd

    words = np.append(names.astype(object), none)[labels]
    known = [name for name in names.tolist() if name != none]
    return pd.Categorical(words, categories=[*known, none]).remove_unused_categories()
