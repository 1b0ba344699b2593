"""Upper bounds from cliques of conflicts, each of which holds at most one vertex of a set.

A cover of the vertices by cliques bounds an independent set by the number of cliques. The linear
program that maximizes the sum of x over 0 <= x <= 1, with a sum of at most 1 in every clique, is at
least as strong. It is solved by HiGHS, through scipy, with more and more cliques that its last
solution violates.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from coreclust._utils.jit import kernel, lowest_bit, popcount
from coreclust.clique._deadline import Deadline
from coreclust.clique._graph import Graph
from coreclust.clique._probing import conflict_bits

_SLACK = 0.3  # a constraint with more slack than this is dropped
_VIOLATION = 1e-4
_TOLERANCE = 1e-6
_WORDS_PER_SECOND = 300_000_000  # that are compared, roughly
_STEPS_PER_CALL = 100_000_000  # kernels cannot be interrupted
_MOST_SECONDS = 10.0  # of one linear program, which cannot be interrupted


def cover_bound(graph: Graph, known: int, deadline: Deadline) -> int:
    """Return an upper bound on the size of an independent set; stop early at `known`.

    When the deadline passes, the bound proven by then is returned. `known` is the size of a known
    set: no bound below it is valid. The conflicts must fit into a bit matrix.
    """
    n = graph.n_vertices
    bits = conflict_bits(graph.indptr, graph.indices)
    left = deadline.remaining()
    effort = 2**62 if left is None else int(min(_WORDS_PER_SECOND * max(left, 0.1), 2**62))
    cliques = _matrix(_cover(bits, np.argsort(graph.degrees, kind="stable"), effort), n)
    bound = cliques.shape[0]
    while bound > known and not deadline.expired():
        solution = _solve(cliques, n, deadline)
        if solution is None:
            break
        x, value, slack = solution
        bound = min(bound, math.floor(value + _TOLERANCE))
        order = np.argsort(-x, kind="stable")
        starts = order[x[order] > _TOLERANCE]
        cliques = cliques[np.flatnonzero(slack <= _SLACK)]
        n_kept = cliques.shape[0]
        for some in np.array_split(starts, 1 + starts.size * n // _STEPS_PER_CALL):
            if not deadline.expired():
                found = _matrix(_grow(bits, x, order, some, 1 + _VIOLATION), n)
                cliques = _stack(cliques, found)
        if cliques.shape[0] == n_kept:
            break
    return max(bound, known)


def _solve(
    cliques: csr_array, n: int, deadline: Deadline
) -> tuple[NDArray[np.float64], float, NDArray[np.float64]] | None:
    """Return a solution of the linear program, an upper bound, and the slack of each clique."""
    left = deadline.remaining()
    seconds = _MOST_SECONDS if left is None else left
    found = linprog(
        -np.ones(n),
        A_ub=cliques,
        b_ub=np.ones(cliques.shape[0]),
        bounds=(0, 1),
        method="highs-ds",
        options={"time_limit": min(max(seconds, 0.01), _MOST_SECONDS)},
    )
    if found.status != 0:
        return None
    # Any nonnegative weights of cliques, with what each vertex lacks to a total of 1, are a dual
    # solution: the bound holds even if the solver's values are slightly off.
    weights = np.maximum(-found.ineqlin.marginals, 0.0)
    lacking = np.maximum(1 - cliques.T @ weights, 0.0)
    return found.x, float(weights.sum() + lacking.sum()), 1 - cliques @ found.x


def _stack(old: csr_array, more: csr_array) -> csr_array:
    indptr = np.concatenate([old.indptr, old.indptr[-1] + more.indptr[1:]])
    return _matrix((indptr, np.concatenate([old.indices, more.indices])), old.shape[1])


def _matrix(cliques: tuple[NDArray[np.int64], NDArray[np.int32]], n: int) -> csr_array:
    """Return cliques as a matrix with one row per clique and one column per vertex."""
    indptr, indices = cliques
    return csr_array((np.ones(indices.size), indices, indptr), (indptr.size - 1, n))


@kernel
def _has(bits, v):
    return (bits[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != 0


@kernel
def _cover(bits, order, effort):
    """Cover the vertices by cliques; each takes uncovered vertices first, then any that fit.

    The next vertex is the one that leaves the most candidates. After an effort of so many words,
    every other vertex becomes a clique.
    """
    n, n_words = bits.shape
    uncovered = np.zeros(n_words, dtype=np.uint64)
    for v in range(n):
        uncovered[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    indptr = np.zeros(n + 1, dtype=np.int64)
    indices = np.empty(4 * n + 64, dtype=np.int32)
    n_cliques = 0
    end = 0
    candidates = np.empty(n_words, dtype=np.uint64)
    fresh = np.empty(n_words, dtype=np.uint64)
    for start in order:
        if not _has(uncovered, start):
            continue
        if end + n > indices.size:
            larger = np.empty(2 * indices.size + n, dtype=np.int32)
            larger[:end] = indices[:end]
            indices = larger
        candidates[:] = ~np.uint64(0)
        v = start
        while v >= 0:
            indices[end] = v
            end += 1
            uncovered[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
            for word in range(n_words):
                candidates[word] &= bits[v, word]
                fresh[word] = candidates[word] & uncovered[word]
            v = -1
            if effort > 0:
                v, n_compared = _most_connected(bits, fresh)
                effort -= n_words * (n_compared + 2)
                if v < 0:
                    v, n_compared = _most_connected(bits, candidates)
                    effort -= n_words * n_compared
        n_cliques += 1
        indptr[n_cliques] = end
    return indptr[: n_cliques + 1].copy(), indices[:end].copy()


@kernel
def _most_connected(bits, among):
    """Return the vertex of a set with the most neighbors in it, -1 if it is empty; and its size."""
    best, most = -1, -1
    size = 0
    for word in range(among.size):
        left = among[word]
        while left != 0:
            v = 64 * word + lowest_bit(left)
            left &= left - np.uint64(1)
            size += 1
            count = 0
            for w in range(among.size):
                count += popcount(among[w] & bits[v, w])
            if count > most:
                best, most = v, count
    return best, size


@kernel
def _grow(bits, x, order, starts, least):
    """Grow a clique from each start by the largest x; keep those with a sum above `least`."""
    n = order.size
    indptr = np.zeros(starts.size + 1, dtype=np.int64)
    indices = np.empty(4 * n + 64, dtype=np.int32)
    n_cliques = 0
    end = 0
    candidates = np.empty(bits.shape[1], dtype=np.uint64)
    for start in starts:
        candidates[:] = bits[start]
        if end + n > indices.size:
            larger = np.empty(2 * indices.size + n, dtype=np.int32)
            larger[:end] = indices[:end]
            indices = larger
        indices[end] = start
        size = 1
        total = x[start]
        for v in order:  # one pass: a vertex that was no candidate never becomes one
            if _has(candidates, v):
                indices[end + size] = v
                size += 1
                total += x[v]
                candidates &= bits[v]
        if total > least:
            end += size
            n_cliques += 1
            indptr[n_cliques] = end
    return indptr[: n_cliques + 1].copy(), indices[:end].copy()
