"""Kernels of k-means for sparse data: the methods of `_lloyd.py`, without a dense copy.

Items are rows of a matrix in CSR format. A squared distance is the squared norm of a center plus a
sum over the features that an item has. Centers are dense, and stored by feature, so that one
feature of an item is compared with all centers at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.jit import kernel, random_state_of, random_uniform

_ROUNDING = 1e-12  # of the squared norms; a smaller squared distance is 0


class Rows(NamedTuple):
    """A matrix in CSR format, without duplicate entries."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    n_features: int


@kernel
def best_of_runs(rows, items, weights, settings, seed):
    """Run k-means `n_init` times and return the run with the least inertia.

    There are at least `n_clusters` items, with positive weights. Returns the labels, the centers
    (n_clusters, n_features), the inertia and the number of iterations. If squares of the values
    overflow, the inertia is infinite and the rest meaningless.
    """
    n, k, d = items.size, settings.n_clusters, rows.n_features
    state = random_state_of(seed)
    norms = _squared_norms(rows, items)
    tolerance = 0.0
    if settings.tol > 0:
        tolerance = settings.tol * _mean_variance(rows, items, weights)
    centers = np.empty((d, k))
    labels = np.zeros(n, dtype=np.int32)
    best_labels = np.zeros(n, dtype=np.int32)
    best_centers = np.empty((k, d))
    best_inertia = np.inf
    best_n_iter = 0
    for _ in range(settings.n_init):
        if settings.init.size > 0:
            for c in range(k):
                for f in range(d):
                    centers[f, c] = settings.init[c, f]
        else:
            _plus_plus(rows, items, norms, weights, centers, settings.n_candidates, state)
        n_iter, inertia = _lloyd(
            rows, items, norms, weights, centers, labels, settings.max_iter, tolerance
        )
        if inertia < best_inertia:
            best_inertia = inertia
            best_n_iter = n_iter
            for i in range(n):
                best_labels[i] = labels[i]
            for f in range(d):
                for c in range(k):
                    best_centers[c, f] = centers[f, c]
    return best_labels, best_centers, best_inertia, best_n_iter


@kernel
def nearest_centers(rows, items, centers):
    """Return the label of the nearest of some centers (n_clusters, n_features); skip those NaN."""
    by_feature = np.ascontiguousarray(centers.T)
    labels = np.zeros(items.size, dtype=np.int32)
    distances = np.empty(items.size)
    _assign(rows, items, _squared_norms(rows, items), by_feature, labels, distances)
    return labels


@kernel
def _squared_norms(rows, items):
    norms = np.zeros(items.size)
    for i in range(items.size):
        for e in range(rows.indptr[items[i]], rows.indptr[items[i] + 1]):
            norms[i] += np.float64(rows.data[e]) ** 2
    return norms


@kernel
def _mean_variance(rows, items, weights):
    """Return the mean of the variances of the features."""
    first, second = np.zeros(rows.n_features), np.zeros(rows.n_features)
    total = weights.sum()
    for i in range(items.size):
        for e in range(rows.indptr[items[i]], rows.indptr[items[i] + 1]):
            value = np.float64(rows.data[e])
            first[rows.indices[e]] += weights[i] * value
            second[rows.indices[e]] += weights[i] * value * value
    variance = 0.0
    for f in range(rows.n_features):
        variance += second[f] / total - (first[f] / total) ** 2
    return variance / rows.n_features


@kernel
def _plus_plus(rows, items, norms, weights, centers, n_candidates, state):
    """Draw centers by k-means++; the draws are those of `_lloyd`."""
    n = items.size
    nearest, trial, best = np.full(n, np.inf), np.empty(n), np.empty(n)
    cumulative = np.empty(n)
    point = np.zeros(rows.n_features)
    candidates = np.empty(n_candidates, dtype=np.int64)
    chosen = 0
    for c in range(centers.shape[1]):
        total = 0.0
        for i in range(n):
            total += weights[i] * (nearest[i] if c > 0 else 1.0)
            cumulative[i] = total
        n_drawn = n_candidates if c > 0 else 1
        for k in range(n_drawn):
            drawn = np.searchsorted(cumulative, random_uniform(state) * total, side="right")
            candidates[k] = min(drawn, n - 1)
        least = np.inf
        chosen = candidates[0]
        for k in range(n_drawn):
            potential = _closer(rows, items, norms, weights, candidates[k], nearest, point, trial)
            if potential < least or k == 0:
                least = potential
                chosen = candidates[k]
                trial, best = best, trial
        nearest, best = best, nearest
        for f in range(rows.n_features):
            centers[f, c] = 0.0
        for e in range(rows.indptr[items[chosen]], rows.indptr[items[chosen] + 1]):
            centers[rows.indices[e], c] = rows.data[e]


