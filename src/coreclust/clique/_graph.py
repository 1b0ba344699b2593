"""Conflict graphs as neighbor lists, and the result of a search for a largest set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coreclust._utils.jit import kernel


class Graph(NamedTuple):
    """An undirected graph: the neighbors of v are `indices[indptr[v]:indptr[v + 1]]`.

    Vertices are in order of preference: if there are several largest independent sets, lower
    numbers are preferred.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.indptr.size - 1

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbors of each vertex."""
        return np.diff(self.indptr)

    def neighbors(self, vertex: int) -> NDArray[np.int32]:
        """Return the neighbors of a vertex."""
        return self.indices[self.indptr[vertex] : self.indptr[vertex + 1]]

    @classmethod
    def from_sparse(cls, matrix: csr_array) -> Graph:
        """Build a graph from a symmetric matrix without a diagonal."""
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))

    def to_sparse(self) -> csr_array:
        """Return the adjacency matrix."""
        n = self.n_vertices
        # Both index arrays have the same type, int32 if possible: the graph routines of older
        # scipy releases accept no other.
        short = self.indices.size < 2**31
        indptr = self.indptr.astype(np.int32) if short else self.indptr
        return csr_array((np.ones(self.indices.size, np.int32), self.indices, indptr), (n, n))

    def subgraph(self, vertices: NDArray[np.intp]) -> Graph:
        """Return the graph on some vertices, renumbered from 0 in the given order."""
        number = np.full(self.n_vertices, -1, dtype=np.int32)
        number[vertices] = np.arange(vertices.size, dtype=np.int32)
        return Graph(*_subgraph(self.indptr, self.indices, vertices, number))

    def components(self) -> NDArray[np.int64]:
        """Return the number of the connected component of each vertex."""
        return _components(self.indptr, self.indices)

    @classmethod
    def from_pairs(
        cls, first: NDArray[np.integer], second: NDArray[np.integer], number: NDArray[np.int32]
    ) -> Graph:
        """Build a graph from pairs of items, each listed once.

        Item i is vertex ``number[i]``, or none if that is negative.
        """
        return cls(*_from_pairs(first, second, number, int(number.max(initial=-1)) + 1))


@kernel
def _components(indptr, indices):
    n = indptr.size - 1
    component = np.full(n, -1, dtype=np.int64)
    stack = np.empty(n, dtype=np.int64)
    n_components = 0
    for first in range(n):
        if component[first] >= 0:
            continue
        component[first] = n_components
        stack[0] = first
        n_stack = 1
        while n_stack > 0:
            n_stack -= 1
            v = stack[n_stack]
            for u in indices[indptr[v] : indptr[v + 1]]:
                if component[u] < 0:
                    component[u] = n_components
                    stack[n_stack] = u
                    n_stack += 1
        n_components += 1
    return component


@kernel
def _subgraph(indptr, indices, vertices, number):
    new_indptr = np.zeros(vertices.size + 1, dtype=np.int64)
    for place in range(vertices.size):
        v = vertices[place]
        degree = 0
        for u in indices[indptr[v] : indptr[v + 1]]:
            degree += number[u] >= 0
        new_indptr[place + 1] = new_indptr[place] + degree
    new_indices = np.empty(new_indptr[-1], dtype=np.int32)
    filled = 0
    for v in vertices:
        for u in indices[indptr[v] : indptr[v + 1]]:
            if number[u] >= 0:
                new_indices[filled] = number[u]
                filled += 1
    return new_indptr, new_indices


@kernel
def _from_pairs(first, second, number, n_vertices):
    indptr = np.zeros(n_vertices + 1, dtype=np.int64)
    for k in range(first.size):
        u, v = number[first[k]], number[second[k]]
        if u >= 0 and v >= 0:
            indptr[u + 1] += 1
            indptr[v + 1] += 1
    for v in range(n_vertices):
        indptr[v + 1] += indptr[v]
    end = indptr[:-1].copy()
    indices = np.empty(indptr[-1], dtype=np.int32)
    for k in range(first.size):
        u, v = number[first[k]], number[second[k]]
        if u >= 0 and v >= 0:
            indices[end[u]] = v
            indices[end[v]] = u
            end[u] += 1
            end[v] += 1
    return indptr, indices


@dataclass(frozen=True)
class Solution:
    """An independent set and an upper bound on the size of any."""

    chosen: NDArray[np.intp]
    upper_bound: int

    @property
    def optimal(self) -> bool:
        """Whether the set is proven to be a largest one."""
        return self.chosen.size >= self.upper_bound
