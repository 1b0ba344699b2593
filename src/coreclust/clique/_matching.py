"""Maximum bipartite matching by the algorithm of Hopcroft and Karp.

Written by hand because `scipy.sparse.csgraph.maximum_bipartite_matching` takes exponential time on
some graphs (scipy issue 26147) and cannot be interrupted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.jit import kernel
from coreclust.clique._graph import Graph


def maximum_matching(
    graph: Graph, expired: Callable[[], bool] = lambda: False
) -> tuple[NDArray[np.int32], bool]:
    """Match the vertices of a graph with the vertices of a copy of it, along its edges.

    `expired` is asked between phases, each of which takes time proportional to the number of edges;
    True stops the search. Returns the vertex of the copy that each vertex is matched with, -1 for
    none, and whether the matching is a maximum one.
    """
    partner, owner = _greedy(graph.indptr, graph.indices, np.argsort(graph.degrees, kind="stable"))
    while not expired():
        if _augment(graph.indptr, graph.indices, partner, owner) == 0:
            return partner, True
    return partner, False


@kernel
def _greedy(indptr, indices, order):
    """Match every vertex with its first free neighbor, those with the fewest neighbors first."""
    n = order.size
    partner = np.full(n, -1, dtype=np.int32)
    owner = np.full(n, -1, dtype=np.int32)
    for v in order:
        for u in indices[indptr[v] : indptr[v + 1]]:
            if owner[u] < 0:
                partner[v] = u
                owner[u] = v
                break
    return partner, owner


@kernel
def _augment(indptr, indices, partner, owner):
    """Lengthen the matching along a largest set of disjoint shortest augmenting paths.

    Returns the number of paths; 0 if the matching is a maximum one.
    """
    n = partner.size
    layer = np.full(n, -1, dtype=np.int32)  # of the left vertices, by breadth-first search
    queue = np.empty(n, dtype=np.int32)
    n_queue = 0
    for v in range(n):
        if partner[v] < 0:
            layer[v] = 0
            queue[n_queue] = v
            n_queue += 1
    last = -1  # the layer from which a free right vertex is reached
    place = 0
    while place < n_queue:
        v = queue[place]
        place += 1
        if last >= 0 and layer[v] >= last:
            break
        for u in indices[indptr[v] : indptr[v + 1]]:
            w = owner[u]
            if w < 0:
                last = layer[v]
            elif layer[w] < 0:
                layer[w] = layer[v] + 1
                queue[n_queue] = w
                n_queue += 1
    if last < 0:
        return 0
    n_paths = 0
    following = indptr[:-1].copy()  # the next edge to try of each left vertex
    path = np.empty(last + 1, dtype=np.int32)  # left vertices
    for start in range(n):
        if partner[start] >= 0:
            continue
        depth = 0
        path[0] = start
        while depth >= 0:
            v = path[depth]
            if following[v] == indptr[v + 1]:
                depth -= 1  # a dead end
                continue
            u = indices[following[v]]
            following[v] += 1
            w = owner[u]
            if w < 0 and depth == last:
                n_paths += 1
                for k in range(depth, -1, -1):  # each takes the right vertex it has just tried
                    left = path[k]
                    right = indices[following[left] - 1]
                    partner[left] = right
                    owner[right] = left
                break
            if w >= 0 and depth < last and layer[w] == depth + 1:
                depth += 1
                path[depth] = w
    return n_paths
