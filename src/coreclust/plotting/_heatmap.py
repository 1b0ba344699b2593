"""Plots the co-occurrence of items as a heat map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coreclust.plotting._items import ordered_items
from coreclust.plotting._style import new_axes, plain

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

_MAX_ITEMS = 1500
_MIN_LABEL_GAP = 0.035  # between the names of two clusters, as a share of the axis


@dataclass(eq=False, repr=False)
class CooccurrenceDisplay:
    """Heat map of the probability that two items are clustered together.

    Items are ordered by cluster, and within each cluster from the strongest to the weakest.
    Lines separate the clusters. Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    matrix : ndarray of shape (n_drawn, n_drawn)
        Co-occurrence probabilities of the drawn items, in this order; NaN where unknown.
    clusters : ndarray of int of shape (n_drawn,)
        The cluster of each drawn item, ascending; `len(cluster_names)` for trimmed items.
    cluster_names : ndarray of shape (n_clusters,)
    n_items : int
        Number of all items, including those that are not drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.plotting import CooccurrenceDisplay
    >>> cc = CoreClustering(KMeans(3), n_resamples=50, random_state=0).fit(load_iris().data)
    >>> CooccurrenceDisplay.from_estimator(cc).matrix.shape
    (150, 150)
    """

    matrix: NDArray[np.float64]
    clusters: NDArray[np.int64]
    cluster_names: NDArray[Any]
    n_items: int

    @classmethod
    def from_estimator(
        cls, estimator: CoreClustering, *, max_items: int = _MAX_ITEMS, ax: Any = None
    ) -> CooccurrenceDisplay:
        """Draw the co-occurrence of the items of a fitted core clustering.

        Parameters
        ----------
        estimator : fitted CoreClustering
        max_items : int, default=1500
            The largest number of items to draw. If there are more, a proportional number is
            selected from each cluster, spread evenly from its strongest to its weakest item,
            and the title says so.
        ax : matplotlib Axes, default=None
            The axes to draw on; a new figure by default.
        """
        check_is_fitted(estimator)
        if max_items < 1:
            raise ValueError(f"max_items must be 1 or more, got {max_items!r}.")
        items = ordered_items(estimator, max_items)
        clusters = estimator.reference_labels_[items]
        names = estimator.cluster_names_
        display = cls(
            estimator.ensemble_.cooccurrence_matrix(items, noise=estimator.noise),
            np.where(clusters < 0, len(names), clusters),
            names,
            estimator.labels_.size,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> CooccurrenceDisplay:
        """Draw on `ax`, or on a new figure if it is None."""
        if ax is None:
            ax = new_axes(6.2, 5.2)
        import matplotlib as mpl

        # Readable in gray, too; unknown values get a color that is not on the scale.
        colors = mpl.colormaps["YlGnBu"].with_extremes(bad="0.85")
        image = ax.imshow(
            self.matrix, vmin=0, vmax=1, cmap=colors, interpolation="nearest", rasterized=True
        )
        beside = ax.inset_axes((1.03, 0, 0.04, 1))  # always as tall as the map
        ax.figure.colorbar(image, cax=beside, label="co-occurrence probability")
        n_drawn = len(self.matrix)
        borders = np.flatnonzero(np.diff(self.clusters)) + 0.5
        for draw in (ax.axhline, ax.axvline):
            for border in borders:
                draw(border, color="black", linewidth=0.6)
        places, texts = self._cluster_labels()
        ax.set_yticks(places, texts)
        ax.set_xticks([])
        ax.tick_params(length=0, labelsize=8)
        ax.set_ylabel("cluster")
        drawn = f"{n_drawn:,} items"
        if n_drawn < self.n_items:
            drawn = f"{n_drawn:,} of {self.n_items:,} items"
        ax.set_title(f"{drawn}\nordered by cluster, strongest first", fontsize=9)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _cluster_labels(self) -> tuple[list[float], list[str]]:
        """Return the positions and names of the clusters, without names that would overlap."""
        places: list[float] = []
        texts: list[str] = []
        for cluster in np.unique(self.clusters).tolist():
            rows = np.flatnonzero(self.clusters == cluster)
            place = float(rows.mean())
            if not places or place - places[-1] >= _MIN_LABEL_GAP * len(self.clusters):
                places.append(place)
                named = cluster < len(self.cluster_names)
                texts.append(plain(self.cluster_names[cluster]) if named else "trimmed")
        return places, texts
