"""Kernels of trimmed k-means and tclust: concentration steps from random starts.

A *step* assigns every item to the cluster of highest value (minus the squared distance,
or the logarithm of weight × density), trims the items of lowest value, and estimates the
clusters from the rest. Many random starts take a few steps; the best continue until nothing
changes. Items are distinct and carry their multiplicity as weight. Arrays have room for
the largest resample; `n_items` says how much of them is in use.

All kernels are in this one file because numba's cache does not notice edits to kernels in
other files.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import ABSENT, NOISE
from coreclust._utils.jit import (
    copy_to,
    kernel,
    random_place,
    random_state_of,
    random_uniform,
)

_BLOCK = 256  # items per block, so that the differences from a center stay in cache
_SHORT = 2  # steps of each start before the best are selected
_FLOOR = 1e-12  # least variance in any direction, in units of the data's mean variance
_LOG_2PI = float(np.log(2 * np.pi))


class Settings(NamedTuple):
    """The parameters of the clustering."""

    n_clusters: int
    trim: float
    spherical: bool
    equal_weights: bool
    restr_factor: float
    n_init: int
    item_starts: bool  # whether to start from single items
    subset_starts: bool  # whether to start from d + 1 items per cluster; both: alternate
    n_refine: int
    max_iter: int


class Items(NamedTuple):
    """The distinct items of a resample."""

    rows: NDArray[np.float64]  # (n_items, n_features)
    columns: NDArray[np.float64]  # (n_features, n_items), the transpose of `rows`
    weight: NDArray[np.float64]  # (n_items,)
    cumulative: NDArray[np.float64]  # (n_items,), cumulative sum of `weight`
    n_items: int
    to_trim: float  # weight to trim
    floor: float  # least variance


class Models(NamedTuple):
    """The clusters of several starts, one slot per start."""

    centers: NDArray[np.float64]  # (n_slots, n_clusters, n_features)
    axes: NDArray[np.float64]  # (n_slots, n_clusters, n_features, n_features), in rows
    variances: NDArray[np.float64]  # (n_slots, n_clusters, n_features), along the axes
    constants: NDArray[np.float64]  # (n_slots, n_clusters), of the logarithms of density
    shares: NDArray[np.float64]  # (n_slots, n_clusters), of the kept weight


class Work(NamedTuple):
    """The result of a step, and scratch arrays."""

    label: NDArray[np.int64]  # (n_items,)
    last_label: NDArray[np.int64]  # (n_items,), of the previous step
    value: NDArray[np.float64]  # (n_items,)
    kept: NDArray[np.float64]  # (n_items,), weight that is not trimmed
    size: NDArray[np.float64]  # (n_clusters,), sum of the kept weights
    sums: NDArray[np.float64]  # (n_clusters, n_features)
    scatter: NDArray[np.float64]  # (n_clusters, n_features, n_features)
    low_value: NDArray[np.float64]  # (n_items,)
    low_weight: NDArray[np.float64]  # (n_items,)
    step: NDArray[np.float64]  # (n_features,)
    block: NDArray[np.float64]  # (n_features + 2, _BLOCK)


@kernel
def eigen(matrix, vectors, values, off):
    """Store the eigenvalues and, in rows, the eigenvectors of a symmetric matrix.

    The matrix is overwritten; its entries should be about 1 or less. Householder reflections
    are followed by implicit QL rotations, as in EISPACK's tred2 and tql2. With few columns this
    is two to four times faster than calling LAPACK.
    """
    d = matrix.shape[0]
    for a in range(d):
        for b in range(d):
            vectors[a, b] = 1.0 if a == b else 0.0
        off[a] = 0.0
    for c in range(d - 1):  # off[c] becomes the only entry of row c to the right of the diagonal
        mirror = matrix[c]
        first = mirror[c + 1]
        others = 0.0
        for a in range(c + 2, d):
            others += mirror[a] * mirror[a]
        if others < 1e-290:
            off[c] = first
            continue
        norm = np.sqrt(first * first + others)
        off[c] = -norm if first > 0.0 else norm
        mirror[c + 1] = first - off[c]
        scale = 1.0 / (norm * (norm + abs(first)))
        along = 0.0
        for a in range(c + 1, d):
            product = 0.0
            for b in range(c + 1, d):
                product += matrix[a, b] * mirror[b]
            values[a] = scale * product
            along += values[a] * mirror[a]
        along *= 0.5 * scale
        for a in range(c + 1, d):
            values[a] -= along * mirror[a]
        for a in range(c + 1, d):
            for b in range(c + 1, d):
                matrix[a, b] -= mirror[a] * values[b] + values[a] * mirror[b]
        for b in range(d):
            values[b] = 0.0
        for a in range(c + 1, d):
            for b in range(d):
                values[b] += mirror[a] * vectors[a, b]
        for a in range(c + 1, d):
            scaled = scale * mirror[a]
            for b in range(d):
                vectors[a, b] -= scaled * values[b]
    for a in range(d):
        values[a] = matrix[a, a]
    for low in range(d):
        for _ in range(60):
            high = low
            while high < d - 1:
                if abs(off[high]) <= 1e-16 * (abs(values[high]) + abs(values[high + 1])):
                    break
                high += 1
            if high == low:
                break
            _rotate(vectors, values, off, low, high)


@kernel
def _rotate(vectors, values, off, low, high):
    """Chase an implicit shift from `high` down to `low`."""
    shift = (values[low + 1] - values[low]) / (2.0 * off[low])
    root = np.sqrt(shift * shift + 1.0)
    shift += root if shift >= 0.0 else -root
    shift = values[high] - values[low] + off[low] / shift
    sin = 1.0
    cos = 1.0
    moved = 0.0
    for a in range(high - 1, low - 1, -1):
        bulge = sin * off[a]
        rest = cos * off[a]
        root = np.sqrt(bulge * bulge + shift * shift)
        off[a + 1] = root
        if root == 0.0:
            values[a + 1] -= moved
            off[high] = 0.0
            return
        sin = bulge / root
        cos = shift / root
        shift = values[a + 1] - moved
        root = (values[a] - shift) * sin + 2.0 * cos * rest
        moved = sin * root
        values[a + 1] = shift + moved
        shift = cos * root - rest
        for b in range(vectors.shape[1]):
            upper = vectors[a + 1, b]
            lower = vectors[a, b]
            vectors[a + 1, b] = sin * lower + cos * upper
            vectors[a, b] = cos * lower - sin * upper
    values[low] -= moved
    off[low] = shift
    off[high] = 0.0


@kernel
def restrict(variances, size, factor, floor):
    """Truncate variances to [m, factor × m], with the m of highest likelihood.

    This m minimizes ``sum_j size_j sum_l log(t_jl) + v_jl / t_jl``, where t is v after
    truncation. The slope in log m is ``count - total / m`` over the truncated variances, where
    those above `factor` × m enter `total` divided by `factor`. The slope increases with m.
    Therefore, of the optima of the intervals between all v and v / factor (Fritz et al. 2013),
    the one inside its own interval is the solution. A bracketed search finds it.
    """
    k, d = variances.shape
    high = 0.0
    for j in range(k):
        if size[j] > 0.0:
            for v in range(d):
                high = max(high, variances[j, v] / factor)
    low = 0.0
    m = high
    for _ in range(200):
        count = 0.0
        total = 0.0
        begin = 0.0  # from begin to end, the same variances are truncated
        end = np.inf
        for j in range(k):
            if size[j] == 0.0:
                continue
            for v in range(d):
                variance = variances[j, v]
                if variance < m:
                    count += size[j]
                    total += size[j] * variance
                    begin = max(begin, variance)
                else:
                    end = min(end, variance)
                variance /= factor
                if variance > m:
                    count += size[j]
                    total += size[j] * variance
                    end = min(end, variance)
                else:
                    begin = max(begin, variance)
        if count == 0.0:
            break
        optimum = total / count
        if begin <= optimum <= end:
            m = optimum
            break
        if optimum > m:
            low = m
        else:
            high = m
        m = optimum if low < optimum < high else 0.5 * (low + high)
    m = max(m, floor)
    for j in range(k):
        for v in range(d):
            variances[j, v] = min(max(variances[j, v], m), factor * m)


@kernel
def _set_constants(settings, models, slot, size):
    """Compute the weights of the clusters and the constants of their densities."""
    k, d = models.variances[slot].shape
    total = 0.0
    for j in range(k):
        total += size[j]
    for j in range(k):
        share = 1.0 / k if settings.equal_weights else size[j] / total
        models.shares[slot, j] = share
        constant = np.log(share) - 0.5 * d * _LOG_2PI
        for v in range(d):
            constant -= 0.5 * np.log(models.variances[slot, j, v])
        models.constants[slot, j] = constant


@kernel
def _draw(items, state):
    """Draw an item with probability proportional to its weight."""
    return random_place(state, items.cumulative[: items.n_items])


@kernel
def _is_among(item, drawn, n_drawn):
    found = False
    for other in range(n_drawn):
        found |= drawn[other] == item
    return found


@kernel
def _start(items, settings, models, slot, work, state, at_items):
    """Set the clusters of a start from one random item each, or from d + 1 random items each."""
    k, d = models.centers[slot].shape
    for j in range(k):
        center = models.centers[slot, j]
        scatter = work.scatter[j]
        for a in range(scatter.shape[0]):
            for b in range(scatter.shape[0]):
                scatter[a, b] = 0.0
        if at_items:
            item = _draw(items, state)
            tries = 0
            while _is_among(item, work.label, j):
                tries += 1
                # After 50 tries, take the next item: one item may have nearly all the weight.
                item = _draw(items, state) if tries < 50 else (item + 1) % items.n_items
            work.label[j] = item
            copy_to(center, items.rows[item])
        else:
            center[:] = 0.0
            for draw in range(d + 1):
                item = _draw(items, state)
                for a in range(d):
                    work.step[a] = items.rows[item, a] - center[a]
                    center[a] += work.step[a] / (draw + 1)
                for a in range(scatter.shape[0]):  # none if spherical
                    scaled = work.step[a] * draw / (draw + 1)
                    for b in range(d):
                        scatter[a, b] += scaled * work.step[b]
        work.size[j] = 1.0
        if not settings.spherical:
            _set_shape(models, slot, j, work, d + 1.0)
    if not settings.spherical:
        restrict(models.variances[slot], work.size, settings.restr_factor, items.floor)
        # Subsets get random weights as in the papers. From single items, more even weights find
        # better optima.
        least = 0.5 if at_items else 1e-3
        for j in range(k):
            work.size[j] = least + random_uniform(state)
        _set_constants(settings, models, slot, work.size)


@kernel
def _set_shape(models, slot, j, work, size):
    """Set the axes and variances of a cluster from its scatter matrix, which is overwritten."""
    scatter = work.scatter[j]
    variances = models.variances[slot, j]
    d = variances.size
    total = 0.0
    for a in range(d):
        total += scatter[a, a]
    if total > 0.0:
        for a in range(d):
            for b in range(d):
                scatter[a, b] /= total
    eigen(scatter, models.axes[slot, j], variances, work.step)
    for v in range(d):
        variances[v] = max(variances[v], 0.0) * total / size


@kernel
def assign(columns, n_items, spherical, centers, axes, variances, constants, label, value, block):
    """Store the cluster of highest value for each item, and that value."""
    k, d = centers.shape
    difference, projection, distance = block[:d], block[d], block[d + 1]
    scale = 1.0 if spherical else 0.5
    for begin in range(0, n_items, _BLOCK):
        width = min(_BLOCK, n_items - begin)
        for i in range(width):
            value[begin + i] = -np.inf
            label[begin + i] = 0
        for j in range(k):
            constant = constants[j]
            if constant == -np.inf:  # an empty cluster of weight 0
                continue
            # The highest precision is first applied to all directions. Axes that have it (those
            # truncated from below) then need no projection. If the precisions differ too much,
            # this would lose too many digits, and all axes are projected.
            common = 1.0
            if not spherical:
                least = np.inf
                largest = 0.0
                for v in range(d):
                    least = min(least, variances[j, v])
                    largest = max(largest, variances[j, v])
                common = 1.0 / least if largest <= 1e6 * least else 0.0
            for i in range(width):
                distance[i] = 0.0
            for c in range(d):
                center = centers[j, c]
                for i in range(width):
                    step = columns[c, begin + i] - center
                    difference[c, i] = step
                    distance[i] += step * step
            for i in range(width):
                distance[i] *= common
            for v in range(variances.shape[1]):  # none if spherical
                precision = 1.0 / variances[j, v] - common
                if precision == 0.0:
                    continue
                for i in range(width):
                    projection[i] = 0.0
                for c in range(d):
                    along = axes[j, v, c]
                    for i in range(width):
                        projection[i] += along * difference[c, i]
                for i in range(width):
                    distance[i] += precision * projection[i] * projection[i]
            for i in range(width):
                found = constant - scale * distance[i]
                best = value[begin + i]
                value[begin + i] = found if found > best else best
                label[begin + i] = j if found > best else label[begin + i]


@kernel
def _threshold(items, work, guess):
    """Return the lowest value such that the items up to it hold the weight to trim."""
    low_value, low_weight = work.low_value, work.low_weight
    size = 0
    total = 0.0
    for i in range(items.n_items):
        if work.value[i] <= guess:
            low_value[size] = work.value[i]
            low_weight[size] = items.weight[i]
            total += items.weight[i]
            size += 1
    if total < items.to_trim:  # the guess was too low
        size = items.n_items
        for i in range(size):
            low_value[i] = work.value[i]
            low_weight[i] = items.weight[i]
    wanted = items.to_trim
    begin, end = 0, size - 1
    while begin < end:  # quickselect; begin .. less are below the pivot, more .. end above
        pivot = low_value[(begin + end) // 2]
        less, i, more = begin, begin, end
        below = 0.0
        equal = 0.0
        while i <= more:
            found = low_value[i]
            weight = low_weight[i]
            if found < pivot:
                below += weight
                low_value[i], low_weight[i] = low_value[less], low_weight[less]
                low_value[less], low_weight[less] = found, weight
                less += 1
                i += 1
            elif found > pivot:
                low_value[i], low_weight[i] = low_value[more], low_weight[more]
                low_value[more], low_weight[more] = found, weight
                more -= 1
            else:
                equal += weight
                i += 1
        if wanted <= below:
            end = less - 1
        elif wanted <= below + equal or more == end:
            return pivot
        else:
            wanted -= below + equal
            begin = more + 1
    return low_value[begin]


@kernel
def _trim(items, work, threshold):
    """Trim up to the threshold; return the objective and whether anything changed.

    Items that tie at the threshold are trimmed in order, the last of them partly.
    """
    spare = items.to_trim
    for i in range(items.n_items):
        if work.value[i] < threshold:
            spare -= items.weight[i]
    changed = False
    objective = 0.0
    for i in range(items.n_items):
        kept = items.weight[i]
        if work.value[i] < threshold:
            kept = 0.0
        elif work.value[i] == threshold and spare > 0.0:
            cut = min(spare, kept)
            spare -= cut
            kept -= cut
        if kept != work.kept[i] or (kept > 0.0 and work.label[i] != work.last_label[i]):
            changed = True
        work.kept[i] = kept
        work.last_label[i] = work.label[i]
        objective += kept * work.value[i]
    return objective, changed


@kernel
def expect(items, settings, models, slot, work, guess):
    """Assign and trim the items, given the clusters.

    Returns the objective, whether anything changed, and a guess for the next call: a value that
    the items to trim are expected not to exceed.
    """
    assign(
        items.columns,
        items.n_items,
        settings.spherical,
        models.centers[slot],
        models.axes[slot],
        models.variances[slot],
        models.constants[slot],
        work.label,
        work.value,
        work.block,
    )
    threshold = _threshold(items, work, guess) if items.to_trim > 0.0 else -np.inf
    objective, changed = _trim(items, work, threshold)
    mean = objective / (items.cumulative[items.n_items - 1] - items.to_trim)
    return objective, changed, 0.75 * threshold + 0.25 * mean


@kernel
def maximize(items, settings, models, slot, work):
    """Estimate the clusters from the kept weights of their items."""
    k, d = models.centers[slot].shape
    centers = models.centers[slot]
    for j in range(k):
        work.size[j] = 0.0
        for c in range(d):
            work.sums[j, c] = 0.0
    for i in range(items.n_items):
        kept = work.kept[i]
        if kept > 0.0:
            j = work.label[i]
            work.size[j] += kept
            for c in range(d):
                work.sums[j, c] += kept * items.rows[i, c]
    for j in range(k):
        if work.size[j] > 0.0:
            for c in range(d):
                centers[j, c] = work.sums[j, c] / work.size[j]
        elif settings.spherical:
            _move_to_farthest(items, centers[j], work)
    if settings.spherical:
        return
    _add_scatter(items, centers, work)
    for j in range(k):
        if work.size[j] > 0.0:  # an empty cluster keeps its shape
            _set_shape(models, slot, j, work, work.size[j])
    restrict(models.variances[slot], work.size, settings.restr_factor, items.floor)
    _set_constants(settings, models, slot, work.size)


@kernel
def _move_to_farthest(items, center, work):
    """Move the center of an empty cluster to the kept item of lowest value."""
    worst = -1
    for i in range(items.n_items):
        if work.kept[i] > 0.0 and (worst < 0 or work.value[i] < work.value[worst]):
            worst = i
    copy_to(center, items.rows[worst])
    work.value[worst] = 0.0


@kernel
def _add_scatter(items, centers, work):
    d = centers.shape[1]
    work.scatter[:] = 0.0
    for i in range(items.n_items):
        kept = work.kept[i]
        if kept > 0.0:
            j = work.label[i]
            for a in range(d):
                work.step[a] = items.rows[i, a] - centers[j, a]
            for a in range(d):
                scaled = kept * work.step[a]
                for b in range(d):
                    work.scatter[j, a, b] += scaled * work.step[b]


@kernel
def _concentrate(items, settings, models, slot, work, n_steps):
    """Take up to `n_steps` steps; return the objective, the steps taken and if it converged."""
    objective, _, guess = expect(items, settings, models, slot, work, -np.inf)
    for step in range(n_steps):
        maximize(items, settings, models, slot, work)
        objective, changed, guess = expect(items, settings, models, slot, work, guess)
        if not changed:
            return objective, step + 1, True
    return objective, n_steps, False


@kernel
def _search(items, settings, models, work, seed):
    """Return the slot of the best clusters, their number of steps and if they converged."""
    state = random_state_of(seed)
    n_refine = settings.n_refine
    slots = np.empty(n_refine + 1, np.int64)  # of the best starts, best first; the last is free
    for place in range(n_refine + 1):
        slots[place] = place
    objectives = np.empty(n_refine)  # in the same order
    objectives[:] = -np.inf
    steps = np.zeros(n_refine + 1, np.int64)  # by slot
    converged = np.zeros(n_refine + 1, np.bool_)
    n_short = min(_SHORT, settings.max_iter)
    for start in range(settings.n_init):
        free = slots[n_refine]
        at_items = settings.item_starts and (start % 2 == 1 or not settings.subset_starts)
        _start(items, settings, models, free, work, state, at_items)
        objective, steps[free], converged[free] = _concentrate(
            items, settings, models, free, work, n_short
        )
        place = n_refine
        known = False
        for other in range(n_refine - 1, -1, -1):
            if objective > objectives[other]:
                place = other
            known |= abs(objective - objectives[other]) <= 1e-10 * abs(objective)
        if place < n_refine and not known:
            slots[n_refine] = slots[n_refine - 1]
            for other in range(n_refine - 1, place, -1):
                slots[other] = slots[other - 1]
                objectives[other] = objectives[other - 1]
            slots[place] = free
            objectives[place] = objective
    best = slots[0]
    highest = -np.inf
    for place in range(n_refine):
        slot = slots[place]
        if objectives[place] == -np.inf:
            break
        if not converged[slot] and steps[slot] < settings.max_iter:
            objectives[place], more, converged[slot] = _concentrate(
                items, settings, models, slot, work, settings.max_iter - steps[slot]
            )
            steps[slot] += more
        if objectives[place] > highest:
            highest = objectives[place]
            best = slot
    return best, steps[best], converged[best]


def _room(n_items: int, n_features: int, settings: Settings) -> tuple[Items, Models, Work]:
    """Allocate the arrays for a resample of up to `n_items` distinct items."""
    k = settings.n_clusters
    d = 0 if settings.spherical else n_features
    n_slots = settings.n_refine + 1
    items = Items(
        np.empty((n_items, n_features)),
        np.empty((n_features, n_items)),
        np.empty(n_items),
        np.empty(n_items),
        n_items,
        0.0,
        0.0,
    )
    models = Models(
        np.zeros((n_slots, k, n_features)),
        np.zeros((n_slots, k, d, d)),
        np.ones((n_slots, k, d)),
        np.zeros((n_slots, k)),
        np.zeros((n_slots, k)),
    )
    work = Work(
        np.zeros(n_items, np.int64),
        np.zeros(n_items, np.int64),
        np.zeros(n_items),
        np.zeros(n_items),
        np.zeros(k),
        np.zeros((k, n_features)),
        np.zeros((k, d, d)),
        np.empty(n_items),
        np.empty(n_items),
        np.empty(n_features),
        np.empty((n_features + 2, _BLOCK)),
    )
    return items, models, work


@kernel
def _fill(room, distinct, weight, to_trim):
    """Copy the items of positive weight into `room` and return them."""
    n = 0
    total = 0.0
    for i in range(distinct.shape[0]):
        if weight[i] > 0.0:
            total += weight[i]
            room.weight[n] = weight[i]
            room.cumulative[n] = total
            for c in range(distinct.shape[1]):
                room.rows[n, c] = distinct[i, c]
                room.columns[c, n] = distinct[i, c]
            n += 1
    variance = 0.0
    for c in range(distinct.shape[1]):
        mean = 0.0
        for i in range(n):
            mean += room.weight[i] * room.columns[c, i]
        mean /= total
        for i in range(n):
            variance += room.weight[i] * (room.columns[c, i] - mean) ** 2
    variance /= total * distinct.shape[1]
    floor = _FLOOR * variance if variance > 0.0 else 1.0
    return Items(room.rows, room.columns, room.weight, room.cumulative, n, to_trim, floor)


@kernel
def _label(items, settings, models, work, slot):
    """Rank the clusters by size and mark trimmed items; return the objective and the ranks."""
    objective, _, _ = expect(items, settings, models, slot, work, -np.inf)
    k = settings.n_clusters
    for j in range(k):
        work.size[j] = 0.0
    for i in range(items.n_items):
        work.size[work.label[i]] += work.kept[i]
    rank = np.zeros(k, np.int64)
    for j in range(k):
        for other in range(k):
            if work.size[other] > work.size[j] or (work.size[other] == work.size[j] and other < j):
                rank[j] += 1
    for i in range(items.n_items):
        is_kept = 2.0 * work.kept[i] >= items.weight[i]
        work.label[i] = rank[work.label[i]] if is_kept else NOISE
    return objective, rank


@kernel
def weight_to_trim(trim, total, whole):
    """Return ``ceil(trim * total)``, not rounded up if the weights are not whole numbers."""
    # Subtract a little: 0.07 * 100 is slightly more than 7.
    return np.ceil(trim * total - 1e-9) if whole else trim * total


@kernel
def _cluster(room, models, work, distinct, weight, to_trim, settings, seed):
    """Cluster distinct items of positive weight; `work` and `models` then have the result.

    Returns the slot of the best model, the label of each of its clusters, the objective (not finite
    if squares of the data overflow), the number of steps and whether they converged.
    """
    items = _fill(room, distinct, weight, to_trim)
    slot, n_iter, converged = _search(items, settings, models, work, seed)
    objective, rank = _label(items, settings, models, work, slot)
    return slot, rank, objective, n_iter, converged


def fit_items(
    distinct: NDArray[np.float64],
    weight: NDArray[Any],
    to_trim: float,
    settings: Settings,
    seed: int,
) -> tuple[Any, ...]:
    """Cluster distinct items with positive weights.

    Returns the `Work` with the labels, values and kept weights of the items, the `Models`, the
    slot of the best one, the label of each of its clusters, the objective, the number of steps and
    whether they converged.
    """
    room, models, work = _room(distinct.shape[0], distinct.shape[1], settings)
    found = _cluster(room, models, work, distinct, weight, to_trim, settings, seed)
    return work, models, *found


@kernel
def label_items(columns, spherical, centers, axes, variances, constants, lowest):
    """Label items by given clusters; items of a value below `lowest` are noise."""
    n_items = columns.shape[1]
    label = np.empty(n_items, np.int64)
    value = np.empty(n_items)
    block = np.empty((columns.shape[0] + 2, _BLOCK))
    assign(columns, n_items, spherical, centers, axes, variances, constants, label, value, block)
    labels = np.empty(n_items, np.int32)
    for i in range(n_items):
        labels[i] = label[i] if value[i] >= lowest else NOISE
    return labels


def label_resamples(
    distinct: NDArray[np.float64],
    group: NDArray[np.int64],
    counts: NDArray[np.int32],
    settings: Settings,
    seeds: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Label many resamples; item i is ``distinct[group[i]]``, drawn ``counts[s, i]`` times."""
    room, models, work = _room(distinct.shape[0], distinct.shape[1], settings)
    return _label_resamples(room, models, work, distinct, group, counts, settings, seeds)


