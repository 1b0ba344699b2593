"""Formats the numbers of the calibration page."""

from __future__ import annotations

import math


def percent(share: float) -> str:
    """Return a share in percent; only a share of exactly 1 is 100 %.

    >>> percent(0.9712), percent(0.99999), percent(1.0)
    ('97.1 %', '99.99 %', '100 %')
    """
    digits = 1 if share < 0.999 or share >= 1 else 2
    text = f"{100 * share:.{digits}f}"
    if share < 1 and float(text) >= 100:
        text = "99.99"
    return f"{text} %".replace("100.0 %", "100 %")


def with_error(share: float, error: float) -> str:
    """Return a share and its standard error in percent; empty if there is no share.

    >>> with_error(0.9712, 0.0123), with_error(1.0, 0.0), with_error(math.nan, math.nan)
    ('97.1 ± 1.2 %', '100 %', '')
    """
    if math.isnan(share):
        return ""
    if math.isnan(error) or error == 0:
        return percent(share)
    return f"{percent(share)[:-2]} ± {100 * error:.1f} %"
