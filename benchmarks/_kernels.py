"""Hard kernels for the clique benchmark: conflict graphs of clusters without a stable core.

Each is cut from a seeded fit. It is the largest connected part of the conflict graph of one cluster
that the reductions leave undecided. The kernels depend on the version of the package that cuts
them; to compare versions, keep the files.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from coreclust.clique import Deadline, Graph, conflict_graph


@dataclass(frozen=True)
class Fit:
    """A fit with an unstable reference clustering, and its clusters with hard kernels."""

    kind: str
    n_items: int
    n_clusters: int
    n_groups: int = 10  # Gaussians in the data; 0 for uniform data
    spread: float = 1.6  # standard deviation of the means of the groups
    n_features: int = 10
    n_init: int = 1
    alpha: float = 0.1
    clusters: tuple[int, ...] = (0,)  # the labels of the clusters to cut kernels from

    @property
    def name(self) -> str:
        """What is unusual, and the size."""
        return f"{self.kind} {self.n_items}"

    def kernel(self, label: int, folder: Path) -> Kernel:
        """Return the kernel of one cluster."""
        stem = f"kernel {self.name} {label}".replace(" ", "-")
        return Kernel(f"{self.name} ({label})", folder / f"{stem}.npz")

    def draw(self) -> NDArray[np.float32]:
        """Draw the data."""
        rng = np.random.default_rng(0)
        if self.n_groups == 0:
            return rng.random((self.n_items, self.n_features), dtype=np.float32)
        means = rng.normal(size=(self.n_groups, self.n_features)) * self.spread
        groups = rng.integers(0, self.n_groups, self.n_items)
        X = means[groups] + rng.normal(size=(self.n_items, self.n_features))
        return X.astype(np.float32)


@dataclass(frozen=True)
class Kernel:
    """A conflict graph on disk."""

    name: str
    path: Path

    def load(self) -> Graph:
        """Return the graph."""
        with np.load(self.path) as arrays:
            return Graph(arrays["indptr"], arrays["indices"])


FITS = [
    Fit("one start", 10_000, 10, clusters=(2, 5)),
    Fit("one start", 20_000, 10, clusters=(0, 3, 7)),
    Fit("too many", 10_000, 5, n_groups=3, n_features=3, clusters=(0, 4)),
    Fit("too few", 4000, 3, clusters=(2,)),
    Fit("too few", 10_000, 5, n_groups=6, n_features=3, clusters=(0,)),
    Fit("overlapping", 5000, 8, n_groups=12, n_features=2, spread=2.0, clusters=(1, 6)),
    Fit("uniform", 2000, 2, n_groups=0, n_features=4, alpha=0.3, clusters=(0,)),
    Fit("uniform", 6000, 3, n_groups=0, n_features=2, alpha=0.3, clusters=(1,)),
    Fit("uniform", 13_000, 3, n_groups=0, n_features=2, alpha=0.3, clusters=(0,)),
]
QUICK_FIT = Fit("one start", 3000, 10, clusters=(8,))


def make_kernels(fits: Iterable[Fit], folder: Path) -> Iterator[Kernel]:
    """Yield the kernels of some fits, from files of `folder` if they were cut before."""
    for fit in fits:
        kernels = [fit.kernel(label, folder) for label in fit.clusters]
        if not all(kernel.path.exists() for kernel in kernels):
            for kernel, graph in zip(kernels, cut_kernels(fit), strict=True):
                np.savez_compressed(kernel.path, **graph._asdict())
        yield from kernels


def cut_kernels(fit: Fit) -> Iterator[Graph]:
    """Yield the kernels of a fit."""
    from coreclust import CoreClustering
    from coreclust.cluster import KMeans

    clustering = CoreClustering(
        KMeans(fit.n_clusters, n_init=fit.n_init),
        n_resamples=100,
        alpha=fit.alpha,
        time_limit=0,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no core is proven within no time
        clustering.fit(fit.draw())
    sizes = np.array([core.n_items for core in clustering.cores_])
    table = clustering.rule_.table(clustering.ensemble_, sizes)
    for core in (clustering.cores_[label] for label in fit.clusters):
        preferred = np.argsort(-np.nan_to_num(core.strength, nan=-1.0), kind="stable")
        pairs = clustering.ensemble_.pairs(core.members[preferred], "apart")
        _kept, graph, start = conflict_graph(pairs, table, Deadline(None))
        yield _undecided_part(graph, start)


def _undecided_part(graph: Graph, start: NDArray[np.bool_]) -> Graph:
    """Return the largest component of what the reductions leave of a conflict graph."""
    from coreclust.clique._local_search import improve_independent_set
    from coreclust.clique._reductions import reduce_graph

    known = int(np.count_nonzero(improve_independent_set(graph, start, thorough=True)))
    reduced = reduce_graph(graph, known, Deadline(None))
    if reduced.upper_bound <= known or reduced.undecided.size == 0:
        return graph.subgraph(np.empty(0, dtype=np.intp))
    rest = graph.subgraph(reduced.undecided)
    _n_components, component = connected_components(rest.to_sparse(), directed=False)
    largest = np.bincount(component).argmax()
    return rest.subgraph(np.flatnonzero(component == largest))
