"""Tests whether single pairs of items belong together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, betaincinv, betaln, xlog1py, xlogy

from coreclust.evidence._bounds import cooccurrence_estimate
from coreclust.evidence._guarantees import SEQUENCE_WEIGHT, sequence_evidence

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairTest:
    """Result of testing whether pairs of items belong together: numbers, or arrays over pairs.

    Attributes
    ----------
    estimate : float
        The co-occurrence probability, as the cores use it.
    lower, upper : float
        Exact confidence interval of the probability: Clopper-Pearson or, if the number of
        resamples was chosen by looking at the results, a confidence sequence.
    p_value : float
        P-value of the hypothesis that the probability is below 1 - alpha, of the same kind as the
        interval.
    together : bool
        Whether this hypothesis is rejected.
    n_together, n_seen : int
        The number of resamples in which the two items had the same label, and in which both were
        present.

    Examples
    --------
    >>> from coreclust.evidence import pair_test
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
        Whether the number of resamples was chosen by looking at the results.

    Returns
    -------
    test : PairTest
        With arrays, or with numbers if `together` and `seen` are numbers.

    Examples
    --------
    >>> from coreclust.evidence import pair_test
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
    estimate, rejected = cooccurrence_estimate(A, B, n_items), p_value <= 1 - confidence
    found = (estimate, lower, upper, p_value, rejected, A, B)
    return PairTest(*(value.item() if value.ndim == 0 else value for value in found))


def _exact_interval(A: Ints, B: Ints, level: float) -> tuple[Floats, Floats]:
    """Return the interval of Clopper and Pearson."""
    # At A = 0 and A = B the beta distribution is degenerate, and the bound is 0 or 1.
    lower = np.where(A > 0, betaincinv(np.maximum(A, 1), B - A + 1, level / 2), 0.0)
    upper = np.where(A < B, betaincinv(A + 1, np.maximum(B - A, 1), 1 - level / 2), 1.0)
    return lower, upper


def _sequence_interval(A: Ints, B: Ints, alpha: float, level: float) -> tuple[Floats, Floats]:
    """Return the interval of the confidence sequence, by bisection between A / B and 0 or 1."""
    center = alpha if 0 < alpha < 1 else 0.5  # of the prior, which must not be a single point
    a, b = SEQUENCE_WEIGHT * (1 - center), SEQUENCE_WEIGHT * center
    mixture = betaln(a + A, b + B - A) - betaln(a, b)
    middle = np.divide(A, B, out=np.full(A.shape, 0.5), where=B > 0)

    def bound(end: float) -> Floats:
        inside, outside = middle.copy(), np.full(A.shape, end)
        for _ in range(60):
            p = (inside + outside) / 2
            is_in = mixture - xlogy(A, p) - xlog1py(B - A, -p) < -math.log(level)
            inside, outside = np.where(is_in, p, inside), np.where(is_in, outside, p)
        return outside

    return bound(0.0), bound(1.0)


def _sequence_p_value(A: Ints, B: Ints, alpha: float) -> Floats:
    """Return a p-value that holds for all numbers of resamples at once."""
    if not 0 < alpha < 1:
        return np.full(A.shape, 1.0 - alpha)
    p_value = np.exp(-np.maximum(sequence_evidence(B - A, B, alpha), 0.0))
    return np.where(alpha * B > B - A, p_value, 1.0)
