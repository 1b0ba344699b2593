"""Search for cores in clusters with more conflicts than can be listed.

Items with the same labels in every resample have the same conflicts, and are searched as one
vertex. The pairs without a conflict are few in such a cluster, and are kept as a bit matrix, which
is filled in the order of the items: if the time or the memory ends, it is complete for the first
items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coreclust.clique._conflicts import extend_greedily, groups_in_conflict, in_chunks
from coreclust.clique._deadline import Deadline
from coreclust.clique._heaviest import heaviest_clique, prefer_low_numbers
from coreclust.clique._probing import complement, probe
from coreclust.evidence._protocol import Items, PairCounts, Table


def conflict_free_set(
    pairs: PairCounts, table: Table, deadline: Deadline, max_memory: float = np.inf
) -> tuple[Items, int, str]:
    """Return a set without conflicts, an upper bound on the size of any, and what limited them.

    The items of `pairs` are in order of preference. `max_memory` limits the bytes of the matrix.
    """
    steady = pairs.steady_items(table)
    block, border = np.flatnonzero(steady), np.flatnonzero(~steady)
    known = extend_greedily(pairs, table, block, border, deadline.share(4))
    leader, weight = pairs.twins(table)
    vertices = np.flatnonzero((leader == np.arange(leader.size)) & pairs.connectable_items(table))
    if vertices.size == 0:
        return np.array([0]), 1, "time_limit"
    if 2 * block.size >= steady.size and 2 * vertices.size > steady.size:
        # A stable cluster, with too little time to list its border.
        n_groups = groups_in_conflict(pairs, table, border, deadline)
        return np.sort(known), block.size + n_groups, "time_limit"
    n_fitting = int(min(vertices.size, (8 * max_memory) ** 0.5))
    bits = _edges(pairs, table, vertices[:n_fitting], deadline.share(1.5))
    searched, rest = vertices[: len(bits)], vertices[len(bits) :]
    start = np.flatnonzero(np.isin(searched, known))
    bound = int(weight[searched].sum())
    if (weight[searched] == 1).all():
        share, longer = deadline.share(2), deadline.share(1.1)
        probed = probe(complement(bits), start, share, extended=longer)
        start, bound = probed.chosen, probed.upper_bound
    if start.size < bound:
        best, heaviest = heaviest_clique(bits, weight[searched], start, deadline)
        bound = min(bound, heaviest)
    else:
        best = prefer_low_numbers(bits, weight[searched], start, deadline)
    if rest.size:
        heaviest = int(weight[vertices].max())
        bound += heaviest * groups_in_conflict(pairs, table, rest, deadline.share(2))
        bound = min(bound, heaviest * groups_in_conflict(pairs, table, vertices, deadline))
        bound = min(bound, int(weight[vertices].sum()))
    found = _with_twins(searched[best], leader, weight)
    larger = found if found.size >= known.size else np.sort(known)
    limited = len(bits) == n_fitting < vertices.size and not deadline.expired()
    return larger, bound, "max_memory" if limited else "time_limit"


def _with_twins(chosen: Items, leader: Items, weight: NDArray[np.int64]) -> Items:
    """Return the items that the chosen vertices stand for."""
    whole = chosen[weight[chosen] > 1]
    return np.union1d(chosen, np.flatnonzero(np.isin(leader, whole)))


def _edges(pairs: PairCounts, table: Table, items: Items, deadline: Deadline) -> NDArray[np.uint64]:
    """Return the pairs of the first items without a conflict, as many as there is time for."""
    n = items.size
    bits = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
    done = 0
    for chunk in in_chunks(np.arange(n), n, table.size, deadline):
        done = int(chunk[-1]) + 1
        pairs.fill_edges(table, items[:done], int(chunk[0]), bits)
    return bits if done == n else bits[:done, : (done + 63) // 64].copy()
