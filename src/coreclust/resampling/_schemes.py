"""Which items a resample is made of, and which of them it labels."""

from __future__ import annotations

import copy
import inspect
import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.compat import number_of_items, take_items
from coreclust._utils.jit import kernel, random_below, random_state_of

LABELS = ("drawn", "all", "oob")


class Bootstrap:
    """Draw n of n items with replacement, as in Algorithm 3 of the paper.

    Parameters
    ----------
    label : {"drawn", "all", "oob"}, default="drawn"
        Which items get a label in a resample: those that were drawn, as in the paper; all of
        them, by the `predict` of the estimator fitted to those drawn, so that every pair is
        seen in every resample, 2.5 times as often; or only those that were not drawn (out of
        bag), which for a classifier is the honest choice.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.resampling import Bootstrap
    >>> rows = Bootstrap().draw(100, np.random.SeedSequence(0))
    >>> rows.shape, np.unique(rows).size < 80
    ((100,), True)
    """

    def __init__(self, label: str = "drawn") -> None:
        self.label = _check_label(label)

    def draw(self, n_units: int, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        """Return the items of one sample, with repetitions; or the groups of items."""
        return _draw_rows(n_units, _word(seeds))

    def counts(self, n_units: int, resamples: list[np.random.SeedSequence]) -> NDArray[np.int32]:
        """Return how often each item is in each of some resamples, as `draw` draws them."""
        return _count_rows(n_units, np.array([_word(seeds) for seeds in resamples], np.uint64))

    def pair_share(self, n_units: int) -> float:
        """Return the share of resamples in which a pair is labeled, on average."""
        neither = (1 - 2 / n_units) ** n_units
        both = 1 - 2 * (1 - 1 / n_units) ** n_units + neither
        return {"drawn": both, "all": 1.0, "oob": neither}[self.label]

    def __repr__(self) -> str:
        return "Bootstrap()" if self.label == "drawn" else f"Bootstrap(label={self.label!r})"


class SmoothedBootstrap(Bootstrap):
    """A bootstrap that moves every drawn copy a little, for functions that dislike duplicates.

    Parameters
    ----------
    scale : float, default=0.1
        Standard deviation of the normal noise that is added, in standard deviations of each
        feature.
    label : {"drawn", "all", "oob"}, default="drawn"
        As for :class:`Bootstrap`; items that are predicted are not moved.

    Examples
    --------
    >>> from sklearn.cluster import HDBSCAN
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.resampling import SmoothedBootstrap
    >>> cc = CoreClustering(
    ...     HDBSCAN(copy=True), resampling=SmoothedBootstrap(0.2), n_resamples=50, random_state=0
    ... )
    >>> cc.fit(load_iris().data).ensemble_.n_resamples
    50
    """

    scale: float

    def __init__(self, scale: float = 0.1, label: str = "drawn") -> None:
        super().__init__(label)
        if not (isinstance(scale, Real) and math.isfinite(scale) and scale > 0):
            raise ValueError(f"scale must be a number above 0, got {scale!r}.")
        self.scale = float(scale)

    def jitter(self, X: NDArray[Any], rows: NDArray[np.int64], rng: Any) -> NDArray[np.float64]:
        """Return the drawn rows of X, moved."""
        drawn = X[rows].astype(np.float64)
        return drawn + self.scale * X.std(axis=0) * rng.standard_normal(drawn.shape)

    def __repr__(self) -> str:
        more = "" if self.label == "drawn" else f", label={self.label!r}"
        return f"SmoothedBootstrap({self.scale:g}{more})"


class Subsample:
    """Draw some of the items without replacement.

    Parameters
    ----------
    fraction : float, default=None
        Share of the items, above 0 and below 1; 0.5 if neither this nor `size` is given.
    size : int, default=None
        Number of items, instead of a share. With ``label="all"`` the reference clustering, too,
        is fitted to that many items and labels the others by `predict`, so that no fit grows
        with the data.
    label : {"drawn", "all", "oob"}, default="drawn"
        As for :class:`Bootstrap`.

    Notes
    -----
    A clustering of fewer items varies more: at half of the items or fewer, cores come out
    smaller than by the bootstrap. At 80 % resamples are more alike than bootstrap resamples, and
    cores come out larger.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.resampling import Subsample
    >>> rows = Subsample(0.25).draw(100, np.random.SeedSequence(0))
    >>> rows.size, np.unique(rows).size
    (25, 25)
    """

    def __init__(
        self, fraction: float | None = None, *, size: int | None = None, label: str = "drawn"
    ) -> None:
        if fraction is not None and size is not None:
            raise ValueError("Pass either fraction or size, not both.")
        if fraction is not None and not (isinstance(fraction, Real) and 0 < fraction < 1):
            raise ValueError(f"fraction must be a number above 0 and below 1, got {fraction!r}.")
        if size is not None and not (isinstance(size, Integral) and size >= 2):
            raise ValueError(f"size must be a whole number of items, 2 or more, got {size!r}.")
        self.fraction = fraction
        self.size = size
        self.label = _check_label(label)

    def n_drawn(self, n_units: int) -> int:
        """Return how many of the items are drawn; raise if that is not possible."""
        fraction = 0.5 if self.fraction is None else self.fraction
        n_drawn = math.floor(fraction * n_units + 1e-9) if self.size is None else int(self.size)
        if not 2 <= n_drawn < n_units:
            raise ValueError(
                f"resampling={self!r} draws {n_drawn} of {n_units} items (or groups); it must be "
                "2 or more, and fewer than all."
            )
        return n_drawn

    def draw(self, n_units: int, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        """Return the items of one sample; or the groups of items."""
        return _draw_distinct(n_units, self.n_drawn(n_units), _word(seeds))

    def counts(self, n_units: int, resamples: list[np.random.SeedSequence]) -> NDArray[np.int32]:
        """Return whether each item is in each of some resamples, as `draw` draws them."""
        words = np.array([_word(seeds) for seeds in resamples], np.uint64)
        return _count_distinct(n_units, self.n_drawn(n_units), words)

    def pair_share(self, n_units: int) -> float:
        """Return the share of resamples in which a pair is labeled."""
        inside = self.n_drawn(n_units)
        outside = n_units - inside
        if self.label == "all":
            return 1.0
        size = inside if self.label == "drawn" else outside
        return size * (size - 1) / (n_units * (n_units - 1))

    def __repr__(self) -> str:
        size = f"size={self.size}" if self.size is not None else f"{self.fraction or 0.5:g}"
        more = "" if self.label == "drawn" else f", label={self.label!r}"
        return f"Subsample({size}{more})"


class ParametricBootstrap:
    """Draw all items of a resample from a model of the data, and label those of the data.

    The estimator is fitted to n items drawn from the model and predicts the items of the
    data: they are all labeled in every resample, though never part of one.

    Parameters
    ----------
    model : object with a method `sample`
        Already fitted, for instance a :class:`~sklearn.mixture.GaussianMixture` or a
        :class:`~sklearn.neighbors.KernelDensity`. Either ``sample(n, random_state=…)`` or a
        `random_state` attribute makes it reproducible; one of the two is needed.

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
        # A Gaussian mixture gives one component after the other.
        order = np.random.default_rng([seed, 1]).permutation(n_items)
        return np.asarray(items)[order]

    def pair_share(self, n_units: int) -> float:
        """Return the share of resamples in which a pair is labeled."""
        return 1.0

    def __repr__(self) -> str:
        return f"ParametricBootstrap({self.model!r})"


class KnownDistribution:
    """Draw all items but two from a known distribution, as in Algorithm 2 of the paper.

    For every pair of items of a cluster, each resample is made of the pair and of n - 2 items
    drawn from the distribution, so the number of resamples is `n_resamples` times the number
    of pairs: for some hundred items at most. It is the definition of the co-occurrence
    probability, where :class:`Bootstrap` is an approximation.

    Parameters
    ----------
    source : callable or array-like
        A function ``source(n, rng)`` that draws n items with a numpy ``Generator``: an array,
        or a tuple of items and classes. Or a population, large compared with the data, to
        draw from with replacement.
    y : array-like, default=None
        The classes of a population, for a classifier.

    Notes
    -----
    Pairs of items with the same values are one and the same experiment, and share their
    resamples. The estimate is ``A / m``, without the prior of the bootstrap.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust import CoreClustering
    >>> from coreclust.cluster import KMeans
    >>> from coreclust.resampling import KnownDistribution
    >>> def two_groups(n, rng):
    ...     return rng.normal(size=(n, 1)) + rng.choice([0.0, 6.0], size=(n, 1))
    >>> X = two_groups(20, np.random.default_rng(0))
    >>> scheme = KnownDistribution(two_groups)
    >>> cc = CoreClustering(KMeans(2), resampling=scheme, n_resamples=100, random_state=0).fit(X)
    >>> cc.core_sample_indices_.size
    20
    """

    def __init__(self, source: Any, y: Any = None) -> None:
        if callable(source) and y is not None:
            raise ValueError("y is for a population; a function returns items and classes.")
        self.source = source
        self.y = y

    def draw(self, n_items: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return items from the distribution, and their classes or None."""
        if callable(self.source):
            drawn = self.source(n_items, rng)
            return drawn if isinstance(drawn, tuple) else (drawn, None)
        rows = rng.integers(number_of_items(self.source), size=n_items)
        classes = None if self.y is None else np.asarray(self.y)[rows]
        return take_items(self.source, rows), classes

    def __repr__(self) -> str:
        if callable(self.source):
            return f"KnownDistribution({getattr(self.source, '__name__', self.source)})"
        return f"KnownDistribution(<{number_of_items(self.source)} items>)"


IndexScheme = Bootstrap | Subsample  # draw from the items of the data
Scheme = IndexScheme | ParametricBootstrap


def check_resampling(resampling: Any) -> Scheme | KnownDistribution:
    """Return the scheme that a `resampling` argument stands for.

    Parameters
    ----------
    resampling : "bootstrap" or a scheme
        As for :class:`~coreclust.CoreClustering`; anything else is an error.

    Returns
    -------
    scheme : Bootstrap, Subsample, ParametricBootstrap or KnownDistribution

    Examples
    --------
    >>> from coreclust.resampling import check_resampling
    >>> check_resampling("bootstrap")
    Bootstrap()
    """
    if isinstance(resampling, str) and resampling == "bootstrap":
        return Bootstrap()
    if isinstance(resampling, (Bootstrap, Subsample, ParametricBootstrap, KnownDistribution)):
        return resampling
    raise ValueError(
        "resampling must be 'bootstrap', a Bootstrap, SmoothedBootstrap, Subsample, "
        f"ParametricBootstrap or KnownDistribution, got {resampling!r}."
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
    if n_items is None and isinstance(scheme, Subsample) and scheme.size is not None:
        raise ValueError("n_items is needed to tell what a Subsample of that size is a share of.")
    many = 10**9
    share = 1.0 if isinstance(scheme, KnownDistribution) else scheme.pair_share(n_items or many)
    if share == 0:
        raise ValueError(f"resampling={scheme!r} never labels two of {n_items} items together.")
    return math.ceil(alpha * (1 - alpha) / sigma**2 / share - 1e-9)


def _check_label(label: Any) -> str:
    if not isinstance(label, str) or label not in LABELS:
        raise ValueError(f"label must be one of {', '.join(map(repr, LABELS))}, got {label!r}.")
    return label


def _word(seeds: np.random.SeedSequence) -> np.uint64:
    return seeds.generate_state(1, np.uint64)[0]


@kernel
def _draw_rows(n_items, seed):
    state = random_state_of(seed)
    rows = np.empty(n_items, dtype=np.int64)
    for i in range(n_items):
        rows[i] = random_below(state, n_items)
    return rows


@kernel
def _count_rows(n_items, seeds):
    counts = np.zeros((seeds.size, n_items), dtype=np.int32)
    for resample in range(seeds.size):
        state = random_state_of(seeds[resample])
        for _ in range(n_items):
            counts[resample, random_below(state, n_items)] += 1
    return counts


@kernel
def _draw_distinct(n_items, n_drawn, seed):
    """Shuffle the items, but only as far as they are wanted."""
    state = random_state_of(seed)
    order = np.arange(n_items)
    for k in range(n_drawn):
        other = k + random_below(state, n_items - k)
        order[k], order[other] = order[other], order[k]
    return order[:n_drawn].copy()


@kernel
def _count_distinct(n_items, n_drawn, seeds):
    counts = np.zeros((seeds.size, n_items), dtype=np.int32)
    for resample in range(seeds.size):
        rows = _draw_distinct(n_items, n_drawn, seeds[resample])
        for k in range(n_drawn):
            counts[resample, rows[k]] = 1
    return counts
