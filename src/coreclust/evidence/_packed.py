"""Labels packed into bitsets, and kernels that count pairs and list conflicts from them.

The labels of a group of items are packed with one bit per resample. Compared with the most common
label of the group in each resample, an item either agrees or *deviates*. For two items

    seen  = |present_i & present_j|
    apart = |(deviating_i & present_j) | (deviating_j & present_i)|
            - |resamples in which both deviate to the same label|

For most pairs of a stable cluster this takes a few words per item, and no labels are compared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from coreclust._utils.jit import inlined, kernel, popcount
from coreclust.evidence._protocol import Counts, Items, Levels, Mask, Rows, Table


class PackedLabels(NamedTuple):
    """Labels of some items, one bit per resample; `PairCounts` documents the methods."""

    present: NDArray[np.uint64]  # (n_items, n_words)
    deviating: NDArray[np.uint64]  # (n_items, n_words), a subset of present
    comparable: NDArray[np.uint64]  # (n_items, n_words), deviating with a label other than noise
    planes: NDArray[np.uint64]  # (n_items, n_planes, n_words), rank of the label in binary

    @property
    def n_items(self) -> int:
        return self.present.shape[0]

    def in_draws(self, share: float) -> NestedLabels:
        """Return the labels with each word as the resamples of one draw of the data."""
        return NestedLabels(*self, share)  # type: ignore[call-arg]

    def pair_counts(self, first: Items, second: Items) -> Counts:
        """Return (together, seen), the A and B of the paper, for pairs of items."""
        return _pair_counts(self, first, second)

    def matrix_counts(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return (together, seen) for every pair of items, as square matrices."""
        return _matrix_counts(self)

    def by_deviation(self) -> Items:
        """Return the items, sorted by how often they deviate."""
        return np.argsort(_row_bits(self.deviating), kind="stable")

    def steady_items(self, table: Table) -> Mask:
        """Mark items that are certain to have no conflicts with each other.

        Items i, j present in p resamples and deviating in v of them were seen together at
        least ``p_i + p_j - m`` times and apart at most ``v_i + v_j`` times. Given a line
        ``a B - c`` that stays below ``table[B] + 1``, it is sufficient that each of the two has
        ``v <= a (p - m / 2) - c / 2`` and that they were seen together often enough.
        """
        n_resamples = table.size - 1
        allowed = np.flatnonzero(table >= 0)
        present, deviating = _row_bits(self.present), _row_bits(self.deviating)
        if allowed.size == 0:
            return np.zeros(present.size, dtype=bool)
        first = int(allowed[0])
        slope = (table[-1] - table[first]) / max(n_resamples - first, 1)
        seen = np.arange(first, n_resamples + 1)
        offset = np.max(slope * seen - table[first:]) - 1 + 1e-6
        return (2 * present - n_resamples >= first) & (
            deviating <= slope * (present - n_resamples / 2) - offset / 2
        )

    def connectable_items(self, table: Table) -> Mask:
        least = int(np.argmax(table >= 0)) if table[-1] >= 0 else table.size
        return _row_bits(self.present) >= least

    def twins(self, table: Table) -> tuple[Items, NDArray[np.int64]]:
        """Compare items whose rows have the same hash."""
        _, first, inverse = np.unique(_row_hashes(self), return_index=True, return_inverse=True)
        leader = _checked_leaders(self, first[inverse])
        weight = np.bincount(leader, minlength=leader.size)
        apart_from_twins = _in_conflict_with_twins(self, table)
        return leader, np.where(apart_from_twins, np.minimum(weight, 1), weight)

    def fill_edges(self, table: Table, items: Items, begin: int, bits: NDArray[np.uint64]) -> None:
        _fill_edges(self, table, items, begin, bits)

    def conflict_rows(self, table: Table, rows: Items, candidates: Items, limit: int) -> Rows:
        # One memory layout, so that it is compiled once.
        return _conflict_rows(self, table, np.ascontiguousarray(rows), candidates, limit)

    def conflict_levels(self, tables: NDArray[np.int64], rows: Items, is_row: Mask) -> Levels:
        return _conflict_levels(self, tables, rows, is_row)

    def extend_conflict_free(self, table: Table, chosen: Items, n_chosen: int, queue: Items) -> int:
        return _extend_conflict_free(self, table, chosen, n_chosen, queue)

    def group_conflicting(
        self,
        table: Table,
        queue: Items,
        groups: NDArray[np.int32],
        sizes: NDArray[np.int64],
        n: int,
    ) -> int:
        return _group_conflicting(self, table, queue, groups, sizes, n)

    def count_apart_pairs(
        self, above: Table, up_to: Table, rows: Items, others: Items, is_row: Mask
    ) -> NDArray[np.int64]:
        """Count, for each item, the `others` it was apart from more than `above`, at most `up_to`.

        Only pairs with at least one of `rows` count. A pair of two rows (`is_row`) counts once.
        """
        return _count_apart_pairs(self, above, up_to, rows, others, is_row)


