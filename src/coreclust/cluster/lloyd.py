"""Kernels of k-means: greedy k-means++ seeding and Lloyd's iterations with Elkan's bounds.

Items carry weights, so that a bootstrap sample is its distinct items with their
multiplicities. Centres are kept transposed, a column a centre: distances of an item to
all centres are then computed side by side in vector registers.
"""

from __future__ import annotations

import numpy as np

from coreclust._numba import kernel, random_state_of, random_uniform


@kernel
def label_samples(X, counts, seeds, n_clusters, init, n_init, max_iter, tol):
    """Label samples given by the multiplicities of the items; -2 marks absent items."""
    n_samples, n_items = counts.shape
    labels = np.full((n_samples, n_items), -2, dtype=np.int32)
    for sample in range(n_samples):
        items = np.flatnonzero(counts[sample])
        weights = counts[sample][items].astype(np.float64)
        if items.size <= n_clusters:
            labels[sample][items] = np.arange(items.size)
            continue
        found, _, _, _ = best_of_runs(
            X[items], weights, n_clusters, init, n_init, max_iter, tol, seeds[sample]
        )
        for k in range(items.size):
            labels[sample, items[k]] = found[k]
    return labels


@kernel
def best_of_runs(points, weights, n_clusters, init, n_init, max_iter, tol, seed):
    """Run k-means `n_init` times and return the run with the least inertia.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    weights : ndarray of shape (n,)
        All positive.
    n_clusters : int
        At most n.
    init : ndarray of shape (n_clusters, d) or (0, d)
        The first centres; none for k-means++.
    n_init, max_iter : int
    tol : float
        Stop when the centres together move by no more than this share of the mean
        variance of a feature (squared). 0 is until no item changes its cluster.
    seed : int

    Returns
    -------
    labels : ndarray of shape (n,)
    centres : ndarray of shape (n_clusters, d)
    inertia : float
    n_iter : int
    """
    n, d = points.shape
    state = random_state_of(seed)
    tolerance = tol * _mean_variance(points, weights) if tol > 0 else 0.0
    by_feature = np.ascontiguousarray(points.T)
    centres = np.empty((d, n_clusters))
    labels = np.zeros(n, dtype=np.int32)
    scratch = np.empty((4, n))
    lower = np.empty((n, n_clusters))
    best_labels = labels.copy()
    best_centres = centres.copy()
    best_inertia = np.inf
    best_n_iter = 0
    for _ in range(n_init):
        if init.shape[0] == n_clusters:
            centres[:] = init.T
        else:
            _plus_plus(by_feature, weights, centres, scratch, state)
        n_iter = _lloyd(
            points, weights, centres, labels, scratch[0], scratch[1], lower, max_iter, tolerance
        )
        inertia = _inertia(points, weights, centres, labels)
        if inertia < best_inertia:
            best_inertia = inertia
            best_n_iter = n_iter
            best_labels[:] = labels
            best_centres[:] = centres
    return best_labels, best_centres.T.copy(), best_inertia, best_n_iter


@kernel
def nearest_centres(points, centres):
    """Return the label of the centre nearest to each point; the first where two tie."""
    columns = np.ascontiguousarray(centres.T)
    labels = np.empty(points.shape[0], dtype=np.int32)
    distances = np.empty(centres.shape[0])
    for i in range(points.shape[0]):
        _distances_to_all(points, i, columns, distances)
        labels[i] = np.argmin(distances)
    return labels


@kernel
def _mean_variance(points, weights):
    n, d = points.shape
    total = weights.sum()
    variance = 0.0
    for f in range(d):
        mean = 0.0
        for i in range(n):
            mean += weights[i] * points[i, f]
        mean /= total
        for i in range(n):
            variance += weights[i] * (points[i, f] - mean) ** 2
    return variance / total / d


@kernel
def _inertia(points, weights, centres, labels):
    total = 0.0
    for i in range(points.shape[0]):
        total += weights[i] * _squared_distance(points, i, centres, labels[i])
    return total


@kernel
def _squared_distance(points, i, centres, c):
    total = 0.0
    for f in range(centres.shape[0]):
        difference = points[i, f] - centres[f, c]
        total += difference * difference
    return total


