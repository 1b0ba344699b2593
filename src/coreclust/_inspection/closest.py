"""Finds the other cluster that an item is together with most often."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


def closest_clusters(
    fitted: CoreClustering, items: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return, for each item, the other cluster that it is together with most often, and the share.

    The share is defined as for `strengths_`, with the members of the other cluster. If several
    clusters tie, the first is returned; -1 and a share of 0 if the item was never together with
    another cluster. The time grows with the number of resamples, not with the number of pairs.
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
