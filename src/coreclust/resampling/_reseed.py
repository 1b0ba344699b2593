"""Defines the scheme that keeps the data and changes only the seeds of the estimator."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coreclust.resampling._protocol import Scheme


class Reseed(Scheme):
    """Cluster all items each time, with other seeds.

    The clusterings differ only by the random numbers of the estimator, such as the starts of
    k-means. The cores then tell how stable the *algorithm* is on this data. They say nothing about
    other data, so they are no substitute for a bootstrap. An estimator without random numbers gives
    the same clustering every time.
    :func:`~coreclust.model_selection.instability_sources` compares this scheme with another one.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.resampling import Reseed
    >>> kmeans = KMeans(5, init="random", n_init=1)
    >>> cc = CoreClustering(kmeans, resampling=Reseed(), n_resamples=50, random_state=0)
    >>> cc.fit(load_iris().data).weak_sample_indices_.size > 0
    True
    """

    repeats = False

    def draw(self, n_units: int, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        return np.arange(n_units)

    def pair_share(self, n_units: int) -> float:
        return 1.0 if self._draws_like(Reseed) else super().pair_share(n_units)

    def __repr__(self) -> str:
        return self._repr("Reseed")
