"""Estimates co-occurrence probabilities, and computes tables of the pairs that reach 1 - alpha.

A pair that was seen in B resamples and apart in D of them is an edge of the core graph if and only
if ``D <= table[B]``. The kernels use nothing but these tables.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust.evidence._guarantees import (
    Bound,
    binomial_tail,
    exact_bound,
    is_decided,
    sequence_bound,
)

_FINEST = 10**9  # larger denominators of alpha are floating-point error
_MOST_SEEN = 2**40


def cooccurrence_estimate(
    together: ArrayLike, seen: ArrayLike, n_items: int | None
) -> NDArray[np.float64]:
    """Return the paper's estimate of the co-occurrence probability.

    Algorithm 3 adds a weak prior: ``p = (A + 1/n) / (B + 1)``.

    Parameters
    ----------
    together : array-like of int
        A, the number of resamples in which both items were present and had the same label.
    seen : array-like of int
        B, the number of resamples in which both items were present.
    n_items : int or None
        n, the number of items in the data (not in the cluster). None for no prior, as in
        Algorithm 2: ``p = A / B``.

    Returns
    -------
    p : ndarray of float
        NaN if B is 0 and there is no prior.

    Examples
    --------
    >>> from coreclust.evidence import cooccurrence_estimate
    >>> float(cooccurrence_estimate(8, 8, n_items=10))
    0.9
    """
    if n_items is None:
        together, seen = np.asarray(together, dtype=np.float64), np.asarray(seen)
        return np.divide(together, seen, out=np.full(together.shape, np.nan), where=seen > 0)
    # Integers and one division, so that p is rounded only once. The counts may be narrow integers.
    together, seen = np.asarray(together, dtype=np.int64), np.asarray(seen, dtype=np.int64)
    return (together * n_items + 1) / ((seen + 1) * n_items)


def apart_table(alpha: float, n_items: int | None, n_resamples: int) -> NDArray[np.int64]:
    """Return, for every B, how often a pair may be apart and still be an edge by its estimate.

    ``table[B]`` is the largest D with ``(B - D + 1/n) / (B + 1) >= 1 - alpha`` or, without
    the prior, with ``(B - D) / B >= 1 - alpha``; -1 if there is none. It is computed with integers
    and with alpha as the nearest simple fraction (0.1 is 1/10, and so is 1 - 0.9), so that a pair
    at exactly 1 - alpha is an edge.

    Without `n_items`, n, there is no prior, and a pair that was never seen is not an edge.
    """
    threshold = 1 - Fraction(float(alpha)).limit_denominator(_FINEST)
    prior = n_items is not None
    # A >= (1 - alpha) (B + 1) - 1/n  <=>  A * scale >= step * (B + 1) - offset
    scale = threshold.denominator * (n_items or 1)
    step = threshold.numerator * (n_items or 1)
    offset = threshold.denominator if prior else 0
    largest = step * (n_resamples + 1) + offset
    seen = np.arange(n_resamples + 1, dtype=np.int64 if largest < 2**62 else object)
    least_together = -((offset - step * (seen + int(prior))) // scale)
    # At most B + 1 times together are needed, so the difference is -1 or more.
    table = np.minimum(seen - least_together, seen).astype(np.int64)
    if not prior and threshold > 0:
        table[0] = -1
    return table


def bound_table(
    alpha: float, level: float, n_resamples: int, passes: Bound = exact_bound
) -> NDArray[np.int64]:
    """Return, for every B, how often a pair may be apart and still pass a bound.

    ``table[B]`` is the largest D that passes, or -1 if there is none.

    `level` is the error allowed for one pair; `passes` is a function of `_guarantees`.
    """
    if alpha == 1:  # any probability is at least 0
        return np.arange(n_resamples + 1)
    table = np.full(n_resamples + 1, -1, dtype=np.int64)
    apart = -1
    for seen in range(1, n_resamples + 1):
        if passes(apart + 1, seen, alpha, level):
            apart += 1
        table[seen] = apart
    return table


def sequence_tables(
    alpha: float, level: float, n_resamples: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for every B, how often a pair may be apart to be decided by a confidence sequence.

    The interval of Clopper and Pearson holds for a number of resamples that was fixed beforehand.
    If sampling stops depending on the results, the interval must hold for all numbers of resamples
    at once. Such intervals form a *confidence sequence*. This one is due to Robbins [1]_; see [2]_
    for the general theory. With a Beta(a, b) prior of the probability p, the likelihood ratio of
    the mixture and of one p,

        M = beta(a + A, b + D) / beta(a, b) / (p^A (1 - p)^D),

    is a martingale if p is the true value, so it ever reaches 1 / level with probability at most
    `level`. The values of p at which it has not are an interval around A / B. A pair is decided
    when 1 - alpha lies outside this interval. The prior is centered at 1 - alpha.

    Returns the tables `sure` and `possible`. A pair that was apart D times out of B has a
    probability above 1 - alpha if ``D <= sure[B]``, and below it if ``D > possible[B]``, with an
    error of at most `level` over all B together. In between it is undecided.

    .. [1] H. Robbins, "Statistical methods related to the law of the iterated logarithm",
       Annals of Mathematical Statistics 41, 1970.
    .. [2] S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, "Time-uniform, nonparametric,
       nonasymptotic confidence sequences", Annals of Statistics 49, 2021.
    """
    sure = bound_table(alpha, level, n_resamples, sequence_bound)
    possible = np.zeros(n_resamples + 1, dtype=np.int64)
    if alpha == 0:  # a pair that was apart once has a probability below 1
        return sure, possible
    apart = 0
    for seen in range(n_resamples + 1):
        while apart <= seen and not (
            apart > alpha * seen and is_decided(apart, seen, alpha, level)
        ):
            apart += 1
        possible[seen] = min(apart - 1, seen)
    return sure, possible


def least_seen(alpha: float, level: float, passes: Bound = exact_bound) -> float:
    """Return how often a pair must be seen, and never apart, to pass a bound."""
    if alpha == 1:
        return 0
    low, high = 0, 1
    while not passes(0, high, alpha, level):
        low, high = high, 2 * high
        if high > _MOST_SEEN:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(0, middle, alpha, level) else (middle, high)
    return high


def least_estimated(alpha: float, n_items: int | None) -> float:
    """Return how often a pair must be seen, and never apart, to be an edge by its estimate.

    >>> least_estimated(0.1, 150), least_estimated(0.0, 150)
    (9, inf)
    """
    share = Fraction(float(alpha)).limit_denominator(_FINEST)
    if n_items is None:
        return 0 if share == 1 else 1
    missing = 1 - share - Fraction(1, n_items)
    if missing <= 0:
        return 0
    return math.ceil(missing / share) if share else math.inf


def resamples_to_see(least: float, share: float, miss: float) -> float:
    """Return how many resamples show a pair at least `least` times, except with probability `miss`.

    `share` is the share of the resamples that contain the pair.

    >>> resamples_to_see(9, 1.0, 0.01), resamples_to_see(9, 0.4, 0.01)
    (9, 39)
    """
    if least < 1 or math.isinf(least):
        return least
    low, high = int(least) - 1, int(least)
    while binomial_tail(int(least) - 1, high, share) > miss:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        missed = binomial_tail(int(least) - 1, middle, share) > miss
        low, high = (middle, high) if missed else (low, middle)
    return high
