"""Finds the core clusters of the cells of an AnnData object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context

from coreclust.core_clustering import CoreClustering
from coreclust.resampling import Subsample
from coreclust.single_cell._leiden import Leiden

if TYPE_CHECKING:
    from anndata import AnnData

WEAK = "weak"
TRIMMED = "trimmed"


def core_clustering(
    adata: AnnData,
    estimator: Any = None,
    *,
    use_rep: str = "X_pca",
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
        parameters and the summary of the clusters.
    estimator : clusterer or callable, default=None
        None uses :class:`Leiden` with its defaults.
    use_rep : str, default="X_pca"
        The key of ``adata.obsm`` to cluster, or "X" for ``adata.X``.
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
    >>> from coreclust.single_cell import Leiden, core_clustering
    >>> adata = AnnData(load_iris().data, obsm={"X_pca": load_iris().data})
    >>> cc = core_clustering(adata, Leiden(resolution=0.5), n_resamples=100, random_state=0)
    >>> adata.obs["core_cluster"].shape, "weak" in set(adata.obs["core_cluster"])
    ((150,), True)
    """
    X = _representation(adata, use_rep)
    cc = CoreClustering(
        Leiden() if estimator is None else estimator,
        resampling=Subsample(0.5) if resampling is None else resampling,
        **parameters,
    ).fit(X)
    names = np.asarray(cc.cluster_names_).astype(str)
    with config_context(transform_output="pandas"):  # AnnData stores only pandas frames
        clusters = cc.summary().astype({"cluster": str})
    adata.obs[key_added] = _categories(cc.labels_, names, WEAK)
    adata.obs[f"{key_added}_reference"] = _categories(cc.reference_labels_, names, TRIMMED)
    adata.obs[f"{key_added}_strength"] = cc.strengths_
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
            'or pass use_rep="X".'
        )
    return np.asarray(adata.obsm[use_rep])


def _categories(labels: NDArray[np.int64], names: NDArray[np.str_], none: str) -> Any:
    """Return the cluster names of the items as a categorical, `none` for negative labels."""
    import pandas as pd

    words = np.append(names.astype(object), none)[labels]
    known = [name for name in names.tolist() if name != none]
    return pd.Categorical(words, categories=[*known, none]).remove_unused_categories()