@kernel
def _closer(rows, items, norms, weights, candidate, nearest, point, out):
    """Store the squared distances to the nearest center or candidate; return the weighted sum.

    `point` is zero, before and after.
    """
    row = items[candidate]
    for e in range(rows.indptr[row], rows.indptr[row + 1]):
        point[rows.indices[e]] = rows.data[e]
    potential = 0.0
    for i in range(items.size):
        product = 0.0
        for e in range(rows.indptr[items[i]], rows.indptr[items[i] + 1]):
            product += np.float64(rows.data[e]) * point[rows.indices[e]]
        squared = norms[i] + norms[candidate] - 2 * product
        if squared <= _ROUNDING * (norms[i] + norms[candidate]):
            squared = 0.0
        out[i] = squared if squared < nearest[i] else nearest[i]
        potential += weights[i] * out[i]
    for e in range(rows.indptr[row], rows.indptr[row + 1]):
        point[rows.indices[e]] = 0.0
    return potential


@kernel
def _lloyd(rows, items, norms, weights, centers, labels, max_iter, tolerance):
    """Iterate until no item changes its cluster; return the number of iterations and the inertia.

    The centers are the means of the labels before the last ones, which are the nearest centers.
    """
    d, k = centers.shape
    sums = np.empty((d, k))
    mass = np.empty(k)
    size = np.empty(k, dtype=np.int64)
    previous = np.empty(items.size, dtype=np.int32)
    distances = np.empty(items.size)
    _assign(rows, items, norms, centers, labels, distances)
    n_iter = max_iter
    for iteration in range(max_iter):
        _sums(rows, items, weights, labels, sums, mass, size)
        relocated = _fill_empty(rows, items, weights, labels, distances, sums, mass, size)
        shift = 0.0
        for f in range(d):
            for c in range(k):
                if size[c] > 0:
                    mean = sums[f, c] / mass[c]
                    shift += (mean - centers[f, c]) ** 2
                    centers[f, c] = mean
        for i in range(items.size):
            previous[i] = labels[i]
        _assign(rows, items, norms, centers, labels, distances)
        changed = 0
        for i in range(items.size):
            changed += previous[i] != labels[i]
        if (changed == 0 or shift <= tolerance) and not relocated:
            n_iter = iteration + 1
            break
    inertia = 0.0
    for i in range(items.size):
        inertia += weights[i] * distances[i]
    return n_iter, inertia


@kernel
def _assign(rows, items, norms, centers, labels, distances):
    """Store the label of the nearest center, and the squared distance to it."""
    d, k = centers.shape
    squares = np.zeros(k)
    for f in range(d):
        for c in range(k):
            squares[c] += centers[f, c] * centers[f, c]
    beyond = np.empty(k)
    for i in range(items.size):
        for c in range(k):
            beyond[c] = squares[c]
        for e in range(rows.indptr[items[i]], rows.indptr[items[i] + 1]):
            double = 2 * np.float64(rows.data[e])
            center = centers[rows.indices[e]]
            for c in range(k):
                beyond[c] -= double * center[c]
        best = -1
        for c in range(k):
            if not np.isnan(beyond[c]) and (best < 0 or beyond[c] < beyond[best]):
                best = c
        best = max(best, 0)
        squared = norms[i] + beyond[best]
        if squared <= _ROUNDING * (norms[i] + squares[best]):
            squared = 0.0
        labels[i] = best
        distances[i] = squared


@kernel
def _sums(rows, items, weights, labels, sums, mass, size):
    d, k = sums.shape
    for c in range(k):
        mass[c] = 0.0
        size[c] = 0
    for f in range(d):
        for c in range(k):
            sums[f, c] = 0.0
    for i in range(items.size):
        size[labels[i]] += 1
        mass[labels[i]] += weights[i]
        for e in range(rows.indptr[items[i]], rows.indptr[items[i] + 1]):
            sums[rows.indices[e], labels[i]] += weights[i] * rows.data[e]


@kernel
def _fill_empty(rows, items, weights, labels, distances, sums, mass, size):
    """Move the item farthest from its center into each empty cluster; return whether any moved.

    If all items lie on centers (fewer distinct items than clusters), the cluster stays empty.
    """
    relocated = False
    for empty in range(size.size):
        if size[empty] > 0:
            continue
        farthest = -1
        distance = 0.0
        for i in range(items.size):
            if distances[i] > distance and size[labels[i]] > 1:
                distance = distances[i]
                farthest = i
        if farthest < 0:
            continue
        old = labels[farthest]
        for e in range(rows.indptr[items[farthest]], rows.indptr[items[farthest] + 1]):
            moved = weights[farthest] * rows.data[e]
            sums[rows.indices[e], empty] = moved
            sums[rows.indices[e], old] -= moved
        mass[empty] = weights[farthest]
        mass[old] -= weights[farthest]
        size[empty] = 1
        size[old] -= 1
        labels[farthest] = empty
        distances[farthest] = 0.0
        relocated = True
    return relocated
