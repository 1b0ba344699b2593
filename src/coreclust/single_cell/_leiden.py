"""Leiden clustering of the graph of nearest neighbors."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.neighbors import kneighbors_graph
from sklearn.utils import check_array

_IGRAPH_LOCK = threading.Lock()  # igraph has one random number generator per process


@dataclass(frozen=True)
class Leiden:
    """Clustering function for cells: Leiden communities of the nearest-neighbor graph.

    The graph joins every cell with its nearest neighbors. The weight of an edge is the share of
    neighbors that the two cells have in common. Requires the package igraph.

    Parameters
    ----------
    n_neighbors : int, default=15
        Number of nearest neighbors of each cell.
    resolution : float, default=1.0
        Higher values give more and smaller clusters.
    n_iterations : int, default=2
        Number of iterations of the Leiden algorithm.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.single_cell import Leiden
    >>> labels = Leiden(resolution=0.5)(load_iris().data, random_state=0)
    >>> labels.shape
    (150,)
    """

    n_neighbors: int = 15
    resolution: float = 1.0
    n_iterations: int = 2

    def __call__(self, Z: ArrayLike, random_state: int | None = None) -> NDArray[np.int64]:
        """Return the community of every cell."""
        igraph = _import_igraph()
        cells = check_array(Z, ensure_min_samples=2)
        n_neighbors = min(self.n_neighbors, len(cells) - 1)
        near = kneighbors_graph(cells, n_neighbors, include_self=False, mode="connectivity")
        shared = (near @ near.T).multiply(near.maximum(near.T)).tocoo()
        upper = shared.row < shared.col
        graph = igraph.Graph(
            n=len(cells), edges=np.column_stack([shared.row, shared.col])[upper].tolist()
        )
        weights = (shared.data[upper] / (2 * n_neighbors - shared.data[upper])).tolist()
        with _IGRAPH_LOCK:
            igraph.set_random_number_generator(random.Random(random_state))  # noqa: S311
            try:
                found = graph.community_leiden(
                    objective_function="modularity",
                    weights=weights,
                    resolution=self.resolution,
                    n_iterations=self.n_iterations,
                )
            finally:
                igraph.set_random_number_generator(random)  # igraph's default
        return np.array(found.membership, dtype=np.int64)


def _import_igraph() -> Any:
    try:
        import igraph
    except ImportError as error:
        raise ImportError(
            "Leiden needs the package igraph: install it with pip install "
            "'coreclust[single-cell]', or pass another estimator."
        ) from error
    return igraph
