"""Chooses the resolution for the cells of an AnnData object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn import config_context

from coreclust.cluster import Leiden
from coreclust.model_selection import ClusterResolution
from coreclust.model_selection import select_resolution as select_from_array
from coreclust.model_selection._resolution import RESOLUTIONS
from coreclust.single_cell._anndata import column, graph_of, representation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anndata import AnnData


def select_resolution(
    adata: AnnData,
    resolutions: Iterable[float] = RESOLUTIONS,
    *,
    estimator: Any = None,
    use_rep: str = "X_pca",
    use_graph: str | None = None,
    groups: str | None = None,
    key_added: str = "core_resolution",
    **parameters: Any,
) -> ClusterResolution:
    """Choose the resolution at which the clusters of cells are more stable than chance.

    Parameters
    ----------
    adata : AnnData
        Changed in place. ``adata.uns[key_added]`` gets the table, the resolution and the reason.
    resolutions : iterable of float
        The resolutions to try.
    estimator : clusterer, default=None
        None uses :class:`~coreclust.cluster.Leiden`.
    use_rep : str, default="X_pca"
        The key of ``adata.obsm`` to cluster, or "X" for ``adata.X``.
    use_graph : str, default=None
        The key of a graph in ``adata.obsp`` that is clustered instead of `use_rep`. It is compared
        with rewired graphs. This is not recommended for a graph of neighbors; see the notes of
        :func:`coreclust.model_selection.select_resolution`.
    groups : str, default=None
        The key of ``adata.obs`` with the donor or batch of each cell. Donors are drawn as a whole.
    key_added : str, default="core_resolution"
        The name under which the results are stored.
    **parameters : object
        Passed to :func:`coreclust.model_selection.select_resolution`: n_nulls, n_jobs, …

    Returns
    -------
    found : ClusterResolution

    Examples
    --------
    >>> from anndata import AnnData
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.single_cell import select_resolution
    >>> adata = AnnData(load_iris().data, obsm={"X_pca": load_iris().data})
    >>> found = select_resolution(adata, [0.02, 0.1], random_state=0)
    >>> found.n_clusters[0]
    np.int64(2)
    >>> adata.uns["core_resolution"]["table"]["stable"].tolist() == found.stable.tolist()
    True
    """
    if estimator is None:
        estimator = Leiden(metric="euclidean" if use_graph is None else "precomputed")
    elif use_graph is not None and getattr(estimator, "metric", None) != "precomputed":
        raise ValueError(
            f"use_graph={use_graph!r} needs an estimator with metric='precomputed', got "
            f"{estimator!r}."
        )
    found = select_from_array(
        representation(adata, use_rep) if use_graph is None else graph_of(adata, use_graph),
        resolutions,
        estimator=estimator,
        groups=None if groups is None else column(adata, groups, "groups"),
        **parameters,
    )
    with config_context(transform_output="pandas"):  # AnnData stores only pandas frames
        table = found.table()
    adata.uns[key_added] = {
        "resolution": float("nan") if found.resolution is None else found.resolution,
        "reason": found.reason,
        "table": table,
    }
    return found
