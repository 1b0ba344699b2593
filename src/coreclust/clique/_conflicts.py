"""Builds the conflict graph of one cluster without comparing all pairs.

Two items are in conflict if they are not an edge of the core graph. Most items of a stable cluster
rarely deviate from it, and are proven to have no conflicts with each other without comparing them.
Each of the other items is compared with all items, but only until it is certain that it cannot be
in a core as large as one already found.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.jit import kernel
from coreclust.clique._deadline import Deadline
from coreclust.clique._graph import Graph
from coreclust.evidence._packed import PackedLabels
from coreclust.evidence._protocol import PairCounts

_ROWS_PER_CALL = 256  # kernels cannot be interrupted, so each call is short
_PAIRS_PER_CALL = 2**23  # with few resamples, and fewer pairs with more
_FEW_RESAMPLES = 256

# Memory of a conflict in the rows, in the graph made from them, and in the matching for the bound.
_BYTES_PER_CONFLICT = 40
_HOPELESS = 4  # times the memory
_LEAST_ROOM = 1e6  # conflicts that are listed whatever the time
_CONFLICTS_PER_SECOND = 4e6  # that the search can process, roughly

_Items = NDArray[np.intp]
_Flags = NDArray[np.bool_]  # one per item
_Table = NDArray[np.int64]  # how often a pair seen B times may be apart, for B = 0, 1, ...

# Groups of items that are all in conflict. A core contains at most one item of each.
_OPEN_GROUPS = 8
_LARGEST_GROUP = 1024


class TooManyConflictsError(Exception):
    """The conflicts of a cluster cannot be listed in the memory or the time allowed for them."""


def conflict_graph(
    pairs: PairCounts, table: _Table, deadline: Deadline, max_memory: float = math.inf
) -> tuple[_Items, Graph, _Flags]:
    """Return the conflict graph of the items that can be in a largest core.

    The items of `pairs` are in order of preference, and `table` does not decrease. Returns the
    items that were not ruled out, in order; the graph of their conflicts, in this numbering; and a
    set of them without conflicts. Raises TooManyConflictsError if this needs more than
    `max_memory` bytes or more than half of the time.
    """
    n_items = pairs.n_items
    steady = pairs.steady_items(table)
    # An item that was seen too rarely for any edge is in no core of two or more items.
    alive = pairs.connectable_items(table)
    if not alive.any():
        alive[0] = True
    listing = deadline.share(2)
    block, border = np.flatnonzero(steady), np.flatnonzero(~steady & alive)
    core = extend_greedily(pairs, table, block, border, listing)
    rows: dict[int, NDArray[np.int32]] = {}
    room = _room(max_memory, deadline)
    n_done = 0
    # The most deviating items first: they are ruled out early, which makes the limit stricter.
    for chunk in in_chunks(border[::-1], n_items, table.size, listing):
        candidates = np.flatnonzero(alive)
        limit = candidates.size - core.size
        counts, found = pairs.conflict_rows(table, chunk, candidates, limit)
        for item, count, conflicts in zip(chunk, counts, found, strict=True):
            if count > limit:
                alive[item] = False
            else:
                rows[int(item)] = conflicts[:count].copy()
                room -= count
        n_done += chunk.size
        if room < 0 or _is_hopeless(rows, border.size - n_done, room):
            raise TooManyConflictsError
    if n_done < border.size:
        raise TooManyConflictsError
    kept = np.flatnonzero(alive)
    start = np.zeros(n_items, dtype=bool)
    start[core] = True
    return kept, _graph(kept, alive, steady, rows), start[kept]


def _room(max_memory: float, deadline: Deadline) -> float:
    """Return how many conflicts fit into the memory, and into the time of the search."""
    seconds = deadline.remaining()
    in_time = math.inf if seconds is None else _LEAST_ROOM + _CONFLICTS_PER_SECOND * seconds
    return min(max_memory / _BYTES_PER_CONFLICT, in_time)


def _is_hopeless(rows: dict[int, NDArray[np.int32]], n_left: int, room: float) -> bool:
    """Tell whether rows as long as the last ones would need far more memory than there is."""
    last = list(itertools.islice(reversed(rows.values()), 64))
    mean = sum(row.size for row in last) / max(len(last), 1)
    return mean * n_left > _HOPELESS * room


def groups_in_conflict(pairs: PairCounts, table: _Table, items: _Items, deadline: Deadline) -> int:
    """Put items into groups in which all are in conflict with each other, and count the groups.

    A core contains at most one item of each group. When the deadline passes, each of the remaining
    items counts as a group.
    """
    groups = np.empty((_OPEN_GROUPS, _LARGEST_GROUP), dtype=np.int32)
    sizes = np.zeros(_OPEN_GROUPS, dtype=np.int64)
    n_groups = n_done = 0
    for chunk in in_chunks(items[::-1], items.size, table.size, deadline):
        n_groups = pairs.group_conflicting(table, chunk, groups, sizes, n_groups)
        n_done += chunk.size
    return n_groups + items.size - n_done


def conflict_graphs(
    pairs: PairCounts,
    tables: NDArray[np.int64],  # (n_tables, n_resamples + 1), the strictest first
    deadline: Deadline,
    max_memory: float = math.inf,
) -> Iterator[Callable[[_Flags], tuple[_Items, Graph]] | None]:
    """Yield conflict graphs under several tables, from the strictest on, counting pairs once.

    Yields None if the conflicts are those of the table before. Otherwise yields a function that
    takes a set without conflicts, as booleans, and returns the items that are in it or can be in a
    larger one, and the graph of their conflicts. See :func:`conflict_graph` for the arguments.
    """
    n_items = pairs.n_items
    steady = pairs.steady_items(tables[0])
    border = np.flatnonzero(~steady)
    pieces = [(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))]
    room = _room(max_memory, deadline)
    n_done = 0
    for chunk in in_chunks(border, n_items, tables.shape[1], deadline.share(2)):
        counts, others, levels = pairs.conflict_levels(tables, chunk, ~steady)
        filled = np.arange(n_items) < counts[:, None]
        pieces.append((np.repeat(chunk, counts), others[filled], levels[filled]))
        room -= int(counts.sum())
        n_done += chunk.size
        if room < 0:
            raise TooManyConflictsError
    if n_done < border.size:
        raise TooManyConflictsError
    rows, others, levels = map(np.concatenate, zip(*pieces, strict=True))
    for place in range(len(tables)):
        conflicting = levels > place
        if place > 0 and conflicting.all():
            yield None
            continue
        rows, others, levels = rows[conflicting], others[conflicting], levels[conflicting]
        yield functools.partial(_graph_beyond, n_items, rows, others)


def undecided_pairs(pairs: PackedLabels, sure: _Table, possible: _Table, deadline: Deadline) -> int:
    """Count the undecided pairs that could still change a core.

    A pair seen B times is decided to have no conflict if it was apart at most ``sure[B]`` times,
    and to be in conflict if it was apart more than ``possible[B]`` times. Pairs of items that are
    ruled out are not counted: an item with too many decided conflicts cannot be in a core as large
    as one already decided. Pairs that were not compared when the deadline passes are undecided.
    """
    n_items = pairs.n_items
    steady = pairs.steady_items(sure)
    by_deviation = pairs.by_deviation()
    border = by_deviation[~steady[by_deviation]]
    core = extend_greedily(pairs, sure, np.flatnonzero(steady), border, deadline)
    never = np.full(sure.size, sure.size)
    n_conflicts = np.zeros(n_items, dtype=np.int64)
    for chunk in in_chunks(border, n_items, sure.size, deadline):
        n_conflicts += pairs.count_apart_pairs(possible, never, chunk, np.arange(n_items), ~steady)
    alive = n_conflicts <= n_items - max(core.size, 1)
    rows, others = border[alive[border]], np.flatnonzero(alive)
    n_undecided = n_done = 0
    for chunk in in_chunks(rows, others.size, sure.size, deadline):
        counts = pairs.count_apart_pairs(sure, possible, chunk, others, ~steady)
        n_undecided += int(counts.sum()) // 2
        n_done += chunk.size
    return n_undecided + (rows.size - n_done) * others.size


def _graph_beyond(
    n_items: int, rows: NDArray[np.int64], others: NDArray[np.int32], chosen: _Flags
) -> tuple[_Items, Graph]:
    """Return the graph on the items with few enough conflicts for a set larger than `chosen`."""
    degrees = np.bincount(rows, minlength=n_items) + np.bincount(others, minlength=n_items)
    alive = chosen | (degrees <= n_items - np.count_nonzero(chosen))
    kept = np.flatnonzero(alive)
    number = np.full(n_items, -1, dtype=np.int32)
    number[kept] = np.arange(kept.size, dtype=np.int32)
    return kept, Graph.from_pairs(rows, others, number)


def extend_greedily(
    pairs: PairCounts, table: _Table, block: _Items, border: _Items, deadline: Deadline
) -> _Items:
    """Return a conflict-free set: the block, and the items of the border that fit, in order."""
    chosen = np.empty(block.size + border.size, dtype=np.intp)
    chosen[: block.size] = block
    n_chosen = block.size
    for chunk in in_chunks(border, chosen.size, table.size, deadline):
        n_chosen = pairs.extend_conflict_free(table, chosen, n_chosen, chunk)
    return chosen[:n_chosen]


def in_chunks(
    items: _Items, n_others: int, n_resamples: int, deadline: Deadline
) -> Iterator[_Items]:
    """Yield items in chunks that can be compared with `n_others` others in a short time.

    Stops when the deadline passes, but not before the first chunk.
    """
    n_pairs = _PAIRS_PER_CALL * _FEW_RESAMPLES // max(n_resamples, _FEW_RESAMPLES)
    size = max(min(_ROWS_PER_CALL, n_pairs // max(n_others, 1)), 1)
    for begin in range(0, items.size, size):
        deadline.raise_if_cancelled()
        if begin > 0 and deadline.expired():
            return
        yield items[begin : begin + size]


def _graph(
    kept: _Items, alive: _Flags, steady: _Flags, rows: dict[int, NDArray[np.int32]]
) -> Graph:
    """Assemble neighbor lists from the rows of the border items.

    Conflicts between border items are in both rows. Those with steady items are only in the row
    of the border item, and are mirrored here.
    """
    items = np.array(sorted(item for item in rows if alive[item]), dtype=np.intp)
    lists = [rows[item] for item in items.tolist()]
    ends = np.cumsum([0, *(row.size for row in lists)], dtype=np.int64)
    conflicts = np.concatenate(lists) if lists else np.empty(0, dtype=np.int32)
    number = np.where(alive, np.cumsum(alive) - 1, -1)
    return Graph(*_assemble(items, ends, conflicts, number, steady, kept.size))


@kernel
def _assemble(items, ends, conflicts, number, steady, n_kept):
    indptr = np.zeros(n_kept + 1, dtype=np.int64)
    for row in range(items.size):
        v = number[items[row]]
        for other in conflicts[ends[row] : ends[row + 1]]:
            u = number[other]
            if u >= 0:
                indptr[v + 1] += 1
                indptr[u + 1] += steady[other]
    for v in range(n_kept):
        indptr[v + 1] += indptr[v]
    filled = indptr[:-1].copy()
    indices = np.empty(indptr[-1], dtype=np.int32)
    for row in range(items.size):
        v = number[items[row]]
        for other in conflicts[ends[row] : ends[row + 1]]:
            u = number[other]
            if u < 0:
                continue
            indices[filled[v]] = u
            filled[v] += 1
            if steady[other]:
                indices[filled[u]] = v
                filled[u] += 1
    return indptr, indices
