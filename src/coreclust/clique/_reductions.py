"""Rules that shrink a conflict graph without losing a largest independent set.

These rules only decide about vertices and do not change the neighbor lists, so they work on
graphs of any size. The rules in `_folding` rewrite the graph, which is small by then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.jit import kernel
from coreclust.clique._deadline import Deadline
from coreclust.clique._graph import Graph
from coreclust.clique._matching import maximum_matching

UNDECIDED, TAKEN, DELETED = 0, 1, 2


@dataclass(frozen=True)
class Reduced:
    """The result of the reductions."""

    taken: NDArray[np.intp]
    undecided: NDArray[np.intp]
    upper_bound: int  # of the size of an independent set, if larger than the given lower bound


def reduce_graph(graph: Graph, lower_bound: int, deadline: Deadline) -> Reduced:
    """Decide about as many vertices as possible without rewriting the graph.

    Either `lower_bound` is the size of a largest independent set, or some largest one
    consists of `taken` and of `undecided` vertices. When the time is up, the vertices decided by
    then are returned with a valid bound.
    """
    state = np.zeros(graph.n_vertices, dtype=np.int8)
    upper_bound = graph.n_vertices
    while True:
        _peel(graph.indptr, graph.indices, state, lower_bound)
        undecided = np.flatnonzero(state == UNDECIDED)
        n_taken = int(np.count_nonzero(state == TAKEN))
        if undecided.size == 0:
            return _reduced(state, min(upper_bound, n_taken))
        decided, bound = _linear_program(graph.subgraph(undecided), deadline)
        upper_bound = min(upper_bound, n_taken + bound)
        if upper_bound <= lower_bound or not decided.any():
            return _reduced(state, upper_bound)
        state[undecided] = decided


def _reduced(state: NDArray[np.int8], upper_bound: int) -> Reduced:
    return Reduced(np.flatnonzero(state == TAKEN), np.flatnonzero(state == UNDECIDED), upper_bound)


def _linear_program(graph: Graph, deadline: Deadline) -> tuple[NDArray[np.int8], int]:
    """Solve the linear relaxation by one bipartite matching (Nemhauser and Trotter 1975).

    The solution has the values 0, 1/2 and 1. Some largest independent set agrees with it where
    it is 0 or 1. Returns the states decided in this way, and the upper bound. Any matching gives a
    valid bound, because its edges with the value 1/2 solve the dual program; only a maximum one
    decides about vertices.
    """
    partner, complete = maximum_matching(graph, deadline.expired)
    bound = graph.n_vertices - (int(np.count_nonzero(partner >= 0)) + 1) // 2
    decided = np.zeros(graph.n_vertices, dtype=np.int8)
    if complete:
        left, right = _alternating_reach(graph.indptr, graph.indices, partner)
        decided[left & ~right] = TAKEN
        decided[~left & right] = DELETED
    return decided, bound


@kernel
def _alternating_reach(indptr, indices, partner):
    """Return the vertices on alternating paths from unmatched left vertices, for each side."""
    n = partner.size
    owner = np.full(n, -1, dtype=np.int64)  # the left partner of every right vertex
    for v in range(n):
        if partner[v] >= 0:
            owner[partner[v]] = v
    left = partner < 0
    right = np.zeros(n, dtype=np.bool_)
    stack = np.empty(n, dtype=np.int64)
    unmatched = np.flatnonzero(left)
    n_stack = unmatched.size
    stack[:n_stack] = unmatched
    while n_stack > 0:
        n_stack -= 1
        v = stack[n_stack]
        for u in indices[indptr[v] : indptr[v + 1]]:
            if not right[u]:
                right[u] = True
                w = owner[u]
                if w >= 0 and not left[w]:
                    left[w] = True
                    stack[n_stack] = w
                    n_stack += 1
    return left, right


@kernel
def _peel(indptr, indices, state, lower_bound):
    """Take isolated and pendant vertices; delete those with too many conflicts."""
    n = state.size
    degree = np.zeros(n, dtype=np.int64)
    n_undecided = 0
    n_taken = 0
    for v in range(n):
        n_undecided += state[v] == UNDECIDED
        n_taken += state[v] == TAKEN
    stack = np.empty(n, dtype=np.int64)
    stacked = np.zeros(n, dtype=np.bool_)
    n_stack = 0
    for v in range(n):
        if state[v] == UNDECIDED:
            for u in indices[indptr[v] : indptr[v + 1]]:
                degree[v] += state[u] == UNDECIDED
    for v in range(n - 1, -1, -1):  # lower numbers are popped first
        if state[v] == UNDECIDED and degree[v] <= 1:
            stack[n_stack] = v
            stacked[v] = True
            n_stack += 1
    doomed = np.empty(n, dtype=np.int64)
    while True:
        n_doomed = 0
        if n_stack > 0:
            n_stack -= 1
            v = stack[n_stack]
            stacked[v] = False
            if state[v] != UNDECIDED:
                continue
            state[v] = TAKEN
            n_taken += 1
            n_undecided -= 1
            for u in indices[indptr[v] : indptr[v + 1]]:
                if state[u] == UNDECIDED:
                    doomed[n_doomed] = u
                    n_doomed += 1
        else:
            # A set that contains v has at most n_taken + n_undecided - degree[v] vertices.
            for v in range(n):
                if state[v] == UNDECIDED and n_taken + n_undecided - degree[v] <= lower_bound:
                    doomed[n_doomed] = v
                    n_doomed += 1
            if n_doomed == 0:
                return
        for d in range(n_doomed):
            state[doomed[d]] = DELETED
            n_undecided -= 1
        for d in range(n_doomed):
            for u in indices[indptr[doomed[d]] : indptr[doomed[d] + 1]]:
                degree[u] -= 1
                if state[u] == UNDECIDED and degree[u] <= 1 and not stacked[u]:
                    stack[n_stack] = u
                    stacked[u] = True
                    n_stack += 1
