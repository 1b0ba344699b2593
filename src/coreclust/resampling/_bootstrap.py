"""Defines the bootstraps, which draw n of n items with replacement."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust.resampling._draws import count_rows, draw_rows, seed_word, seed_words
from coreclust.resampling._protocol import Scheme, check_label


class Bootstrap(Scheme):
    """Draw n of n items with replacement, as in Algorithm 3 of the paper.

    Parameters
    ----------
    label : {"drawn", "all", "oob"}, default="drawn"
        The items that are labeled in a resample: those drawn, as in the paper; all items, by
        the `predict` of the estimator fitted to those drawn, so that every pair is seen in every
        resample; or only those not drawn (out of bag), which avoids the bias of a classifier
        towards its training items.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.resampling import Bootstrap
    >>> rows = Bootstrap().draw(100, np.random.SeedSequence(0))
    >>> rows.shape, np.unique(rows).size < 80
    ((100,), True)
    """

    def __init__(self, label: str = "drawn") -> None:
        self.label = check_label(label)

    def draw(self, n_units: int, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        return draw_rows(n_units, seed_word(seeds))

    def counts(self, n_units: int, resamples: list[np.random.SeedSequence]) -> NDArray[np.int32]:
        if not self._draws_like(Bootstrap):
            return super().counts(n_units, resamples)
        return count_rows(n_units, seed_words(resamples))

    def pair_share(self, n_units: int) -> float:
        if not self._draws_like(Bootstrap):
            return super().pair_share(n_units)
        neither = (1 - 2 / n_units) ** n_units
        both = 1 - 2 * (1 - 1 / n_units) ** n_units + neither
        return {"drawn": both, "all": 1.0, "oob": neither}[self.label]

    def __repr__(self) -> str:
        return self._repr("Bootstrap")


class SmoothedBootstrap(Bootstrap):
    """Draw a bootstrap and add noise to every drawn item, so that there are no duplicates.

    Parameters
    ----------
    scale : float, default=0.1
        Standard deviation of the normal noise, in standard deviations of each feature.
    label : {"drawn", "all", "oob"}, default="drawn"
        As for :class:`Bootstrap`. No noise is added to items that are predicted.

    Examples
    --------
    >>> from sklearn.cluster import HDBSCAN
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.resampling import SmoothedBootstrap
    >>> cc = CoreClustering(HDBSCAN(copy=True), resampling=SmoothedBootstrap(0.2), n_resamples=50)
    >>> cc.fit(load_iris().data).ensemble_.n_resamples
    50
    """

    repeats = False
    moves_items = True
    scale: float

    def __init__(self, scale: float = 0.1, label: str = "drawn") -> None:
        super().__init__(label)
        if not (isinstance(scale, Real) and math.isfinite(scale) and scale > 0):
            raise ValueError(f"scale must be a number above 0, got {scale!r}.")
        self.scale = float(scale)

    def move(self, X: NDArray[Any], rows: NDArray[np.int64], rng: Any) -> NDArray[np.float64]:
        """Return the drawn rows of X with noise added."""
        drawn = X[rows].astype(np.float64)
        return drawn + self.scale * X.std(axis=0) * rng.standard_normal(drawn.shape)

    def __repr__(self) -> str:
        return self._repr("SmoothedBootstrap", f"{self.scale:g}")