@kernel
def _distances_to_all(points, i, centres, out):
    out[:] = 0.0
    for f in range(centres.shape[0]):
        x = points[i, f]
        for c in range(out.size):
            difference = x - centres[f, c]
            out[c] += difference * difference


@kernel
def _plus_plus(by_feature, weights, centres, scratch, state):
    """Draw centres by greedy k-means++ (Arthur and Vassilvitskii 2007).

    Each new centre is the best of a few candidates, which are drawn with probability
    proportional to weight times squared distance to the nearest centre so far.
    """
    n = by_feature.shape[1]
    n_clusters = centres.shape[1]
    n_candidates = 2 + int(np.log(n_clusters))
    cumulative, nearest, trial, best = scratch[0], scratch[1], scratch[2], scratch[3]
    total = 0.0
    for i in range(n):
        total += weights[i]
        cumulative[i] = total
    chosen = min(np.searchsorted(cumulative, random_uniform(state) * total, side="right"), n - 1)
    nearest[:] = np.inf
    _closer(by_feature, weights, chosen, nearest, nearest)
    centres[:, 0] = by_feature[:, chosen]
    for c in range(1, n_clusters):
        total = 0.0
        for i in range(n):
            total += weights[i] * nearest[i]
            cumulative[i] = total
        least = np.inf
        for _ in range(n_candidates):
            drawn = np.searchsorted(cumulative, random_uniform(state) * total, side="right")
            candidate = min(drawn, n - 1)
            potential = _closer(by_feature, weights, candidate, nearest, trial)
            if potential < least:
                least = potential
                chosen = candidate
                trial, best = best, trial
        nearest, best = best, nearest
        centres[:, c] = by_feature[:, chosen]


@kernel
def _closer(by_feature, weights, centre, nearest, out):
    """Store the squared distances to the nearest centre, `centre` included; return their sum."""
    d, n = by_feature.shape
    block = 256  # so that the sums over features stay in the nearest cache
    distance = np.empty(block)
    even = 0.0  # two sums side by side: one alone would wait for itself
    odd = 0.0
    for start in range(0, n, block):
        size = min(block, n - start)
        distance[:size] = 0.0
        for f in range(d):
            x = by_feature[f, centre]
            for i in range(size):
                difference = by_feature[f, start + i] - x
                distance[i] += difference * difference
        for i in range(size):
            out[start + i] = min(nearest[start + i], distance[i])
            distance[i] = weights[start + i] * out[start + i]
        for i in range(0, size - 1, 2):
            even += distance[i]
            odd += distance[i + 1]
        if size % 2:
            even += distance[size - 1]
    return even + odd


