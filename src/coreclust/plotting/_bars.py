"""Plots the number of core and weak items of each cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coreclust.plotting._style import (
    TRIMMED_COLOR,
    TRIMMED_FACE,
    WEAK_HATCH,
    look_of,
    new_axes,
    plain,
    status_legend,
    tidy,
)

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


@dataclass(eq=False, repr=False)
class ClusterSizesDisplay:
    """Bar plot of the number of core and weak items of each cluster, and of trimmed items.

    Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    core, weak : ndarray of int of shape (n_clusters,)
        Number of core and of weak items of each cluster.
    n_trimmed : int
        Number of items in no cluster.
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
    >>> from coreclust.plotting import ClusterSizesDisplay
    >>> cc = CoreClustering(KMeans(3), n_resamples=50, random_state=0).fit(load_iris().data)
    >>> display = ClusterSizesDisplay.from_estimator(cc)
    >>> int((display.core + display.weak).sum())
    150
    """

    core: NDArray[np.int64]
    weak: NDArray[np.int64]
    n_trimmed: int
    cluster_names: NDArray[Any]

    @classmethod
    def from_estimator(cls, estimator: CoreClustering, *, ax: Any = None) -> ClusterSizesDisplay:
        """Draw the sizes of the clusters of a fitted core clustering.

        Parameters
        ----------
        estimator : fitted CoreClustering
        ax : matplotlib Axes, default=None
            The axes to draw on; by default a new figure, taller for more clusters.
        """
        check_is_fitted(estimator)
        core = np.array([core.n_core for core in estimator.cores_], dtype=np.int64)
        weak = np.array([core.n_weak for core in estimator.cores_], dtype=np.int64)
        n_trimmed = estimator.trimmed_sample_indices_.size
        return cls(core, weak, n_trimmed, estimator.cluster_names_).plot(ax=ax)

    def plot(self, ax: Any = None) -> ClusterSizesDisplay:
        """Draw on `ax`, or on a new figure if it is None."""
        names = [plain(name) for name in self.cluster_names]
        if ax is None:
            n_bars = len(names) + (self.n_trimmed > 0)
            ax = new_axes(height=min(max(1.4 + 0.32 * n_bars, 2.6), 30))
        rows = np.arange(len(names))
        colors = [look_of(cluster).color for cluster in rows.tolist()]
        look = {"height": 0.7, "edgecolor": colors}
        ax.barh(rows, self.core, color=colors, **look)
        ax.barh(rows, self.weak, left=self.core, color="white", hatch=WEAK_HATCH, **look)
        if self.n_trimmed:
            names.append("trimmed")
            ax.barh(len(rows), self.n_trimmed, color=TRIMMED_FACE, edgecolor=TRIMMED_COLOR)
            ax.text(self.n_trimmed, len(rows), f" {self.n_trimmed:,}", va="center", fontsize=8)
        for row, (core, weak) in enumerate(zip(self.core, self.weak, strict=True)):
            text = f" {core:,} + {weak:,}" if weak else f" {core:,}"
            ax.text(core + weak, row, text, va="center", fontsize=8)
        ax.set_yticks(np.arange(len(names)), names, fontsize=9)
        ax.tick_params(axis="y", length=0)
        ax.invert_yaxis()
        ax.set(xlabel="items", ylabel="cluster")
        ax.margins(x=0.14, y=0.02)  # room for the numbers
        tidy(ax)
        status_legend(ax, with_trimmed=self.n_trimmed > 0)
        self.ax_, self.figure_ = ax, ax.figure
        return self
