"""Converts probabilities between normal distributions of different spread."""

from __future__ import annotations

import math


def stretch(p: float, factor: float) -> float:
    """Return the probability whose normal quantile is `factor` times that of `p`.

    >>> round(stretch(0.9, 0.5), 3), stretch(0.1, 1.0), stretch(0.0, 0.5)
    (0.739, 0.1, 0.0)
    """
    if factor == 1 or p in (0, 1):
        return p
    from scipy.special import ndtr, ndtri

    return float(ndtr(factor * ndtri(p)))


def unstretch_slope(p: float, factor: float) -> float:
    """Return how fast `p` changes with ``stretch(p, factor)``.

    >>> unstretch_slope(0.9, 1.0), round(unstretch_slope(0.9, 2.0), 2)
    (1.0, 5.87)
    """
    if factor == 1:
        return 1.0
    from scipy.special import ndtri

    # The ratio of the normal densities at the two quantiles, divided by the factor.
    exponent = (factor**2 - 1) * float(ndtri(p)) ** 2 / 2
    return math.exp(exponent) / factor if exponent < 700 else math.inf
