"""Counting, for pairs of items, the resamples that saw both and those that set them apart.

The labels of a group of items are packed into bitsets, one bit a resample. Against the
most common label of the group in each resample an item either agrees or *deviates*; for
two items

    seen  = |present_i & present_j|
    apart = |(deviating_i & present_j) | (deviating_j & present_i)|
            - |resamples in which both deviate to the same label|

so most pairs of a stable cluster cost a few words and no label is looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import NOISE_RULES
from coreclust._utils.jit import kernel, popcount


class PackedLabels(NamedTuple):
    """Labels of `n_items` items in `n_resamples` resamples, one bit a resample."""

    present: NDArray[np.uint64]  # (n_items, n_words)
    deviating: NDArray[np.uint64]  # (n_items, n_words), a subset of present
    comparable: NDArray[np.uint64]  # (n_items, n_words), deviating with a real label
    planes: NDArray[np.uint64]  # (n_items, n_planes, n_words), rank of the label in binary


def pack_labels(
    labels: NDArray[np.signedinteger], items: NDArray[np.intp], noise: str
) -> PackedLabels:
    """Pack the rows `items` of an item × resample label matrix.

    Parameters
    ----------
    labels : ndarray of shape (n, m)
        Labels from 0 on, or ABSENT or NOISE.
    items : ndarray of shape (s,)
        The rows to pack.
    noise : {"apart", "together", "absent"}
        How NOISE counts.

    Returns
    -------
    packed : PackedLabels
    """
    rule = NOISE_RULES[noise]
    highest = int(labels.max(initial=-1))
    n_ranks = _most_labels_in_a_resample(labels, items, rule, highest)
    n_planes = max(n_ranks - 1, 0).bit_length()
    return PackedLabels(*_pack(labels, items, rule, highest, n_planes))


def pair_counts(
    packed: PackedLabels, first: NDArray[np.intp], second: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (together, seen), the A and B of the paper, for pairs of packed items."""
    return _pair_counts(*packed, first, second)


def matrix_counts(packed: PackedLabels) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return (together, seen) for every pair of packed items, as square matrices."""
    return _matrix_counts(*packed)


def group_counts(
    labels: NDArray[np.signedinteger], items: NDArray[np.intp], noise: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (together, seen) of every item summed over all other `items`.

    The same as summing `pair_counts` over the partners, in time linear in the labels.
    """
    return _group_counts(labels, items, NOISE_RULES[noise], int(labels.max(initial=-1)))


def joint_counts(
    labels: NDArray[np.signedinteger], items: NDArray[np.intp], noise: str
) -> tuple[int, int]:
    """Return in how many resamples all the `items` present had one label, and of how many.

    Only resamples with two or more of the items present count.
    """
    return _joint_counts(labels, items, NOISE_RULES[noise], int(labels.max(initial=-1)))


@kernel
def _slot(label, rule, highest):
    """Return the histogram slot of a label, -1 if not drawn, -2 if it matches nobody."""
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
    # One word of every item at a time, in contiguous buffers: 64 resamples fill it.
    word_present = np.empty(n_items, dtype=np.uint64)
    word_deviating = np.empty(n_items, dtype=np.uint64)
    word_comparable = np.empty(n_items, dtype=np.uint64)
    word_planes = np.empty((n_planes, n_items), dtype=np.uint64)
    count = np.zeros(highest + 2, dtype=np.int64)
    rank = np.empty(highest + 2, dtype=np.int64)
    found = np.empty(highest + 2, dtype=np.int64)  # the labels in use: often few of them
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
            order = np.argsort(-count[found[:n_found]], kind="mergesort")
            for place in range(n_found):
                rank[found[order[place]]] = place
            count[found[:n_found]] = 0
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
        present[:, word] = word_present
        deviating[:, word] = word_deviating
        comparable[:, word] = word_comparable
        for plane in range(n_planes):
            planes[:, plane, word] = word_planes[plane]
    return present, deviating, comparable, planes


@kernel
def _seen_apart(present, deviating, comparable, planes, i, j):
    seen = 0
    apart = 0
    for word in range(present.shape[1]):
        p_i = present[i, word]
        p_j = present[j, word]
        seen += popcount(p_i & p_j)
        apart += popcount((deviating[i, word] & p_j) | (deviating[j, word] & p_i))
        both = comparable[i, word] & comparable[j, word]
        if both != 0:
            for plane in range(planes.shape[1]):
                both &= ~(planes[i, plane, word] ^ planes[j, plane, word])
            apart -= popcount(both)
    return seen, apart


@kernel
def _pair_counts(present, deviating, comparable, planes, first, second):
    together = np.empty(first.size, dtype=np.int64)
    seen = np.empty(first.size, dtype=np.int64)
    for pair in range(first.size):
        both_seen, apart = _seen_apart(
            present, deviating, comparable, planes, first[pair], second[pair]
        )
        seen[pair] = both_seen
        together[pair] = both_seen - apart
    return together, seen


@kernel
def _matrix_counts(present, deviating, comparable, planes):
    n_items = present.shape[0]
    together = np.empty((n_items, n_items), dtype=np.int32)
    seen = np.empty((n_items, n_items), dtype=np.int32)
    for i in range(n_items):
        for j in range(i + 1):
            both_seen, apart = _seen_apart(present, deviating, comparable, planes, i, j)
            seen[i, j] = seen[j, i] = both_seen
            together[i, j] = together[j, i] = both_seen - apart
    return together, seen


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
                common = -2  # noise that is apart is -2 as well: it never agrees
        if n_present > 1:
            seen += 1
            together += common != -2
    return together, seen


