"""Conflict graphs as neighbour lists, and what a search for a largest set returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


class Graph(NamedTuple):
    """An undirected graph: the neighbours of v are `indices[indptr[v]:indptr[v + 1]]`.

    Vertices are in order of preference: where several largest independent sets tie,
    those with a lower number are favoured.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.indptr.size - 1

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbours of each vertex."""
        return np.diff(self.indptr)

    def neighbours(self, vertex: int) -> NDArray[np.int32]:
        """Return the neighbours of a vertex."""
        return self.indices[self.indptr[vertex] : self.indptr[vertex + 1]]

    @classmethod
    def from_sparse(cls, matrix: csr_array) -> Graph:
        """Build a graph from a symmetric matrix without a diagonal."""
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))

    def to_sparse(self) -> csr_array:
        """Return the adjacency matrix."""
        n = self.n_vertices
        # Both index arrays of one type, and the short one if it will do: older releases of
        # scipy's graph routines take no other.
        short = self.indices.size < 2**31
        indptr = self.indptr.astype(np.int32) if short else self.indptr
        return csr_array((np.ones(self.indices.size, np.int32), self.indices, indptr), (n, n))

    def subgraph(self, vertices: NDArray[np.intp]) -> Graph:
        """Return the graph on some vertices, renumbered from 0 in the order given."""
        return Graph.from_sparse(self.to_sparse()[vertices][:, vertices])


@dataclass(frozen=True)
class Solution:
    """An independent set and a proof of how far from the largest it can be."""

    chosen: NDArray[np.intp]
    upper_bound: int

    @property
    def optimal(self) -> bool:
        """Whether the set is proven to be a largest one."""
        return self.chosen.size >= self.upper_bound
