"""The graphs of the clique benchmark, written to files that the child processes read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ABSENT = -2
ALPHA = 0.1
N_RESAMPLES = 500
N_CLUSTERS = 3


@dataclass(frozen=True)
class Graph:
    """An adjacency matrix on disk."""

    path: Path
    n_vertices: int
    n_edges: int


@dataclass(frozen=True)
class Run:
    """Graphs to be solved one after the other, timed together.

    `labels` is the label matrix they come from, if they are the cluster graphs of one.
    """

    graphs: list[Graph]
    labels: Path | None = None


@dataclass(frozen=True)
class Instance:
    """A group of rows of the table: one problem, drawn with one or more seeds."""

    name: str
    runs: list[Run]

    @property
    def density(self) -> float:
        """Share of the vertex pairs that are edges, over all graphs."""
        graphs = [graph for run in self.runs for graph in run.graphs]
        pairs = sum(graph.n_vertices * (graph.n_vertices - 1) // 2 for graph in graphs)
        return sum(graph.n_edges for graph in graphs) / pairs


def random_instance(n: int, p: float, n_seeds: int, folder: Path) -> Instance:
    """Draw every pair of `n` vertices as an edge with probability `p`."""
    runs = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        adjacency = _symmetric(rng.random((n, n)) < p)
        runs.append(Run([_save(adjacency, folder / f"random-{n}-{p}-{seed}.npy")]))
    return Instance(f"G({n}, {p})", runs)


def near_clique_instance(
    n: int, n_border: int, missing: float, n_seeds: int, folder: Path
) -> Instance:
    """Draw a clique in which some edges among `n_border` vertices are missing."""
    runs = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        adjacency = np.ones((n, n), dtype=bool)
        adjacency[:n_border, :n_border] = rng.random((n_border, n_border)) >= missing
        order = rng.permutation(n)  # hide the border from the solvers
        adjacency = _symmetric(adjacency)[np.ix_(order, order)]
        runs.append(Run([_save(adjacency, folder / f"near-{n}-{n_border}-{seed}.npy")]))
    return Instance(f"near-clique {n}/{n_border}", runs)


def core_instance(n: int, folder: Path, cache: Path) -> Instance:
    """Build the cluster graphs of k-means on 500 resamples of three overlapping Gaussians."""
    labels_path = cache / f"labels-n{n}-m{N_RESAMPLES}.npz"
    if not labels_path.exists():
        labels, reference = _cluster_resamples(n)
        np.savez(labels_path, labels=labels, reference=reference)
    with np.load(labels_path) as data:
        labels, reference = data["labels"], data["reference"]
    graphs = [
        _save(cluster_graph(labels[reference == k], n), folder / f"core-{n}-{k}.npy")
        for k in range(N_CLUSTERS)
    ]
    return Instance(f"core n={n}", [Run(graphs, labels_path)])


def cluster_graph(
    labels: NDArray[np.integer], n_items: int, alpha: float = ALPHA
) -> NDArray[np.bool_]:
    """Join the items of a cluster whose co-occurrence is estimated to be at least 1 - alpha.

    The estimate is (A + 1/n) / (B + 1), for A resamples together of B with both items. It is
    computed without coreclust, so that comparing the sizes also checks the evidence.
    """
    n = len(labels)
    threshold = 1 - Fraction(str(alpha))
    # float32 for a fast matrix product; counts up to the number of resamples are exact in it.
    present = (labels != ABSENT).astype(np.float32)
    one_hot = np.hstack([labels == k for k in range(N_CLUSTERS)]).astype(np.float32)
    adjacency = np.empty((n, n), dtype=bool)
    for rows in np.array_split(np.arange(n), n // 1000 + 1):  # count blocks of modest size
        together = (one_hot[rows] @ one_hot.T).astype(np.int64)
        both = (present[rows] @ present.T).astype(np.int64)
        # In whole numbers, because many pairs are exactly at the threshold.
        left = threshold.denominator * (n_items * together + 1)
        adjacency[rows] = left >= threshold.numerator * n_items * (both + 1)
    np.fill_diagonal(adjacency, False)
    return adjacency


def _cluster_resamples(n: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the labels of `n` items in each bootstrap resample, and in all the data."""
    from joblib import Parallel, delayed
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(0)
    angles = 2 * np.pi * np.arange(N_CLUSTERS) / N_CLUSTERS
    centers = 1.5 * np.column_stack([np.cos(angles), np.sin(angles)])
    X = centers[rng.integers(N_CLUSTERS, size=n)] + rng.standard_normal((n, 2))
    columns = Parallel(n_jobs=2)(delayed(_resample_labels)(X, seed) for seed in range(N_RESAMPLES))
    reference = KMeans(N_CLUSTERS, n_init=10, random_state=0).fit_predict(X)
    return np.column_stack(columns), reference.astype(np.int8)


def _resample_labels(X: NDArray[np.float64], seed: int) -> NDArray[np.int8]:
    """Cluster one bootstrap resample; items that were not drawn are ABSENT."""
    from sklearn.cluster import KMeans

    drawn = np.random.default_rng([1, seed]).integers(len(X), size=len(X))
    rows, counts = np.unique(drawn, return_counts=True)
    model = KMeans(N_CLUSTERS, n_init=1, random_state=seed)
    labels = np.full(len(X), ABSENT, dtype=np.int8)
    labels[rows] = model.fit(X[rows], sample_weight=counts).labels_
    return labels


def _symmetric(adjacency: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mirror the upper triangle and clear the diagonal."""
    upper = np.triu(adjacency, 1)
    return upper | upper.T


def _save(adjacency: NDArray[np.bool_], path: Path) -> Graph:
    np.save(path, adjacency)
    return Graph(path, len(adjacency), int(adjacency.sum()) // 2)
