"""Computes the Jaccard stability of clusters, as in fpc's clusterboot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._utils.jit import kernel
from coreclust._utils.validation import check_share
from coreclust.evidence import LabelEnsemble
from coreclust.stability._common import check_reference, grouped, highest_label, ratio


@dataclass(frozen=True, eq=False)
class JaccardStability:
    """How well each reference cluster is found again in the resamples.

    Attributes
    ----------
    labels : ndarray of shape (n_clusters,)
        The labels of the reference clusters, sorted.
    mean_jaccard : ndarray of float of shape (n_clusters,)
        Mean of `jaccard` over the resamples; NaN if no resample contains an item of the cluster.
    n_dissolved, n_recovered : ndarray of int of shape (n_clusters,)
        Number of resamples in which the cluster was dissolved or recovered.
    jaccard : ndarray of float of shape (n_clusters, n_resamples)
        Similarity to the most similar cluster of each resample; NaN where the resample contains
        no item of the cluster.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.stability import jaccard_stability
    >>> ensemble = LabelEnsemble.from_labels([[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]])
    >>> jaccard_stability(ensemble, ["a", "a", "b", "b", "b"]).mean_jaccard.round(2)
    array([0.83, 0.83])
    """

    labels: NDArray[Any]
    mean_jaccard: NDArray[np.float64]
    n_dissolved: NDArray[np.int64]
    n_recovered: NDArray[np.int64]
    jaccard: NDArray[np.float64]


def jaccard_stability(
    ensemble: LabelEnsemble,
    reference_labels: ArrayLike,
    *,
    dissolved: float = 0.5,
    recovered: float = 0.75,
) -> JaccardStability:
    """Compare each reference cluster with the most similar cluster of every resample.

    In each resample, the reference cluster is restricted to the items present, each counted
    once, and compared with every cluster of the resample. The largest Jaccard similarity
    counts. R's ``fpc::clusterboot`` reports the same for a bootstrap with
    ``multipleboot=FALSE``, with one difference: where a resample contains no item of a cluster,
    `clusterboot` counts a similarity of 0, and this function leaves the resample out.

    Parameters
    ----------
    ensemble : LabelEnsemble
        The labels of the items in m resamples. Noise belongs to no cluster.
    reference_labels : array-like of shape (n_items,)
        Integers or strings; items with a negative integer are in no cluster.
    dissolved : float, default=0.5
        A cluster is dissolved in a resample if its similarity is at most this.
    recovered : float, default=0.75
        A cluster is recovered in a resample if its similarity is above this.

    Returns
    -------
    stability : JaccardStability

    References
    ----------
    C. Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics &
    Data Analysis 52 (2007), 258-271.

    Examples
    --------
    >>> from coreclust import LabelEnsemble
    >>> from coreclust.stability import jaccard_stability
    >>> ensemble = LabelEnsemble.from_labels([[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]])
    >>> found = jaccard_stability(ensemble, ["a", "a", "b", "b", "b"])
    >>> found.jaccard[0].round(2), found.n_recovered
    (array([1.  , 0.67]), array([1, 1]))
    """
    codes, names = check_reference(ensemble, reference_labels)
    check_share(dissolved, "dissolved")
    check_share(recovered, "recovered")
    members, starts = grouped(codes, names.size)
    jaccard = _best_jaccard(ensemble.labels, members, starts, highest_label(ensemble))
    counted = ~np.isnan(jaccard)
    return JaccardStability(
        labels=names,
        mean_jaccard=ratio(jaccard.sum(axis=1, where=counted), counted.sum(axis=1)),
        n_dissolved=(jaccard <= dissolved).sum(axis=1),
        n_recovered=(jaccard > recovered).sum(axis=1),
        jaccard=jaccard,
    )


@kernel
def _best_jaccard(labels, members, starts, highest):
    """Return the best Jaccard similarity of each group of `members` in each resample."""
    n_clusters = starts.size - 1
    n_resamples = labels.shape[1]
    best = np.full((n_clusters, n_resamples), np.nan)
    size = np.empty(highest + 1, dtype=np.int64)
    common = np.zeros(highest + 1, dtype=np.int64)
    for resample in range(n_resamples):
        size[:] = 0
        for item in range(labels.shape[0]):
            if labels[item, resample] >= 0:
                size[labels[item, resample]] += 1
        for cluster in range(n_clusters):
            group = members[starts[cluster] : starts[cluster + 1]]
            n_present = 0
            for item in group:
                label = labels[item, resample]
                if label != -2:
                    n_present += 1
                if label >= 0:
                    common[label] += 1
            if n_present == 0:
                continue
            best[cluster, resample] = 0.0
            for item in group:
                label = labels[item, resample]
                if label >= 0 and common[label] > 0:
                    similarity = common[label] / (n_present + size[label] - common[label])
                    best[cluster, resample] = max(best[cluster, resample], similarity)
                    common[label] = 0
    return best
