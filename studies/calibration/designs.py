"""Designs of the study: known distributions, each with a clustering function."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust.cluster import HierarchicalClustering, KMeans

# Few starts, because the truth takes millions of clusterings. The number is part of the
# clustering function and the same everywhere in the study.
N_INIT = 3


@dataclass(frozen=True)
class Mixture:
    """Three round groups around the corners of an equilateral triangle.

    Parameters
    ----------
    side : float, default=4.0
        Distance between the centers, in standard deviations of a normal group.
    weights : tuple of three float, default=(1/3, 1/3, 1/3)
        Probabilities of the groups.
    n_features : int, default=2
        The centers differ in the first two features; the others are noise of the same size.
    degrees : int, default=None
        Degrees of freedom of multivariate t distributed groups; None for normal groups.

    Examples
    --------
    >>> import numpy as np
    >>> from studies.calibration.designs import Mixture
    >>> Mixture(side=6.0, n_features=5).draw(100, np.random.default_rng(0)).shape
    (100, 5)
    """

    side: float = 4.0
    weights: tuple[float, float, float] = (1 / 3, 1 / 3, 1 / 3)
    n_features: int = 2
    degrees: int | None = None

    @property
    def centers(self) -> NDArray[np.float64]:
        """The centers of the groups, as rows."""
        angles = 2 * np.pi * np.arange(3) / 3
        centers = np.zeros((3, self.n_features))
        centers[:, 0], centers[:, 1] = np.cos(angles), np.sin(angles)
        return centers * self.side / math.sqrt(3)

    def draw(self, n_items: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw independent items."""
        group = rng.choice(3, size=n_items, p=self.weights)
        noise = rng.standard_normal((n_items, self.n_features))
        if self.degrees is not None:
            noise *= np.sqrt(self.degrees / rng.chisquare(self.degrees, size=(n_items, 1)))
        return self.centers[group] + noise


@dataclass(frozen=True)
class Design:
    """A known distribution and a clustering function.

    Attributes
    ----------
    name : str
        The name on the command line.
    title : str
        The name in tables.
    mixture : Mixture
        The distribution, F.
    n_items : int
    n_clusters : int
        Number of clusters of the clustering function; there are three groups.
    algorithm : {"k-means", "average linkage"}
    """

    name: str
    title: str
    mixture: Mixture
    n_items: int
    n_clusters: int = 3
    algorithm: str = "k-means"

    @property
    def can_predict(self) -> bool:
        """Whether the clustering function can label items that it was not fitted to."""
        return self.algorithm == "k-means"

    def estimator(self) -> Any:
        """Return the clustering function."""
        if self.algorithm == "k-means":
            return KMeans(self.n_clusters, n_init=N_INIT)
        return HierarchicalClustering(self.n_clusters, linkage="average")


#: The designs, chosen before any of them was run.
DESIGNS = {
    design.name: design
    for design in (
        Design("moderate-overlap", "moderate overlap", Mixture(), 60),
        Design("strong-overlap", "strong overlap", Mixture(side=2.5), 60),
        Design("n-200", "moderate overlap, n = 200", Mixture(), 200),
        Design("n-500", "moderate overlap, n = 500", Mixture(), 500),
        Design("imbalance", "groups of 70, 20 and 10 %", Mixture(weights=(0.7, 0.2, 0.1)), 100),
        Design("ten-features", "ten features", Mixture(n_features=10), 100),
        Design("heavy-tails", "heavy tails (t, 3 df)", Mixture(side=6.0, degrees=3), 100),
        Design("too-few", "one cluster too few", Mixture(), 100, n_clusters=2),
        Design("too-many", "one cluster too many", Mixture(), 100, n_clusters=4),
        Design(
            "hierarchical", "average linkage", Mixture(), 60, algorithm="average linkage"
        ),
    )
}  # fmt: skip