@kernel
def conflict_rows(present, deviating, comparable, planes, table, rows, candidates, limit):
    """List, for each of `rows`, the `candidates` it is in conflict with.

    Two items are in conflict when they were apart more than `table[seen]` times. A row
    with more than `limit` conflicts is given up: its count is then `limit + 1`.

    Returns
    -------
    counts : ndarray of shape (n_rows,)
    conflicts : ndarray of shape (n_rows, limit)
        The first `counts[r]` entries of row r are filled.
    """
    counts = np.zeros(rows.size, dtype=np.int64)
    conflicts = np.empty((rows.size, limit), dtype=np.int32)
    for r in range(rows.size):
        for candidate in candidates:
            if candidate == rows[r]:
                continue
            seen, apart = _seen_apart(present, deviating, comparable, planes, rows[r], candidate)
            if apart > table[seen]:
                counts[r] += 1
                if counts[r] > limit:
                    break
                conflicts[r, counts[r] - 1] = candidate
    return counts, conflicts


def agreement_with(
    new: NDArray[np.signedinteger],
    labels: NDArray[np.signedinteger],
    table: NDArray[np.int64],
    noise: str,
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Compare new items with items of an ensemble, by their labels in the same resamples.

    Parameters
    ----------
    new : ndarray of shape (n_new, m)
    labels : ndarray of shape (s, m)
    table : ndarray of shape (m + 1,)
        How often a pair seen B times may be apart.
    noise : {"apart", "together", "absent"}

    Returns
    -------
    fits : ndarray of bool of shape (n_new,)
        Whether a new item is in conflict with none of the others.
    together, seen : ndarray of int of shape (n_new,)
        Counts over all of the others; for those that fit.
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


@kernel
def conflict_levels(present, deviating, comparable, planes, tables, rows, is_row):
    """List the conflicts of `rows` under tables of which each allows what the one before does.

    The level of a pair is the number of tables under which it is in conflict. A pair of two
    items that both are rows (`is_row`) is listed once, with the later one as its row.

    Returns
    -------
    counts : ndarray of shape (n_rows,)
        Pairs of a level above 0.
    others, levels : ndarray of shape (n_rows, n_items)
        The first `counts[r]` entries of row r are filled.
    """
    n_items = present.shape[0]
    counts = np.zeros(rows.size, dtype=np.int64)
    others = np.empty((rows.size, n_items), dtype=np.int32)
    levels = np.empty((rows.size, n_items), dtype=np.uint16)
    for r in range(rows.size):
        row = rows[r]
        for other in range(n_items):
            if other == row or (is_row[other] and other > row):
                continue
            seen, apart = _seen_apart(present, deviating, comparable, planes, row, other)
            level = 0
            while level < tables.shape[0] and apart > tables[level, seen]:
                level += 1
            if level > 0:
                others[r, counts[r]] = other
                levels[r, counts[r]] = level
                counts[r] += 1
    return counts, others, levels


@kernel
def extend_conflict_free(present, deviating, comparable, planes, table, chosen, n_chosen, queue):
    """Append to `chosen[:n_chosen]` every item of `queue` in conflict with none of it."""
    for item in queue:
        # The last chosen deviate most: a conflict is found there first.
        for k in range(n_chosen - 1, -1, -1):
            seen, apart = _seen_apart(present, deviating, comparable, planes, item, chosen[k])
            if apart > table[seen]:
                break
        else:
            chosen[n_chosen] = item
            n_chosen += 1
    return n_chosen


@kernel
def group_conflicting(present, deviating, comparable, planes, table, queue, groups, sizes, n):
    """Put every item of `queue` into a group in which all are in conflict with each other.

    Only the latest groups are open, each in a row of `groups`; a new one takes the row of the
    oldest.

    Parameters
    ----------
    queue : ndarray of int
    groups : ndarray of shape (n_open, largest)
        The items of the open groups, changed in place.
    sizes : ndarray of shape (n_open,)
        How many there are in each, changed in place.
    n : int
        Groups so far.

    Returns
    -------
    n : int
    """
    n_open, largest = groups.shape
    for item in queue:
        place = -1
        for group in range(n_open):
            if sizes[group] == 0 or sizes[group] == largest:
                continue
            fits = True
            for k in range(sizes[group]):
                seen, apart = _seen_apart(
                    present, deviating, comparable, planes, item, groups[group, k]
                )
                if apart <= table[seen]:
                    fits = False
                    break
            if fits:
                place = group
                break
        if place < 0:
            place = n % n_open
            sizes[place] = 0
            n += 1
        groups[place, sizes[place]] = item
        sizes[place] += 1
    return n


@kernel
def row_bits(bits):
    """Return the number of set bits in each row of a bitset matrix."""
    total = np.zeros(bits.shape[0], dtype=np.int64)
    for i in range(bits.shape[0]):
        for word in range(bits.shape[1]):
            total[i] += popcount(bits[i, word])
    return total


@kernel
def count_apart_pairs(present, deviating, comparable, planes, above, up_to, rows, others, is_row):
    """Count, for each item, the `others` it was apart from more than `above`, at most `up_to`.

    Both are tables by how often the two were seen. Only pairs with at least one of `rows`
    are looked at; one of two items that both are rows (`is_row`) once.

    Returns
    -------
    counts : ndarray of shape (n_items,)
    """
    counts = np.zeros(present.shape[0], dtype=np.int64)
    for row in rows:
        for other in others:
            if other == row or (is_row[other] and other > row):
                continue
            seen, apart = _seen_apart(present, deviating, comparable, planes, row, other)
            if above[seen] < apart <= up_to[seen]:
                counts[row] += 1
                counts[other] += 1
    return counts
