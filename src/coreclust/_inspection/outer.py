"""Finds the clusters that an item possibly belongs to: it lands with their core often enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coreclust._inspection.landing import common_labels
from coreclust._utils.constants import ABSENT, NOISE, NOISE_RULES
from coreclust._utils.jit import kernel
from coreclust.evidence._ensemble import LabelEnsemble

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


def landing_shares(
    fitted: CoreClustering, items: NDArray[np.intp] | None = None
) -> NDArray[np.float64]:
    """Return the share of resamples in which each item has the label of each core.

    The label of a core is the most common one of its items. The result is of shape
    (n_items, n_clusters), for all items or for those given; NaN where an item was never seen
    together with a core.
    """
    if not isinstance(fitted.ensemble_, LabelEnsemble):  # counts of pairs of one cluster only
        n_items = fitted.ensemble_.n_items if items is None else items.size
        return np.full((n_items, len(fitted.cores_)), np.nan)
    labels = fitted.ensemble_.labels
    common = common_labels(labels, [core.core for core in fitted.cores_], fitted.noise)
    highest = int(labels.max(initial=-1))
    rows = labels if items is None else np.asarray(labels[items])
    landed, seen = _count_landings(rows, common, NOISE_RULES[fitted.noise], highest)
    return np.divide(landed, seen, out=np.full(landed.shape, np.nan), where=seen > 0)


def possible_members(
    fitted: CoreClustering, items: NDArray[np.intp] | None = None
) -> NDArray[np.bool_]:
    """Tell which clusters each item is possibly in, of shape (n_items, n_clusters).

    An item is possibly in a cluster if it lands with its core in a share of at least alpha of the
    resamples, corrected for schemes whose resamples vary more or less than the bootstrap's. The
    cluster whose core the item belongs to does not count.
    """
    shares = landing_shares(fitted, items)
    with np.errstate(invalid="ignore"):
        possible = (shares >= fitted.rule_.resampled_alpha) & (shares > 0)
    labels = fitted.labels_ if items is None else fitted.labels_[items]
    core = np.flatnonzero(labels >= 0)
    possible[core, labels[core]] = False
    return possible


def possible_clusters(fitted: CoreClustering) -> NDArray[np.object_]:
    """Return the names of the clusters that each item is possibly in, separated by commas."""
    possible = possible_members(fitted)
    # Few combinations of clusters occur, so that each is written only once.
    kinds, kind = np.unique(possible, axis=0, return_inverse=True)
    names = np.asarray(fitted.cluster_names_).astype(str)
    texts = np.array([", ".join(names[some].tolist()) for some in kinds], dtype=object)
    return texts[kind.reshape(-1)]


@kernel
def _count_landings(labels, common, rule, highest):
    n_items, n_resamples = labels.shape
    n_cores = common.shape[1]
    landed = np.zeros((n_items, n_cores), dtype=np.int64)
    seen = np.zeros((n_items, n_cores), dtype=np.int64)
    for resample in range(n_resamples):
        for item in range(n_items):
            label = np.int64(labels[item, resample])
            if label == ABSENT or (label == NOISE and rule == 2):
                continue
            if label == NOISE and rule == 1:
                label = highest + 1  # noise that matches noise
            for core in range(n_cores):
                if common[resample, core] != ABSENT:
                    seen[item, core] += 1
                    if label >= 0 and label == common[resample, core]:
                        landed[item, core] += 1
    return landed, seen
