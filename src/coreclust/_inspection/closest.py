"""With which other cluster an item sits most often."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import ABSENT
from coreclust.evidence._ensemble import LabelEnsemble

if TYPE_CHECKING:
    from coreclust.answers import CoreAnswers


def closest_clusters(
    fitted: CoreAnswers, items: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the cluster, the item's own aside, that each item sits with most often.

    How often is counted as for the strength of an item: the share of its meetings with members
    of the cluster, over all resamples, in which the two had the same label. The time is
    proportional to the number of resamples, not to that of pairs.

    Parameters
    ----------
    fitted : CoreClustering
        Fitted.
    items : ndarray of int of shape (n_asked,)

    Returns
    -------
    clusters : ndarray of int of shape (n_asked,)
        The first of equals; -1 for an item that was never together with another cluster.
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
    if not isinstance(fitted.ensemble_, LabelEnsemble) or not n_clusters:
        # Pairs of different clusters were not sampled, or there are none.
        return np.full(items.size, -1), np.zeros(items.size)
    together, seen = _counts(fitted, fitted.ensemble_.labels, items, n_clusters)
    shares = np.divide(together, seen, out=np.zeros(seen.shape), where=seen > 0)
    own = fitted.reference_labels_[items]
    inside = np.flatnonzero(own >= 0)
    shares[inside, own[inside]] = 0
    best = shares.argmax(axis=1)
    highest = shares[np.arange(items.size), best]
    return np.where(highest > 0, best, -1), highest


def _counts(
    fitted: CoreAnswers,
    labels: NDArray[np.signedinteger],
    items: NDArray[np.intp],
    n_clusters: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the meetings of each item with each cluster, together and in all."""
    highest = int(labels.max(initial=-1))
    nobody = highest + 2  # the slot of labels that match no other
    members = np.flatnonzero(fitted.reference_labels_ >= 0)
    codes = fitted.reference_labels_[members]
    together = np.zeros((items.size, n_clusters), dtype=np.int64)
    seen = np.zeros_like(together)
    for resample in range(labels.shape[1]):
        column = labels[:, resample].astype(np.int64)
        present = column != ABSENT
        if fitted.noise == "absent":
            present = column >= 0
        # A slot a label; noise has one of its own, in which it counts as together or not.
        slots = np.where(column >= 0, column, highest + 1 if fitted.noise == "together" else nobody)
        here = present[members]
        table = np.bincount(
            slots[members[here]] * n_clusters + codes[here],
            minlength=(nobody + 1) * n_clusters,
        ).reshape(-1, n_clusters)
        shown = np.flatnonzero(present[items])
        seen[shown] += table.sum(axis=0)
        table[nobody] = 0
        together[shown] += table[slots[items[shown]]]
    return together, seen
