"""Kernels that pack labels and count them: strengths, joint counts, agreement with new items."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import ABSENT, NOISE_RULES
from coreclust._utils.jit import copy_to, kernel
from coreclust.evidence._packed import PackedLabels
from coreclust.evidence._protocol import Counts, Items, Mask, Table

Labels = NDArray[np.signedinteger]  # (n_items, n_resamples)


def pack_labels(labels: Labels, items: Items, noise: str) -> PackedLabels:
    """Pack the rows `items` of an item × resample label matrix."""
    rule = NOISE_RULES[noise]
    highest = int(labels.max(initial=-1))
    n_ranks = _most_labels_in_a_resample(labels, items, rule, highest)
    n_planes = max(n_ranks - 1, 0).bit_length()
    return PackedLabels(*_pack(labels, items, rule, highest, n_planes))


def group_counts(labels: Labels, items: Items, noise: str) -> Counts:
    """Return (together, seen) of every item summed over all other `items`.

    This equals the sum of the pair counts, but the time is linear in the number of labels.
    """
    return _group_counts(labels, items, NOISE_RULES[noise], int(labels.max(initial=-1)))


def joint_counts(labels: Labels, items: Items, noise: str) -> tuple[int, int]:
    """Count the resamples in which all `items` present had one label, and all that count.

    Only resamples with two or more of the items present count.
    """
    return _joint_counts(labels, items, NOISE_RULES[noise], int(labels.max(initial=-1)))


def cluster_counts(
    labels: Labels, items: Items, clusters: NDArray[np.int64], n_clusters: int, noise: str
) -> Counts:
    """Return (together, seen) of every item summed over the members of each cluster.

    The time grows with the number of resamples, not with the number of pairs. An item counts as
    together with itself.
    """
    highest = int(labels.max(initial=-1))
    unmatched = highest + 2  # the slot of labels that match no other
    members = np.flatnonzero(clusters >= 0)
    codes = clusters[members]
    together = np.zeros((items.size, n_clusters), dtype=np.int64)
    seen = np.zeros_like(together)
    for resample in range(labels.shape[1]):
        column = labels[:, resample].astype(np.int64)
        present = column >= 0 if noise == "absent" else column != ABSENT
        # One slot per label. Noise has a slot of its own, which counts as together or not.
        slots = np.where(column >= 0, column, highest + 1 if noise == "together" else unmatched)
        here = present[members]
        table = np.bincount(
            slots[members[here]] * n_clusters + codes[here],
            minlength=(unmatched + 1) * n_clusters,
        ).reshape(-1, n_clusters)
        shown = np.flatnonzero(present[items])
        seen[shown] += table.sum(axis=0)
        table[unmatched] = 0
        together[shown] += table[slots[items[shown]]]
    return together, seen


@kernel
def _slot(label, rule, highest):
    """Return the histogram slot of a label; -1 if not drawn, -2 if it matches no other label."""
    if label >= 0:
        return label
    if label == -1 and rule == 0:
        return -2
    if label == -1 and rule == 1:
        return highest + 1
    return -1


@kernel
def _most_labels_in_a_resample(labels, items, rule, highest):
    last_seen = np.full(highest + 2, -1, dtype=np.int64)
    most = 0
    for resample in range(labels.shape[1]):
        found = 0
        for item in items:
            slot = _slot(labels[item, resample], rule, highest)
            if slot >= 0 and last_seen[slot] != resample:
                last_seen[slot] = resample
                found += 1
        most = max(most, found)
    return most


@kernel
def _pack(labels, items, rule, highest, n_planes):
    n_items = items.size
    n_resamples = labels.shape[1]
    n_words = (n_resamples + 63) // 64
    present = np.zeros((n_items, n_words), dtype=np.uint64)
    deviating = np.zeros((n_items, n_words), dtype=np.uint64)
    comparable = np.zeros((n_items, n_words), dtype=np.uint64)
    planes = np.zeros((n_items, n_planes, n_words), dtype=np.uint64)
    # Contiguous buffers hold one word per item, which 64 resamples fill.
    word_present = np.empty(n_items, dtype=np.uint64)
    word_deviating = np.empty(n_items, dtype=np.uint64)
    word_comparable = np.empty(n_items, dtype=np.uint64)
    word_planes = np.empty((n_planes, n_items), dtype=np.uint64)
    count = np.zeros(highest + 2, dtype=np.int64)
    rank = np.empty(highest + 2, dtype=np.int64)
    found = np.empty(highest + 2, dtype=np.int64)  # the labels in use, often few
    for word in range(n_words):
        word_present[:] = 0
        word_deviating[:] = 0
        word_comparable[:] = 0
        word_planes[:] = 0
        for resample in range(64 * word, min(64 * word + 64, n_resamples)):
            n_found = 0
            for item in items:
                slot = _slot(labels[item, resample], rule, highest)
                if slot >= 0:
                    if count[slot] == 0:
                        found[n_found] = slot
                        n_found += 1
                    count[slot] += 1
            # The most common label has rank 0; the order of the others does not matter.
            first = 0
            for place in range(n_found):
                rank[found[place]] = place
                if count[found[place]] > count[found[first]]:
                    first = place
            for place in range(first):
                rank[found[place]] = place + 1
            if n_found:
                rank[found[first]] = 0
            for place in range(n_found):
                count[found[place]] = 0
            bit = np.uint64(1) << np.uint64(resample - 64 * word)
            for k in range(n_items):
                slot = _slot(labels[items[k], resample], rule, highest)
                if slot == -1:
                    continue
                word_present[k] |= bit
                if slot == -2:
                    word_deviating[k] |= bit
                elif rank[slot] > 0:
                    word_deviating[k] |= bit
                    word_comparable[k] |= bit
                    for plane in range(n_planes):
                        if (rank[slot] >> plane) & 1:
                            word_planes[plane, k] |= bit
        copy_to(present[:, word], word_present)
        copy_to(deviating[:, word], word_deviating)
        copy_to(comparable[:, word], word_comparable)
        for plane in range(n_planes):
            copy_to(planes[:, plane, word], word_planes[plane])
    return present, deviating, comparable, planes


@kernel
def _group_counts(labels, items, rule, highest):
    together = np.zeros(items.size, dtype=np.int64)
    seen = np.zeros(items.size, dtype=np.int64)
    count = np.zeros(highest + 2, dtype=np.int64)
    for resample in range(labels.shape[1]):
        n_present = 0
        for item in items:
            slot = _slot(labels[item, resample], rule, highest)
            if slot != -1:
                n_present += 1
            if slot >= 0:
                count[slot] += 1
        for k in range(items.size):
            slot = _slot(labels[items[k], resample], rule, highest)
            if slot != -1:
                seen[k] += n_present - 1
            if slot >= 0:
                together[k] += count[slot] - 1
        for item in items:
            slot = _slot(labels[item, resample], rule, highest)
            if slot >= 0:
                count[slot] = 0
    return together, seen


@kernel
def _joint_counts(labels, items, rule, highest):
    together = 0
    seen = 0
    for resample in range(labels.shape[1]):
        n_present = 0
        common = -1
        for item in items:
            slot = _slot(labels[item, resample], rule, highest)
            if slot == -1:
                continue
            n_present += 1
            if n_present == 1:
                common = slot
            elif slot != common:
                common = -2  # the slot of noise that counts as apart, so noise never agrees
        if n_present > 1:
            seen += 1
            together += common != -2
    return together, seen


def agreement_with(
    new: Labels, labels: Labels, table: Table, noise: str
) -> tuple[Mask, NDArray[np.int64], NDArray[np.int64]]:
    """Compare new items with items of an ensemble, by their labels in the same resamples.

    Returns whether each new item has no conflict with any of the others and, for those without,
    together and seen summed over the others.
    """
    highest = int(max(new.max(initial=-1), labels.max(initial=-1)))
    return _agreement_with(
        np.ascontiguousarray(new, dtype=np.int64),
        np.ascontiguousarray(labels, dtype=np.int64),
        table,
        NOISE_RULES[noise],
        highest,
    )


@kernel
def _agreement_with(new, labels, table, rule, highest):
    n_new, n_resamples = new.shape
    fits = np.ones(n_new, dtype=np.bool_)
    together = np.zeros(n_new, dtype=np.int64)
    seen = np.zeros(n_new, dtype=np.int64)
    for i in range(n_new):
        for j in range(labels.shape[0]):
            both = 0
            apart = 0
            for resample in range(n_resamples):
                mine = _slot(new[i, resample], rule, highest)
                other = _slot(labels[j, resample], rule, highest)
                if mine != -1 and other != -1:
                    both += 1
                    apart += mine != other or mine == -2
            if apart > table[both]:
                fits[i] = False
                break
            together[i] += both - apart
            seen[i] += both
    return fits, together, seen
