"""Random graphs with the degrees of a given graph."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from coreclust.cluster._leiden import IGRAPH_LOCK, edges_of, import_igraph

_SWAPS_PER_EDGE = 10  # tries to swap the ends of two edges, as is usual


def rewired_graph(graph: Any, rng: np.random.Generator) -> csr_matrix:
    """Return a random graph in which every item has as many neighbors as in `graph`.

    The ends of two edges are swapped many times; then the weights are dealt out anew. So the sum
    of the weights of an item is not kept, but the weights of all edges are.
    """
    igraph = import_igraph()
    edges = edges_of(graph)
    n_items = graph.shape[0]
    pairs = zip(edges.source.tolist(), edges.target.tolist(), strict=True)
    drawn = igraph.Graph(n=n_items, edges=pairs)
    with IGRAPH_LOCK:
        seed = int(rng.integers(2**63))
        igraph.set_random_number_generator(random.Random(seed))  # noqa: S311
        try:
            drawn.rewire(_SWAPS_PER_EDGE * edges.weight.size)
        finally:
            igraph.set_random_number_generator(random)  # igraph's default
    ends = np.array(drawn.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weight = rng.permutation(edges.weight) / 2  # edges_of adds up both directions
    both = np.concatenate([ends, ends[:, ::-1]])
    return csr_matrix((np.tile(weight, 2), (both[:, 0], both[:, 1])), shape=(n_items, n_items))
