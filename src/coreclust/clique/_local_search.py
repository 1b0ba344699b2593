"""Iterated local search for a large independent set.

From Andrade, Resende and Werneck, "Fast local search for the maximum independent set
problem", J. Heuristics 18, 2012. One chosen vertex is exchanged for two wherever possible.
Where it is not, a random vertex is forced in and the search continues from there, unless
that made the set much smaller.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.jit import copy_to, kernel, random_below, random_state_of
from coreclust.clique._deadline import Deadline
from coreclust.clique._graph import Graph

_MOST_VISITS = 30_000_000  # about 0.1 s, because kernels cannot be interrupted
_MOST_EFFORT = 1_000_000_000  # of all exchanges in one call, met only in graphs of many conflicts


def improve_independent_set(
    graph: Graph, chosen: NDArray[np.bool_], *, thorough: bool = False
) -> NDArray[np.bool_]:
    """Return an independent set at least as large as `chosen`.

    The effort is limited by the number of visited neighbors, not by time, so that the same
    graph always gives the same set. A thorough search is worthwhile before a branch and bound,
    which a better start makes much faster.
    """
    size = graph.n_vertices + graph.indices.size
    visits = min(30 * size, _MOST_VISITS) + (min(500 * size, 3_000_000) if thorough else 100_000)
    return _improve(graph.indptr, graph.indices, chosen, visits, 0)


def improve_until(graph: Graph, chosen: NDArray[np.bool_], deadline: Deadline) -> NDArray[np.bool_]:
    """Continue with other random numbers in each round, until a deadline.

    Two searches take turns, one from `chosen` and one from an empty set: if the first is in a poor
    region, the other finds a better set.
    """
    sets = [chosen, np.zeros_like(chosen)]
    seed = 0
    while not deadline.expired():
        seed += 1
        sets[seed % 2] = _improve(graph.indptr, graph.indices, sets[seed % 2], _MOST_VISITS, seed)
    return max(sets, key=np.count_nonzero)


def exchange_one_for_two(graph: Graph, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return an independent set at least as large as `chosen`, with the least effort.

    No vertex can be added to the set, and none can be exchanged for two.
    """
    return _improve(graph.indptr, graph.indices, chosen, 1, 0)


def prefer_low_numbers(
    graph: Graph, chosen: NDArray[np.bool_], deadline: Deadline
) -> NDArray[np.bool_]:
    """Exchange chosen vertices one for one for lower-numbered ones while that is possible.

    After the deadline, there is one round of exchanges.
    """
    chosen = chosen.copy()
    while _exchange_for_lower(graph.indptr, graph.indices, chosen) and not deadline.expired():
        pass
    return chosen


@kernel
def _count_chosen_neighbors(indptr, indices, chosen):
    tight = np.zeros(chosen.size, dtype=np.int32)
    for v in range(chosen.size):
        if chosen[v]:
            for u in indices[indptr[v] : indptr[v + 1]]:
                tight[u] += 1
    return tight


@kernel
def _toggle(indptr, indices, chosen, tight, v, journal, n_moves):
    """Choose or drop v, and record it; return the new number of moves."""
    chosen[v] = not chosen[v]
    step = 1 if chosen[v] else -1
    for u in indices[indptr[v] : indptr[v + 1]]:
        tight[u] += step
    journal[n_moves] = v
    return n_moves + 1


@kernel
def _two_for_one(indptr, indices, chosen, tight, x, journal, n_moves, mark, single, effort):
    """Exchange the chosen vertex x for two or more of its neighbors if possible."""
    n_single = 0
    for u in indices[indptr[x] : indptr[x + 1]]:
        if tight[u] == 1:
            single[n_single] = u
            n_single += 1
    for a in range(n_single):
        v = single[a]
        mark[0] += 1  # mark[0] is the current stamp, mark[1 + u] that of vertex u
        effort[0] += indptr[v + 1] - indptr[v] + n_single - a
        if effort[0] > _MOST_EFFORT:
            break
        for u in indices[indptr[v] : indptr[v + 1]]:
            mark[1 + u] = mark[0]
        for b in range(a + 1, n_single):
            if mark[1 + single[b]] != mark[0]:
                n_moves = _toggle(indptr, indices, chosen, tight, x, journal, n_moves)
                for c in range(a, n_single):
                    if tight[single[c]] == 0 and not chosen[single[c]]:
                        n_moves = _toggle(
                            indptr, indices, chosen, tight, single[c], journal, n_moves
                        )
                return n_moves
    return n_moves


