"""Tells which clusters are not found again in the resamples, and how many clusters those have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from coreclust._utils.constants import ABSENT, NOISE
from coreclust._utils.text import percent, shorten

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

_MOST_RESAMPLES = 200  # that are looked at
_MOST_LABELS = 1000  # of a resample, and clusters
_SIMILAR = 0.5  # Jaccard index, up to which a cluster is not found again (Hennig 2007)
_TRUSTED = 0.6  # mean Jaccard index, below which a cluster should not be trusted (fpc's manual)
_WHOLE = 0.75  # share of a cluster with one label, from which on it is not split
_OFTEN = 0.5  # share of the resamples
_NAMED = 2  # clusters in sentences
REASONS = {"merged": "part of a larger cluster", "split": "split", "noise": "noise"}


@dataclass(frozen=True, eq=False)
class Returns:
    """How well clusters are found again, and the numbers of clusters.

    Attributes
    ----------
    mean : ndarray of float of shape (n_clusters,)
        Mean Jaccard index with the most similar cluster of a resample; NaN if no resample has items
        of the cluster.
    missing : ndarray of float of shape (n_clusters,)
        Share of the resamples without a similar cluster; NaN as in `mean`.
    why : list of str
        What happens to a cluster most often where it is missing, a key of REASONS; "" if it never
        is.
    n_labels : ndarray of int
        The number of clusters of each resample.
    """

    mean: NDArray[np.float64]
    missing: NDArray[np.float64]
    why: list[str]
    n_labels: NDArray[np.int64]


def find_returns(fitted: CoreClustering) -> Returns:
    """Compare the clusters with those of at most 200 resamples.

    A resample has no similar cluster if the Jaccard index with all of its clusters is at most 0.5,
    as in :func:`~coreclust.stability.jaccard_stability`. The cluster is then noise or split if the
    items with its most common label are noise or less than 75 % of it, otherwise part of a larger
    cluster.
    """
    n_clusters = fitted.n_clusters_
    labels = getattr(fitted.ensemble_, "labels", None)  # evidence on pairs has none
    if labels is None or max(n_clusters, int(labels.max(initial=0)) + 1) > _MOST_LABELS:
        nothing = np.full(n_clusters, np.nan)
        return Returns(nothing, nothing, [""] * n_clusters, np.empty(0, dtype=np.int64))
    last = labels.shape[1] - 1
    chosen = np.unique(np.linspace(0, last, _MOST_RESAMPLES).astype(np.int64))
    seen, missing = np.zeros((2, n_clusters), dtype=np.int64)
    similarity = np.zeros(n_clusters)
    counts = {reason: np.zeros(n_clusters, dtype=np.int64) for reason in REASONS}
    n_labels = np.zeros(chosen.size, dtype=np.int64)
    for place, resample in enumerate(chosen.tolist()):
        table = _table(np.asarray(labels[:, resample]), fitted.reference_labels_, n_clusters)
        n_labels[place] = (table[:, 1:].sum(axis=0) > 0).sum()
        total = table[:-1].sum(axis=1)
        best = _best_jaccard(table)
        is_missing = (total > 0) & (best <= _SIMILAR)
        is_noise = table[:-1].argmax(axis=1) == 0
        is_split = table[:-1].max(axis=1) < _WHOLE * total
        seen += total > 0
        missing += is_missing
        similarity += best  # 0 where the cluster has no items
        counts["noise"] += is_missing & is_noise
        counts["split"] += is_missing & ~is_noise & is_split
        counts["merged"] += is_missing & ~is_noise & ~is_split
    names = np.array([*REASONS])
    most = names[np.argmax([counts[name] for name in names], axis=0)]
    mean, share = (
        np.divide(counted, seen, out=np.full(n_clusters, np.nan), where=seen > 0)
        for counted in (similarity, missing)
    )
    return Returns(
        mean,
        share,
        np.where(missing > 0, most, "").tolist(),
        n_labels,
    )


def is_doubtful(mean: ArrayLike, missing: ArrayLike) -> NDArray[np.bool_]:
    """Tell which clusters are missing in most resamples, or not like themselves on average."""
    return (np.asarray(missing) > _OFTEN) | (np.asarray(mean) < _TRUSTED)


def return_in_words(mean: float, missing: float, why: str) -> str:
    """Return a few words about a cluster that is doubtful, otherwise none."""
    if not is_doubtful(mean, missing):
        return ""
    if missing > _OFTEN:
        return f"not found again in {percent(missing)} of resamples: mostly {REASONS[why]}"
    return f"found again only in part: mean Jaccard index {mean:.2f}"


def return_sentences(fitted: CoreClustering, found: Returns, merged: set[int]) -> list[str]:
    """Return sentences about the number of clusters and about those that are doubtful.

    Clusters in `merged` are not named if a larger cluster is what happens to them, because this has
    been said.
    """
    sentences = [_number_sentence(fitted, found.n_labels)]
    doubtful = np.flatnonzero(is_doubtful(found.mean, found.missing))
    doubtful = doubtful[np.argsort(found.mean[doubtful], kind="stable")]
    told = [one for one in doubtful.tolist() if not (one in merged and found.why[one] == "merged")]
    for cluster in told[:_NAMED]:
        name = shorten(fitted.cluster_names_[cluster])
        how = f"found again only in part: its mean Jaccard index is {found.mean[cluster]:.2f}"
        if found.missing[cluster] > _OFTEN:
            share, reason = percent(found.missing[cluster]), REASONS[found.why[cluster]]
            how = f"not found again in {share} of the resamples: mostly it is {reason}"
        sentences.append(f"Cluster {name} is {how}.")
    n_more = len(told) - _NAMED
    if n_more > 0:
        are = "1 more cluster is" if n_more == 1 else f"{n_more:,} more clusters are"
        sentences.append(f"{are} rarely found again, or only in part: see summary().")
    return [sentence for sentence in sentences if sentence]


def _number_sentence(fitted: CoreClustering, n_labels: NDArray[np.int64]) -> str:
    """Return a sentence if most resamples have another number of clusters, otherwise ""."""
    here, estimator = fitted.n_clusters_, fitted._estimator()
    if not n_labels.size or (hasattr(estimator, "get_params") and is_classifier(estimator)):
        return ""  # classes are given
    most = int(np.bincount(n_labels).argmax())
    as_many = float((n_labels == here).mean())
    if most == here or as_many >= _OFTEN:
        return ""
    low, high = int(n_labels.min()), int(n_labels.max())
    if low == high:
        noun = "cluster" if low == 1 else "clusters"
        return f"All resamples have {low:,} {noun}; this clustering has {here:,}."
    share = "none has" if as_many == 0 else f"{percent(as_many)} have"
    return (
        f"The resamples have {low:,} to {high:,} clusters, most often {most:,}; {share} {here:,}, "
        "as here."
    )


def _table(column: NDArray[Any], reference: NDArray[np.int64], n_clusters: int) -> NDArray[Any]:
    """Count the items of each cluster with each label of a resample.

    The last row has the items in no cluster, the first column those that are noise.
    """
    present = column != ABSENT
    label = column[present].astype(np.int64) - NOISE
    cluster = np.where(reference >= 0, reference, n_clusters)[present]
    n_columns = int(label.max(initial=0)) + 1
    counts = np.bincount(cluster * n_columns + label, minlength=(n_clusters + 1) * n_columns)
    return counts.reshape(n_clusters + 1, n_columns)


def _best_jaccard(table: NDArray[Any]) -> NDArray[np.float64]:
    """Return the similarity of each cluster to the most similar one; 0 if all are noise."""
    common = table[:-1, 1:]
    union = table[:-1].sum(axis=1, keepdims=True) + table[:, 1:].sum(axis=0) - common
    return np.divide(common, union, out=np.zeros(common.shape), where=union > 0).max(
        axis=1, initial=0.0
    )