class NestedLabels(NamedTuple):
    """Labels in the resamples of several draws of the data, with one word of resamples per draw.

    Two items are in conflict if they are so in more than a `share` of the draws in which they were
    seen often enough to tell, or if these draws are fewer than ``1 / share``.
    """

    present: NDArray[np.uint64]  # as in PackedLabels
    deviating: NDArray[np.uint64]
    comparable: NDArray[np.uint64]
    planes: NDArray[np.uint64]
    share: float

    n_items = PackedLabels.n_items  # type: ignore[misc]
    twins = PackedLabels.twins  # type: ignore[misc]
    fill_edges = PackedLabels.fill_edges  # type: ignore[misc]
    conflict_rows = PackedLabels.conflict_rows  # type: ignore[misc]
    conflict_levels = PackedLabels.conflict_levels  # type: ignore[misc]
    extend_conflict_free = PackedLabels.extend_conflict_free  # type: ignore[misc]
    group_conflicting = PackedLabels.group_conflicting  # type: ignore[misc]

    def connectable_items(self, table: Table) -> Mask:
        least = int(np.argmax(table >= 0)) if table[-1] >= 0 else table.size
        return (_word_bits(self.present) >= least).sum(axis=1) * self.share >= 1 - 1e-9

    def steady_items(self, table: Table) -> Mask:
        """Mark items that are steady, as in PackedLabels, in nearly all draws.

        If items i, j are not so in u draws, they are in conflict in at most ``u_i + u_j`` draws,
        and were seen often enough in all others.
        """
        n_draws = self.present.shape[1]
        steady = np.zeros(self.present.shape, dtype=bool)
        for draw in range(n_draws):
            word = slice(draw, draw + 1)
            alone = PackedLabels(
                self.present[:, word],
                self.deviating[:, word],
                self.comparable[:, word],
                self.planes[:, :, word],
            )
            steady[:, draw] = alone.steady_items(table)
        n_unsteady = n_draws - steady.sum(axis=1)
        most = self.share * n_draws / (2 * (1 + self.share))
        return (n_unsteady <= most) & (self.share * (n_draws - 2 * n_unsteady) >= 1 - 1e-9)


def _in_conflict(packed, table, i, j):
    """Tell whether two items are in conflict."""
    nested = isinstance(packed, NestedLabels)
    return _nested_conflict(packed, table, i, j) if nested else _plain_conflict(packed, table, i, j)


@overload(_in_conflict, inline="always")
def _overload_in_conflict(packed, table, i, j):
    if packed.instance_class is NestedLabels:
        return lambda packed, table, i, j: _nested_conflict(packed, table, i, j)
    return lambda packed, table, i, j: _plain_conflict(packed, table, i, j)


