"""Kernels of k-means: k-means++ seeding, greedy or plain, and Lloyd's iterations.

Items have weights: a bootstrap resample is given by its distinct items and their
multiplicities. Data is stored by feature, and distances are computed for a block of items
at once in vector registers.

Each item has an upper bound of the distance to its center, and a lower bound of the distance to
all others (Hamerly 2010). Items whose bounds do not cross keep their label. The bounds change in
vector registers, too, and the other items are gathered in blocks, so that nothing branches on
every item.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.jit import copy_rows_to, copy_to, kernel, random_place, random_state_of
from coreclust.cluster._drawn import columns_of, drawn_items

_BLOCK = 256  # items per block, so that their distances stay in the fastest cache
_PIECE = 4096  # items that are transposed at a time


class Settings(NamedTuple):
    """The parameters of the clustering."""

    n_clusters: int
    init: NDArray[np.float64]  # (n_clusters, n_features): first centers; empty for k-means++
    n_candidates: int  # number of items from which k-means++ selects each center
    n_init: int
    max_iter: int
    tol: float  # stop at this sum of squared center movements, in units of the mean variance


class Room(NamedTuple):
    """Arrays that all runs use."""

    bounds: NDArray[np.float64]  # (3, n_items), upper and lower bounds; the last is spare
    moved: NDArray[np.int64]  # (2, n_items), items that change their label, and their old labels
    points: NDArray[np.float64]  # (n_features, _BLOCK)
    nearest: NDArray[np.float64]  # (_BLOCK,), as the others below
    second: NDArray[np.float64]
    squared: NDArray[np.float64]
    found: NDArray[np.int64]


@kernel
def label_resamples(X, counts, label_all, settings, seeds):
    """Label resamples given by the multiplicities of the items; -2 marks absent items.

    With `label_all`, every item gets the label of the nearest center instead. Also returns which
    resamples failed, because they have fewer items (counting copies) than clusters or too large
    values, and the centers in the order of the labels, NaN for a label that no item has.
    """
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
            centers = np.empty((items.size, X.shape[1]))
            copy_rows_to(centers.T, columns_of(X, items))
            found = nearest_centers(centers, centers)
        else:
            found, centers, inertia, _ = best_of_runs(
                columns_of(X, items), weights, settings, seeds[resample]
            )
            if not np.isfinite(inertia):
                failed[resample] = True
                continue
        own_labels, is_used = labels[resample], np.zeros(n_clusters, dtype=np.bool_)
        for k in range(items.size):
            own_labels[items[k]] = found[k]
            is_used[found[k]] = True
        for label in range(n_clusters):
            if is_used[label]:
                copy_to(kept[resample, label], centers[label])
        if label_all:
            copy_to(own_labels, nearest_centers(X, kept[resample]))
    return labels, failed, kept


@kernel
def label_datasets(datasets, n_wanted, settings, seeds):
    """Label the first items of datasets of one size, each clustered by itself."""
    n_datasets, n_items, _ = datasets.shape
    labels = np.empty((n_datasets, n_wanted), dtype=np.int32)
    weights = np.ones(n_items)
    for b in range(n_datasets):
        by_feature = np.ascontiguousarray(datasets[b].T)
        found, _, _, _ = best_of_runs(by_feature, weights, settings, seeds[b])
        copy_to(labels[b], found[:n_wanted])
    return labels


@kernel
def best_of_runs(by_feature, weights, settings, seed):
    """Run k-means `n_init` times and return the run with the least inertia.

    The points are the columns of `by_feature`; there are at least `n_clusters`, with positive
    weights. Returns the labels, the centers (n_clusters, d), the inertia and the number of
    iterations. If squares of the values overflow, the inertia is infinite and the rest meaningless.
    """
    d, n = by_feature.shape
    state = random_state_of(seed)
    init, tol = settings.init, settings.tol
    tolerance = tol * _mean_variance(by_feature, weights) if tol > 0 else 0.0
    centers = np.empty((d, settings.n_clusters))
    labels = np.zeros(n, dtype=np.int64)
    room = new_room(d, n)
    best_labels = np.zeros(n, dtype=np.int32)
    best_centers = centers.copy()
    best_inertia = np.inf
    best_n_iter = 0
    for _ in range(settings.n_init):
        if init.size > 0:
            copy_rows_to(centers, init.T)
        else:
            _plus_plus(by_feature, weights, centers, settings.n_candidates, room, state)
        n_iter = _lloyd(by_feature, weights, centers, labels, room, settings.max_iter, tolerance)
        inertia = _inertia(by_feature, weights, centers, labels)
        if inertia < best_inertia:
            best_inertia = inertia
            best_n_iter = n_iter
            copy_to(best_labels, labels)
            copy_rows_to(best_centers, centers)
    return best_labels, best_centers.T.copy(), best_inertia, best_n_iter


@kernel
def new_room(d, n):
    """Allocate the arrays for `n` items."""
    bounds, moved = np.empty((3, n)), np.empty((2, n), dtype=np.int64)
    nearest, second, squared = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    found = np.empty(_BLOCK, dtype=np.int64)
    return Room(bounds, moved, np.empty((d, _BLOCK)), nearest, second, squared, found)


@kernel
def nearest_centers(points, centers):
    """Return the label of the nearest center for each point, the lowest label in a tie."""
    n, d = points.shape
    labels = np.empty(n, dtype=np.int32)
    centers_by_feature = np.empty((d, centers.shape[0]))
    copy_rows_to(centers_by_feature.T, centers)
    # Transpose the points in pieces: transposing all of them would copy the data.
    size = min(n, _PIECE)
    piece = np.empty((d, size))
    piece_labels = np.zeros(size, dtype=np.int64)
    distances = np.empty(size)
    for start in range(0, n, _PIECE):
        size = min(_PIECE, n - start)
        for i in range(size):
            for f in range(d):
                piece[f, i] = points[start + i, f]
        _assign(piece, centers_by_feature, piece_labels[:size], distances[:size])
        copy_to(labels[start : start + size], piece_labels[:size])
    return labels


@kernel
def _mean_variance(by_feature, weights):
    d, n = by_feature.shape
    total = weights.sum()
    variance = 0.0
    for f in range(d):
        mean = 0.0
        for i in range(n):
            mean += weights[i] * by_feature[f, i]
        mean /= total
        for i in range(n):
            variance += weights[i] * (by_feature[f, i] - mean) ** 2
    return variance / total / d


@kernel
def _inertia(by_feature, weights, centers, labels):
    total = 0.0
    for i in range(labels.size):
        squared = 0.0
        for f in range(by_feature.shape[0]):
            squared += (by_feature[f, i] - centers[f, labels[i]]) ** 2
        total += weights[i] * squared
    return total


# The loops below use slices instead of sums of indices: the compiler does not vectorize a loop
# with an index that might be negative.


@kernel
def _squared_distances(by_feature, start, center, out):
    """Store the squared distances of the items from `start` on to one center.

    Four features at a time, but added in their order.
    """
    d = by_feature.shape[0]
    stop = start + out.size
    out[:] = 0.0
    f = 0
    while f + 4 <= d:
        a, b = by_feature[f, start:stop], by_feature[f + 1, start:stop]
        c, e = by_feature[f + 2, start:stop], by_feature[f + 3, start:stop]
        at, bt, ct, et = center[f], center[f + 1], center[f + 2], center[f + 3]
        for i in range(out.size):
            total = out[i] + (a[i] - at) * (a[i] - at)
            total += (b[i] - bt) * (b[i] - bt)
            total += (c[i] - ct) * (c[i] - ct)
            out[i] = total + (e[i] - et) * (e[i] - et)
        f += 4
    while f < d:
        row, x = by_feature[f, start:stop], center[f]
        for i in range(out.size):
            out[i] += (row[i] - x) * (row[i] - x)
        f += 1


@kernel
def _assign(by_feature, centers, labels, distances):
    """Store the label of the nearest center of each item, and the distance to it."""
    n = labels.size
    buffer = np.empty(_BLOCK)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        block_labels = labels[start : start + size]
        nearest = distances[start : start + size]
        squared = buffer[:size]
        nearest[:] = np.inf
        for c in range(centers.shape[1]):
            _squared_distances(by_feature, start, centers[:, c], squared)
            for i in range(size):
                closer = squared[i] < nearest[i]
                block_labels[i] = c if closer else block_labels[i]
                nearest[i] = squared[i] if closer else nearest[i]


@kernel
def _plus_plus(by_feature, weights, centers, n_candidates, room, state):
    """Draw centers by k-means++ (Arthur and Vassilvitskii 2007).

    Each new center is the best of several candidates. Candidates are drawn with probability
    proportional to weight times squared distance to the nearest center so far.
    """
    n = by_feature.shape[1]
    n_clusters = centers.shape[1]
    nearest, trial, best = room.bounds[0], room.bounds[1], room.bounds[2]
    candidates = np.empty(n_candidates, dtype=np.int64)
    cumulative = trial  # shares the array: not needed once the candidates are drawn
    total = 0.0
    for i in range(n):
        total += weights[i]
        cumulative[i] = total
    chosen = random_place(state, cumulative)
    nearest[:] = np.inf
    _closer(by_feature, weights, chosen, nearest, nearest)
    copy_to(centers[:, 0], by_feature[:, chosen])
    for c in range(1, n_clusters):
        cumulative = trial
        total = 0.0
        for i in range(n):
            total += weights[i] * nearest[i]
            cumulative[i] = total
        for k in range(n_candidates):
            candidates[k] = random_place(state, cumulative)
        least = np.inf
        for candidate in candidates:
            potential = _closer(by_feature, weights, candidate, nearest, trial)
            if potential < least:
                least = potential
                chosen = candidate
                trial, best = best, trial
        nearest, best = best, nearest
        copy_to(centers[:, c], by_feature[:, chosen])


@kernel
def _closer(by_feature, weights, candidate, nearest, out):
    """Store the squared distances to the nearest center or candidate; return the weighted sum."""
    n = weights.size
    center = by_feature[:, candidate].copy()
    buffer = np.empty(_BLOCK)
    even = 0.0  # two independent sums are faster than one
    odd = 0.0
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        squared = buffer[:size]
        before = nearest[start : start + size]
        after = out[start : start + size]
        weight = weights[start : start + size]
        _squared_distances(by_feature, start, center, squared)
        for i in range(size):
            after[i] = squared[i] if squared[i] < before[i] else before[i]
            squared[i] = weight[i] * after[i]
        for i in range(0, size - 1, 2):
            even += squared[i]
            odd += squared[i + 1]
        if size % 2:
            even += squared[size - 1]
    return even + odd


@kernel
def _lloyd(by_feature, weights, centers, labels, room, max_iter, tolerance):
    """Iterate until no item changes its cluster; return the number of iterations."""
    d, n_clusters = centers.shape
    sums = np.empty((d, n_clusters))
    mass = np.empty(n_clusters)
    size = np.empty(n_clusters, dtype=np.int64)  # number of items: exact, unlike `mass`
    moves = np.zeros(n_clusters)
    moved, before = room.moved[0], room.moved[1]
    room.bounds[0] = np.inf
    _reassign(by_feature, centers, labels, moves, room)
    _sums(by_feature, weights, labels, sums, mass, size)
    n_iter = max_iter
    n_moved = 0
    for iteration in range(max_iter):
        has_empty = False
        for c in range(n_clusters):
            has_empty |= size[c] == 0
        relocated = has_empty and _fill_empty(
            by_feature, weights, centers, labels, sums, mass, size
        )
        shift = 0.0
        for c in range(n_clusters):
            squared = 0.0
            if size[c] > 0:
                for f in range(d):
                    mean = sums[f, c] / mass[c]
                    squared += (mean - centers[f, c]) ** 2
                    centers[f, c] = mean
            shift += squared
            moves[c] = np.sqrt(squared)
        if relocated:
            room.bounds[0] = np.inf
        n_moved = _reassign(by_feature, centers, labels, moves, room)
        for m in range(n_moved):
            i, old = moved[m], before[m]
            new = labels[i]
            size[old] -= 1
            size[new] += 1
            mass[old] -= weights[i]
            mass[new] += weights[i]
            for f in range(d):
                step = weights[i] * by_feature[f, i]
                sums[f, old] -= step
                sums[f, new] += step
        if (n_moved == 0 or shift <= tolerance) and not relocated:
            n_iter = iteration + 1
            break
    for m in range(n_moved):  # stopped early: the centers are the means of the labels before
        labels[moved[m]] = before[m]
    _sums(by_feature, weights, labels, sums, mass, size)  # without accumulated rounding errors
    for c in range(n_clusters):
        if size[c] > 0:
            for f in range(d):
                centers[f, c] = sums[f, c] / mass[c]
    if n_moved > 0:
        _assign(by_feature, centers, labels, room.bounds[2])
    return n_iter


@kernel
def _reassign(by_feature, centers, labels, moves, room):
    """Give each item the label of the nearest center, if its bounds do not show that it has it.

    Stores new bounds, the items that change their label, and their old labels. Returns the number
    of these items.
    """
    d, n_clusters = centers.shape
    upper, lower = room.bounds[0], room.bounds[1]
    moved, before = room.moved[0], room.moved[1]
    _loosen(labels, moves, upper, lower)
    n_picked = _pick(upper, lower, moved)
    n_moved = 0
    for start in range(0, n_picked, _BLOCK):
        width = min(_BLOCK, n_picked - start)
        items = moved[start : start + width]
        points, begin = by_feature, start
        if n_picked < labels.size:
            points, begin = room.points, 0
            for f in range(d):
                row, target = by_feature[f], points[f]
                for j in range(width):
                    target[j] = row[items[j]]
        nearest, second = room.nearest[:width], room.second[:width]
        squared, found = room.squared[:width], room.found[:width]
        nearest[:] = np.inf
        second[:] = np.inf
        found[:] = 0  # no center is near if squares overflow
        for c in range(n_clusters):
            _squared_distances(points, begin, centers[:, c], squared)
            for j in range(width):
                value, least = squared[j], nearest[j]
                closer = value < least
                other = least if closer else value
                second[j] = other if other < second[j] else second[j]
                nearest[j] = value if closer else least
                found[j] = c if closer else found[j]
        for j in range(width):
            nearest[j] = np.sqrt(nearest[j])
            second[j] = np.sqrt(second[j])
        for j in range(width):  # `items` may be overwritten, but not before they are read
            i = items[j]
            upper[i] = nearest[j]
            lower[i] = second[j]
            if labels[i] != found[j]:
                moved[n_moved] = i
                before[n_moved] = labels[i]
                labels[i] = found[j]
                n_moved += 1
    return n_moved


@kernel
def _loosen(labels, moves, upper, lower):
    """Adapt the bounds to the moves of the centers, and a little more for rounding errors."""
    first = 0
    for c in range(moves.size):
        if moves[c] > moves[first]:
            first = c
    next_most = 0.0
    for c in range(moves.size):
        if c != first:
            next_most = max(next_most, moves[c] * (1 + 1e-12))
    most = moves[first] * (1 + 1e-12)
    for i in range(labels.size):
        label = np.uint64(labels[i])  # without a sign, so that the loop is vectorized
        others = next_most if label == first else most
        upper[i] = (upper[i] + moves[label]) * (1 + 1e-12)
        lower[i] = (lower[i] - others) - 1e-12 * lower[i]


@kernel
def _pick(upper, lower, picked):
    """Store the items whose bounds cross; return their number."""
    n_picked = 0
    for i in range(upper.size):
        picked[n_picked] = i
        n_picked += not upper[i] < lower[i] * (1 - 1e-9)
    return n_picked


@kernel
def _sums(by_feature, weights, labels, sums, mass, size):
    sums[:] = 0.0
    mass[:] = 0.0
    size[:] = 0
    for i in range(labels.size):
        size[labels[i]] += 1
        mass[labels[i]] += weights[i]
        for f in range(by_feature.shape[0]):
            sums[f, labels[i]] += weights[i] * by_feature[f, i]


@kernel
def _fill_empty(by_feature, weights, centers, labels, sums, mass, size):
    """Move the item farthest from its center into each empty cluster; return whether any moved.

    If all items lie on centers (fewer distinct items than clusters), the cluster stays empty.
    """
    relocated = False
    distances = np.zeros(labels.size)
    for i in range(labels.size):
        for f in range(by_feature.shape[0]):
            distances[i] += (by_feature[f, i] - centers[f, labels[i]]) ** 2
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
            sums[:, empty] = 0.0
            continue
        old = labels[farthest]
        for f in range(by_feature.shape[0]):
            sums[f, empty] = weights[farthest] * by_feature[f, farthest]
            sums[f, old] -= sums[f, empty]
        mass[empty] = weights[farthest]
        mass[old] -= weights[farthest]
        size[empty] = 1
        size[old] -= 1
        labels[farthest] = empty
        distances[farthest] = 0.0
        relocated = True
    return relocated
