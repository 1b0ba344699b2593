"""From counts to a verdict on a pair: the paper's estimate, exact bounds, and the edge rule.

A pair that was seen together in B resamples and set apart in D of them is an edge of the
core graph iff ``D <= table[B]``. The table is all the kernels know of statistics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, betaincinv, betaln, xlog1py, xlogy

_FINEST = 10**9  # denominators of alpha beyond this are noise of floating point

# How many resamples the prior of a confidence sequence weighs. The sequence is tightest where a
# pair was seen some ten to a hundred times as often.
_SEQUENCE_WEIGHT = 10


def cooccurrence_estimate(
    together: ArrayLike, seen: ArrayLike, n_items: int | None
) -> NDArray[np.float64]:
    """Return the paper's estimate of the co-occurrence probability.

    Algorithm 3 starts its counters at 1/n and 1, "a slight prior toward a flat
    distribution": ``p = (A + 1/n) / (B + 1)``.

    Parameters
    ----------
    together : array-like of int
        A, the resamples in which both items were present and had the same label.
    seen : array-like of int
        B, the resamples in which both items were present.
    n_items : int or None
        n, the number of items in the data (not in the cluster). None for no prior, as in
        Algorithm 2: ``p = A / B``.

    Returns
    -------
    p : ndarray of float
        NaN where there is no evidence and no prior.

    Examples
    --------
    >>> from coreclust.evidence._bounds import cooccurrence_estimate
    >>> float(cooccurrence_estimate(8, 8, n_items=10))
    0.9
    """
    if n_items is None:
        together, seen = np.asarray(together, dtype=np.float64), np.asarray(seen)
        return np.divide(together, seen, out=np.full(together.shape, np.nan), where=seen > 0)
    # Whole numbers and one division: rounded once. Counts may come in too narrow a type.
    together, seen = np.asarray(together, dtype=np.int64), np.asarray(seen, dtype=np.int64)
    return (together * n_items + 1) / ((seen + 1) * n_items)


def apart_table(alpha: float, n_items: int | None, n_resamples: int) -> NDArray[np.int64]:
    """Return, for every B, how often a pair may be apart and still be an edge.

    ``table[B]`` is the largest D with ``(B - D + 1/n) / (B + 1) >= 1 - alpha``, or, without
    the prior, with ``(B - D) / B >= 1 - alpha``; -1 where even D = 0 falls short. It is
    computed in whole numbers, with alpha taken as the nearest simple fraction (0.1 is one
    tenth, and so is 1 - 0.9), so that a pair exactly at 1 - alpha is an edge.

    Parameters
    ----------
    alpha : float
        Between 0 and 1.
    n_items : int or None
        n, the number of items in the data. None for no prior; then no evidence is no edge.
    n_resamples : int
        m, the largest B there can be.

    Returns
    -------
    table : ndarray of shape (n_resamples + 1,)
        Never falls from one B to the next.

    Examples
    --------
    >>> from coreclust.evidence._bounds import apart_table
    >>> apart_table(0.1, n_items=150, n_resamples=40)[[8, 9, 19, 40]].tolist()
    [-1, 0, 1, 3]
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
    table = np.maximum(np.minimum(seen - least_together, seen), -1).astype(np.int64)
    if not prior and threshold > 0:
        table[0] = -1
    return table


def confidence_table(alpha: float, level: float, n_resamples: int) -> NDArray[np.int64]:
    """Return, for every B, how often a pair may be apart and still be an edge with confidence.

    ``table[B]`` is the largest D for which the exact (Clopper-Pearson) lower bound of
    ``(B - D) / B`` at `level` is at least 1 - alpha, or -1 where even D = 0 falls short. The
    bound is that high iff a pair at exactly 1 - alpha would be apart D times or fewer with
    probability `level` at most, which is one binomial sum and no inversion.

    Parameters
    ----------
    alpha : float
        Between 0 and 1.
    level : float
        The error that is allowed for one pair, between 0 and 1.
    n_resamples : int
        m, the largest B there can be.

    Returns
    -------
    table : ndarray of shape (n_resamples + 1,)
        Never falls from one B to the next, nor rises by more than 1.

    Examples
    --------
    >>> from coreclust.evidence._bounds import confidence_table
    >>> confidence_table(0.1, level=0.05, n_resamples=100)[[28, 29, 50, 100]].tolist()
    [-1, 0, 1, 4]
    """
    if alpha == 1:  # any probability is at least 0
        return np.arange(n_resamples + 1)
    table = np.full(n_resamples + 1, -1, dtype=np.int64)
    apart = -1
    for seen in range(1, n_resamples + 1):
        if apart + 1 < seen and bdtr(apart + 1, seen, alpha) <= level:
            apart += 1
        table[seen] = apart
    return table


