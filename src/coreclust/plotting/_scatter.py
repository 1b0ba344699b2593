"""Draws the paper's scatter plot of core, weak and trimmed items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from coreclust.plotting._items import check_positions, project
from coreclust.plotting._style import TRIMMED_COLOR, look_of, new_axes, plain, side_legend, tidy

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


@dataclass(eq=False, repr=False)
class CoreClusterDisplay:
    """Scatter plot of a core clustering.

    Each cluster has its own color and marker shape. Core items are filled, weak items are open,
    and trimmed items are gray stars. Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    positions : ndarray of shape (n_items, 2)
        Coordinates of each item in the plot.
    labels : ndarray of int of shape (n_items,)
        Core label of each item, -1 for items in no core.
    reference_labels : ndarray of int of shape (n_items,)
        Cluster label of each item, -1 for trimmed items.
    cluster_names : ndarray of shape (n_clusters,)
    axis_names : tuple of two str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.plotting import CoreClusterDisplay
    >>> X = load_iris().data
    >>> cc = CoreClustering(KMeans(3), n_resamples=50, random_state=0).fit(X)
    >>> display = CoreClusterDisplay.from_estimator(cc, X)
    >>> display.figure_.savefig("cores.png")  # doctest: +SKIP
    """

    positions: NDArray[np.float64]
    labels: NDArray[np.int64]
    reference_labels: NDArray[np.int64]
    cluster_names: NDArray[Any]
    axis_names: tuple[str, str]

    @classmethod
    def from_estimator(
        cls,
        estimator: CoreClustering,
        X: Any = None,
        *,
        positions: ArrayLike | None = None,
        ax: Any = None,
    ) -> CoreClusterDisplay:
        """Draw a fitted core clustering.

        Parameters
        ----------
        estimator : fitted CoreClustering
        X : array-like of shape (n_items, n_features), default=None
            The data. Two features are drawn as they are, a single feature against the strength
            of the items, and more features as their first two principal components.
        positions : array-like of shape (n_items, 2), default=None
            Coordinates to draw the items at instead, for instance a UMAP embedding.
        ax : matplotlib Axes, default=None
            The axes to draw on; a new figure by default.
        """
        check_is_fitted(estimator)
        if (X is None) == (positions is None):
            raise ValueError("Pass either X, the data, or positions, where to draw the items.")
        if positions is not None:
            places = check_positions(positions, estimator.labels_.size)
            axis_names = ("", "")
        else:
            places, axis_names = project(estimator, X)
        labels, reference = estimator.labels_, estimator.reference_labels_
        return cls(places, labels, reference, estimator.cluster_names_, axis_names).plot(ax=ax)

    def plot(self, ax: Any = None) -> CoreClusterDisplay:
        """Draw on `ax`, or on a new figure if it is None."""
        if ax is None:
            ax = new_axes()
        from matplotlib.legend_handler import HandlerTuple

        size, edge = _marker_size(len(self.positions))
        handles: list[tuple[Any, ...]] = []  # a filled and an open marker per cluster
        texts: list[str] = []
        for cluster, name in enumerate(self.cluster_names):
            core = self.labels == cluster
            weak = (self.reference_labels == cluster) & ~core
            look = look_of(cluster)
            handles.append((_marker(look.marker, look.color, look.color),))
            texts.append(f"{plain(name)}: {core.sum()} core")
            style = {"marker": look.marker, "edgecolors": look.color, "linewidths": edge, "s": size}
            ax.scatter(
                *self.positions[core].T,
                facecolors=look.color,
                label=f"cluster {plain(name)}: {core.sum()} core",
                **style,
            )
            if weak.any():
                handles[-1] += (_marker(look.marker, look.color, "white"),)
                texts[-1] += f", {weak.sum()} weak"
                # On top, because weak items are fewer and of more interest.
                ax.scatter(
                    *self.positions[weak].T,
                    facecolors="white",
                    label=f"cluster {plain(name)}: {weak.sum()} weak",
                    zorder=2.5,
                    **style,
                )
        trimmed = self.reference_labels < 0
        if trimmed.any():
            handles.append((_marker("*", TRIMMED_COLOR, TRIMMED_COLOR),))
            texts.append(f"{trimmed.sum()} trimmed")
            ax.scatter(
                *self.positions[trimmed].T,
                marker="*",
                c=TRIMMED_COLOR,
                s=1.4 * size,
                linewidths=0,
                label=texts[-1],
            )
        ax.set(xlabel=plain(self.axis_names[0], 60), ylabel=plain(self.axis_names[1], 60))
        tidy(ax)
        pairs = {tuple: HandlerTuple(ndivide=2, pad=0.4)}
        side_legend(ax, handles, texts, handler_map=pairs, title="cluster", alignment="left")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _marker(shape: str, edge: str, face: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], linestyle="", marker=shape, markersize=5, markeredgecolor=edge, markerfacecolor=face
    )


def _marker_size(n_items: int) -> tuple[float, float]:
    """Return the area and the line width of markers, smaller for more items."""
    if n_items <= 500:
        return 26.0, 0.9
    area = max(26.0 * 500 / n_items, 5.0)
    return area, max(0.9 * (area / 26.0) ** 0.5, 0.5)
