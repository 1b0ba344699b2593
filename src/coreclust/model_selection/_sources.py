"""Tells how much of the instability comes from the algorithm and how much from sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from coreclust._utils.seeds import draw_seed
from coreclust.core_clustering import CoreClustering
from coreclust.resampling import Reseed


def instability_sources(
    core_clustering: CoreClustering, X: Any, y: Any = None, *, groups: Any = None
) -> Any:
    """Split the instability of clusters into that of the algorithm and that of sampling.

    The data is clustered twice: with the given resampling scheme, which changes the items and the
    seeds, and with :class:`~coreclust.resampling.Reseed`, which changes only the seeds. The
    instability of an item is how often it is apart from the other items of its cluster, that is,
    1 minus its strength.

    Parameters
    ----------
    core_clustering : CoreClustering
        The estimator and its settings. It is cloned, so it is not changed. A checkpoint is used
        only for the given scheme.
    X, y, groups
        As for :meth:`CoreClustering.fit <coreclust.CoreClustering.fit>`.

    Returns
    -------
    sources : DataFrame
        One row per cluster, and a last row named "all" for all clustered items. The columns are
        `cluster`, `n_items`, `total` (mean instability of the items with the given scheme),
        `algorithm` (with other seeds only), `sampling` (the difference, which can be slightly
        negative by chance), `n_weak` and `n_weak_algorithm` (items in no core, with the given
        scheme and with other seeds only).

    Notes
    -----
    If `algorithm` is large, use more starts, a better initialization or another algorithm. If
    `sampling` is large, the data does not determine the clusters: use fewer clusters, other
    features or more items.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.cluster import HierarchicalClustering
    >>> from coreclust.model_selection import instability_sources
    >>> cc = CoreClustering(HierarchicalClustering(3), n_resamples=100, random_state=0)
    >>> table = instability_sources(cc, load_iris().data)
    >>> table["cluster"].tolist(), float(table["algorithm"].max())
    ([0, 1, 2, 'all'], 0.0)
    """
    import pandas as pd

    if not isinstance(core_clustering, CoreClustering):
        raise TypeError(
            "core_clustering must be a CoreClustering, got "
            f"{type(core_clustering).__name__}; pass CoreClustering(estimator)."
        )
    # Both fits need the same seed, so that they have the same reference clustering.
    seed = draw_seed(core_clustering.random_state)
    given = clone(core_clustering).set_params(random_state=seed)
    reseeded = clone(given).set_params(resampling=Reseed(), checkpoint=None)
    given.fit(X, y, groups=groups)
    reseeded.fit(X, y, groups=groups)
    labels = given.reference_labels_
    clusters = [*(labels == code for code in range(given.n_clusters_)), labels >= 0]
    total, algorithm = (
        np.array([_instability(cc.strengths_[members]) for members in clusters])
        for cc in (given, reseeded)
    )
    return pd.DataFrame(
        {
            "cluster": [*given.cluster_names_.tolist(), "all"],
            "n_items": [int(members.sum()) for members in clusters],
            "total": total,
            "algorithm": algorithm,
            "sampling": total - algorithm,
            "n_weak": [int((given.labels_[members] < 0).sum()) for members in clusters],
            "n_weak_algorithm": [
                int((reseeded.labels_[members] < 0).sum()) for members in clusters
            ],
        }
    )


def _instability(strengths: NDArray[np.float64]) -> float:
    """Return the mean instability; 0 for a single item, which cannot be apart from others."""
    known = strengths[~np.isnan(strengths)]
    return float(1 - known.mean()) if known.size else 0.0
