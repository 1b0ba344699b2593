"""Kernels of k-means by mini-batches, as scikit-learn's MiniBatchKMeans runs it.

The items are rows of X, and a resample is a list of rows, with copies. Sums are in double
precision, also for data in single precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from coreclust._utils.jit import kernel, random_below, random_state_of, random_uniform


class Settings(NamedTuple):
    """The parameters of the clustering, for a number of rows."""

    n_clusters: int
    init: NDArray[np.float64]  # (n_clusters, n_features): first centers; empty for none
    from_random: bool  # whether first centers are random rows, and not those of k-means++
    n_init: int
    init_size: int
    batch_size: int
    n_steps: int
    tol: float  # of the squared movements of the centers, in units of the mean variance
    patience: int  # steps without improvement; -1 for any number
    reassignment_ratio: float


@kernel
def cluster_rows(X, rows, settings, seed):
    """Return the centers (n_clusters, n_features) of some rows of X."""
    n, d, k = rows.size, X.shape[1], settings.n_clusters
    state = random_state_of(seed)
    tolerance = settings.tol * _mean_variance(X, rows) if settings.tol > 0 else 0.0
    centers = _first_centers(X, rows, settings, state)
    moved = centers.copy()
    counts = np.zeros(k)
    batch = np.empty(settings.batch_size, dtype=np.int64)
    labels = np.empty(settings.batch_size, dtype=np.int64)
    since = 0  # items since the last time that centers could be replaced
    average, least, n_worse = 0.0, np.inf, 0
    share = min(2.0 * settings.batch_size / (n + 1), 1.0)
    for step in range(settings.n_steps):
        for i in range(batch.size):
            batch[i] = rows[random_below(state, n)]
        since += batch.size
        replaces = since >= 10 * k
        for c in range(k):
            replaces |= counts[c] == 0
        inertia = _assign(X, batch, centers, labels)
        _move(X, batch, labels, centers, moved, counts)
        if replaces:
            since = 0
            _replace(X, batch, moved, counts, settings.reassignment_ratio, state)
        change = 0.0
        for c in range(k):
            for f in range(d):
                change += (moved[c, f] - centers[c, f]) ** 2
        centers, moved = moved, centers
        if step == 0:
            continue  # the inertia of the first centers
        inertia /= batch.size
        average = inertia if step == 1 else (1 - share) * average + share * inertia
        if tolerance > 0 and change <= tolerance:
            break
        n_worse = 0 if average < least else n_worse + 1
        least = min(least, average)
        if 0 <= settings.patience <= n_worse:
            break
    return centers


@kernel
def label_rows(X, rows, centers):
    """Return the label of the nearest center for some rows of X."""
    found = np.empty(rows.size, dtype=np.int64)
    _assign(X, rows, centers, found)
    labels = np.empty(rows.size, dtype=np.int32)
    for i in range(rows.size):
        labels[i] = found[i]
    return labels


@kernel
def _first_centers(X, rows, settings, state):
    """Return the best of some first centers, by their inertia on randomly drawn rows."""
    n, d, k = rows.size, X.shape[1], settings.n_clusters
    tested = np.empty(settings.init_size, dtype=np.int64)
    for i in range(tested.size):
        tested[i] = rows[random_below(state, n)]
    labels = np.empty(tested.size, dtype=np.int64)
    centers, best = np.empty((k, d)), np.empty((k, d))
    least = np.inf
    for start in range(settings.n_init):
        some = rows.copy()
        if settings.init_size < n:
            some = np.empty(settings.init_size, dtype=np.int64)
            for i in range(some.size):
                some[i] = rows[random_below(state, n)]
        if settings.init.size > 0:
            for c in range(k):
                for f in range(d):
                    centers[c, f] = settings.init[c, f]
        elif settings.from_random:
            for c in range(k):  # the first steps of a shuffle
                other = c + random_below(state, some.size - c)
                some[c], some[other] = some[other], some[c]
                for f in range(d):
                    centers[c, f] = X[some[c], f]
        else:
            _plus_plus(X, some, centers, state)
        inertia = _assign(X, tested, centers, labels)
        if inertia < least or start == 0:
            least = inertia
            centers, best = best, centers
    return best


@kernel
def _plus_plus(X, rows, centers, state):
    """Draw centers by k-means++, each the best of several candidates."""
    n, k = rows.size, centers.shape[0]
    n_candidates = 2 + int(np.log(k))
    nearest, trial, best = np.full(n, np.inf), np.empty(n), np.empty(n)
    cumulative = np.empty(n)
    for c in range(k):
        total = 0.0
        for i in range(n):
            total += nearest[i] if c > 0 else 1.0
            cumulative[i] = total
        least = np.inf
        chosen = n - 1
        for candidate in range(n_candidates if c > 0 else 1):
            drawn = np.searchsorted(cumulative, random_uniform(state) * total, side="right")
            drawn = min(drawn, n - 1)
            potential = 0.0
            for i in range(n):
                squared = _squared_distance(X[rows[i]], X[rows[drawn]])
                trial[i] = squared if squared < nearest[i] else nearest[i]
                potential += trial[i]
            if potential < least or candidate == 0:
                least = potential
                chosen = drawn
                trial, best = best, trial
        nearest, best = best, nearest
        for f in range(X.shape[1]):
            centers[c, f] = X[rows[chosen], f]


# Sums in any order: several times faster, and only the last bits depend on the machine.
@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"}, cache=True)
def _squared_distance(x, y):
    total = 0.0
    for f in range(x.size):
        difference = np.float64(x[f]) - np.float64(y[f])
        total += difference * difference
    return total


@kernel
def _assign(X, rows, centers, labels):
    """Store the label of the nearest center of each row; return the inertia."""
    inertia = 0.0
    for i in range(rows.size):
        least = np.inf
        labels[i] = 0
        for c in range(centers.shape[0]):
            squared = _squared_distance(X[rows[i]], centers[c])
            if squared < least:
                least = squared
                labels[i] = c
        inertia += least
    return inertia


@kernel
def _move(X, batch, labels, centers, moved, counts):
    """Store the means of all rows that centers have seen, and count the rows of the batch."""
    k, d = centers.shape
    for c in range(k):
        for f in range(d):
            moved[c, f] = centers[c, f] * counts[c]
    fresh = np.zeros(k)
    for i in range(batch.size):
        fresh[labels[i]] += 1
        for f in range(d):
            moved[labels[i], f] += X[batch[i], f]
    for c in range(k):
        counts[c] += fresh[c]
        for f in range(d):
            moved[c, f] = moved[c, f] / counts[c] if fresh[c] > 0 else centers[c, f]


@kernel
def _replace(X, batch, centers, counts, ratio, state):
    """Replace centers that have seen few rows by random rows of the batch."""
    k = counts.size
    largest = counts.max()
    small = np.zeros(k, dtype=np.bool_)
    n_small = 0
    for c in range(k):
        small[c] = counts[c] < ratio * largest
        n_small += small[c]
    while n_small > batch.size // 2:  # the larger ones stay
        most = -1
        for c in range(k):
            if small[c] and (most < 0 or counts[c] >= counts[most]):
                most = c
        small[most] = False
        n_small -= 1
    least = np.inf
    for c in range(k):
        if not small[c]:
            least = min(least, counts[c])
    order = batch.copy()
    n_taken = 0
    for c in range(k):
        if small[c]:
            other = n_taken + random_below(state, order.size - n_taken)
            order[n_taken], order[other] = order[other], order[n_taken]
            for f in range(X.shape[1]):
                centers[c, f] = X[order[n_taken], f]
            counts[c] = least  # not 0, or it would be replaced at once
            n_taken += 1


@kernel
def _mean_variance(X, rows):
    """Return the mean of the variances of the features."""
    variance = 0.0
    for f in range(X.shape[1]):
        mean, square = 0.0, 0.0
        for i in range(rows.size):
            mean += X[rows[i], f] / rows.size
        for i in range(rows.size):
            square += (X[rows[i], f] - mean) ** 2
        variance += square / rows.size
    return variance / X.shape[1]