@kernel
def _label_resamples(room, models, work, distinct, group, counts, settings, seeds):
    n_resamples, n_items = counts.shape
    labels = np.full((n_resamples, n_items), ABSENT, np.int32)
    failed = np.zeros(n_resamples, np.bool_)
    weight = np.empty(distinct.shape[0])
    position = np.empty(weight.size, np.int64)
    for resample in range(n_resamples):
        weight[:] = 0.0
        total = 0.0
        for i in range(n_items):
            weight[group[i]] += counts[resample, i]
            total += counts[resample, i]
        n_present = 0
        for i in range(weight.size):
            position[i] = n_present
            n_present += weight[i] > 0.0
        to_trim = weight_to_trim(settings.trim, total, True)
        if _are_too_few(n_present, total - to_trim, settings):
            failed[resample] = True
            continue
        _, _, objective, _, _ = _cluster(
            room, models, work, distinct, weight, to_trim, settings, seeds[resample]
        )
        failed[resample] = not np.isfinite(objective)
        if failed[resample]:
            continue
        for i in range(n_items):
            if counts[resample, i] > 0:
                labels[resample, i] = work.label[position[group[i]]]
    return labels, failed


@kernel
def _are_too_few(n_distinct, kept, settings):
    return n_distinct < settings.n_clusters or kept < settings.n_clusters


