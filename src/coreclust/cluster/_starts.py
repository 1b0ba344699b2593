"""k-means from random items, and k-means of sparse data, for one or many resamples.

The kernels take given centers, so that the first centers can be drawn here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from coreclust._utils.constants import ABSENT
from coreclust.cluster import _lloyd_sparse
from coreclust.cluster._lloyd import Settings
from coreclust.cluster._lloyd_sparse import Rows
from coreclust.cluster._native import Batch

# Labels, centers, inertia and number of iterations, of items with weights.
Run = tuple[NDArray[np.int32], NDArray[np.float64], float, int]
Runner = Callable[[NDArray[np.int64], NDArray[np.float64], Settings, int], Run]


def rows_of(X: Any) -> Rows:
    """Return a sparse matrix for the kernels; entries for the same place are added up."""
    X = csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    data = X.data if X.dtype in (np.float64, np.float32) else X.data.astype(np.float64)
    return Rows(data, X.indices, X.indptr, X.shape[1])


def run_from_random_items(
    run: Runner,
    X: Any,
    items: NDArray[np.int64],
    weights: NDArray[np.float64],
    settings: Settings,
    seed: int,
) -> Run:
    """Run k-means `n_init` times from randomly drawn items; return the run of least inertia.

    Items are drawn with probabilities proportional to their weights. A drawn item loses a weight of
    1, so that whole weights are copies that are drawn without replacement, as in scikit-learn. Two
    copies of an item are one center, and the other cluster gets the item farthest from its center.
    """
    rng = np.random.default_rng(np.random.SeedSequence(int(seed)))
    best: Run | None = None
    for _ in range(settings.n_init):
        left = weights.copy()
        drawn = []
        for _ in range(settings.n_clusters):
            cumulative = np.cumsum(left)
            place = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
            drawn.append(min(int(place), items.size - 1))
            left[drawn[-1]] = max(left[drawn[-1]] - 1, 0)
        found = run(items, weights, _from_items(X, items[drawn], settings), seed)
        if best is None or found[2] < best[2]:
            best = found
    if best is None:
        raise ValueError("n_init must be at least 1.")
    return best


def _from_items(X: Any, items: NDArray[np.int64], settings: Settings) -> Settings:
    """Return settings with some items as the centers."""
    centers = X[items].toarray() if issparse(X) else X[items]
    centers = np.ascontiguousarray(centers, dtype=np.float64)
    return settings._replace(n_clusters=len(items), init=centers, n_init=1)


@dataclass(frozen=True, eq=False)
class ResampleLabeler:
    """Labels resamples one by one."""

    X: Any
    run: Runner
    nearest: Callable[[NDArray[np.float64]], NDArray[np.int32]] | None  # labels all items, or None
    settings: Settings
    from_random_items: bool
    keeps_centers: bool

    def __call__(self, counts: NDArray[np.int32], seeds: NDArray[np.int64]) -> Batch:
        labels = np.full(counts.shape, ABSENT, dtype=np.int32)
        failed = np.zeros(len(counts), dtype=bool)
        shape = (len(counts), self.settings.n_clusters, self.X.shape[1])
        kept = np.full(shape, np.nan) if self.keeps_centers else None
        for resample, (drawn, seed) in enumerate(zip(counts, seeds, strict=True)):
            items = np.flatnonzero(drawn)
            found = self._cluster(items, drawn[items].astype(np.float64), int(seed))
            if found is None or not np.isfinite(found[2]):
                failed[resample] = True
                continue
            used = np.unique(found[0])
            centers = np.full((self.settings.n_clusters, self.X.shape[1]), np.nan)
            centers[used] = found[1][used]
            if self.nearest is None:
                labels[resample, items] = found[0]
            else:
                labels[resample] = self.nearest(centers)
            if kept is not None:
                kept[resample] = centers
        return Batch(labels, failed, kept)

    def _cluster(
        self, items: NDArray[np.int64], weights: NDArray[np.float64], seed: int
    ) -> Run | None:
        n_clusters = self.settings.n_clusters
        if weights.sum() < n_clusters:
            return None
        if items.size < n_clusters:  # each distinct row is a cluster
            return self.run(items, weights, _from_items(self.X, items, self.settings), seed)
        if self.from_random_items:
            return run_from_random_items(self.run, self.X, items, weights, self.settings, seed)
        return self.run(items, weights, self.settings, seed)


def sparse_runner(rows: Rows) -> Runner:
    """Return a function that clusters some of the rows of a sparse matrix."""

    def run(
        items: NDArray[np.int64], weights: NDArray[np.float64], settings: Settings, seed: int
    ) -> Run:
        found: Run = _lloyd_sparse.best_of_runs(rows, items, weights, settings, seed)
        return found

    return run