@kernel
def _lloyd(points, weights, centres, labels, upper, nearest_other, lower, max_iter, tolerance):
    """Iterate until no item changes its cluster; return the number of iterations.

    Distances are bounded by how far the centres have travelled since they were computed
    (Elkan 2003), and computed again only where the bounds leave a doubt. Bounds are stored
    relative to the path a centre has travelled by then, so that nothing has to be updated
    for items that stay where they are: `upper[i] + path[label]` is at least the distance
    to the own centre, `lower[i, c] - path[c]` at most that to centre c, and
    `nearest_other[i] - longest` at most that to any other centre.
    """
    n, d = points.shape
    n_clusters = centres.shape[1]
    sums = np.empty((d, n_clusters))
    mass = np.empty(n_clusters)
    path = np.zeros(n_clusters)
    longest = 0.0
    halfway = np.empty((n_clusters, n_clusters))
    nearest_centre = np.empty(n_clusters)
    for i in range(n):
        _distances_to_all(points, i, centres, lower[i])
        for c in range(n_clusters):
            lower[i, c] = np.sqrt(lower[i, c])
        labels[i] = np.argmin(lower[i])
        upper[i] = lower[i, labels[i]]
        nearest_other[i] = np.inf
        for c in range(n_clusters):
            if c != labels[i]:
                nearest_other[i] = min(nearest_other[i], lower[i, c])
    _sums(points, weights, labels, sums, mass)
    n_iter = max_iter
    for iteration in range(max_iter):
        relocated = _fill_empty(points, weights, centres, labels, sums, mass, upper, nearest_other)
        farthest = 0.0
        total = 0.0
        for c in range(n_clusters):
            if mass[c] == 0:
                continue
            squared = 0.0
            for f in range(d):
                mean = sums[f, c] / mass[c]
                squared += (mean - centres[f, c]) ** 2
                centres[f, c] = mean
            total += squared
            path[c] += np.sqrt(squared)
            farthest = max(farthest, np.sqrt(squared))
        longest += farthest
        _halfway(centres, halfway, nearest_centre)
        changed = 0
        for i in range(n):
            label = labels[i]
            own = upper[i] + path[label]
            if own <= max(nearest_centre[label], nearest_other[i] - longest):
                continue
            own = np.sqrt(_squared_distance(points, i, centres, label))
            if own <= max(nearest_centre[label], nearest_other[i] - longest):
                upper[i] = own - path[label]
                continue
            old = label
            lower[i, label] = own + path[label]
            for c in range(n_clusters):
                if c == label or own <= lower[i, c] - path[c] or own <= halfway[label, c]:
                    continue
                distance = np.sqrt(_squared_distance(points, i, centres, c))
                lower[i, c] = distance + path[c]
                if distance < own or (distance == own and c < label):
                    own = distance
                    label = c
            upper[i] = own - path[label]
            bound = np.inf
            for c in range(n_clusters):
                if c != label:
                    bound = min(bound, max(lower[i, c] - path[c], 2 * halfway[label, c] - own))
            nearest_other[i] = bound + longest
            if label != old:
                changed += 1
                labels[i] = label
                mass[old] -= weights[i]
                mass[label] += weights[i]
                for f in range(d):
                    moved = weights[i] * points[i, f]
                    sums[f, old] -= moved
                    sums[f, label] += moved
        if (changed == 0 or total <= tolerance) and not relocated:
            n_iter = iteration + 1
            break
    _sums(points, weights, labels, sums, mass)  # without what the differences have gathered
    for c in range(n_clusters):
        if mass[c] > 0:
            for f in range(d):
                centres[f, c] = sums[f, c] / mass[c]
    return n_iter


@kernel
def _sums(points, weights, labels, sums, mass):
    sums[:] = 0.0
    mass[:] = 0.0
    n, d = points.shape
    for i in range(n):
        c = labels[i]
        mass[c] += weights[i]
        for f in range(d):
            sums[f, c] += weights[i] * points[i, f]


@kernel
def _fill_empty(points, weights, centres, labels, sums, mass, upper, nearest_other):
    """Give an empty cluster the item farthest from its own centre.

    If all items lie on centres already (fewer distinct items than clusters) an empty
    cluster stays empty.
    """
    d = sums.shape[0]
    relocated = False
    for empty in range(mass.size):
        if mass[empty] > 0:
            continue
        farthest = -1
        distance = 0.0
        for i in range(labels.size):
            if mass[labels[i]] > weights[i]:
                own = _squared_distance(points, i, centres, labels[i])
                if own > distance:
                    distance = own
                    farthest = i
        if farthest < 0:
            continue
        old = labels[farthest]
        for f in range(d):
            sums[f, empty] = weights[farthest] * points[farthest, f]
            sums[f, old] -= sums[f, empty]
        mass[empty] = weights[farthest]
        mass[old] -= weights[farthest]
        labels[farthest] = empty
        upper[farthest] = np.inf  # look at it again
        nearest_other[farthest] = -np.inf
        relocated = True
    return relocated


@kernel
def _halfway(centres, halfway, nearest):
    """Store half the distances between centres, and that to the nearest other centre."""
    d, n_clusters = centres.shape
    nearest[:] = np.inf
    for a in range(n_clusters):
        for b in range(a):
            squared = 0.0
            for f in range(d):
                difference = centres[f, a] - centres[f, b]
                squared += difference * difference
            half = 0.5 * np.sqrt(squared)
            halfway[a, b] = half
            halfway[b, a] = half
            nearest[a] = min(nearest[a], half)
            nearest[b] = min(nearest[b], half)
