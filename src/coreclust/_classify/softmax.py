"""Kernels of logistic regression: preconditioned quasi-Newton steps from the solution of all data.

The loss is the mean logistic loss of the weighted items plus an L2 penalty, as in scikit-learn.
With two classes the scores of the first are 0; with more, every class has coefficients.

The resamples of a dataset have solutions and second derivatives similar to those of all its items.
So these are computed once: each resample starts from that solution, and its L-BFGS steps are
preconditioned by that matrix, which takes about five steps. The matrix is computed anew at the
current point if that is not enough, or if a resample lacks a class. The problem is convex, so
that its solution does not depend on the start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.jit import kernel

_MOST_STEPS = 300
_STEPS_PER_MATRIX = 16  # after these, the matrix of second derivatives is computed anew
_MOST_HALVINGS = 40
_ROUNDING = 2.0**-52
_DECREASE = 1e-4  # share of the linear decrease that a step must reach
_NOISE = 1e-14  # relative rounding error of the loss
_PIVOT = 1e-12  # the least pivot, relative to the diagonal
LARGEST = 1e60  # absolute value of a feature; sums of squares of larger ones could overflow


class Settings(NamedTuple):
    """The parameters of the classifier."""

    strength: float  # C
    tolerance: float
    intercept: bool
    balanced: bool  # whether classes are weighted inversely to their sizes
    center: bool  # whether the features are centered, and scaled, before
    scale: bool


class Start(NamedTuple):
    """The solution of all data, and a factor of the matrix of its second derivatives."""

    coefs: NDArray[np.float64]  # (n_rows, n_features + 1): the last column holds the intercepts
    factor: NDArray[np.float64]  # lower triangular; empty if there is none


class _Problem(NamedTuple):
    """The weighted items of a resample."""

    by_feature: NDArray[np.float64]  # (n_features + 1, n_items); the last row is 1, or 0
    targets: NDArray[np.int64]
    shares: NDArray[np.float64]  # weights that sum to 1
    penalty: float
    n_classes: int


class _State(NamedTuple):
    """A point and its derivatives; the arrays are written in place."""

    scores: NDArray[np.float64]  # (n_classes, n_items), then probabilities
    slopes: NDArray[np.float64]  # (n_rows, n_items): derivatives of the loss by the scores
    gradient: NDArray[np.float64]  # (n_rows, n_features + 1)


@kernel
def label_resamples(X, classes, n_classes, counts, label_all, start, settings):
    """Label resamples given by the multiplicities of the items; -2 marks absent items.

    With `label_all`, absent items get a label, too. Also returns which resamples failed, because
    they hold one class only or too large values.
    """
    n_resamples, n_items = counts.shape
    labels = np.full((n_resamples, n_items), -2, dtype=np.int32)
    failed = np.zeros(n_resamples, dtype=np.bool_)
    for b in range(n_resamples):
        wanted = (counts[b] > 0) | label_all
        failed[b] = not _label(X, classes, n_classes, counts[b], wanted, start, settings, labels[b])
    return labels, failed


@kernel
def label_datasets(datasets, classes, n_classes, n_wanted, settings):
    """Label the first items of datasets, each of which has its own classes."""
    n_datasets, n_items = datasets.shape[:2]
    labels = np.full((n_datasets, n_items), -2, dtype=np.int32)
    failed = np.zeros(n_datasets, dtype=np.bool_)
    wanted = np.arange(n_items) < n_wanted
    counts = np.ones(n_items, dtype=np.int32)
    start = no_start()
    for b in range(n_datasets):
        failed[b] = not _label(
            datasets[b], classes[b], n_classes, counts, wanted, start, settings, labels[b]
        )
    return labels[:, :n_wanted], failed


def solve_all(X, classes, n_classes, settings):
    """Return the solution of all data, which hold every class. It is no kernel: compiling is slow.

    Features are at most `LARGEST`.
    """
    problem = _problem_of(X, classes, np.ones(len(X), dtype=np.int32), n_classes, settings)
    coefs = solve(problem, no_start(), settings.tolerance)
    state = _state_of(problem)
    _evaluate(problem, coefs, state)
    return Start(coefs, _factor(problem, state))


@kernel
def no_start():
    """Return what stands for no solution of all data."""
    return Start(np.empty((0, 0)), np.empty((0, 0)))


@kernel
def _label(X, classes, n_classes, counts, wanted, start, settings, labels):
    """Write the labels of one resample; return whether it could be fitted."""
    items, n_train = _drawn_first(counts, wanted)
    targets, present = _codes(classes[items[:n_train]], n_classes)
    if present.size < 2:
        return False
    problem = _problem_of(X[items], targets, counts[items[:n_train]], present.size, settings)
    if not _computable(problem):
        return False
    coefs = solve(problem, start, settings.tolerance)
    first = present.size - coefs.shape[0]
    scores = np.zeros((present.size, items.size))
    for k in range(coefs.shape[0]):
        _scores_of(problem.by_feature, coefs[k], scores[first + k])
    for i in range(items.size):
        if wanted[items[i]]:
            labels[items[i]] = present[np.argmax(scores[:, i])]
    return True


@kernel
def _drawn_first(counts, wanted):
    """Return the drawn items, then the others that need a label; and the number of the former."""
    drawn = np.flatnonzero(counts > 0)
    others = np.flatnonzero(wanted & (counts == 0))
    return np.concatenate((drawn, others)), drawn.size


@kernel
def _codes(classes, n_classes):
    """Return the classes numbered without gaps, and the class of each number."""
    place = np.full(n_classes, -1)
    for c in classes:
        place[c] = 0
    present = np.flatnonzero(place == 0)
    place[present] = np.arange(present.size)
    return place[classes], present


@kernel
def _problem_of(X, targets, counts, n_classes, settings):
    """Return the problem of the items with counts, which come first in X."""
    weights = counts.astype(np.float64)
    d, n = X.shape[1], weights.size
    by_feature = np.empty((d + 1, X.shape[0]))
    mass = weights.sum()
    for f in range(d):
        column = by_feature[f]
        column[:] = X[:, f]
        mean = (column[:n] * weights).sum() / mass
        variance = (((column[:n] - mean) ** 2) * weights).sum() / mass
        if settings.center:
            column -= mean
        # A constant feature is not scaled.
        varies = variance > mass * _ROUNDING * variance + (mass * mean * _ROUNDING) ** 2
        if settings.scale and varies:
            column /= np.sqrt(variance)
    by_feature[d] = 1.0 if settings.intercept else 0.0
    if settings.balanced:
        sizes = np.zeros(n_classes)
        for i in range(n):
            sizes[targets[i]] += weights[i]
        weights *= (mass / (n_classes * sizes))[targets]
    total = weights.sum()
    penalty = 1.0 / (settings.strength * total)
    return _Problem(by_feature, targets, weights / total, penalty, n_classes)


@kernel
def _computable(problem):
    """Tell whether no value is missing or too large."""
    return (np.abs(problem.by_feature) <= LARGEST).all()


@kernel
def _state_of(problem):
    n, n_rows = problem.shares.size, _n_rows(problem)
    return _State(
        np.zeros((problem.n_classes, n)),
        np.empty((n_rows, n)),
        np.empty((n_rows, problem.by_feature.shape[0])),
    )


@kernel
def _n_rows(problem):
    """Return the number of classes with coefficients."""
    return 1 if problem.n_classes == 2 else problem.n_classes


@kernel
def _scores_of(by_feature, coefs, scores):
    scores[:] = 0.0
    for f in range(coefs.size):
        factor, column = coefs[f], by_feature[f]
        for i in range(scores.size):
            scores[i] += factor * column[i]


@kernel
def _dot(one, other, n):
    """Return the sum of products; four sums at a time, which is faster."""
    a = b = c = e = 0.0
    for i in range(0, n - 3, 4):
        a += one[i] * other[i]
        b += one[i + 1] * other[i + 1]
        c += one[i + 2] * other[i + 2]
        e += one[i + 3] * other[i + 3]
    for i in range(n - n % 4, n):
        a += one[i] * other[i]
    return (a + b) + (c + e)


@kernel
def _evaluate(problem, coefs, state):
    """Return the loss at a point, and write its derivatives."""
    scores, slopes, gradient = state
    by_feature, shares, targets = problem.by_feature, problem.shares, problem.targets
    n_classes, n = scores.shape
    n_rows, n_columns = coefs.shape
    first = n_classes - n_rows
    scores[0] = 0.0
    for k in range(n_rows):
        _scores_of(by_feature, coefs[k], scores[first + k])
    loss = 0.0
    for i in range(n):
        top = scores[0, i]
        for c in range(1, n_classes):
            top = max(top, scores[c, i])
        own = scores[targets[i], i]
        mass = 0.0
        for c in range(n_classes):
            scores[c, i] = np.exp(scores[c, i] - top)
            mass += scores[c, i]
        loss += shares[i] * (np.log(mass) + top - own)
        for c in range(n_classes):
            scores[c, i] /= mass
    for k in range(n_rows):
        for i in range(n):
            slopes[k, i] = shares[i] * (scores[first + k, i] - (targets[i] == first + k))
        for f in range(n_columns):
            gradient[k, f] = _dot(slopes[k], by_feature[f], n)
            if f < n_columns - 1:  # intercepts are not penalized
                gradient[k, f] += problem.penalty * coefs[k, f]
                loss += problem.penalty * coefs[k, f] ** 2 / 2.0
    return loss


@kernel
def _factor(problem, state):
    """Return the Cholesky factor of the second derivatives where `state` was computed."""
    by_feature, shares, scores = problem.by_feature, problem.shares, state.scores
    n_rows, n = state.slopes.shape
    n_columns = by_feature.shape[0]
    first = problem.n_classes - n_rows
    matrix = np.zeros((n_rows * n_columns, n_rows * n_columns))
    weights, weighted = np.empty(n), np.empty(n)
    for k in range(n_rows):
        for other in range(k + 1):
            for i in range(n):
                p = scores[first + k, i]
                weights[i] = shares[i] * p * ((k == other) - scores[first + other, i])
            for f in range(n_columns):
                for i in range(n):
                    weighted[i] = weights[i] * by_feature[f, i]
                for g in range(f + 1 if k == other else n_columns):
                    value = _dot(weighted, by_feature[g], n)
                    matrix[k * n_columns + f, other * n_columns + g] = value
    for k in range(n_rows):
        for f in range(n_columns - 1):
            matrix[k * n_columns + f, k * n_columns + f] += problem.penalty
        # The same change of all intercepts has no effect: this fixes their sum.
        for other in range(k + 1 if n_rows > 1 else 0):
            matrix[(k + 1) * n_columns - 1, (other + 1) * n_columns - 1] += 1.0 / n_rows
    _cholesky(matrix)
    return matrix


@kernel
def _cholesky(matrix):
    """Replace the lower triangle by its Cholesky factor, with pivots that are not too small."""
    size = matrix.shape[0]
    for j in range(size):
        row = matrix[j]
        least = max(_PIVOT * row[j], 1e-300)
        for i in range(j):
            other = matrix[i]
            row[i] = (row[i] - _dot(row, other, i)) / other[i]
        row[j] = np.sqrt(max(row[j] - _dot(row, row, j), least))


@kernel
def _divide(factor, vector):
    """Solve the linear system of a Cholesky factor in place."""
    size = vector.size
    for j in range(size):
        vector[j] = (vector[j] - _dot(factor[j], vector, j)) / factor[j, j]
    for j in range(size - 1, -1, -1):
        vector[j] /= factor[j, j]
        value, row = vector[j], factor[j]
        for i in range(j):
            vector[i] -= value * row[i]


@kernel
def solve(problem, start, tolerance):
    """Return the coefficients at which no derivative exceeds the tolerance."""
    state, trial = _state_of(problem), _state_of(problem)
    shape = state.gradient.shape
    size = state.gradient.size
    coefs = np.zeros(shape)
    shared = start.coefs.shape == shape
    if shared:
        coefs[:] = start.coefs
    loss = _evaluate(problem, coefs, state)
    factor = start.factor if shared else _factor(problem, state)
    steps, changes = np.empty((_STEPS_PER_MATRIX, size)), np.empty((_STEPS_PER_MATRIX, size))
    scales = np.empty(_STEPS_PER_MATRIX)
    n_kept = n_since = 0
    for _ in range(_MOST_STEPS):
        if np.abs(state.gradient).max() <= tolerance:
            break
        if n_since == _STEPS_PER_MATRIX:
            factor = _factor(problem, state)
            n_kept = n_since = 0
        step = _direction(factor, steps[:n_kept], changes[:n_kept], scales, state.gradient)
        slope = _dot(step, state.gradient.ravel(), size)
        if not slope < 0.0:
            break  # rounding errors are all that is left
        length = 1.0
        for _ in range(_MOST_HALVINGS):
            moved = coefs + length * step.reshape(shape)
            found = _evaluate(problem, moved, trial)
            if found <= loss + _DECREASE * length * slope + _NOISE * abs(loss):
                break
            length /= 2.0
        else:
            break
        n_since += 1
        steps[n_kept] = length * step
        changes[n_kept] = trial.gradient.ravel() - state.gradient.ravel()
        product = _dot(steps[n_kept], changes[n_kept], size)
        if product > 0.0:
            scales[n_kept] = 1.0 / product
            n_kept += 1
        coefs, loss = moved, found
        state, trial = trial, state
    return coefs


@kernel
def _direction(factor, steps, changes, scales, gradient):
    """Return the step of L-BFGS from the last steps and changes of the gradient."""
    step = -gradient.ravel()
    n_kept, size = steps.shape
    weights = np.empty(n_kept)
    for t in range(n_kept - 1, -1, -1):
        weights[t] = scales[t] * _dot(steps[t], step, size)
        step -= weights[t] * changes[t]
    _divide(factor, step)
    for t in range(n_kept):
        step += (weights[t] - scales[t] * _dot(changes[t], step, size)) * steps[t]
    return step
