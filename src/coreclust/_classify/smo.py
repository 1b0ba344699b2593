"""Kernels of support vector machines: sequential minimal optimization, one class against one.

The dual problem of classes p and q is solved for signed coefficients: ``beta[i]`` is between 0 and
the bound of an item of p, and between minus the bound and 0 for an item of q. An item of weight 2
has twice the bound, which gives the same decisions as two copies. With ``residual = y - K beta``,
where y is 1 for p and -1 for q, the optimality conditions are that no residual of an item whose
coefficient can grow exceeds one of an item whose coefficient can shrink. Each step changes such a
pair. The first item has the largest residual, and the second is selected by second-order
information. Items that seem to stay at their bounds are left out until the others are optimal. All
of this is as in libsvm.

The items are ordered by class, so that a pair of classes is two ranges of rows and columns of one
matrix of kernel values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.jit import kernel

LINEAR, POLY, RBF = 0, 1, 2
BY_VARIANCE = -1.0  # gamma is the inverse of the number of features times the variance

_MOST_STEPS = 10_000_000
_ROUNDING = 2.0**-52
_FLAT = 1e-12  # curvature in place of 0, for equal items
_MOST_UNTIL_SHRINKING = 1000  # steps
_NEAR = 10.0  # times the tolerance: all items are looked at again


class Settings(NamedTuple):
    """The parameters of the classifier."""

    form: int  # of the kernel
    gamma: float  # or BY_VARIANCE
    degree: int
    coef0: float
    bound: float  # on the coefficient of an item of weight 1 (C)
    tolerance: float
    balanced: bool  # whether classes are weighted inversely to their sizes
    center: bool  # whether the features are centered, and scaled, before
    scale: bool


class Rows(NamedTuple):
    """Kernel values of pairs of items, as far as they are computed."""

    values: NDArray[np.float64]  # (n_train, n_items)
    ready: NDArray[np.bool_]  # the rows that are computed
    diagonal: NDArray[np.float64]
    by_feature: NDArray[np.float64]
    gamma: float


class _Part(NamedTuple):
    """The items of one pair of classes, the active ones first."""

    items: NDArray[np.uint32]  # in the order of `Rows`
    diagonal: NDArray[np.float64]
    residual: NDArray[np.float64]  # up to date for active items
    beta: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class Solution(NamedTuple):
    """The coefficients of one pair of classes."""

    beta: NDArray[np.float64]
    residual: NDArray[np.float64]
    intercept: float


@kernel
def label_resamples(X, classes, n_classes, counts, label_all, settings):
    """Label resamples given by the multiplicities of the items; -2 marks absent items.

    With `label_all`, absent items get a label, too. Also returns which resamples failed, because
    they hold one class only or too large values.
    """
    n_resamples, n_items = counts.shape
    labels = np.full((n_resamples, n_items), -2, dtype=np.int32)
    failed = np.zeros(n_resamples, dtype=np.bool_)
    for b in range(n_resamples):
        wanted = (counts[b] > 0) | label_all
        failed[b] = not _label(X, classes, n_classes, counts[b], wanted, settings, labels[b])
    return labels, failed


@kernel
def label_datasets(datasets, classes, n_classes, n_wanted, settings):
    """Label the first items of datasets, each of which has its own classes."""
    n_datasets, n_items = datasets.shape[:2]
    labels = np.full((n_datasets, n_items), -2, dtype=np.int32)
    failed = np.zeros(n_datasets, dtype=np.bool_)
    wanted = np.arange(n_items) < n_wanted
    counts = np.ones(n_items, dtype=np.int32)
    for b in range(n_datasets):
        failed[b] = not _label(
            datasets[b], classes[b], n_classes, counts, wanted, settings, labels[b]
        )
    return labels[:, :n_wanted], failed


@kernel
def _label(X, classes, n_classes, counts, wanted, settings, labels):
    """Write the labels of one resample; return whether it could be fitted."""
    items, begins = _by_class(classes, n_classes, counts, wanted)
    n_train = begins[n_classes]
    weights = counts[items[:n_train]].astype(np.float64)
    n_present = 0
    for c in range(n_classes):
        n_present += begins[c + 1] > begins[c]
    if n_present < 2:
        return False
    by_feature = _scaled(X[items], weights, settings)
    rows = kernel_rows(by_feature, weights, settings)
    if not (np.isfinite(by_feature).all() and np.isfinite(rows.diagonal).all()):
        return False
    bounds = settings.bound * weights
    if settings.balanced:
        for c in range(n_classes):
            inside = slice(begins[c], begins[c + 1])
            if begins[c + 1] > begins[c]:
                bounds[inside] *= weights.sum() / (n_present * weights[inside].sum())
    votes = np.zeros((n_classes, items.size), dtype=np.int32)
    decision = np.empty(items.size)
    for p in range(n_classes):
        for q in range(p + 1, n_classes):
            if begins[p + 1] == begins[p] or begins[q + 1] == begins[q]:
                continue
            ranges = (begins[p], begins[p + 1], begins[q], begins[q + 1])
            found = solve(rows, bounds, ranges, settings)
            decision[:] = found.intercept
            for j in range(n_train):
                if found.beta[j] != 0.0:
                    for i in range(items.size):
                        decision[i] += found.beta[j] * rows.values[j, i]
            for i in range(items.size):
                votes[p if decision[i] > 0.0 else q, i] += 1
    for i in range(items.size):
        if wanted[items[i]]:
            best = 0
            for c in range(1, n_classes):  # the first of several
                if votes[c, i] > votes[best, i]:
                    best = c
            labels[items[i]] = best
    return True


@kernel
def _by_class(classes, n_classes, counts, wanted):
    """Return the drawn items ordered by class, then the others that need a label; and the ranges.

    The drawn items of class c are those from ``begins[c]`` to ``begins[c + 1]``.
    """
    begins = np.zeros(n_classes + 1, dtype=np.int64)
    n_here = 0
    for i in range(counts.size):
        if counts[i] > 0:
            begins[classes[i] + 1] += 1
        n_here += counts[i] > 0 or wanted[i]
    begins = np.cumsum(begins)
    place = begins.copy()
    n_train = begins[n_classes]
    items = np.empty(n_here, dtype=np.int64)
    for i in range(counts.size):
        if counts[i] > 0:
            items[place[classes[i]]] = i
            place[classes[i]] += 1
        elif wanted[i]:
            items[n_train] = i
            n_train += 1
    return items, begins


@kernel
def _scaled(X, weights, settings):
    """Return the items by feature, scaled by the mean and deviation of the weighted ones."""
    by_feature = np.ascontiguousarray(X.T)
    n = weights.size
    mass = weights.sum()
    for f in range(by_feature.shape[0]):
        column = by_feature[f]
        mean = (column[:n] * weights).sum() / mass
        variance = (((column[:n] - mean) ** 2) * weights).sum() / mass
        if settings.center:
            column -= mean
        # A constant feature is not scaled.
        varies = variance > mass * _ROUNDING * variance + (mass * mean * _ROUNDING) ** 2
        if settings.scale and varies:
            column /= np.sqrt(variance)
    return by_feature


@kernel
def kernel_rows(by_feature, weights, settings):
    """Return the kernel values of the weighted items, which come first, with all items.

    Rows are computed when they are needed; items that are no support vectors seldom are.
    """
    d, n = by_feature.shape
    n_train = weights.size
    gamma = settings.gamma
    if gamma == BY_VARIANCE:
        mass = weights.sum() * d
        mean = (by_feature[:, :n_train] * weights).sum() / mass
        variance = (((by_feature[:, :n_train] - mean) ** 2) * weights).sum() / mass
        gamma = 1.0 / (d * variance) if variance > (mass * mean * _ROUNDING) ** 2 else 1.0
    diagonal = np.ones(n_train)
    if settings.form != RBF:
        for i in range(n_train):
            diagonal[i] = (by_feature[:, i] ** 2).sum()
            if settings.form == POLY:
                diagonal[i] = (gamma * diagonal[i] + settings.coef0) ** settings.degree
    ready = np.zeros(n_train, dtype=np.bool_)
    return Rows(np.empty((n_train, n)), ready, diagonal, by_feature, gamma)


@kernel
def _need(rows, i, settings):
    """Compute a row of kernel values."""
    K, by_feature = rows.values, rows.by_feature
    d, n = by_feature.shape
    rows.ready[i] = True
    row = K[i]
    row[:] = 0.0
    for f in range(d):
        x = by_feature[f, i]
        column = by_feature[f]
        if settings.form == RBF:
            for j in range(n):
                row[j] += (column[j] - x) ** 2
        else:
            for j in range(n):
                row[j] += column[j] * x
    n_train = rows.ready.size
    if settings.form == RBF:
        for j in range(n):
            known = j < n_train and rows.ready[j] and j != i
            row[j] = K[j, i] if known else np.exp(-rows.gamma * row[j])
    elif settings.form == POLY:
        for j in range(n):
            row[j] = (rows.gamma * row[j] + settings.coef0) ** settings.degree


@kernel
def solve(rows, bounds, ranges, settings):
    """Solve the dual problem of the items of two ranges, those of class p and those of class q."""
    part = _part_of(rows, bounds, ranges)
    K, ready, tolerance = rows.values, rows.ready, settings.tolerance
    items, diagonal = part.items, part.diagonal
    residual, beta, low, high = part.residual, part.beta, part.low, part.high
    n_active = size = items.size
    until_shrinking = period = min(size, _MOST_UNTIL_SHRINKING)
    was_near = False  # whether all items were active again near the optimum
    largest = smallest = 0.0
    i = -1
    for _ in range(_MOST_STEPS):
        until_shrinking -= 1
        if until_shrinking == 0:
            n_active = _shrink(part, n_active)
            until_shrinking = period
            i = -1
        if i < 0:
            i, largest = _first_of_pair(part, n_active)
        smallest = np.inf
        j = -1
        if i >= 0:
            first = items[i]
            if not ready[first]:
                _need(rows, first, settings)
            best = -1.0
            for k in range(n_active):
                if beta[k] > low[k]:
                    smallest = min(smallest, residual[k])
                    gap = largest - residual[k]
                    if gap > 0.0:
                        curvature = max(diagonal[i] + diagonal[k] - 2.0 * K[first, items[k]], _FLAT)
                        if gap * gap > best * curvature:
                            best = gap * gap / curvature
                            j = k
        is_near = not largest - smallest >= _NEAR * tolerance
        if n_active < size and is_near and not was_near:
            was_near = True
            n_active = _restore(K, part, n_active)
            until_shrinking = 2
            i = -1
            continue
        if not largest - smallest >= tolerance or j < 0:
            if n_active == size:
                break
            n_active = _restore(K, part, n_active)
            until_shrinking = 2
            i = -1
            continue
        first, second = items[i], items[j]
        if not ready[second]:
            _need(rows, second, settings)
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * K[first, second], _FLAT)
        step = (largest - residual[j]) / curvature
        room_i, room_j = high[i] - beta[i], beta[j] - low[j]
        step = min(step, room_i, room_j)
        # The sum stays the same. It is kept by subtraction, as in libsvm, so that no rounding error
        # keeps an item off its bound: it would count as free, and set the intercept.
        total = beta[i] + beta[j]
        if step == room_i:
            beta[i] = high[i]
            beta[j] = max(total - high[i], low[j])
        elif step == room_j:
            beta[j] = low[j]
            beta[i] = min(total - low[j], high[i])
        else:
            beta[i] += step
            beta[j] -= step
        largest = -np.inf
        i = -1
        for k in range(n_active):  # also finds the first item of the next pair
            value = residual[k] - step * (K[first, items[k]] - K[second, items[k]])
            residual[k] = value
            if value > largest and beta[k] < high[k]:
                largest = value
                i = k
    if n_active < size:
        _restore(K, part, n_active)
    return _solution(part, bounds.size, (largest + smallest) / 2.0)


@kernel
def _first_of_pair(part, n_active):
    """Return the active item with the largest residual whose coefficient can grow, and that."""
    largest = -np.inf
    i = -1
    for k in range(n_active):
        if part.residual[k] > largest and part.beta[k] < part.high[k]:
            largest = part.residual[k]
            i = k
    return i, largest


@kernel
def _part_of(rows, bounds, ranges):
    """Return the items of two ranges, with all coefficients 0."""
    begin_p, end_p, begin_q, end_q = ranges
    items = np.concatenate((np.arange(begin_p, end_p), np.arange(begin_q, end_q)))
    is_p = np.arange(items.size) < end_p - begin_p
    return _Part(
        items.astype(np.uint32),
        rows.diagonal[items],
        np.where(is_p, 1.0, -1.0),
        np.zeros(items.size),
        np.where(is_p, 0.0, -bounds[items]),
        np.where(is_p, bounds[items], 0.0),
    )


@kernel
def _shrink(part, n_active):
    """Move active items that seem to stay at their bounds to the end; return how many are left.

    These are the items that would not be selected if all others were optimal.
    """
    residual, beta, low, high = part.residual, part.beta, part.low, part.high
    largest, smallest = -np.inf, np.inf
    for k in range(n_active):
        if beta[k] < high[k]:
            largest = max(largest, residual[k])
        if beta[k] > low[k]:
            smallest = min(smallest, residual[k])
    k = 0
    while k < n_active:
        stays_low = beta[k] == low[k] and residual[k] < smallest
        stays_high = beta[k] == high[k] and residual[k] > largest
        if stays_low or stays_high:
            n_active -= 1
            part.items[k], part.items[n_active] = part.items[n_active], part.items[k]
            for values in part[1:]:
                values[k], values[n_active] = values[n_active], values[k]
        else:
            k += 1
    return n_active


@kernel
def _restore(K, part, n_active):
    """Compute the residuals of the items that are not active; return the number of all items."""
    items, residual, beta, high = part.items, part.residual, part.beta, part.high
    size = items.size
    for k in range(n_active, size):
        residual[k] = 1.0 if high[k] > 0.0 else -1.0
    for other in range(size):
        if beta[other] != 0.0:
            row = K[items[other]]
            for k in range(n_active, size):
                residual[k] -= beta[other] * row[items[k]]
    return size


@kernel
def _solution(part, n_items, middle):
    """Return the coefficients of all items; without free ones, the intercept is in the middle."""
    beta, residual = np.zeros(n_items), np.zeros(n_items)
    n_free = 0
    total = 0.0
    for k in range(part.items.size):
        beta[part.items[k]] = part.beta[k]
        residual[part.items[k]] = part.residual[k]
        if part.low[k] < part.beta[k] < part.high[k]:
            n_free += 1
            total += part.residual[k]
    return Solution(beta, residual, total / n_free if n_free > 0 else middle)