@inlined
def _plain_conflict(packed, table, i, j):
    seen, apart = _seen_apart(packed, i, j)
    return apart > table[seen]


@kernel
def _nested_conflict(packed, table, i, j):
    present, deviating, comparable, planes, share = packed
    n_judged = 0
    n_apart = 0
    for draw in range(present.shape[1]):
        p_i = present[i, draw]
        p_j = present[j, draw]
        allowed = table[popcount(p_i & p_j)]
        if allowed < 0:
            continue
        apart = popcount((deviating[i, draw] & p_j) | (deviating[j, draw] & p_i))
        both = comparable[i, draw] & comparable[j, draw]
        if both != 0:
            for plane in range(planes.shape[1]):
                both &= ~(planes[i, plane, draw] ^ planes[j, plane, draw])
            apart -= popcount(both)
        n_judged += 1
        n_apart += apart > allowed
    return n_judged * share < 1 - 1e-9 or n_apart > n_judged * share + 1e-9


@inlined
def _seen_apart(packed, i, j):
    """Return in how many resamples two items were seen together, and apart."""
    present, deviating, comparable, planes = packed
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
def _pair_counts(packed, first, second):
    together = np.empty(first.size, dtype=np.int64)
    seen = np.empty(first.size, dtype=np.int64)
    for pair in range(first.size):
        both_seen, apart = _seen_apart(packed, first[pair], second[pair])
        seen[pair] = both_seen
        together[pair] = both_seen - apart
    return together, seen


@kernel
def _matrix_counts(packed):
    n_items = packed.present.shape[0]
    together = np.empty((n_items, n_items), dtype=np.int32)
    seen = np.empty((n_items, n_items), dtype=np.int32)
    for i in range(n_items):
        for j in range(i + 1):
            both_seen, apart = _seen_apart(packed, i, j)
            seen[i, j] = seen[j, i] = both_seen
            together[i, j] = together[j, i] = both_seen - apart
    return together, seen


@kernel
def _conflict_rows(packed, table, rows, candidates, limit):
    counts = np.zeros(rows.size, dtype=np.int64)
    conflicts = np.empty((rows.size, limit), dtype=np.int32)
    for r in range(rows.size):
        for candidate in candidates:
            if candidate == rows[r]:
                continue
            if _in_conflict(packed, table, rows[r], candidate):
                counts[r] += 1
                if counts[r] > limit:
                    break
                conflicts[r, counts[r] - 1] = candidate
    return counts, conflicts


def _conflict_level(packed, tables, i, j):
    """Return the number of tables under which two items are in conflict: the first ones."""
    nested = isinstance(packed, NestedLabels)
    return _nested_level(packed, tables, i, j) if nested else _plain_level(packed, tables, i, j)


@overload(_conflict_level, inline="always")
def _overload_conflict_level(packed, tables, i, j):
    if packed.instance_class is NestedLabels:
        return lambda packed, tables, i, j: _nested_level(packed, tables, i, j)
    return lambda packed, tables, i, j: _plain_level(packed, tables, i, j)


@inlined
def _plain_level(packed, tables, i, j):
    seen, apart = _seen_apart(packed, i, j)
    level = 0
    while level < tables.shape[0] and apart > tables[level, seen]:
        level += 1
    return level


@kernel
def _nested_level(packed, tables, i, j):
    low = 0
    high = tables.shape[0]
    while low < high:  # a conflict under one table is one under all stricter tables
        middle = (low + high) // 2
        if _nested_conflict(packed, tables[middle], i, j):
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _conflict_levels(packed, tables, rows, is_row):
    n_items = packed.present.shape[0]
    counts = np.zeros(rows.size, dtype=np.int64)
    others = np.empty((rows.size, n_items), dtype=np.int32)
    levels = np.empty((rows.size, n_items), dtype=np.int32)
    for r in range(rows.size):
        row = rows[r]
        for other in range(n_items):
            if other == row or (is_row[other] and other > row):
                continue
            level = _conflict_level(packed, tables, row, other)
            if level > 0:
                others[r, counts[r]] = other
                levels[r, counts[r]] = level
                counts[r] += 1
    return counts, others, levels


