"""Maximum cliques of arbitrary graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from coreclust.clique._deadline import Deadline
from coreclust.clique._graph import Graph
from coreclust.clique._solve import largest_independent_set
from coreclust.evidence._rule import check_time_limit

_EDGES = (
    "adjacency must be a square matrix, got {}; for a list of edges, start from "
    "np.zeros((n, n), bool) and set both entries of each edge."
)


def maximum_clique(
    adjacency: Any, *, time_limit: float | None = None, return_bound: bool = False
) -> Any:
    """Find a largest set of vertices that are all adjacent to each other.

    The result is proven to be largest, unless the time limit is reached. The search is designed
    for graphs in which nearly all pairs are adjacent. It is also fast on other graphs of some
    hundred vertices; for large sparse graphs, other tools are better.

    Parameters
    ----------
    adjacency : array-like or sparse matrix of shape (n, n)
        Symmetric; every non-zero entry is an edge. The diagonal is ignored.
    time_limit : float, default=None
        Seconds after which the best clique so far is returned.
    return_bound : bool, default=False
        Whether to also return a proven upper bound on the size of a clique.

    Returns
    -------
    clique : ndarray of int
        The vertices in ascending order. If there are several largest cliques, it is one in which
        no vertex can be exchanged for a lower-numbered one.
    upper_bound : int
        Only with `return_bound`; equal to ``len(clique)`` if the clique is proven largest.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust import maximum_clique
    >>> triangle_with_a_tail = np.zeros((5, 5), dtype=bool)
    >>> for i, j in [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)]:
    ...     triangle_with_a_tail[i, j] = triangle_with_a_tail[j, i] = True
    >>> maximum_clique(triangle_with_a_tail)
    array([0, 1, 2])
    """
    check_time_limit(time_limit)
    edges = _check_adjacency(adjacency)
    kept = _peel(edges) if issparse(edges) else np.arange(edges.shape[0])
    conflicts = ~(edges[kept][:, kept].toarray() if issparse(edges) else edges)
    np.fill_diagonal(conflicts, False)
    solution = largest_independent_set(
        Graph.from_sparse(csr_array(conflicts)),
        np.zeros(kept.size, dtype=bool),
        Deadline(time_limit),
    )
    clique = kept[solution.chosen]
    return (clique, solution.upper_bound) if return_bound else clique


def _check_adjacency(adjacency: Any) -> Any:
    """Return the edges as a boolean matrix, sparse if `adjacency` is."""
    if not issparse(adjacency):
        if _is_list_of_pairs(adjacency):
            raise TypeError(_EDGES.format("a list of pairs"))
        if not isinstance(adjacency, (list, tuple)) and not hasattr(adjacency, "__array__"):
            kind = type(adjacency).__name__
            graph = "; pass networkx.to_numpy_array of it" if hasattr(adjacency, "edges") else ""
            raise TypeError(f"adjacency must be a square matrix, got {kind}{graph}.")
        adjacency = np.asarray(adjacency)
        if adjacency.shape == (2, 2) and adjacency.dtype.kind in "iu" and adjacency.max() > 1:
            raise ValueError(_EDGES.format("what looks like two edges"))
    if adjacency.ndim == 2 and adjacency.shape[1] == 2 != adjacency.shape[0]:
        raise ValueError(_EDGES.format(f"an array of shape {adjacency.shape}"))
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(
            f"adjacency must be a square matrix, got an array of shape {adjacency.shape}."
        )
    if adjacency.dtype.kind not in "biuf":
        raise TypeError(f"adjacency must be boolean or numeric, got dtype {adjacency.dtype}.")
    values = adjacency.data if issparse(adjacency) else adjacency
    if adjacency.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError("adjacency must be finite, got NaN or infinity.")
    edges = csr_array(adjacency != 0) if issparse(adjacency) else adjacency != 0
    one_way = (edges != edges.T).nnz if issparse(edges) else not np.array_equal(edges, edges.T)
    if one_way:
        raise ValueError("adjacency must be symmetric, got an edge in one direction only.")
    if issparse(edges):
        edges.setdiag(False)
        edges.eliminate_zeros()
    return edges


def _is_list_of_pairs(adjacency: Any) -> bool:
    """Tell whether edges are given, such as [(0, 1), (1, 2)]."""
    if not isinstance(adjacency, (list, tuple, set, frozenset)):
        return False
    return bool(adjacency) and all(isinstance(e, tuple) and len(e) == 2 for e in adjacency)


def _peel(edges: csr_array) -> NDArray[np.intp]:
    """Repeatedly drop vertices with too few neighbors for a clique as large as a known one."""
    clique_size = _greedy_clique(edges).size
    kept = np.arange(edges.shape[0])
    while True:
        enough = np.diff(edges.indptr) >= clique_size - 1
        if enough.all():
            return kept
        kept = kept[enough]
        edges = edges[enough][:, enough]


def _greedy_clique(edges: csr_array) -> NDArray[np.intp]:
    """Return a maximal clique, built from the vertices of highest degree."""
    degrees = np.diff(edges.indptr)
    clique: list[int] = []
    candidates = np.arange(edges.shape[0])
    while candidates.size:
        vertex = int(candidates[np.argmax(degrees[candidates])])
        clique.append(vertex)
        row = edges.indices[edges.indptr[vertex] : edges.indptr[vertex + 1]]
        candidates = np.intersect1d(candidates, row, assume_unique=True)
    return np.array(clique, dtype=np.intp)
