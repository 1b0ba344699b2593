"""Counts how often the cores of two clusters land in the same cluster of a resample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coreclust._utils.constants import ABSENT, NOISE, NOISE_RULES
from coreclust._utils.jit import kernel

Pairs = NDArray[np.int64]  # (n_pairs, 2), the smaller number first
_MOST_ITEMS = 500  # of a core: its items have the same label nearly always


def spread(items: NDArray[np.intp], at_most: int) -> NDArray[np.intp]:
    """Return all items, or `at_most` of them, spread evenly."""
    if items.size <= at_most:
        return items
    return items[np.linspace(0, items.size - 1, at_most).round().astype(np.intp)]


def common_labels(
    labels: NDArray[np.signedinteger], cores: list[NDArray[np.intp]], noise: str
) -> NDArray[np.int64]:
    """Return the most common label of each core in each resample.

    The result is of shape (n_resamples, n_cores): ABSENT if no item of the core was seen, NOISE if
    noise that matches no other label is the most common. In a tie the smallest label counts, and
    noise comes last. At most 500 items of a core are counted.
    """
    chosen = [spread(core, _MOST_ITEMS) for core in cores]
    ends = np.cumsum([0, *(core.size for core in chosen)])
    items = np.concatenate([*chosen, np.empty(0, dtype=np.intp)])
    return _common_labels(labels, items, ends, NOISE_RULES[noise], int(labels.max(initial=-1)))


def landed_together(
    common: NDArray[np.int64], pairs: Pairs
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the resamples in which both cores of a pair have one label, and show up at all."""
    first, second = common[:, pairs[:, 0]], common[:, pairs[:, 1]]
    seen = (first != ABSENT) & (second != ABSENT)
    return ((first == second) & (first >= 0)).sum(axis=0), seen.sum(axis=0)


def pairs_that_met(common: NDArray[np.int64]) -> Pairs:
    """Return the pairs of cores that have one label in some resample."""
    n_resamples, n_cores = common.shape
    resample, core = np.nonzero(common >= 0)
    n_labels = int(common.max(initial=0)) + 1
    places = resample * n_labels + common[resample, core]
    ones = np.ones(core.size, dtype=np.int64)
    at = csr_array((ones, (places, core)), shape=(n_resamples * n_labels, n_cores))
    first, second = (at.T @ at).nonzero()
    upper = first < second
    return np.unique(np.column_stack([first[upper], second[upper]]).astype(np.int64), axis=0)


@kernel
def _common_labels(labels, items, ends, rule, highest):
    n_resamples, n_cores = labels.shape[1], ends.size - 1
    common = np.empty((n_resamples, n_cores), dtype=np.int64)
    # Labels have slots from 0 on, then noise that matches noise, then noise that matches nothing.
    count = np.zeros(highest + 3, dtype=np.int64)
    slots = np.empty(items.size, dtype=np.int64)
    for resample in range(n_resamples):
        for core in range(n_cores):
            n_seen = 0
            for place in range(ends[core], ends[core + 1]):
                slot = np.int64(labels[items[place], resample])
                if slot == NOISE and rule < 2:
                    slot = highest + 2 - rule
                if slot >= 0:
                    slots[n_seen] = slot
                    count[slot] += 1
                    n_seen += 1
            best = -1
            for place in range(n_seen):
                slot = slots[place]
                lead = count[slot] - count[best] if best >= 0 else 1
                if lead > 0 or (lead == 0 and slot < best):
                    best = slot
            for place in range(n_seen):
                count[slots[place]] = 0
            if best < 0:
                common[resample, core] = ABSENT
            else:
                common[resample, core] = NOISE if best == highest + 2 else best
    return common
