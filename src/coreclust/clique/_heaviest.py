"""Search for a heaviest clique in graphs with few edges, given as a bit matrix.

This is for clusters in which most pairs are in conflict: their conflicts take far more memory than
a bit matrix of the pairs without a conflict. A vertex may stand for several items, and has their
number as its weight. A local search finds a heavy clique. The vertices are then brought into a
degeneracy order, in which few edges lead from any vertex to later ones. Each clique is inside the
later neighbors of its first vertex, so small branch-and-bound searches, one for each vertex, prove
that none is heavier.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.jit import kernel, lowest_bit, popcount, random_below, random_state_of
from coreclust.clique._deadline import Deadline

Bits = NDArray[np.uint64]  # (n, n_words), bit j of row i is set if i and j are adjacent
Weights = NDArray[np.int64]

_WORDS_PER_CALL = 50_000_000  # about 0.1 s, because kernels cannot be interrupted
_FIRST_ROUNDS = 10  # of the local search, whatever the deadline
_STEPS_PER_VERTEX = 100  # of the local search in one round
_FIRST_NODES = 1_000  # of the search in one neighborhood; each sweep allows ten times as many


def heaviest_clique(
    bits: Bits, weights: Weights, start: NDArray[np.intp], deadline: Deadline
) -> tuple[NDArray[np.intp], int]:
    """Return a clique of large weight, and an upper bound on the weight of any clique.

    `start` is a first clique. The two weights are equal if the deadline leaves enough time. If
    there are several heaviest cliques, no vertex of the one returned can be exchanged for a
    lower-numbered one of the same weight.
    """
    heaviest = np.array([np.argmax(weights)])
    if weights[start].sum() < weights[heaviest].sum():
        start = heaviest
    clique = _climb_until(bits, weights, start, Deadline(None))
    order, bounds = degeneracy_order(bits, weights, deadline)
    rank = np.argsort(order)
    best = np.empty(len(bits), dtype=np.int64)
    best[: clique.size] = clique
    found = np.array([clique.size, weights[clique].sum()], dtype=np.int64)
    n_nodes = _FIRST_NODES
    limited = deadline.remaining() is not None
    # The last vertices of the order are in the densest part.
    left = order[::-1][bounds[order[::-1]] > found[1]]
    while left.size and not deadline.expired():
        place = 0
        while place < left.size and not deadline.expired():
            place = _sweep(bits, weights, rank, left, place, bounds, best, found, n_nodes, limited)
        if n_nodes == _FIRST_NODES and left.size:
            clique = _climb_until(bits, weights, best[: found[0]], deadline.share(3))
            best[: clique.size] = clique
            found[:] = clique.size, weights[clique].sum()
        left = left[bounds[left] > found[1]]
        n_nodes *= 10
    chosen = prefer_low_numbers(bits, weights, best[: found[0]], deadline)
    return chosen, int(max(bounds.max(initial=0), found[1]))


def prefer_low_numbers(
    bits: Bits, weights: Weights, clique: NDArray[np.intp], deadline: Deadline
) -> NDArray[np.intp]:
    """Exchange vertices one for one for lower-numbered ones of the same weight.

    After the deadline, there is one round of exchanges.
    """
    chosen = clique.astype(np.int64)
    while _exchange_for_lower(bits, weights, chosen) and not deadline.expired():
        pass
    return np.sort(chosen)


def degeneracy_order(
    bits: Bits, weights: Weights, deadline: Deadline
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order vertices by always taking the one whose neighbors left weigh the least.

    Returns the order and, for each vertex, the weight of itself and its later neighbors. After the
    deadline, the other vertices follow in any order.
    """
    n = len(bits)
    n_rows = max(_WORDS_PER_CALL // n, 1)  # for which a call is short
    bounds = np.full(n, weights.sum())
    for begin in range(0, n, n_rows):
        if deadline.expired():
            return np.arange(n), bounds
        _add_loads(bits, weights, begin, min(begin + n_rows, n), bounds)
    order = np.empty(n, dtype=np.int64)
    gone = np.zeros(bits.shape[1], dtype=np.uint64)
    for begin in range(0, n, n_rows):
        end = n if deadline.expired() else min(begin + n_rows, n)
        _continue_order(bits, weights, bounds, order, gone, begin, end, deadline.expired())
        if end == n:
            break
    return order, bounds


def _climb_until(
    bits: Bits, weights: Weights, clique: NDArray[np.intp], deadline: Deadline
) -> NDArray[np.int64]:
    """Improve a clique by local search: a few rounds, then until a deadline, if there is one."""
    best = clique.astype(np.int64)
    effort = min(_WORDS_PER_CALL // 10, _STEPS_PER_VERTEX * bits.size)
    seed = 0
    while seed < _FIRST_ROUNDS or deadline.remaining():
        best = _climb(bits, weights, best, effort, seed)
        seed += 1
        if deadline.cancelled or best.size == len(bits):
            break
    return best


@kernel
def _has(row, v):
    return (row[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != 0


@kernel
def _random_bit(among, state):
    """Return a random member of a set, -1 if it is empty."""
    n_words = among.size
    begin = random_below(state, n_words)
    for step in range(n_words):
        place = begin + step
        if place >= n_words:
            place -= n_words
        word = among[place]
        if word != 0:
            for _ in range(random_below(state, popcount(word))):
                word &= word - np.uint64(1)
            return 64 * place + lowest_bit(word)
    return -1


@kernel
def _recount(bits, clique, size, free, single):
    """Set `free` to the vertices adjacent to all of a clique, `single` to those to all but one."""
    free[:] = ~np.uint64(0)
    single[:] = 0
    n = bits.shape[0]
    if n & 63:
        free[-1] = (np.uint64(1) << np.uint64(n & 63)) - np.uint64(1)
    for k in range(size):
        _restrict(bits[clique[k]], free, single)
    for k in range(size):  # a vertex is not adjacent to itself
        single[clique[k] >> 6] &= ~(np.uint64(1) << np.uint64(clique[k] & 63))


@kernel
def _restrict(row, free, single):
    for word in range(row.size):
        single[word] = (single[word] & row[word]) | (free[word] & ~row[word])
        free[word] &= row[word]


@kernel
def _climb(bits, weights, start, n_words_allowed, seed):
    """Add vertices, exchange one for one, and force a random vertex in where neither is possible.

    Returns the heaviest clique met.
    """
    n, n_words = bits.shape
    state = random_state_of(seed)
    clique = np.empty(n, dtype=np.int64)
    size = start.size
    clique[:size] = start
    best = start.copy()
    weight = 0
    for k in range(size):
        weight += weights[clique[k]]
    best_weight = weight
    free = np.empty(n_words, dtype=np.uint64)
    single = np.empty(n_words, dtype=np.uint64)
    tabu = np.zeros(n_words, dtype=np.uint64)
    open_swaps = np.empty(n_words, dtype=np.uint64)
    _recount(bits, clique, size, free, single)
    spent = size * n_words
    while spent < n_words_allowed:
        v = _random_bit(free, state)
        if v >= 0:  # of some vertices that fit, the one that leaves the most others
            most = -1
            for _ in range(8):
                u = _random_bit(free, state)
                count = 0
                for word in range(n_words):
                    count += popcount(free[word] & bits[u, word])
                if count * weights[u] > most:
                    v, most = u, count * weights[u]
            clique[size] = v
            size += 1
            weight += weights[v]
            _restrict(bits[v], free, single)
            single[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
            spent += 10 * n_words
            if weight > best_weight:
                best_weight = weight
                best = clique[:size].copy()
            continue
        for word in range(n_words):
            open_swaps[word] = single[word] & ~tabu[word]
        v = _random_bit(open_swaps, state)
        if v < 0:
            v = random_below(state, n)
            tabu[:] = 0
        kept = 0
        for k in range(size):
            u = clique[k]
            if u == v:
                continue
            if _has(bits[v], u):
                clique[kept] = u
                kept += 1
            else:
                tabu[u >> 6] |= np.uint64(1) << np.uint64(u & 63)
        clique[kept] = v
        size = kept + 1
        weight = 0
        for k in range(size):
            weight += weights[clique[k]]
        if weight > best_weight:
            best_weight = weight
            best = clique[:size].copy()
        _recount(bits, clique, size, free, single)
        spent += (size + 4) * n_words
    return best


@kernel
def _add_loads(bits, weights, begin, end, loads):
    """Set the loads of some vertices: the weight of each with its neighbors."""
    for v in range(begin, end):
        loads[v] = weights[v]
        for word in range(bits.shape[1]):
            left = bits[v, word]
            while left != 0:
                loads[v] += weights[64 * word + lowest_bit(left)]
                left &= left - np.uint64(1)


@kernel
def _continue_order(bits, weights, loads, order, gone, begin, end, any_order):
    """Fill some places of the order; the load of a vertex is then that of its later neighbors."""
    n, n_words = bits.shape
    first = 0
    for place in range(begin, end):
        while _has(gone, first):
            first += 1
        least = first
        if not any_order:
            for v in range(first, n):
                if loads[v] < loads[least] and not _has(gone, v):
                    least = v
        order[place] = least
        gone[least >> 6] |= np.uint64(1) << np.uint64(least & 63)
        if any_order:
            continue
        for word in range(n_words):
            left = bits[least, word] & ~gone[word]
            while left != 0:
                loads[64 * word + lowest_bit(left)] -= weights[least]
                left &= left - np.uint64(1)


@kernel
def _sweep(bits, weights, rank, vertices, place, bounds, best, found, max_nodes, limited):
    """Search the neighborhoods of `vertices` from `place` on, for a short while.

    If `limited`, a neighborhood is searched for a short while only, too.

    Updates `bounds`, `best` and `found` (size and weight of the best clique), and returns the next
    place.
    """
    spent = 0
    n, n_words = bits.shape
    inner = np.empty(n, dtype=np.int64)
    while place < vertices.size and spent < _WORDS_PER_CALL:
        v = vertices[place]
        place += 1
        if bounds[v] <= found[1]:
            continue
        size = 0
        for word in range(n_words):
            left = bits[v, word]
            while left != 0:
                u = 64 * word + lowest_bit(left)
                left &= left - np.uint64(1)
                if rank[u] > rank[v]:
                    inner[size] = u
                    size += 1
        members = inner[:size][np.argsort(-rank[inner[:size]])]
        part = _part(bits, members)
        spent += n_words + size * (size + part.shape[1])
        floor = found[1] - weights[v]
        n_nodes = max_nodes
        if limited:
            n_nodes = min(n_nodes, 5 * _WORDS_PER_CALL // (1 + size * (1 + part.shape[1])))
        chosen, weight, bound, nodes = _search_part(part, weights[members], floor, n_nodes)
        spent += nodes * size * (1 + part.shape[1])
        bounds[v] = min(bounds[v], weights[v] + bound)
        if weight > floor:
            best[0] = v
            for k in range(chosen.size):
                best[k + 1] = members[chosen[k]]
            found[0] = chosen.size + 1
            found[1] = weights[v] + weight
    return place


@kernel
def _part(bits, members):
    size = members.size
    part = np.zeros((size, (size + 63) // 64), dtype=np.uint64)
    for a in range(size):
        for b in range(a):
            if _has(bits[members[a]], members[b]):
                part[a, b >> 6] |= np.uint64(1) << np.uint64(b & 63)
                part[b, a >> 6] |= np.uint64(1) << np.uint64(a & 63)
    return part


@kernel
def _search_part(bits, weights, floor, max_nodes):
    """Search for a clique heavier than `floor` by branch and bound, for at most `max_nodes` nodes.

    Returns the clique, its weight, an upper bound for the weight of any clique (`floor` if none is
    heavier and the search is complete), and the number of nodes.
    """
    n, n_words = bits.shape
    best = np.empty(0, dtype=np.int64)
    best_weight = floor
    rest = np.empty(n_words, dtype=np.uint64)
    available = np.empty(n_words, dtype=np.uint64)
    everything = np.zeros(n_words, dtype=np.uint64)
    for v in range(n):
        everything[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    first_order = np.empty(n, dtype=np.int32)
    first_limits = np.empty(n, dtype=np.int64)
    size, n_classes = _color(bits, weights, everything, first_order, first_limits, rest, available)
    # A clique has at most one vertex of each class, so the search is no deeper than that.
    candidates = np.empty((n_classes + 1, n_words), dtype=np.uint64)
    order = np.empty((n_classes + 1, n), dtype=np.int32)
    limits = np.empty((n_classes + 1, n), dtype=np.int64)
    left = np.empty(n_classes + 1, dtype=np.int64)
    path = np.empty(n_classes + 1, dtype=np.int64)
    carried = np.zeros(n_classes + 2, dtype=np.int64)  # weight of the path up to each depth
    candidates[0] = everything
    order[0] = first_order
    limits[0] = first_limits
    left[0] = size - 1
    depth = 0
    nodes = 0
    while depth >= 0:
        if left[depth] < 0 or carried[depth] + limits[depth, left[depth]] <= best_weight:
            depth -= 1
            if depth >= 0:
                v = path[depth]
                candidates[depth, v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
                left[depth] -= 1
            continue
        if nodes >= max_nodes:
            # All vertices at the root with a higher limit than the current branch are done.
            return best, best_weight, max(best_weight, limits[0, left[0]]), nodes
        nodes += 1
        v = order[depth, left[depth]]
        path[depth] = v
        carried[depth + 1] = carried[depth] + weights[v]
        if carried[depth + 1] > best_weight:
            best_weight = carried[depth + 1]
            best = path[: depth + 1].copy()
        for word in range(n_words):
            candidates[depth + 1, word] = candidates[depth, word] & bits[v, word]
        depth += 1
        size, _ = _color(
            bits, weights, candidates[depth], order[depth], limits[depth], rest, available
        )
        left[depth] = size - 1
    return best, best_weight, best_weight, nodes


@kernel
def _color(bits, weights, candidates, order, limits, rest, available):
    """Order the candidates by classes without edges, with a limit for the clique up to each.

    A clique has at most one vertex of each class. Within a class, weights ascend. Returns the
    number of candidates and of classes.
    """
    n_words = bits.shape[1]
    size = 0
    n_classes = 0
    base = 0
    rest[:] = candidates
    while True:
        begin = size
        available[:] = rest
        for word in range(n_words):
            while available[word] != 0:
                v = 64 * word + lowest_bit(available[word])
                bit = np.uint64(1) << np.uint64(v & 63)
                available[word] &= ~bit
                rest[word] &= ~bit
                for w in range(word, n_words):
                    available[w] &= ~bits[v, w]
                k = size
                while k > begin and weights[order[k - 1]] > weights[v]:
                    order[k] = order[k - 1]
                    k -= 1
                order[k] = v
                size += 1
        if size == begin:
            return size, n_classes
        n_classes += 1
        for k in range(begin, size):
            limits[k] = base + weights[order[k]]
        base += weights[order[size - 1]]


@kernel
def _exchange_for_lower(bits, weights, clique):
    """Make all exchanges that are found in one round, and return whether there were any."""
    changed = False
    for v in range(bits.shape[0]):
        n_strangers = 0
        stranger = -1
        for k in range(clique.size):
            if not _has(bits[v], clique[k]):
                n_strangers += 1
                stranger = k
                if n_strangers > 1:
                    break
        if n_strangers == 1 and v < clique[stranger] and weights[v] == weights[clique[stranger]]:
            clique[stranger] = v
            changed = True
    return changed
