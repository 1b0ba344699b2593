"""Checks the `resampling` argument, and computes the number of resamples that are needed."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from coreclust._utils.normal import stretch, unstretch_slope
from coreclust.resampling._bootstrap import Bootstrap
from coreclust.resampling._protocol import PlainScheme, Scheme

_MANY = 10**9  # the number of items if it is not given


def check_resampling(resampling: Any) -> Scheme:
    """Return the scheme for a `resampling` argument.

    Parameters
    ----------
    resampling : "bootstrap", a scheme, or any object with a method `draw`
        As for :class:`~coreclust.CoreClustering`.

    Returns
    -------
    scheme : Scheme

    Examples
    --------
    >>> from coreclust.resampling import check_resampling
    >>> check_resampling("bootstrap")
    Bootstrap()
    """
    if isinstance(resampling, str) and resampling == "bootstrap":
        return Bootstrap()
    if isinstance(resampling, Scheme):
        return resampling
    if not isinstance(resampling, type) and callable(getattr(resampling, "draw", None)):
        return PlainScheme(resampling)
    raise ValueError(
        "resampling must be 'bootstrap', a scheme of coreclust.resampling, or an object with a "
        f"method draw(n_items, seeds) that returns the rows of a resample, got {resampling!r}."
    )


def required_resamples(
    alpha: float = 0.1,
    sigma: float = 0.015,
    *,
    resampling: Any = "bootstrap",
    n_items: int | None = None,
) -> int:
    """Return the number of resamples needed to estimate a co-occurrence probability.

    A pair with probability ``1 - alpha`` must be seen ``N = alpha (1 - alpha) / sigma**2`` times
    for a standard error of sigma. A bootstrap contains both items with a probability of about 0.4,
    so N is divided by that. For a :class:`Subsample`, the standard error is that of the bootstrap
    probability that corresponds to the share of subsamples.

    Parameters
    ----------
    alpha : float, default=0.1
        Above 0 and below 1.
    sigma : float, default=0.015
        The standard error.
    resampling : "bootstrap" or a scheme, default="bootstrap"
        How resamples are drawn. If every item is labeled in every resample, the result is N.
    n_items : int, default=None
        Number of items. None is the limit for many items.

    Returns
    -------
    n_resamples : int

    Examples
    --------
    >>> from coreclust.resampling import Bootstrap, required_resamples
    >>> required_resamples(0.1, 0.015)
    1002
    >>> required_resamples(0.1, 0.01, resampling=Bootstrap(label="all"))
    900
    """
    for name, value in (("alpha", alpha), ("sigma", sigma)):
        if not (isinstance(value, Real) and 0 < value < 1):
            raise ValueError(f"{name} must be a number above 0 and below 1, got {value!r}.")
    if n_items is not None and not (isinstance(n_items, Integral) and n_items >= 2):
        raise ValueError(f"n_items must be a whole number, 2 or more, got {n_items!r}.")
    scheme = check_resampling(resampling)
    if n_items is None and getattr(scheme, "size", None) is not None:
        raise ValueError("n_items is needed for a scheme with a size; pass the number of items.")
    share = scheme.pair_share(n_items or _MANY)
    if share == 0:
        raise ValueError(f"resampling={scheme!r} never labels two of {n_items} items together.")
    factor = 1 / scheme.spread(n_items or _MANY)
    resampled = stretch(alpha, factor)
    error = sigma / unstretch_slope(alpha, factor)
    if min(resampled, 1 - resampled, error**2) == 0:
        raise ValueError(
            f"resampling={scheme!r} draws so many of the items that resamples hardly differ; draw "
            "a smaller share."
        )
    return math.ceil(resampled * (1 - resampled) / error**2 / share - 1e-9)
