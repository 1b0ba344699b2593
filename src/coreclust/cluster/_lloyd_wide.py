"""Kernels of k-means for many features: matrix products and bounds.

The labels are those of `_lloyd`, to the bit: the nearest center by squared differences in double
precision. Two exact shortcuts save most of these distances.

- Single-precision matrix products give distances with a known error. If the best two centers of an
  item differ by more than the error, the nearest is known; otherwise the differences decide. So
  the labels do not depend on the matrix library, or on its threads.
- Each item has an upper bound of the distance to its center, and a lower bound of the distance to
  all others (Hamerly 2010). As long as they do not cross, the item keeps its label.

The products use a copy of the data in single precision, centered and scaled: bounds and errors are
in its units. Kernels get the original data with the indices of the items of the resample instead of
a copy of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from coreclust._utils.jit import copy_rows_to, copy_to, kernel, random_place, random_state_of
from coreclust.cluster._drawn import drawn_items

_BLOCK = 256  # items per matrix product
_TINY = 1e-30  # products of single precision underflow: an absolute error


class Frame(NamedTuple):
    """Maps data to single precision: ``(x - origin) * scale`` is at most 1."""

    origin: np.ndarray
    scale: float


# Sums of squares in any order: several times faster, and only the last bits depend on the machine.
@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"}, cache=True)
def _squared_distance(x, y):
    total = 0.0
    for f in range(y.size):
        difference = x[f] - y[f]
        total += difference * difference
    return total


@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"}, cache=True)
def _potential(weights, x, y):
    total = 0.0
    for i in range(weights.size):
        total += weights[i] * min(x[i], y[i])
    return total


@kernel
def to_frame(X, items, frame):
    """Return items in single precision, and their norms."""
    d = X.shape[1]
    origin, scale = frame.origin, frame.scale
    points = np.empty((items.size, d), dtype=np.float32)
    norms = np.empty(items.size)
    for i in range(items.size):
        x, point = X[items[i]], points[i]
        for f in range(d):
            point[f] = (x[f] - origin[f]) * scale
        norms[i] = _norm(point)
    return points, norms


@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"}, cache=True)
def _norm(x):
    total = 0.0
    for f in range(x.size):
        value = np.float64(x[f])
        total += value * value
    return np.sqrt(total)


@kernel
def label_resamples(X, frame, counts, settings, seeds):
    """Label resamples given by the multiplicities of the items, as `_lloyd.label_resamples`."""
    n_resamples, n_items = counts.shape
    n_clusters = settings.n_clusters
    labels = np.full((n_resamples, n_items), -2, dtype=np.int32)
    failed = np.zeros(n_resamples, dtype=np.bool_)
    kept = np.full((n_resamples, n_clusters, X.shape[1]), np.nan)
    for resample in range(n_resamples):
        items, weights, total = drawn_items(counts[resample])
        if total < n_clusters:
            failed[resample] = True
            continue
        if items.size < n_clusters:  # each distinct row is a cluster
            for i in range(items.size):
                label = 0
                while np.any(X[items[label]] != X[items[i]]):
                    label += 1
                labels[resample, items[i]] = label
                copy_to(kept[resample, label], X[items[i]])
            continue
        found, centers, inertia, _ = best_of_runs(
            X, items, frame, weights, settings, seeds[resample]
        )
        if not np.isfinite(inertia):
            failed[resample] = True
            continue
        for i in range(items.size):
            labels[resample, items[i]] = found[i]
            if np.isnan(kept[resample, found[i], 0]):
                copy_to(kept[resample, found[i]], centers[found[i]])
    return labels, failed, kept


@kernel
def best_of_runs(X, items, frame, weights, settings, seed):
    """Run k-means `n_init` times and return the run with the least inertia.

    Returns the labels of the items, the centers, the inertia and the number of iterations.
    """
    n, d = items.size, X.shape[1]
    state = random_state_of(seed)
    points, norms = to_frame(X, items, frame)
    tolerance = (
        settings.tol * _mean_variance(X, items, frame.origin, weights) if settings.tol > 0 else 0.0
    )
    centers = np.empty((settings.n_clusters, d))
    labels = np.zeros(n, dtype=np.int64)
    best_labels = np.zeros(n, dtype=np.int32)
    best_centers = centers.copy()
    best_inertia = np.inf
    best_n_iter = 0
    for _ in range(settings.n_init):
        if settings.init.size > 0:
            copy_rows_to(centers, settings.init)
        else:
            _plus_plus(
                X, items, points, norms, frame, weights, centers, settings.n_candidates, state
            )
        n_iter = _lloyd(
            X, items, points, norms, frame, weights, centers, labels, settings.max_iter, tolerance
        )
        inertia = _inertia(X, items, weights, centers, labels)
        if inertia < best_inertia:
            best_inertia = inertia
            best_n_iter = n_iter
            copy_to(best_labels, labels)
            copy_rows_to(best_centers, centers)
    return best_labels, best_centers, best_inertia, best_n_iter


@kernel
def _mean_variance(X, items, origin, weights):
    """Return the mean variance of the features; `origin` is near their means."""
    d = origin.size
    shift = np.zeros(d)
    squares = 0.0
    total = 0.0
    for i in range(items.size):
        x, weight = X[items[i]], weights[i]
        total += weight
        squares += weight * _squared_distance(x, origin)
        for f in range(d):
            shift[f] += weight * (x[f] - origin[f])
    for f in range(d):
        squares -= shift[f] * shift[f] / total
    return squares / total / d


@kernel
def _inertia(X, items, weights, centers, labels):
    total = 0.0
    for i in range(labels.size):
        total += weights[i] * _squared_distance(X[items[i]], centers[labels[i]])
    return total


@kernel
def _error(d, norm, reach):
    """Bound the error of a squared distance between an item and a center by their norms.

    The product of two vectors of single precision is wrong by at most d roundings of the product
    of their norms; the rest is for the rounding of the vectors themselves.
    """
    return (d + 16) * 2.0**-24 * (norm + reach) ** 2 + _TINY


@kernel
def _plus_plus(X, items, points, norms, frame, weights, centers, n_candidates, state):
    """Draw centers by k-means++, as `_lloyd._plus_plus`.

    Products tell which candidate is the best, unless several are so within the error. The
    distances to the best one are then computed for the items that may be closer to it.
    """
    n, d = points.shape
    nearest = np.empty(n)
    trials = np.empty((n_candidates, n))
    cumulative = trials[0]  # shares the array: not needed once the candidates are drawn
    candidates = np.empty(n_candidates, dtype=np.int64)
    potentials = np.empty(n_candidates)
    total = 0.0
    for i in range(n):
        total += weights[i]
        cumulative[i] = total
    chosen = random_place(state, cumulative)
    copy_to(centers[0], X[items[chosen]])
    for i in range(n):
        nearest[i] = _squared_distance(X[items[i]], centers[0])
    for c in range(1, centers.shape[0]):
        total = 0.0
        for i in range(n):
            total += weights[i] * nearest[i]
            cumulative[i] = total
        for k in range(n_candidates):
            candidates[k] = random_place(state, cumulative)
        _try_candidates(points, norms, frame, weights, nearest, candidates, trials, potentials)
        best = _clearly_best(norms, frame, weights, candidates, d, potentials)
        if best < 0:
            for k in range(n_candidates):
                center = X[items[candidates[k]]]
                potentials[k] = 0.0
                for i in range(n):
                    trials[k, i] = min(nearest[i], _squared_distance(X[items[i]], center))
                    potentials[k] += weights[i] * trials[k, i]
            best = 0
            for k in range(1, n_candidates):
                if potentials[k] < potentials[best]:
                    best = k
            copy_to(nearest, trials[best])
        else:
            trial, norm = trials[best], norms[candidates[best]]
            center = X[items[candidates[best]]]
            unit = 1.0 / frame.scale**2
            for i in range(n):
                if trial[i] - unit * _error(d, norms[i], norm) <= nearest[i]:
                    nearest[i] = min(nearest[i], _squared_distance(X[items[i]], center))
        copy_to(centers[c], X[items[candidates[best]]])


@kernel
def _try_candidates(points, norms, frame, weights, nearest, candidates, trials, potentials):
    """Store distances to the candidates by products, and the potential of each as a next center."""
    n, d = points.shape
    n_candidates = candidates.size
    unit = 1.0 / frame.scale**2
    small = np.empty((n_candidates, d), dtype=np.float32)
    for k in range(n_candidates):
        copy_to(small[k], points[candidates[k]])
    products = np.empty((_BLOCK, n_candidates), dtype=np.float32)
    potentials[:] = 0.0
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        norm = norms[start:stop]
        np.dot(points[start:stop], small.T, products[: norm.size])
        for k in range(n_candidates):
            square = norms[candidates[k]] ** 2
            trial = trials[k, start:stop]
            for j in range(norm.size):
                trial[j] = unit * (norm[j] * norm[j] + square - 2.0 * products[j, k])
            potentials[k] += _potential(weights[start:stop], trial, nearest[start:stop])


@kernel
def _clearly_best(norms, frame, weights, candidates, d, potentials):
    """Return the place of the candidate of the least potential; -1 if errors may decide."""
    total = 0.0
    first = 0.0
    second = 0.0
    for i in range(norms.size):
        total += weights[i]
        first += weights[i] * norms[i]
        second += weights[i] * norms[i] * norms[i]
    best = 0
    for k in range(1, candidates.size):
        if potentials[k] < potentials[best]:
            best = k
    # The sum of `_error` over all items, a little enlarged for the rounding of the sums.
    own = 0.0
    for k in range(candidates.size):
        norm = norms[candidates[k]]
        squares = second + 2.0 * first * norm + total * norm * norm
        error = ((d + 16) * 2.0**-24 * squares + total * _TINY) * 1.01 / frame.scale**2
        own = max(own, error)
    for k in range(candidates.size):
        is_same = candidates[k] == candidates[best]
        if not is_same and not potentials[k] - potentials[best] > 2.0 * own:
            return -1
    return best


@kernel
def _lloyd(X, items, points, norms, frame, weights, centers, labels, max_iter, tolerance):
    """Iterate until no item changes its cluster; return the number of iterations."""
    n, d = points.shape
    n_clusters = centers.shape[0]
    sums = np.empty((n_clusters, d))
    mass = np.empty(n_clusters)
    size = np.empty(n_clusters, dtype=np.int64)  # number of items: exact, unlike `mass`
    moves = np.zeros(n_clusters)
    upper = np.full(n, np.inf)
    lower = np.zeros(n)
    previous = np.empty(n, dtype=np.int32)
    _assign(X, items, points, norms, frame, centers, labels, upper, lower)
    _sums(X, items, weights, labels, sums, mass, size)
    n_iter = max_iter
    changed = 0
    for iteration in range(max_iter):
        relocated = False
        if size.min() == 0:
            relocated = _fill_empty(X, items, weights, centers, labels, sums, mass, size)
        shift = 0.0
        moves[:] = 0.0
        for c in range(n_clusters):
            if size[c] > 0:
                moved = 0.0
                for f in range(d):
                    mean = sums[c, f] / mass[c]
                    moved += (mean - centers[c, f]) ** 2
                    centers[c, f] = mean
                shift += moved
                moves[c] = np.sqrt(moved) * frame.scale
        if relocated:
            upper[:] = np.inf
        else:
            _loosen(labels, moves, upper, lower)
        copy_to(previous, labels)
        _assign(X, items, points, norms, frame, centers, labels, upper, lower)
        changed = 0
        for i in range(n):
            old, new = previous[i], labels[i]
            if old != new:
                changed += 1
                size[old] -= 1
                size[new] += 1
                mass[old] -= weights[i]
                mass[new] += weights[i]
                x, weight = X[items[i]], weights[i]
                for f in range(d):
                    moved = weight * x[f]
                    sums[old, f] -= moved
                    sums[new, f] += moved
        if (changed == 0 or shift <= tolerance) and not relocated:
            n_iter = iteration + 1
            break
    if changed > 0:  # stopped early: the centers are the means of the labels before the last ones
        copy_to(labels, previous)
    _sums(X, items, weights, labels, sums, mass, size)  # without accumulated rounding errors
    for c in range(n_clusters):
        if size[c] > 0:
            for f in range(d):
                centers[c, f] = sums[c, f] / mass[c]
    if changed > 0:
        upper[:] = np.inf
        _assign(X, items, points, norms, frame, centers, labels, upper, lower)
    return n_iter


@kernel
def _loosen(labels, moves, upper, lower):
    """Move the bounds by as much as the centers moved, and a little more for rounding errors."""
    first = 0
    for c in range(moves.size):
        if moves[c] > moves[first]:
            first = c
    second = 0.0
    for c in range(moves.size):
        if c != first and moves[c] > second:
            second = moves[c]
    for i in range(labels.size):
        upper[i] = (upper[i] + moves[labels[i]]) * (1 + 1e-12)
        other = second if labels[i] == first else moves[first]
        lower[i] = (lower[i] - other * (1 + 1e-12)) - 1e-12 * lower[i]


@kernel
def _assign(X, items, points, norms, frame, centers, labels, upper, lower):
    """Store the label of the nearest center of each item whose bounds cross, and new bounds."""
    n, d = points.shape
    n_clusters = centers.shape[0]
    origin, scale = frame.origin, frame.scale
    small = np.empty((n_clusters, d), dtype=np.float32)
    squares = np.empty(n_clusters)
    reach = 0.0
    for c in range(n_clusters):
        for f in range(d):
            small[c, f] = (centers[c, f] - origin[f]) * scale
        norm = _norm(small[c])
        squares[c] = norm**2
        reach = max(reach, norm)
    products = np.empty((_BLOCK, n_clusters), dtype=np.float32)
    gathered = np.empty((_BLOCK, d), dtype=np.float32)
    picked = np.empty(_BLOCK, dtype=np.int64)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        n_picked = 0
        for i in range(start, stop):
            if not upper[i] < lower[i] * (1 - 1e-9):
                picked[n_picked] = i
                n_picked += 1
        if n_picked == 0:
            continue
        if n_picked == stop - start:
            np.dot(points[start:stop], small.T, products[:n_picked])
        else:
            for j in range(n_picked):
                copy_to(gathered[j], points[picked[j]])
            np.dot(gathered[:n_picked], small.T, products[:n_picked])
        for j in range(n_picked):
            i = picked[j]
            row = products[j]
            best = np.inf
            second = np.inf
            label = 0
            for c in range(n_clusters):
                value = squares[c] - 2.0 * row[c]
                if value < best:
                    second = best
                    best = value
                    label = c
                elif value < second:
                    second = value
            error = _error(d, norms[i], reach)
            if not second - best > 2 * error:
                label = _nearest(X[items[i]], centers, squares, row, best + 2 * error)
                second = best
            labels[i] = label
            square = norms[i] ** 2
            upper[i] = np.sqrt(max(0.0, square + squares[label] - 2.0 * row[label] + error))
            lower[i] = np.sqrt(max(0.0, square + second - error))


@kernel
def _nearest(x, centers, squares, row, limit):
    """Return the nearest of the centers up to a limit, by differences summed in order."""
    label = 0
    least = np.inf
    for c in range(centers.shape[0]):
        if squares[c] - 2.0 * row[c] <= limit:
            squared = 0.0
            for f in range(x.size):
                difference = x[f] - centers[c, f]
                squared += difference * difference
            if squared < least:
                least = squared
                label = c
    return label


@kernel
def _sums(X, items, weights, labels, sums, mass, size):
    sums[:] = 0.0
    mass[:] = 0.0
    size[:] = 0
    for i in range(labels.size):
        label, weight, x = labels[i], weights[i], X[items[i]]
        size[label] += 1
        mass[label] += weight
        row = sums[label]
        for f in range(x.size):
            row[f] += weight * x[f]


@kernel
def _fill_empty(X, items, weights, centers, labels, sums, mass, size):
    """Move the item farthest from its center into each empty cluster; return whether any moved.

    If all items lie on centers (fewer distinct items than clusters), the cluster stays empty.
    """
    relocated = False
    distances = np.empty(labels.size)
    for i in range(labels.size):
        distances[i] = _squared_distance(X[items[i]], centers[labels[i]])
    for empty in range(size.size):
        if size[empty] > 0:
            continue
        farthest = -1
        distance = 0.0
        for i in range(labels.size):
            if distances[i] > distance and size[labels[i]] > 1:
                distance = distances[i]
                farthest = i
        if farthest < 0:
            mass[empty] = 0.0  # without accumulated rounding errors
            sums[empty] = 0.0
            continue
        old = labels[farthest]
        x, weight = X[items[farthest]], weights[farthest]
        for f in range(x.size):
            moved = weight * x[f]
            sums[empty, f] = moved
            sums[old, f] -= moved
        mass[empty] = weight
        mass[old] -= weight
        size[empty] = 1
        size[old] -= 1
        labels[farthest] = empty
        distances[farthest] = 0.0
        relocated = True
    return relocated
