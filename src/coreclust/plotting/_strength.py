"""Plots the strength of items in their clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coreclust.plotting._style import WEAK_HATCH, look_of, new_axes, plain, status_legend, tidy

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

_N_BINS = 40
_TALLEST = 0.85  # height of the highest bar, as a share of the distance between rows


@dataclass(eq=False, repr=False)
class StrengthDisplay:
    """Histograms of the strength of core and weak items, one row per cluster.

    The strength of an item says how often it is clustered together with the other members of
    its cluster, as a share of all cases in which a resample contains both. The highest bar of
    each row has the same height. Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    strengths : ndarray of shape (n_items,)
        Strength of each item. Items with NaN are not drawn.
    labels : ndarray of int of shape (n_items,)
        Core label of each item, -1 for items in no core.
    reference_labels : ndarray of int of shape (n_items,)
        Cluster label of each item, -1 for trimmed items.
    cluster_names : ndarray of shape (n_clusters,)

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.plotting import StrengthDisplay
    >>> cc = CoreClustering(KMeans(3), n_resamples=50, random_state=0).fit(load_iris().data)
    >>> bool((StrengthDisplay.from_estimator(cc).strengths <= 1).all())
    True
    """

    strengths: NDArray[np.float64]
    labels: NDArray[np.int64]
    reference_labels: NDArray[np.int64]
    cluster_names: NDArray[Any]

    @classmethod
    def from_estimator(cls, estimator: CoreClustering, *, ax: Any = None) -> StrengthDisplay:
        """Draw the strengths of the items of a fitted core clustering.

        Parameters
        ----------
        estimator : fitted CoreClustering
        ax : matplotlib Axes, default=None
            The axes to draw on; by default a new figure, taller for more clusters.
        """
        check_is_fitted(estimator)
        return cls(
            estimator.strengths_,
            estimator.labels_,
            estimator.reference_labels_,
            estimator.cluster_names_,
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> StrengthDisplay:
        """Draw on `ax`, or on a new figure if it is None."""
        n_clusters = len(self.cluster_names)
        if ax is None:
            ax = new_axes(height=min(max(1.2 + 0.5 * n_clusters, 2.6), 30))
        known = self.strengths[np.isfinite(self.strengths)]
        lowest = np.floor(10 * known.min(initial=0.9)) / 10
        edges = np.linspace(min(lowest, 0.9), 1, _N_BINS + 1)
        for row in range(n_clusters):
            self._draw_row(ax, row, edges)
        ax.set_yticks(np.arange(n_clusters), [plain(name) for name in self.cluster_names])
        ax.tick_params(axis="y", length=0, labelsize=9)
        ax.set(xlabel="strength", xlim=(edges[0], edges[-1]))
        ax.set(ylabel="cluster", ylim=(max(n_clusters, 1) - 0.9, -1))
        tidy(ax)
        ax.spines["left"].set_visible(False)
        status_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_row(self, ax: Any, row: int, edges: NDArray[np.float64]) -> None:
        member = (self.reference_labels == row) & np.isfinite(self.strengths)
        is_core = self.labels == row
        core, _ = np.histogram(self.strengths[member & is_core], edges)
        weak, _ = np.histogram(self.strengths[member & ~is_core], edges)
        scale = _TALLEST / max((core + weak).max(), 1)
        color = look_of(row).color
        core_top, weak_top = row - scale * core, row - scale * (core + weak)
        look = {"width": np.diff(edges)[0], "align": "edge", "edgecolor": color, "linewidth": 0.6}
        lefts, has_core, has_weak = edges[:-1], core > 0, weak > 0
        ax.bar(lefts[has_core], core_top[has_core] - row, bottom=row, color=color, **look)
        look |= {"color": "white", "hatch": WEAK_HATCH, "bottom": core_top[has_weak]}
        ax.bar(lefts[has_weak], (weak_top - core_top)[has_weak], **look)
        ax.axhline(row, color="0.6", linewidth=0.6, zorder=0.5)
