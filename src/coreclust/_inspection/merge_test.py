"""Tests whether two clusters are further apart than two parts of one group can be.

The statistic is a two-means index: along the line through the two means, the share of the variance
that lies within the clusters, with both clusters weighted equally. The outermost 5 % of each
cluster, on the side away from the other one, are left out: outliers there say nothing about a gap,
and a few of them would hide it. One Gaussian group cut in halves has 0.32, flat data 0.25, two
groups less. The null hypothesis is that the union of the clusters is one Gaussian group, with any
covariance. As in sigclust (Liu, Hayes, Nobel and Marron 2008), the clusters are compared with the
best two-means split of simulated groups.

No covariance is estimated. If the union is Gaussian, its left singular vectors are a random
rotation whatever the covariance is (Langsrud 2005), so the simulated groups have the singular
values of the data and random left singular vectors. This holds in any dimension.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

from coreclust._utils.jit import kernel

MOST_ITEMS = 500
_N_DRAWS = 100
_MOST_COMPONENTS = 50
_MOST_STANDARDIZED = 5
_MOST_STARTS = 10
_MOST_ROUNDS = 100
_N_QUANTILES = 2000
_LEFT_OUT = 0.05  # of each cluster, on the outer side


@dataclass(frozen=True)
class MergeTest:
    """The result of the test: a small p-value shows that there are two groups."""

    index: float
    p_value: float


def merge_test(
    X: NDArray[np.float64], second: NDArray[np.bool_], rng: np.random.Generator
) -> MergeTest:
    """Test whether two clusters are two groups; `second` marks the items of the second cluster.

    The index is computed in the scale of the data and, for groups that are long and narrow, with
    principal components of variance 1. The result is for the scale with the smaller p-value, which
    is doubled. The p-value is 1 if the clusters are no further apart than the parts of flat data.
    """
    n_items, n_second = second.size, int(second.sum())
    if n_items < 3 or not 0 < n_second < n_items:
        return MergeTest(math.nan, 1.0)
    axes, lengths = _principal_components(X)
    if not lengths.size:
        return MergeTest(math.nan, 1.0)
    n_standardized = max(min(lengths.size, n_items // 25, _MOST_STANDARDIZED), 1)
    scales = (lengths, np.ones(n_standardized))
    found = np.array([separation_index(axes[:, : s.size] * s, second) for s in scales])
    drawn = np.empty((_N_DRAWS, len(scales)))
    for row in drawn:
        normal = rng.standard_normal((n_items, lengths.size))
        rotated = np.linalg.qr(normal - normal.mean(axis=0))[0]
        row[:] = [_index_of_one_group(rotated[:, : s.size] * s, n_second) for s in scales]
    mean, spread = drawn.mean(axis=0), drawn.std(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.nan_to_num((found - mean) / (spread * math.sqrt(1 + 1 / _N_DRAWS)), posinf=0.0)
    p_values = t.cdf(score, df=_N_DRAWS - 1)
    p_values[(found > flat_ratio(n_second / n_items) * mean) | (spread == 0)] = 1.0
    best = int(p_values.argmin())
    return MergeTest(float(found[best]), min(2 * float(p_values[best]), 1.0))


def flat_ratio(share: float) -> float:
    """Return the index of flat data over that of a Gaussian group, cut at a quantile; at most 1.

    Unions of clusters that neighbors cut off are flat rather than Gaussian.
    """
    flat = (np.arange(_N_QUANTILES) + 0.5) / _N_QUANTILES
    second = flat > 1 - share
    return min(_index_of_parts(flat, second) / _index_of_parts(norm.ppf(flat), second), 1.0)


def _principal_components(
    X: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the left singular vectors and singular values of the centered data, the first 50."""
    with np.errstate(over="ignore", invalid="ignore"):
        centered = X - X.mean(axis=0)
        largest = np.abs(centered).max(initial=0.0)
    if not 0 < largest < math.inf:
        return np.empty((len(X), 0)), np.empty(0)
    centered = centered / largest
    if X.shape[1] > X.shape[0]:
        values, axes = np.linalg.eigh(centered @ centered.T)
        axes, lengths = axes[:, ::-1], np.sqrt(np.maximum(values[::-1], 0))
    else:
        axes, lengths, _ = np.linalg.svd(centered, full_matrices=False)
    rank = int((lengths > 1e-7 * lengths[0]).sum())
    kept = min(rank, len(X) - 1, _MOST_COMPONENTS)
    return axes[:, :kept], lengths[:kept]


@kernel
def separation_index(X, second):
    """Return the share of variance within two groups, along the line through their means."""
    return _index_of_parts(_project(X, second), second)


@kernel
def _index_of_one_group(X, n_second):
    """Return the index of the best two-means split of X, or of one with a part of a given size."""
    best = _best_split(X)
    least = separation_index(X, best)
    for turned in range(2):
        second = best != (turned == 1)
        for _ in range(_MOST_ROUNDS):
            order = np.argsort(_project(X, second))
            moved = np.zeros(second.size, dtype=np.bool_)
            moved[order[second.size - n_second :]] = True
            if (moved == second).all():
                break
            second = moved
        least = min(least, separation_index(X, second))
    return least


@kernel
def _means(X, second):
    means = np.zeros((2, X.shape[1]))
    sizes = np.zeros(2)
    for item in range(X.shape[0]):
        part = 1 if second[item] else 0
        sizes[part] += 1
        for feature in range(X.shape[1]):
            means[part, feature] += X[item, feature]
    for part in range(2):
        means[part] /= max(sizes[part], 1.0)
    return means, sizes


@kernel
def _project(X, second):
    """Return the places of the items along the line through the means of two groups."""
    means, _ = _means(X, second)
    z = np.zeros(X.shape[0])
    for item in range(X.shape[0]):
        for feature in range(X.shape[1]):
            z[item] += X[item, feature] * (means[1, feature] - means[0, feature])
    return z


@kernel
def _index_of_parts(z, second):
    """Return the index of places on a line, where the second part is on the right."""
    means, variances = np.zeros(2), np.zeros(2)
    for part in range(2):
        places = np.sort(z[second == (part == 1)])
        n_left_out = int(_LEFT_OUT * places.size)
        kept = places[: places.size - n_left_out] if part == 1 else places[n_left_out:]
        means[part] = kept.mean()
        variances[part] = ((kept - means[part]) ** 2).mean()
    within = (variances[0] + variances[1]) / 2
    between = (means[1] - means[0]) ** 2 / 4
    if within + between == 0:
        return 1.0
    return within / (within + between)


@kernel
def _best_split(X):
    """Return the best two-means split, from starts at the median of each of the first columns."""
    best = np.zeros(X.shape[0], dtype=np.bool_)
    highest = -1.0
    for start in range(min(X.shape[1], _MOST_STARTS)):
        second = X[:, start] > np.median(X[:, start])
        for _ in range(_MOST_ROUNDS):
            means, sizes = _means(X, second)
            gap = means[1] - means[0]
            middle = (gap * (means[0] + means[1])).sum() / 2
            moved = False
            for item in range(X.shape[0]):
                place = 0.0
                for feature in range(X.shape[1]):
                    place += X[item, feature] * gap[feature]
                if (place > middle) != second[item]:
                    second[item] = place > middle
                    moved = True
            if not moved:
                break
        means, sizes = _means(X, second)
        between = sizes[0] * sizes[1] * ((means[1] - means[0]) ** 2).sum()
        if between > highest:
            highest = between
            best = second
    return best
