"""Finds the other cluster that an item lands with most often."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


def closest_clusters(
    fitted: CoreClustering, items: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the cluster, other than its own, that each item lands with most often.

    As for the strength of an item, this is the share of its meetings with members of the cluster,
    over all resamples, in which the two had the same label. The time grows with the number of
    resamples, not with the number of pairs.

    Parameters
    ----------
    fitted : CoreClustering
        Fitted.
    items : ndarray of int of shape (n_asked,)

    Returns
    -------
    clusters : ndarray of int of shape (n_asked,)
        The first if several tie; -1 for an item that was never together with another cluster.
    shares : ndarray of float of shape (n_asked,)
        0 where there is no such cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust._inspection.closest import closest_clusters
    >>> cc = CoreClustering(KMeans(3), n_resamples=50, random_state=0).fit(load_iris().data)
    >>> clusters, shares = closest_clusters(cc, np.arange(150))
    >>> bool((clusters != cc.reference_labels_).all())
    True
    """
    n_clusters = len(fitted.cores_)
    if not n_clusters:
        return np.full(items.size, -1), np.zeros(items.size)
    together, seen = fitted.ensemble_.cluster_counts(
        items, fitted.reference_labels_, n_clusters, fitted.noise
    )
    shares = np.divide(together, seen, out=np.zeros(seen.shape), where=seen > 0)
    own = fitted.reference_labels_[items]
    inside = np.flatnonzero(own >= 0)
    shares[inside, own[inside]] = 0
    best = shares.argmax(axis=1)
    highest = shares[np.arange(items.size), best]
    return np.where(highest > 0, best, -1), highest
