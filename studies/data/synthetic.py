"""Draws the sample of the synthetic mixture that the authors used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coreclust.datasets._synthetic import CENTERS
from studies.data._r_random import RRandom


def paper_sample() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the 150 items that the authors drew in R with seed 42.

    Examples
    --------
    >>> from studies.data.synthetic import paper_sample
    >>> X, y = paper_sample()
    >>> X[0].round(6).tolist(), int(y[0])
    ([-0.718042, -0.924018], 3)
    """
    r = RRandom(42)
    y = 1 + r.integers(3, 150)  # all classes, then all first coordinates, then all second ones
    return np.ascontiguousarray(CENTERS[y] + r.normal(300).reshape(2, 150).T), y
