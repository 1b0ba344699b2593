"""Defines the schemes that draw new items, from a model or from a known distribution."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np

from coreclust._utils.compat import number_of_items, take_items
from coreclust.resampling._protocol import Scheme


class ParametricBootstrap(Scheme):
    """Draw all items of a resample from a model of the data.

    The estimator is fitted to n items drawn from the model. It then predicts the labels of all
    items of the data.

    Parameters
    ----------
    model : object with a method `sample`
        A fitted model, for instance a :class:`~sklearn.mixture.GaussianMixture` or a
        :class:`~sklearn.neighbors.KernelDensity`. For reproducibility, either its method must
        take a `random_state`, or it must have an attribute `random_state`.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.mixture import GaussianMixture
    >>> from coreclust import CoreClustering
    >>> from coreclust.resampling import ParametricBootstrap
    >>> X = load_iris().data
    >>> scheme = ParametricBootstrap(GaussianMixture(3, random_state=0).fit(X))
    >>> cc = CoreClustering(KMeans(3), resampling=scheme, n_resamples=50, random_state=0).fit(X)
    >>> bool((cc.ensemble_.labels >= 0).all())
    True
    """

    label = "all"
    draws = "items"
    repeats = False

    def __init__(self, model: Any) -> None:
        sample = getattr(model, "sample", None)
        if not callable(sample):
            raise TypeError(f"model must have a method sample(n), got {type(model).__name__}.")
        self._takes_seed = "random_state" in inspect.signature(sample).parameters
        if not self._takes_seed and not hasattr(model, "random_state"):
            raise TypeError(
                f"model must be reproducible: {type(model).__name__} has neither a random_state "
                "attribute nor a sample() that takes one."
            )
        self.model = model

    def draw_items(self, n_items: int, seed: int) -> Any:
        """Return items drawn from the model."""
        if self._takes_seed:
            drawn = self.model.sample(n_items, random_state=seed)
        else:
            model = copy.copy(self.model)
            model.random_state = seed
            drawn = model.sample(n_items)
        items = drawn[0] if isinstance(drawn, tuple) else drawn
        # A Gaussian mixture returns the items sorted by component.
        order = np.random.default_rng([seed, 1]).permutation(n_items)
        return np.asarray(items)[order]

    def __repr__(self) -> str:
        return f"ParametricBootstrap({self.model!r})"


class KnownDistribution(Scheme):
    """Draw all items but two from a known distribution, as in Algorithm 2 of the paper.

    Every pair of items of a cluster has its own `n_resamples` resamples. Each consists of the pair
    and of n - 2 items drawn from the distribution. This follows the definition of the
    co-occurrence probability, which :class:`Bootstrap` approximates. It is feasible for a few
    hundred items.

    Parameters
    ----------
    source : callable or array-like
        A function ``source(n, rng)`` that draws n items with a numpy ``Generator`` and returns an
        array, or a tuple of items and classes. Or a population, large compared with the data, from
        which items are drawn with replacement.
    y : array-like, default=None
        The classes of a population, for a classifier.

    Notes
    -----
    Pairs of items with the same values share their resamples. The estimate is ``A / m``, without
    the prior of the bootstrap.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust import CoreClustering
    >>> from coreclust.resampling import KnownDistribution
    >>> def two_groups(n, rng):
    ...     return rng.normal(size=(n, 1)) + rng.choice([0.0, 6.0], size=(n, 1))
    >>> cc = CoreClustering(resampling=KnownDistribution(two_groups), n_resamples=100)
    >>> cc.resampling
    KnownDistribution(two_groups)
    """

    draws = "pairs"
    repeats = False

    def __init__(self, source: Any, y: Any = None) -> None:
        if callable(source) and y is not None:
            raise ValueError("y is for a population; a function returns items and classes.")
        self.source = source
        self.y = y

    def draw_items(self, n_items: int, rng: Any) -> tuple[Any, Any]:
        """Return items drawn from the distribution, and their classes or None."""
        if callable(self.source):
            drawn = self.source(n_items, rng)
            return drawn if isinstance(drawn, tuple) else (drawn, None)
        rows = rng.integers(number_of_items(self.source), size=n_items)
        classes = None if self.y is None else np.asarray(self.y)[rows]
        return take_items(self.source, rows), classes

    def pair_share(self, n_units: int) -> float:
        return 1.0  # every resample of a pair contains the pair

    def __repr__(self) -> str:
        if callable(self.source):
            return f"KnownDistribution({getattr(self.source, '__name__', self.source)})"
        return f"KnownDistribution(<{number_of_items(self.source)} items>)"
