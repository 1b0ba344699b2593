"""Search by matchings, for graphs that are nearly bipartite once one vertex is chosen.

The conflicts of a cluster often are between items that are far apart. In the plane, the items
within a given distance of two items at just that distance are in two halves without conflicts
inside them. A matching then gives the exact size of a largest independent set that contains given
vertices, where the matching of the whole graph gives a poor bound.

To probe a vertex is to bound the sets that contain it by a matching of the vertices that are not in
conflict with it. If the bound is not above the size of a known set, the vertex is deleted, and all
vertices with nearly the same conflicts as well. If it is, the rest is searched in the same way.
Adjacency is kept as a bit matrix: a phase of the matching then takes n^2 / 64 steps, however
many conflicts there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.jit import kernel, lowest_bit, popcount
from coreclust.clique._branch import branch_and_bound
from coreclust.clique._deadline import Deadline
from coreclust.clique._graph import Graph

Bits = NDArray[np.uint64]  # a set of vertices, or one for each vertex
Items = NDArray[np.intp]

_DEEPEST = 2  # vertices chosen before the one that is probed
_PATIENCE = 5  # probes in a row without success
FEW = 200
_SECONDS_FOR_FEW = 0.2
_GOOD_PART = 0.25  # of the vertices to delete
_PHASES_PER_CALL = 16  # kernels cannot be interrupted


@dataclass(frozen=True)
class Probed:
    """The result of probing: any independent set larger than `chosen` is inside `undecided`."""

    chosen: Items
    undecided: Items
    upper_bound: int  # of the size of an independent set


def probe(
    conflicts: Bits,
    start: Items,
    deadline: Deadline,
    *,
    extended: Deadline | None = None,
    few: int = FEW,
) -> Probed:
    """Search for a largest independent set by probing; stop when it does not progress.

    `conflicts` has a row of bits for each vertex. `start` is a first set. At the deadline, the
    search goes on until the `extended` one if it has done a good part of its work. As soon as no
    more than `few` vertices are left, a branch and bound decides about them.
    """
    n = len(conflicts)
    everything = as_bits(np.arange(n), n)
    root = _Node(everything, np.zeros_like(everything), np.full((2, n), -1, np.int32), n)
    search = _Search(conflicts, start, root, few, deadline, extended or deadline)
    for depth in range(_DEEPEST + 1):
        if search.exclude(root, depth):
            return Probed(search.best, np.empty(0, dtype=np.intp), search.best.size)
    left = members(root.alive | root.chosen)
    return Probed(search.best, left, max(root.bound, search.best.size))


class _Node:
    """Independent sets that contain `chosen`, and otherwise only vertices of `alive`."""

    def __init__(self, alive: Bits, chosen: Bits, matching: NDArray[np.int32], bound: int) -> None:
        self.alive = alive
        self.chosen = chosen
        self.matching = matching  # the partner of each vertex in the copy, and the other way round
        self.bound = bound  # of the size of these sets

    def child(self, conflicts: Bits, vertex: int) -> _Node:
        """Return the sets of this node that contain a vertex."""
        single = as_bits(np.array([vertex]), len(conflicts))
        alive = self.alive & ~conflicts[vertex] & ~single
        return _Node(alive, self.chosen | single, self.matching.copy(), self.bound)


class _Search:
    def __init__(
        self,
        conflicts: Bits,
        start: Items,
        root: _Node,
        few: int,
        deadline: Deadline,
        extended: Deadline,
    ) -> None:
        self.conflicts = conflicts
        self.best = start
        self.root = root
        self.few = few
        self.deadline = deadline
        self.extended = extended

    def expired(self) -> bool:
        """Return whether the time has passed."""
        if not self.deadline.expired():
            return False
        # With twice as many vertices as are in the best set, a matching can prove that set.
        n = len(self.conflicts)
        n_deleted = n - n_members(self.root.alive)
        return self.extended.expired() or n_deleted < _GOOD_PART * (n - 2 * self.best.size)

    def exclude(self, node: _Node, depth: int) -> bool:
        """Tell whether no set of a node is larger than the best one, which may be improved.

        Deletes vertices from the node that are in no larger set.
        """
        failed = np.zeros(len(self.conflicts), dtype=bool)
        n_misses = 0
        first = True
        while self._decide(node):
            n_chosen = n_members(node.chosen)
            degrees = _degrees(self.conflicts, node.alive)
            if first:
                self._extend(node, degrees)
                first = False
            n_alive = n_members(node.alive)
            hopeless = (degrees >= 0) & (n_chosen + n_alive - degrees <= self.best.size)
            if hopeless.any():
                node.alive &= ~as_bits(np.flatnonzero(hopeless), len(failed))
                continue
            if n_alive <= self.few:
                return self._exclude_few(node)
            degrees[failed] = -1
            vertex = int(np.argmax(degrees))
            if degrees[vertex] < 0 or n_misses == _PATIENCE or self.expired():
                return False
            child = node.child(self.conflicts, vertex)
            self._match(child)
            if child.bound > self.best.size and depth > 0 and self.exclude(child, depth - 1):
                child.bound = self.best.size
            if child.bound > self.best.size:
                failed[vertex] = True
                n_misses += 1
            else:
                slack = self.best.size - child.bound
                node.alive &= ~_similar(self.conflicts, node.alive, vertex, slack)
                n_misses = 0
        return node.bound <= self.best.size

    def _decide(self, node: _Node) -> bool:
        """Decide about vertices by a matching, and tell whether any are left undecided."""
        while self._match(node) and node.bound > self.best.size:
            taken, deleted = _decided(self.conflicts, node.alive, *node.matching)
            node.chosen |= taken
            node.alive &= ~(taken | deleted)
            if not node.alive.any():
                self._offer(members(node.chosen))
            elif not (taken.any() or deleted.any()):
                return True
        return False

    def _match(self, node: _Node) -> bool:
        """Match the vertices of a node, set its bound, and tell whether the matching is largest."""
        complete = False
        while not complete and not self.expired():
            partner, owner = node.matching
            complete = _match(self.conflicts, node.alive, partner, owner, _PHASES_PER_CALL)
        if complete:
            n_matched = int(np.count_nonzero(node.matching[0] >= 0))
            n_free = n_members(node.alive) - (n_matched + 1) // 2
            node.bound = min(node.bound, n_members(node.chosen) + n_free)
        return complete

    def _extend(self, node: _Node, degrees: NDArray[np.int64]) -> None:
        """Offer a set of a node, which takes vertices with few conflicts first."""
        order = np.argsort(degrees, kind="stable")
        taken = _greedy(self.conflicts, node.alive, order[degrees[order] >= 0])
        self._offer(members(node.chosen | taken))

    def _exclude_few(self, node: _Node) -> bool:
        few = members(node.alive)
        graph = subgraph(self.conflicts, few)
        limit = Deadline(_SECONDS_FOR_FEW)
        found = branch_and_bound(
            graph,
            np.zeros(few.size, dtype=bool),
            lambda: limit.expired() or self.expired(),
        )
        self._offer(np.union1d(members(node.chosen), few[found.chosen]))
        node.bound = min(node.bound, n_members(node.chosen) + found.upper_bound)
        return node.bound <= self.best.size

    def _offer(self, chosen: Items) -> None:
        if chosen.size > self.best.size:
            self.best = chosen


def as_bits(items: NDArray[np.integer], n: int) -> Bits:
    """Return a set of vertices as bits."""
    mask = np.zeros((n + 63) // 64 * 64, dtype=bool)
    mask[items] = True
    return np.packbits(mask, bitorder="little").view(np.uint64)


def members(bits: Bits) -> Items:
    """Return the vertices of a set of bits."""
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))


@kernel
def n_members(bits):
    """Return the number of vertices in a set of bits."""
    total = 0
    for word in bits:
        total += popcount(word)
    return total


def complement(edges: Bits) -> Bits:
    """Return the pairs of vertices that are not adjacent."""
    bits = ~edges
    places = np.arange(len(edges))
    bits[:, -1] &= as_bits(places, len(edges))[-1]  # no bits beyond the last vertex
    bits[places, places >> 6] &= ~(np.uint64(1) << (places & 63).astype(np.uint64))
    return bits


def subgraph(conflicts: Bits, vertices: Items) -> Graph:
    """Return the graph on some vertices of a bit matrix, renumbered from 0."""
    return Graph(*_subgraph(conflicts, vertices))


@kernel
def conflict_bits(indptr, indices):
    """Return the neighbors of each vertex of a graph as bits."""
    n = indptr.size - 1
    bits = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
    for v in range(n):
        for u in indices[indptr[v] : indptr[v + 1]]:
            bits[v, u >> 6] |= np.uint64(1) << np.uint64(u & 63)
    return bits


@kernel
def _has(bits, v):
    return (bits[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != 0


@kernel
def _without(bits, v):
    bits[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))


@kernel
def _subgraph(conflicts, vertices):
    indptr = np.zeros(vertices.size + 1, dtype=np.int64)
    indices = np.empty(vertices.size * vertices.size, dtype=np.int32)
    end = 0
    for a in range(vertices.size):
        for b in range(vertices.size):
            if _has(conflicts[vertices[a]], vertices[b]):
                indices[end] = b
                end += 1
        indptr[a + 1] = end
    return indptr, indices[:end].copy()


@kernel
def _match(conflicts, alive, partner, owner, max_phases):
    """Lengthen a matching of the living vertices with their copies; return whether it is largest.

    In each phase, a depth-first search from every free vertex tries each vertex of the copy at most
    once in total. Pairs of the given matching with a dead vertex are dropped.
    """
    n, n_words = conflicts.shape
    free = alive.copy()  # vertices of the copy
    for v in range(n):
        u = partner[v]
        if u >= 0 and _has(alive, v) and _has(alive, u):
            _without(free, u)
        elif u >= 0:
            partner[v] = -1
            owner[u] = -1
    untried = np.empty(n_words, dtype=np.uint64)
    free_word = np.empty(n, dtype=np.int32)  # the word to look at next, for each vertex
    next_word = np.empty(n, dtype=np.int32)
    path = np.empty(n + 1, dtype=np.int32)
    via = np.empty(n + 1, dtype=np.int32)
    for phase in range(max_phases):
        untried[:] = alive
        free_word[:] = 0
        next_word[:] = 0
        n_paths = 0
        for start in range(n):
            if partner[start] >= 0 or not _has(alive, start):
                continue
            depth = 0
            path[0] = start
            while depth >= 0:
                v = path[depth]
                u = -1
                while free_word[v] < n_words:
                    common = conflicts[v, free_word[v]] & free[free_word[v]]
                    if common != 0:
                        u = 64 * free_word[v] + lowest_bit(common)
                        break
                    free_word[v] += 1
                if u >= 0:
                    _without(free, u)
                    _without(untried, u)
                    via[depth] = u
                    for k in range(depth + 1):
                        partner[path[k]] = via[k]
                        owner[via[k]] = path[k]
                    n_paths += 1
                    break
                while next_word[v] < n_words:
                    # The other direction in every other phase, which makes paths shorter.
                    word = next_word[v] if phase % 2 == 0 else n_words - 1 - next_word[v]
                    common = conflicts[v, word] & untried[word]
                    if common != 0:
                        u = 64 * word + lowest_bit(common)
                        break
                    next_word[v] += 1
                if u < 0:
                    depth -= 1
                    continue
                _without(untried, u)
                via[depth] = u
                depth += 1
                path[depth] = owner[u]
        if n_paths == 0:
            return True
    return False


@kernel
def _decided(conflicts, alive, partner, owner):
    """Return the vertices that a largest matching takes and deletes (Nemhauser and Trotter)."""
    n, n_words = conflicts.shape
    unreached = alive.copy()  # vertices of the copy
    reached = np.zeros(n_words, dtype=np.uint64)
    stack = np.empty(n, dtype=np.int32)
    n_stack = 0
    for v in range(n):
        if partner[v] < 0 and _has(alive, v):
            reached[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
            stack[n_stack] = v
            n_stack += 1
    while n_stack > 0:
        n_stack -= 1
        v = stack[n_stack]
        for word in range(n_words):
            common = conflicts[v, word] & unreached[word]
            unreached[word] &= ~common
            while common != 0:
                w = owner[64 * word + lowest_bit(common)]
                common &= common - np.uint64(1)
                if not _has(reached, w):
                    reached[w >> 6] |= np.uint64(1) << np.uint64(w & 63)
                    stack[n_stack] = w
                    n_stack += 1
    return reached & unreached, alive & ~unreached & ~reached


@kernel
def _degrees(conflicts, alive):
    """Return the number of living neighbors of each living vertex, -1 for the others."""
    n, n_words = conflicts.shape
    degrees = np.full(n, -1, dtype=np.int64)
    for v in range(n):
        if _has(alive, v):
            degrees[v] = 0
            for word in range(n_words):
                degrees[v] += popcount(conflicts[v, word] & alive[word])
    return degrees


@kernel
def _similar(conflicts, alive, vertex, slack):
    """Return a vertex and the living vertices that lack at most `slack` of its conflicts.

    If a set with the vertex has at most b members, a set with such a vertex u has at most
    ``b + slack``: without u, it consists of living vertices that are not in conflict with `vertex`,
    and of others, which are in conflict with `vertex` or the same, but not in conflict with u.
    """
    n, n_words = conflicts.shape
    near = np.zeros(n_words, dtype=np.uint64)
    closed = conflicts[vertex] & alive
    closed[vertex >> 6] |= np.uint64(1) << np.uint64(vertex & 63)
    for u in range(n):
        if not _has(alive, u):
            continue
        n_others = -1 if _has(closed, u) else 0
        for word in range(n_words):
            n_others += popcount(closed[word] & ~conflicts[u, word])
            if n_others > slack:
                break
        if n_others <= slack:
            near[u >> 6] |= np.uint64(1) << np.uint64(u & 63)
    return near


@kernel
def _greedy(conflicts, alive, order):
    """Return an independent set of living vertices; each of `order` is taken if it fits."""
    free = alive.copy()
    taken = np.zeros_like(alive)
    for v in order:
        if _has(free, v):
            taken[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
            _without(free, v)
            free &= ~conflicts[v]
    return taken