@kernel
def _improve(indptr, indices, start, visits, seed):
    n = start.size
    chosen = start.copy()
    tight = _count_chosen_neighbors(indptr, indices, chosen)
    journal = np.empty(8 * n + 64, dtype=np.int64)
    mark = np.zeros(n + 1, dtype=np.int64)
    single = np.empty(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    queued = np.zeros(n, dtype=np.bool_)
    effort = np.zeros(1, dtype=np.int64)
    state = random_state_of(seed)
    for v in range(n):  # start from a maximal set
        if tight[v] == 0 and not chosen[v]:
            _toggle(indptr, indices, chosen, tight, v, journal, 0)
    size = chosen.sum()
    best = chosen.copy()
    best_size = size
    first_round = True
    while visits > 0 and size < n and effort[0] <= _MOST_EFFORT:
        n_moves = 0
        n_queue = 0
        if first_round:  # look at every chosen vertex once
            for v in range(n):
                if chosen[v]:
                    queue[n_queue] = v
                    queued[v] = True
                    n_queue += 1
            first_round = False
        else:
            v = random_below(state, n)
            while chosen[v]:
                v = random_below(state, n)
            for u in indices[indptr[v] : indptr[v + 1]]:
                if chosen[u]:
                    n_moves = _toggle(indptr, indices, chosen, tight, u, journal, n_moves)
            n_moves = _toggle(indptr, indices, chosen, tight, v, journal, n_moves)
        examined = 0
        while examined < n_moves or n_queue > 0:
            if examined < n_moves:  # find the exchanges that the last moves made possible
                x = journal[examined]
                examined += 1
                visits -= indptr[x + 1] - indptr[x]
                if chosen[x]:
                    if not queued[x]:
                        queue[n_queue] = x
                        queued[x] = True
                        n_queue += 1
                    continue
                for u in indices[indptr[x] : indptr[x + 1]]:
                    if chosen[u] or n_moves > 6 * n:
                        continue
                    if tight[u] == 0:
                        n_moves = _toggle(indptr, indices, chosen, tight, u, journal, n_moves)
                    elif tight[u] == 1:
                        visits -= indptr[u + 1] - indptr[u]
                        for y in indices[indptr[u] : indptr[u + 1]]:
                            if chosen[y]:
                                if not queued[y]:
                                    queue[n_queue] = y
                                    queued[y] = True
                                    n_queue += 1
                                break
            else:
                n_queue -= 1
                x = queue[n_queue]
                queued[x] = False
                if chosen[x] and n_moves <= 6 * n:
                    visits -= 4 * (indptr[x + 1] - indptr[x])
                    n_moves = _two_for_one(
                        indptr, indices, chosen, tight, x, journal, n_moves, mark, single, effort
                    )
        new_size = chosen.sum()
        visits -= n // 8 + 16
        # A smaller set is accepted at random, with a lower probability the more it loses.
        odds = 1 + (size - new_size) * (best_size - new_size)
        if new_size < size and random_below(state, odds) > 0:
            while n_moves > 0:
                n_moves -= 1
                _toggle(indptr, indices, chosen, tight, journal[n_moves], journal, n_moves)
        else:
            size = new_size
            if size > best_size:
                best_size = size
                copy_to(best, chosen)
    return best


@kernel
def _exchange_for_lower(indptr, indices, chosen):
    """Make all exchanges that are found in one round, and return whether there were any."""
    tight = _count_chosen_neighbors(indptr, indices, chosen)
    journal = np.empty(1, dtype=np.int64)
    changed = False
    for v in range(chosen.size):
        if chosen[v] or tight[v] > 1:
            continue
        if tight[v] == 0:
            _toggle(indptr, indices, chosen, tight, v, journal, 0)
            changed = True
            continue
        for u in indices[indptr[v] : indptr[v + 1]]:
            if chosen[u] and u > v:
                _toggle(indptr, indices, chosen, tight, u, journal, 0)
                _toggle(indptr, indices, chosen, tight, v, journal, 0)
                changed = True
                break
    return changed
