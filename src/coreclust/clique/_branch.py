"""Exact search by branch and bound on bitsets, for the graphs that the reductions leave.

This is a clique search like San Segundo's BBMC with Tomita's recoloring. The candidates of
a node are colored greedily into classes without edges. A clique has at most one vertex of
each class, so only vertices with a color beyond what the best clique so far allows are
branched on. The search runs in slices, so that the caller can check the time limit or
handle Ctrl-C, and resumes where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.jit import kernel, lowest_bit, popcount
from coreclust.clique._graph import Graph, Solution

_SECONDS_PER_SLICE = 0.05


def branch_and_bound(
    conflicts: Graph, start: NDArray[np.bool_], expired: Callable[[], bool]
) -> Solution:
    """Return a largest independent set of a conflict graph.

    `start` marks a first independent set. `expired` is called between slices of the search, which
    stops if it returns True.
    """
    order = _degeneracy_order(conflicts.indptr, conflicts.indices)
    graph = conflicts.subgraph(order)
    adjacent = _complement_bits(graph.indptr, graph.indices)
    twins = _twin_bits(adjacent)
    state = _new_state(adjacent, np.flatnonzero(start[order]))
    nodes = 1
    while True:
        begin = time.monotonic()
        if _search(adjacent, twins, state, nodes) or expired():
            break
        # The size of the slices does not change the course of the search.
        taken = max(time.monotonic() - begin, 1e-6)
        nodes = max(1, min(2 * nodes, int(nodes * _SECONDS_PER_SLICE / taken)))
    depth, size = state.progress.tolist()
    # All vertices at the root with a higher color than the current branch are done.
    bound = size if depth < 0 else max(size, int(state.colors[0, state.left[0]]))
    return Solution(np.sort(order[state.best[:size]]), bound)


class _State(NamedTuple):
    """The state of a search; the first axis of most arrays is the depth."""

    candidates: NDArray[np.uint64]  # (depth, n_words), bits of the vertices left
    vertices: NDArray[np.int32]  # (depth, n), to branch on, in order of their colors
    colors: NDArray[np.int32]  # (depth, n)
    left: NDArray[np.int64]  # (depth,), place in `vertices` of the one being tried
    path: NDArray[np.int64]  # (depth,), the vertex being tried
    best: NDArray[np.int64]  # (n,), the largest clique so far
    progress: NDArray[np.int64]  # depth, -1 if not started or complete; size of `best`


class _Scratch(NamedTuple):
    """Arrays to color in."""

    classes: NDArray[np.uint64]  # (n + 1, n_words), bits of the vertices of each color
    closed: NDArray[np.bool_]  # (n + 1,), colors that may not change any more
    rest: NDArray[np.uint64]  # (n_words,)
    free: NDArray[np.uint64]  # (n_words,)
    mask: NDArray[np.uint64]  # (n_words,)
    literals: NDArray[np.int64]  # (n + 1,)
    owners: NDArray[np.int64]  # (n + 1,)
    blamed: NDArray[np.bool_]  # (n + 1,)


def _new_state(adjacent: NDArray[np.uint64], chosen: NDArray[np.intp]) -> _State:
    n, n_words = adjacent.shape
    best = np.zeros(n, dtype=np.int64)
    best[: chosen.size] = chosen
    depth = n + 2
    return _State(
        candidates=np.zeros((depth, n_words), dtype=np.uint64),
        vertices=np.empty((depth, n), dtype=np.int32),
        colors=np.empty((depth, n), dtype=np.int32),
        left=np.zeros(depth, dtype=np.int64),
        path=np.zeros(depth, dtype=np.int64),
        best=best,
        progress=np.array([-1, chosen.size], dtype=np.int64),
    )


@kernel
def _degeneracy_order(indptr, indices):
    """Order vertices so that each has the most conflicts among those up to it.

    In the complement graph, this removes the vertex of least degree and fills the order from
    its end.
    """
    n = indptr.size - 1
    degree = indptr[1:] - indptr[:-1]
    gone = np.zeros(n, dtype=np.bool_)
    order = np.empty(n, dtype=np.int64)
    for place in range(n - 1, -1, -1):
        worst = -1
        for v in range(n):
            if not gone[v] and (worst < 0 or degree[v] >= degree[worst]):
                worst = v
        gone[worst] = True
        order[place] = worst
        for u in indices[indptr[worst] : indptr[worst + 1]]:
            degree[u] -= 1
    return order


@kernel
def _complement_bits(indptr, indices):
    n = indptr.size - 1
    bits = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
    one = np.uint64(1)
    for v in range(n):
        for u in range(n):
            if u != v:
                bits[v, u >> 6] |= one << np.uint64(u & 63)
        for u in indices[indptr[v] : indptr[v + 1]]:
            bits[v, u >> 6] &= ~(one << np.uint64(u & 63))
    return bits


@kernel
def _twin_bits(adjacent):
    """Return for each vertex its twins: the vertices with the same neighbors, itself included.

    Twins are adjacent, so a largest clique contains all of them or none.
    """
    n, n_words = adjacent.shape
    twins = np.zeros((n, n_words), dtype=np.uint64)
    with_itself = adjacent.copy()
    one = np.uint64(1)
    for v in range(n):
        with_itself[v, v >> 6] |= one << np.uint64(v & 63)
        for u in range(v + 1):
            same = True
            for word in range(n_words):
                if with_itself[v, word] != with_itself[u, word]:
                    same = False
                    break
            if same:
                twins[v, u >> 6] |= one << np.uint64(u & 63)
                twins[u, v >> 6] |= one << np.uint64(v & 63)
    return twins


@kernel
def _recolor(adjacent, classes, closed, v, needed):
    """Fit v into one of the first `needed` colors by moving at most one other vertex."""
    n_words = adjacent.shape[1]
    one = np.uint64(1)
    for first in range(needed):
        if closed[first]:
            continue
        n_common = 0
        blocker = -1
        for word in range(n_words):
            common = classes[first, word] & adjacent[v, word]
            if common != 0:
                n_common += popcount(common)
                if n_common > 1:
                    break
                blocker = 64 * word + lowest_bit(common)
        if n_common > 1:
            continue
        if n_common == 0:
            classes[first, v >> 6] |= one << np.uint64(v & 63)
            return True
        for second in range(needed):
            if second == first or closed[second]:
                continue
            free = True
            for word in range(n_words):
                if classes[second, word] & adjacent[blocker, word] != 0:
                    free = False
                    break
            if free:
                classes[first, blocker >> 6] &= ~(one << np.uint64(blocker & 63))
                classes[first, v >> 6] |= one << np.uint64(v & 63)
                classes[second, blocker >> 6] |= one << np.uint64(blocker & 63)
                return True
    return False


@kernel
def _first_stranger(adjacent, literals, n_literals, u):
    """Return the index of the first literal that u is not adjacent to."""
    for i in range(n_literals):
        if (adjacent[literals[i], u >> 6] >> np.uint64(u & 63)) & np.uint64(1) == 0:
            return i
    return -1


@kernel
def _blame(adjacent, classes, members_of, literals, n_literals, blamed):
    """Mark, for each vertex of a color, the first literal that rules it out."""
    for word in range(adjacent.shape[1]):
        members = classes[members_of, word]
        while members != 0:
            u = 64 * word + lowest_bit(members)
            members &= members - np.uint64(1)
            stranger = _first_stranger(adjacent, literals, n_literals, u)
            if stranger >= 0:
                blamed[stranger] = True


@kernel
def _absorb(adjacent, v, needed, scratch):
    """Find colors that contribute no more vertices to a clique together with v than without it.

    Suppose that a clique contains v and a vertex of every open color. If only one vertex of
    a color is adjacent to all vertices known to be in the clique, it must be in the clique,
    too. If a color has no such vertex, the colors that led to this contradiction cannot all
    contribute if v does. They are then closed: they do not change and are not used again.
    """
    classes, closed, _, _, mask, literals, owners, blamed = scratch
    n_words = adjacent.shape[1]
    literals[0] = v
    n_literals = 1
    for word in range(n_words):
        mask[word] = adjacent[v, word]
    owners[:needed] = 0  # literal of each color whose vertex is known, 0 for the others
    going = True
    while going:
        going = False
        for color in range(needed):
            if closed[color] or owners[color]:
                continue
            n_common = 0
            last = -1
            for word in range(n_words):
                common = classes[color, word] & mask[word]
                if common != 0:
                    n_common += popcount(common)
                    if n_common > 1:
                        break
                    last = 64 * word + lowest_bit(common)
            if n_common > 1:
                continue
            if n_common == 1:
                owners[color] = n_literals
                literals[n_literals] = last
                n_literals += 1
                for word in range(n_words):
                    mask[word] &= adjacent[last, word]
                going = True
                continue
            blamed[:n_literals] = False
            _blame(adjacent, classes, color, literals, n_literals, blamed)
            closed[color] = True
            for i in range(n_literals - 1, 0, -1):
                if not blamed[i]:
                    continue
                for owner in range(needed):
                    if owners[owner] == i:
                        _blame(adjacent, classes, owner, literals, i, blamed)
                        closed[owner] = True
                        break
            return True
    return False


@kernel
def _color(adjacent, candidates, needed, vertices, colors, scratch):
    """Color the candidates; list those with a color above `needed`, lowest first."""
    classes, closed, rest, free = scratch.classes, scratch.closed, scratch.rest, scratch.free
    n_words = adjacent.shape[1]
    one = np.uint64(1)
    n_listed = 0
    color = 0
    closed[:needed] = False
    rest[:] = candidates
    while rest.any():
        free[:] = rest
        classes[color] = 0
        listed_before = n_listed
        for word in range(n_words):
            while free[word] != 0:
                bit = lowest_bit(free[word])
                v = 64 * word + bit
                rest[word] &= ~(one << np.uint64(bit))
                free[word] &= ~(one << np.uint64(bit))
                for w in range(word, n_words):
                    free[w] &= ~adjacent[v, w]
                if color < needed:
                    classes[color, word] |= one << np.uint64(bit)
                elif not (
                    _recolor(adjacent, classes, closed, v, needed)
                    or _absorb(adjacent, v, needed, scratch)
                ):
                    vertices[n_listed] = v
                    colors[n_listed] = color + 1
                    n_listed += 1
        if color < needed or n_listed > listed_before:
            color += 1
    return n_listed


@kernel
def _search(adjacent, twins, state, max_nodes):
    """Continue the search for `max_nodes` nodes; return whether it is complete.

    At each depth, the vertices are tried from the highest color down.
    """
    candidates, vertices, colors, left, path, best, progress = state
    n, n_words = adjacent.shape
    one = np.uint64(1)
    scratch = _Scratch(
        np.zeros((n + 1, n_words), dtype=np.uint64),
        np.zeros(n + 1, dtype=np.bool_),
        np.empty(n_words, dtype=np.uint64),
        np.empty(n_words, dtype=np.uint64),
        np.empty(n_words, dtype=np.uint64),
        np.empty(n + 1, dtype=np.int64),
        np.empty(n + 1, dtype=np.int64),
        np.empty(n + 1, dtype=np.bool_),
    )
    depth = progress[0]
    if depth < 0:
        for v in range(n):
            candidates[0, v >> 6] |= one << np.uint64(v & 63)
        depth = 0
        left[0] = _color(adjacent, candidates[0], progress[1], vertices[0], colors[0], scratch)
        left[0] -= 1
    nodes = 0
    while depth >= 0:
        if left[depth] < 0 or depth + colors[depth, left[depth]] <= progress[1]:
            depth -= 1
            if depth >= 0:  # the vertex tried there is done, and so are its twins
                v = path[depth]
                for word in range(n_words):
                    candidates[depth, word] &= ~twins[v, word]
                left[depth] -= 1
            continue
        v = vertices[depth, left[depth]]
        if (candidates[depth, v >> 6] >> np.uint64(v & 63)) & one == 0:
            left[depth] -= 1
            continue
        if nodes >= max_nodes:
            progress[0] = depth
            return False
        nodes += 1
        path[depth] = v
        empty = True
        for word in range(n_words):
            common = candidates[depth, word] & adjacent[v, word]
            candidates[depth + 1, word] = common
            empty &= common == 0
        depth += 1
        if empty:
            if depth > progress[1]:
                progress[1] = depth
                best[:depth] = path[:depth]
            left[depth] = -1
            continue
        needed = max(progress[1] - depth, 0)
        left[depth] = _color(
            adjacent, candidates[depth], needed, vertices[depth], colors[depth], scratch
        )
        left[depth] -= 1
    progress[0] = -1
    return True
