"""Designs of the study: known distributions, each with a clustering function."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from coreclust.cluster import HierarchicalClustering, KMeans

# Few starts, because the truth takes millions of clusterings. The number is part of the
# clustering function and the same everywhere in the study.
N_INIT = 3


class Distribution(Protocol):
    """A distribution of items."""

    n_features: int

    def draw(self, n_items: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw independent items."""

    def describe(self) -> str:
        """Return the distribution in a few words."""


@dataclass(frozen=True)
class Mixture:
    """Round groups around the corners of a regular polygon, by default a triangle.

    Parameters
    ----------
    side : float, default=4.0
        Distance between neighboring centers, in standard deviations of a normal group.
    weights : tuple of float, default=(1/3, 1/3, 1/3)
        Probabilities of the groups.
    n_features : int, default=2
        The centers differ in the first two features; the others are noise of the same size.
    degrees : int, default=None
        Degrees of freedom of multivariate t distributed groups; None for normal groups.
    scales : tuple of float, default=None
        Factors of the noise of each group; None for groups of the same size.
    skewed : bool, default=False
        Whether the noise of each feature is exponential, with the same mean and variance.

    Examples
    --------
    >>> import numpy as np
    >>> from studies.calibration.designs import Mixture
    >>> Mixture(side=6.0, n_features=5).draw(100, np.random.default_rng(0)).shape
    (100, 5)
    """

    side: float = 4.0
    weights: tuple[float, ...] = (1 / 3, 1 / 3, 1 / 3)
    n_features: int = 2
    degrees: int | None = None
    scales: tuple[float, ...] | None = None
    skewed: bool = False

    @property
    def centers(self) -> NDArray[np.float64]:
        """The centers of the groups, as rows."""
        n_groups = len(self.weights)
        centers = np.zeros((n_groups, self.n_features))
        if n_groups > 1:
            angles = 2 * np.pi * np.arange(n_groups) / n_groups
            centers[:, 0], centers[:, 1] = np.cos(angles), np.sin(angles)
            centers *= self.side / (2 * math.sin(math.pi / n_groups))
        return centers

    def draw(self, n_items: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw independent items."""
        group = rng.choice(len(self.weights), size=n_items, p=self.weights)
        if self.skewed:
            noise = rng.standard_exponential((n_items, self.n_features)) - 1
        else:
            noise = rng.standard_normal((n_items, self.n_features))
        if self.degrees is not None:
            noise *= np.sqrt(self.degrees / rng.chisquare(self.degrees, size=(n_items, 1)))
        if self.scales is not None:
            noise *= np.array(self.scales)[group, None]
        return self.centers[group] + noise

    def describe(self) -> str:
        """Return the distribution in a few words."""
        kind = "exponential" if self.skewed else "normal"
        if self.degrees is not None:
            kind = f"t with {self.degrees} degrees of freedom"
        if len(self.weights) == 1:
            return f"1 group, {kind}"
        text = f"{len(self.weights)} groups, {kind}, {self.side:g} apart"
        if len(set(self.weights)) > 1:
            text += ", " + ", ".join(f"{100 * weight:.0f}" for weight in self.weights) + " %"
        if self.scales is not None:
            text += ", scaled by " + ", ".join(f"{scale:g}" for scale in self.scales)
        return text


@dataclass(frozen=True)
class Square:
    """Items spread evenly over a square."""

    n_features: int = 2

    def draw(self, n_items: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw independent items."""
        return rng.random((n_items, self.n_features))

    def describe(self) -> str:
        """Return the distribution in a few words."""
        return "uniform on a square"


@dataclass(frozen=True)
class Moons:
    """Two half circles of radius 1 that reach into each other, with normal noise."""

    noise: float = 0.1
    n_features: int = 2

    def draw(self, n_items: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw independent items."""
        second = rng.random(n_items) < 0.5
        angle = np.pi * rng.random(n_items)
        x = np.where(second, 1 - np.cos(angle), np.cos(angle))
        y = np.where(second, 0.5 - np.sin(angle), np.sin(angle))
        return np.column_stack([x, y]) + self.noise * rng.standard_normal((n_items, 2))

    def describe(self) -> str:
        """Return the distribution in a few words."""
        return f"two moons, noise {self.noise:g}"


def _kmeans(n_clusters: int) -> KMeans:
    return KMeans(n_clusters, n_init=N_INIT)


def _average_linkage(n_clusters: int) -> HierarchicalClustering:
    return HierarchicalClustering(n_clusters, linkage="average")


def _leiden(_n_clusters: int) -> Any:
    from coreclust.cluster import Leiden

    return Leiden(n_neighbors=10, resolution=0.5)


#: The clustering functions, by name.
ALGORITHMS: dict[str, Callable[[int], Any]] = {
    "k-means": _kmeans,
    "average linkage": _average_linkage,
    "Leiden": _leiden,
}


@dataclass(frozen=True)
class Design:
    """A known distribution and a clustering function.

    Attributes
    ----------
    name : str
        The name on the command line.
    title : str
        The name in tables.
    mixture : Distribution
        The distribution, F.
    n_items : int
    n_clusters : int
        Number of clusters of the clustering function; of Leiden, the number that is expected.
    algorithm : {"k-means", "average linkage", "Leiden"}
    case : {"right", "few", "many", "none"}
        Whether the number of clusters is that of the groups, below, above, or there are no groups.
    old : bool
        Whether the rules for new data were chosen by looking at this design.
    n_datasets : int
        Number of datasets in a full study.
    """

    name: str
    title: str
    mixture: Distribution
    n_items: int
    n_clusters: int = 3
    algorithm: str = "k-means"
    case: str = "right"
    old: bool = False
    n_datasets: int = 20

    @property
    def can_predict(self) -> bool:
        """Whether the clustering function can label items that it was not fitted to."""
        return self.algorithm == "k-means"

    @property
    def has_ties(self) -> bool:
        """Whether several clusterings of the distribution are equally good."""
        return self.case in ("many", "none")

    @property
    def scheme(self) -> str:
        """The main resampling scheme; a graph of neighbors does not bear copies of items."""
        return "subsample" if self.algorithm == "Leiden" else "bootstrap"

    def estimator(self) -> Any:
        """Return the clustering function."""
        return ALGORITHMS[self.algorithm](self.n_clusters)


_UNEQUAL, _SIX = (0.7, 0.2, 0.1), (1 / 6,) * 6  # weights
_OLD = (
    Design("moderate-overlap", "moderate overlap", Mixture(), 60, old=True),
    Design("strong-overlap", "strong overlap", Mixture(side=2.5), 60, old=True),
    Design("n-200", "moderate overlap, n = 200", Mixture(), 200, old=True),
    Design("n-500", "moderate overlap, n = 500", Mixture(), 500, old=True),
    Design("imbalance", "groups of 70, 20 and 10 %", Mixture(weights=_UNEQUAL), 100, old=True),
    Design("ten-features", "ten features", Mixture(n_features=10), 100, old=True),
    Design("heavy-tails", "heavy tails (t, 3 df)", Mixture(side=6.0, degrees=3), 100, old=True),
    Design("too-few", "one cluster too few", Mixture(), 100, n_clusters=2, case="few", old=True),
    Design("too-many", "one cluster too many", Mixture(), 100, n_clusters=4, case="many", old=True),
    Design("hierarchical", "average linkage", Mixture(), 60, algorithm="average linkage", old=True),
)  # fmt: skip
_NEW = (
    Design("skewed", "skewed groups", Mixture(side=5.0, skewed=True), 100),
    Design("unequal", "groups of unequal size", Mixture(side=6.0, scales=(0.5, 1.0, 2.0)), 100),
    Design("fifty-features", "fifty features", Mixture(side=6.0, n_features=50), 100),
    Design("eight-of-six", "8 clusters of 6 groups", Mixture(5.0, _SIX), 120, 8, case="many"),
    Design("one-group", "3 clusters of one group", Mixture(weights=(1.0,)), 100, case="none"),
    Design("uniform", "uniform, 3 clusters", Square(), 100, case="none"),
    Design("moons", "two moons, average linkage", Moons(), 60, 2, "average linkage"),
    Design("leiden", "Leiden communities", Mixture(), 60, algorithm="Leiden", n_datasets=5),
)  # fmt: skip

#: The designs. The old ones were chosen before the study was first run, the new ones before the
#: rules for new data were run on them.
DESIGNS = {design.name: design for design in (*_OLD, *_NEW)}
