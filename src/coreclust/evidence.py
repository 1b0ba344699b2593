"""From counts to a verdict on a pair: the paper's estimate and its edge rule.

A pair that was seen together in B samples and set apart in D of them is an edge of the
core graph iff ``D <= table[B]``. The table is all the kernels know of statistics.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

_FINEST = 10**9  # denominators of alpha beyond this are noise of floating point


def cooccurrence_estimate(
    together: ArrayLike, seen: ArrayLike, n_items: int | None
) -> NDArray[np.float64]:
    """Return the paper's estimate of the co-occurrence probability.

    Algorithm 3 starts its counters at 1/n and 1, "a slight prior towards a flat
    distribution": ``p = (A + 1/n) / (B + 1)``.

    Parameters
    ----------
    together : array-like of int
        A, the samples in which both items were present and had the same label.
    seen : array-like of int
        B, the samples in which both items were present.
    n_items : int or None
        n, the number of items in the data (not in the cluster). None for no prior, as in
        Algorithm 2: ``p = A / B``.

    Returns
    -------
    p : ndarray of float
        NaN where there is no evidence and no prior.

    Examples
    --------
    >>> from coreclust.evidence import cooccurrence_estimate
    >>> float(cooccurrence_estimate(8, 8, n_items=10))
    0.9
    """
    if n_items is None:
        together, seen = np.asarray(together, dtype=np.float64), np.asarray(seen)
        return np.divide(together, seen, out=np.full(together.shape, np.nan), where=seen > 0)
    # Whole numbers and one division: rounded once.
    return (np.asarray(together) * n_items + 1) / ((np.asarray(seen) + 1) * n_items)


def apart_table(alpha: float, n_items: int | None, n_samples: int) -> NDArray[np.int64]:
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
    n_samples : int
        m, the largest B there can be.

    Returns
    -------
    table : ndarray of shape (n_samples + 1,)
        Never falls from one B to the next.

    Examples
    --------
    >>> from coreclust.evidence import apart_table
    >>> apart_table(0.1, n_items=150, n_samples=40)[[8, 9, 19, 40]].tolist()
    [-1, 0, 1, 3]
    """
    threshold = 1 - Fraction(float(alpha)).limit_denominator(_FINEST)
    prior = n_items is not None
    # A >= (1 - alpha) (B + 1) - 1/n  <=>  A * scale >= step * (B + 1) - offset
    scale = threshold.denominator * (n_items or 1)
    step = threshold.numerator * (n_items or 1)
    offset = threshold.denominator if prior else 0
    table = np.empty(n_samples + 1, dtype=np.int64)
    for seen in range(n_samples + 1):
        least_together = -((offset - step * (seen + prior)) // scale)
        table[seen] = max(min(seen - least_together, seen), -1)
    if not prior and threshold > 0:
        table[0] = -1
    return table