def label_datasets(
    datasets: NDArray[np.float64], n_wanted: int, settings: Settings, seeds: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Label the first items of datasets of one size, each clustered by itself."""
    room, models, work = _room(datasets.shape[1], datasets.shape[2], settings)
    return _label_datasets(room, models, work, datasets, n_wanted, settings, seeds)


@kernel
def _label_datasets(room, models, work, datasets, n_wanted, settings, seeds):
    n_datasets, n_items, n_features = datasets.shape
    labels = np.full((n_datasets, n_wanted), ABSENT, np.int32)
    failed = np.zeros(n_datasets, np.bool_)
    distinct = np.empty((n_items, n_features))
    group = np.empty(n_items, np.int64)
    weight = np.empty(n_items)
    to_trim = weight_to_trim(settings.trim, n_items, True)
    for b in range(n_datasets):
        n = _find_distinct(datasets[b], distinct, weight, group)
        if _are_too_few(n, n_items - to_trim, settings):
            failed[b] = True
            continue
        weight[n:] = 0.0  # `distinct` has room for more
        _, _, objective, _, _ = _cluster(
            room, models, work, distinct, weight, to_trim, settings, seeds[b]
        )
        failed[b] = not np.isfinite(objective)
        if failed[b]:
            continue
        for i in range(n_wanted):
            labels[b, i] = work.label[group[i]]
    return labels, failed


@kernel
def _find_distinct(rows, distinct, weight, group):
    """Store the distinct rows in lexicographic order and their counts; return their number.

    `group` receives the place of each row among the distinct ones.
    """
    order = np.argsort(rows[:, 0], kind="mergesort")
    for k in range(1, order.size):  # only rows that tie in their first value move
        item = order[k]
        place = k
        while place > 0 and _precedes(rows[item], rows[order[place - 1]]):
            order[place] = order[place - 1]
            place -= 1
        order[place] = item
    n_distinct = 0
    for k in range(order.size):
        row = rows[order[k]]
        if k == 0 or _precedes(rows[order[k - 1]], row):
            copy_to(distinct[n_distinct], row)
            weight[n_distinct] = 0.0
            n_distinct += 1
        weight[n_distinct - 1] += 1.0
        group[order[k]] = n_distinct - 1
    return n_distinct


@kernel
def _precedes(left, right):
    for c in range(left.size):
        if left[c] != right[c]:
            return left[c] < right[c]
    return False
