"""The `resampling` argument, and the number of resamples that a scheme needs."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from coreclust.resampling._bootstrap import Bootstrap
from coreclust.resampling._protocol import PlainScheme, Scheme

_MANY = 10**9  # items, where their number is not given


def check_resampling(resampling: Any) -> Scheme:
    """Return the scheme that a `resampling` argument stands for.

    Parameters
    ----------
    resampling : "bootstrap" or a scheme
        As for :class:`~coreclust.CoreClustering`; anything else is an error.

    Returns
    -------
    scheme : Scheme
        With all that the package asks of a scheme.

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
    """Return how many resamples it takes to estimate a co-occurrence probability.

    A pair at the threshold, with probability ``1 - alpha``, has to be seen
    ``N = alpha (1 - alpha) / sigma**2`` times for a standard error of sigma. A bootstrap
    resample holds it with probability ``p_s ** 2``, about 0.4, so m is N divided by that.

    Parameters
    ----------
    alpha : float, default=0.1
        Above 0 and below 1.
    sigma : float, default=0.015
        The standard error wanted.
    resampling : "bootstrap" or a scheme, default="bootstrap"
        How resamples are drawn; where every item is labeled in every resample, m is N.
    n_items : int, default=None
        Number of items, many by default.

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
        raise ValueError("n_items is needed to tell what share of the items a given size is.")
    share = scheme.pair_share(n_items or _MANY)
    if share == 0:
        raise ValueError(f"resampling={scheme!r} never labels two of {n_items} items together.")
    return math.ceil(alpha * (1 - alpha) / sigma**2 / share - 1e-9)
