"""Counts which clusters are confused with which, apart for core and weak items."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage

from coreclust._inspection.landing import spread
from coreclust._inspection.outer import landing_shares

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

_MOST_ITEMS = 500  # core items, and weak items, of one cluster


@dataclass(frozen=True, eq=False)
class Confusion:
    """How often the items of each cluster land with the core of each other cluster.

    Attributes
    ----------
    clusters : ndarray of int of shape (n_shown,)
        The shown clusters, ordered so that clusters that are confused are side by side.
    core, weak : ndarray of float of shape (n_shown, n_shown)
        The mean share of resamples in which the core items, or the weak items, of the cluster of
        the row have the label of the core of the cluster of the column, both in the order of
        `clusters`. NaN without such items.
    """

    clusters: NDArray[np.intp]
    core: NDArray[np.float64]
    weak: NDArray[np.float64]


def find_confusion(fitted: CoreClustering, at_most: int) -> Confusion | None:
    """Return the confusion of at most so many clusters, those that are confused the most.

    At most 500 core and 500 weak items of each cluster are counted, spread evenly. Returns None if
    there are fewer than two clusters or if the evidence has no labels.
    """
    if fitted.n_clusters_ < 2:
        return None
    groups = [
        spread(some, _MOST_ITEMS) for core in fitted.cores_ for some in (core.core, core.weak)
    ]
    ends = np.cumsum([0, *(some.size for some in groups)])
    shares = landing_shares(fitted, np.concatenate(groups))
    means = np.full((len(groups), fitted.n_clusters_), np.nan)
    for place, (begin, end) in enumerate(pairwise(ends.tolist())):
        known = ~np.isnan(shares[begin:end])
        total = np.where(known, shares[begin:end], 0.0).sum(axis=0)
        np.divide(total, known.sum(axis=0), out=means[place], where=known.any(axis=0))
    if np.isnan(means).all():
        return None
    core, weak = means[::2], means[1::2]
    sizes = np.array([[one.n_core, one.n_weak] for one in fitted.cores_])
    chosen, similarity = _most_confused(_similarity(core, weak, sizes), at_most)
    clusters = chosen[_order(similarity)]
    block = np.ix_(clusters, clusters)
    return Confusion(clusters, core[block], weak[block])


def _similarity(
    core: NDArray[np.float64], weak: NDArray[np.float64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how often the items of two clusters land together, symmetric, 0 on the diagonal."""
    together = np.nan_to_num(core) * sizes[:, :1] + np.nan_to_num(weak) * sizes[:, 1:]
    share = together / sizes.sum(axis=1, keepdims=True)
    similarity = np.minimum((share + share.T) / 2, 1.0)
    np.fill_diagonal(similarity, 0.0)
    return similarity


def _most_confused(
    similarity: NDArray[np.float64], at_most: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the clusters that are most similar to another one, ascending."""
    highest = np.argsort(-similarity.max(axis=1), kind="stable")[:at_most]
    chosen = np.sort(highest)
    return chosen, similarity[np.ix_(chosen, chosen)]


def _order(similarity: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return an order in which similar clusters are neighbors (average linkage)."""
    n_clusters = len(similarity)
    if n_clusters < 2:
        return np.arange(n_clusters)
    distances = 1.0 - similarity[np.triu_indices(n_clusters, 1)]
    tree = linkage(distances, method="average", optimal_ordering=True)
    leaves: NDArray[np.intp] = leaves_list(tree).astype(np.intp)
    return leaves if leaves[0] <= leaves[-1] else leaves[::-1]