def sequence_tables(
    alpha: float, level: float, n_resamples: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for every B, how often a pair may be apart to be decided, however often one looks.

    The interval of Clopper and Pearson holds for a number of resamples that was fixed beforehand.
    Who looks at the resamples as they come, and stops when he likes what he sees, needs an
    interval that holds for all numbers of resamples at once: a *confidence sequence*. This is
    Robbins' [1]_ from a mixture of binomials, see [2]_ for the general theory. Under a prior
    Beta(a, b) of the probability p, the likelihood of the mixture over that of one p,

        M = beta(a + A, b + D) / beta(a, b) / (p^A (1 - p)^D),

    is a martingale if p is the truth, so that it ever reaches 1 / level with probability
    `level` at most. The p at which it has not are an interval around A / B; a pair is decided
    when 1 - alpha lies outside of it. The prior is centered there.

    Parameters
    ----------
    alpha : float
        Between 0 and 1.
    level : float
        The error that is allowed for one pair, over all numbers of resamples together.
    n_resamples : int
        m, the largest B there can be.

    Returns
    -------
    sure, possible : ndarray of shape (n_resamples + 1,)
        A pair that was apart D times out of B has a probability above 1 - alpha if
        ``D <= sure[B]``, and below if ``D > possible[B]``, with an error of `level` at most.
        In between it is undecided. Neither table ever falls.

    References
    ----------
    .. [1] H. Robbins, "Statistical methods related to the law of the iterated logarithm",
       Annals of Mathematical Statistics 41, 1970.
    .. [2] S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, "Time-uniform, nonparametric,
       nonasymptotic confidence sequences", Annals of Statistics 49, 2021.

    Examples
    --------
    >>> from coreclust.evidence._bounds import sequence_tables
    >>> sure, possible = sequence_tables(0.1, level=0.05, n_resamples=100)
    >>> sure[[50, 100]].tolist(), possible[[50, 100]].tolist()
    ([0, 2], [12, 20])
    """
    seen = np.arange(n_resamples + 1)
    if alpha == 1:  # any probability is at least 0
        return seen, seen
    if alpha == 0:  # apart once is not always together; but no number of resamples shows "always"
        return np.full(n_resamples + 1, -1), np.zeros(n_resamples + 1, dtype=np.int64)
    sure, possible = np.empty((2, n_resamples + 1), dtype=np.int64)
    low, high = -1, 0
    for B in range(n_resamples + 1):
        # Both are monotone: one more resample moves neither by more than one.
        while low + 1 < alpha * B and _decided(low + 1, B, alpha, level):
            low += 1
        while high <= B and not (high > alpha * B and _decided(high, B, alpha, level)):
            high += 1
        sure[B], possible[B] = low, min(high - 1, B)
    return sure, possible


def _decided(apart: int, seen: int, alpha: float, level: float) -> bool:
    """Tell whether a confidence sequence has left 1 - alpha behind."""
    return sequence_evidence(apart, seen, alpha) >= -math.log(level)


def sequence_evidence(apart: Any, seen: Any, alpha: float) -> Any:
    """Return the logarithm of the martingale of :func:`sequence_tables` at 1 - alpha.

    Parameters
    ----------
    apart, seen : int or ndarray of int
        In how many resamples a pair was apart, and in how many both were present.
    alpha : float
        Above 0 and below 1.

    Returns
    -------
    evidence : float or ndarray of float
        The larger, the less likely is a probability of 1 - alpha; -log(level) decides.

    Examples
    --------
    >>> from coreclust.evidence._bounds import sequence_evidence
    >>> bool(sequence_evidence(0, 100, 0.1) > sequence_evidence(10, 100, 0.1))
    True
    """
    a, b = _SEQUENCE_WEIGHT * (1 - alpha), _SEQUENCE_WEIGHT * alpha
    together = seen - apart
    mixture = betaln(a + together, b + apart) - betaln(a, b)
    return mixture - together * math.log1p(-alpha) - apart * math.log(alpha)


def least_seen(alpha: float, level: float, *, anytime: bool = False) -> float:
    """Return how often a pair must be seen, never apart, to be an edge with confidence at all.

    Parameters
    ----------
    alpha : float
        Between 0 and 1.
    level : float
        The error that is allowed for one pair.
    anytime : bool, default=False
        Whether the number of resamples is chosen by looking at them.

    Returns
    -------
    n_seen : int or inf

    Examples
    --------
    >>> from coreclust.evidence._bounds import least_seen
    >>> least_seen(0.1, level=0.05), least_seen(0.1, level=0.05, anytime=True)
    (29, 46)
    """
    if alpha == 1:
        return 0
    if alpha == 0:
        return math.inf
    needed = math.log(level) / math.log1p(-alpha)
    if not math.isfinite(needed):
        return math.inf
    if not anytime:
        return math.ceil(needed - 1e-9)
    low = high = max(math.floor(needed), 1)
    while not _decided(0, high, alpha, level):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _decided(0, middle, alpha, level) else (middle, high)
    return high


@dataclass(frozen=True)
class PairTest:
    """Tests of whether pairs of items belong together; a number a pair, or an array.

    Attributes
    ----------
    estimate : float
        The co-occurrence probability, as the cores use it.
    lower, upper : float
        Exact confidence interval of the probability: Clopper-Pearson, or, where the number of
        resamples was chosen by looking at them, that of a confidence sequence, as is `p_value`.
    p_value : float
        Of the hypothesis that the probability is below 1 - alpha: how likely the pair would
        be together as often as it was, or more often, if it were just 1 - alpha.
    together : bool
        Whether that hypothesis is rejected.
    n_together, n_seen : int
        The resamples in which the two had the same label, and in which both were present.

    Examples
    --------
    >>> from coreclust.evidence._bounds import pair_test
    >>> test = pair_test(together=398, seen=400, n_items=150, alpha=0.1, confidence=0.95)
    >>> test.together, test.n_seen, round(test.lower, 3)
    (True, 400, 0.982)
    """

    estimate: Any
    lower: Any
    upper: Any
    p_value: Any
    together: Any
    n_together: Any
    n_seen: Any


def pair_test(
    together: ArrayLike,
    seen: ArrayLike,
    n_items: int | None,
    *,
    alpha: float,
    confidence: float,
    anytime: bool = False,
) -> PairTest:
    """Test whether pairs co-occur with probability at least ``1 - alpha``.

    Parameters
    ----------
    together, seen : array-like of int
        A and B.
    n_items : int or None
        For the estimate, see :func:`cooccurrence_estimate`.
    alpha, confidence : float
        Each pair is tested by itself, at the level ``1 - confidence``.
    anytime : bool, default=False
        Whether the number of resamples was chosen by looking at them.

    Returns
    -------
    test : PairTest
        Of arrays, or of numbers if `together` and `seen` are.

    Examples
    --------
    >>> from coreclust.evidence._bounds import pair_test
    >>> test = pair_test([398, 350], [400, 400], 150, alpha=0.1, confidence=0.95)
    >>> test.together
    array([ True, False])
    """
    A, B = np.asarray(together, dtype=np.int64), np.asarray(seen, dtype=np.int64)
    if anytime:
        lower, upper = _sequence_interval(A, B, alpha, 1 - confidence)
        p_value = _sequence_p_value(A, B, alpha)
    else:
        lower, upper = _exact_interval(A, B, 1 - confidence)
        p_value = bdtr(B - A, B, alpha) if 0 < alpha < 1 else np.full(A.shape, 1.0 - alpha)
    p_value = np.where(B > 0, p_value, 1.0)
    found = (
        cooccurrence_estimate(A, B, n_items),
        lower,
        upper,
        p_value,
        p_value <= 1 - confidence,
        A,
        B,
    )
    return PairTest(*(value.item() if value.ndim == 0 else value for value in found))


def _exact_interval(
    A: NDArray[np.int64], B: NDArray[np.int64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the interval of Clopper and Pearson."""
    # At the ends of the scale the beta distribution has lost a parameter; the bound is 0 or 1.
    lower = np.where(A > 0, betaincinv(np.maximum(A, 1), B - A + 1, level / 2), 0.0)
    upper = np.where(A < B, betaincinv(A + 1, np.maximum(B - A, 1), 1 - level / 2), 1.0)
    return lower, upper


def _sequence_interval(
    A: NDArray[np.int64], B: NDArray[np.int64], alpha: float, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the interval of the confidence sequence, by bisection from A / B outwards."""
    center = alpha if 0 < alpha < 1 else 0.5  # of the prior, which must not be a single point
    a, b = _SEQUENCE_WEIGHT * (1 - center), _SEQUENCE_WEIGHT * center
    mixture = betaln(a + A, b + B - A) - betaln(a, b)
    middle = np.divide(A, B, out=np.full(A.shape, 0.5), where=B > 0)

    def bound(end: float) -> NDArray[np.float64]:
        inside, outside = middle.copy(), np.full(A.shape, end)
        for _ in range(60):
            p = (inside + outside) / 2
            is_in = mixture - xlogy(A, p) - xlog1py(B - A, -p) < -math.log(level)
            inside, outside = np.where(is_in, p, inside), np.where(is_in, outside, p)
        return outside

    return bound(0.0), bound(1.0)


def _sequence_p_value(
    A: NDArray[np.int64], B: NDArray[np.int64], alpha: float
) -> NDArray[np.float64]:
    """Return a p-value that may be looked at after any number of resamples."""
    if not 0 < alpha < 1:
        return np.full(A.shape, 1.0 - alpha)
    p_value = np.exp(-np.maximum(sequence_evidence(B - A, B, alpha), 0.0))
    return np.where(alpha * B > B - A, p_value, 1.0)