@kernel
def _extend_conflict_free(packed, table, chosen, n_chosen, queue):
    for item in queue:
        # The last chosen deviate most, so a conflict is found there first.
        for k in range(n_chosen - 1, -1, -1):
            if _in_conflict(packed, table, item, chosen[k]):
                break
        else:
            chosen[n_chosen] = item
            n_chosen += 1
    return n_chosen


@kernel
def _group_conflicting(packed, table, queue, groups, sizes, n):
    n_open, largest = groups.shape
    for item in queue:
        place = -1
        for group in range(n_open):
            if sizes[group] == 0 or sizes[group] == largest:
                continue
            fits = True
            for k in range(sizes[group]):
                if not _in_conflict(packed, table, item, groups[group, k]):
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
def _count_apart_pairs(packed, above, up_to, rows, others, is_row):
    counts = np.zeros(packed.present.shape[0], dtype=np.int64)
    for row in rows:
        for other in others:
            if other == row or (is_row[other] and other > row):
                continue
            seen, apart = _seen_apart(packed, row, other)
            if above[seen] < apart <= up_to[seen]:
                counts[row] += 1
                counts[other] += 1
    return counts


@kernel
def _word_bits(bits):
    """Return the number of set bits in each word."""
    total = np.zeros(bits.shape, dtype=np.uint8)
    for i in range(bits.shape[0]):
        for word in range(bits.shape[1]):
            total[i, word] = popcount(bits[i, word])
    return total


@kernel
def _row_bits(bits):
    """Return the number of set bits in each row of a bitset matrix."""
    total = np.zeros(bits.shape[0], dtype=np.int64)
    for i in range(bits.shape[0]):
        for word in range(bits.shape[1]):
            total[i] += popcount(bits[i, word])
    return total


def _row_hashes(packed: Any) -> NDArray[np.uint64]:
    """Return one number per item that is equal for items with equal rows."""
    n_items = packed.n_items
    words = np.concatenate([part.reshape(n_items, -1) for part in packed[:4]], axis=1)
    hashes = np.zeros(n_items, dtype=np.uint64)
    for word in words.T:
        hashes = (hashes ^ word) * np.uint64(0x9E3779B97F4A7C15)  # an odd number with mixed bits
        hashes ^= hashes >> np.uint64(29)
    return hashes


@kernel
def _checked_leaders(packed, leaders):
    """Return the leader of each item, or the item itself if their rows are not equal after all."""
    present, deviating = packed.present, packed.deviating
    comparable, planes = packed.comparable, packed.planes
    checked = leaders.copy()
    for i in range(leaders.size):
        j = leaders[i]
        same = True
        for word in range(present.shape[1]):
            same &= present[i, word] == present[j, word]
            same &= deviating[i, word] == deviating[j, word]
            same &= comparable[i, word] == comparable[j, word]
            for plane in range(planes.shape[1]):
                same &= planes[i, plane, word] == planes[j, plane, word]
        if not same:
            checked[i] = i
    return checked


@kernel
def _in_conflict_with_twins(packed, table):
    """Mark items that would be in conflict with an item of the same labels, because of noise."""
    n_items = packed.present.shape[0]
    marks = np.empty(n_items, dtype=np.bool_)
    for i in range(n_items):
        marks[i] = _in_conflict(packed, table, i, i)
    return marks


@kernel
def _fill_edges(packed, table, items, begin, bits):
    one = np.uint64(1)
    for a in range(begin, items.size):
        for b in range(a):
            if not _in_conflict(packed, table, items[a], items[b]):
                bits[a, b >> 6] |= one << np.uint64(b & 63)
                bits[b, a >> 6] |= one << np.uint64(a & 63)
