"""Finds further stable groups among the weak items of a cluster."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust._inspection.landing import spread
from coreclust.cores import find_cores

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

_SECONDS = 1.0  # time limit of all searches together
_MOST_GROUPS = 5  # of one cluster, the core included
_MOST_ITEMS = 2_000  # that are searched in one cluster
_COVERED, _DIVIDED = 0.95, 0.2  # of distinct groups: items in them, resamples in terms of alpha
_LEAST_SHARE, _LEAST_ITEMS = 0.1, 5  # a smaller part of a cluster is not called a group


class StableGroup(NamedTuple):
    """Items of one cluster that stay together among themselves."""

    cluster: int
    items: NDArray[np.intp]
    n_items: int  # estimated if only some weak items were searched
    all_together: float  # share of resamples in which all items present have one label


def stable_groups(fitted: CoreClustering) -> list[StableGroup]:
    """Return the groups of every cluster in which two or more were found, largest first.

    The first group is the core. The next is the core of the weak items, and so on. A group has at
    least 5 items and a tenth of the cluster, and all of its items have one label in at least
    ``1 - alpha`` of the resamples. Cutting one group at random leaves such parts, too: see
    :func:`are_distinct`.
    """
    groups: list[StableGroup] = []
    further = _further_groups(fitted)
    for cluster in sorted({group.cluster for group in further}):
        first = _measure(fitted, cluster, np.flatnonzero(fitted.labels_ == cluster), 1.0)
        if _is_stable(fitted, first):
            groups += [first, *(group for group in further if group.cluster == cluster)]
    return groups


def are_distinct(fitted: CoreClustering, groups: list[StableGroup]) -> bool:
    """Tell whether resamples alone show that the groups of a cluster are no parts of one group.

    Nearly all items are then in a group, and hardly any resample divides a group. The parts of one
    group that is cut at random are divided about as often as the rule allows.
    """
    n_items = int(np.count_nonzero(fitted.reference_labels_ == groups[0].cluster))
    most = _DIVIDED * fitted.rule_.resampled_alpha
    whole = all(group.all_together >= 1 - most for group in groups)
    return whole and sum(group.n_items for group in groups) >= _COVERED * n_items


def _further_groups(fitted: CoreClustering) -> list[StableGroup]:
    """Return the groups among weak items, as found in a limited time."""
    reference = fitted.reference_labels_
    sizes = np.bincount(reference[reference >= 0], minlength=fitted.n_clusters_)
    weak = np.setdiff1d(fitted.weak_sample_indices_, fitted.undecided_sample_indices_)
    left = {
        cluster: weak[reference[weak] == cluster] for cluster in np.unique(reference[weak]).tolist()
    }
    searched = {cluster: spread(items, _MOST_ITEMS) for cluster, items in left.items()}
    factors = {cluster: left[cluster].size / searched[cluster].size for cluster in left}
    end, found = time.monotonic() + _SECONDS, []
    for _ in range(_MOST_GROUPS - 1):
        searched = {
            cluster: items
            for cluster, items in searched.items()
            if _is_large(items.size * factors[cluster], sizes[cluster])
        }
        seconds = end - time.monotonic()
        if not searched or seconds <= 0:
            break
        clusters = np.full(reference.size, -1, dtype=np.int64)
        for cluster, items in searched.items():
            clusters[items] = cluster
        rule = fitted.rule_.changed(time_limit=seconds)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a core that is not proven is good enough here
            cores = find_cores(fitted.ensemble_, clusters, rule, n_jobs=fitted.n_jobs)
        for core in cores:
            group = _measure(fitted, core.label, core.core, factors[core.label])
            if _is_large(group.n_items, sizes[core.label]) and _is_stable(fitted, group):
                found.append(group)
                searched[core.label] = core.weak
            else:
                del searched[core.label]
    return found


def _measure(
    fitted: CoreClustering, cluster: int, items: NDArray[np.intp], factor: float
) -> StableGroup:
    counted = spread(items, _MOST_ITEMS)
    together, seen = fitted.ensemble_.joint_counts(counted, fitted.noise)
    share = together / seen if seen else np.nan
    return StableGroup(cluster, items, round(items.size * factor), share)


def _is_large(n_items: float, n_cluster: int) -> bool:
    return n_items >= max(_LEAST_ITEMS, _LEAST_SHARE * n_cluster)


def _is_stable(fitted: CoreClustering, group: StableGroup) -> bool:
    """Tell whether a group is one in most resamples; evidence on pairs alone cannot tell."""
    return not group.all_together < 1 - fitted.rule_.resampled_alpha
