"""Plots the weak fraction against alpha."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coreclust._inspection.path import CorePath
from coreclust.plotting._style import look_of, new_axes, plain, side_legend, tidy

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

_N_MARKERS = 7  # per line


@dataclass(eq=False, repr=False)
class AlphaPathDisplay:
    """Plot of the weak fraction against alpha, one line per cluster.

    Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    alphas : ndarray of shape (n_alphas,)
    weak_fractions : ndarray of shape (n_alphas, n_clusters)
        The share of the items of each cluster that are not in its core.
    overall : ndarray of shape (n_alphas,)
        The share of all items that are in no core.
    cluster_names : ndarray of shape (n_clusters,)
    alpha : float, default=None
        A value of alpha to mark with a vertical line.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> from coreclust.plotting import AlphaPathDisplay
    >>> cc = CoreClustering(KMeans(3), n_resamples=50, random_state=0).fit(load_iris().data)
    >>> AlphaPathDisplay.from_estimator(cc, path=cc.alpha_path([0.1, 0.2])).weak_fractions.shape
    (2, 3)
    """

    alphas: NDArray[np.float64]
    weak_fractions: NDArray[np.float64]
    overall: NDArray[np.float64]
    cluster_names: NDArray[Any]
    alpha: float | None = None

    @classmethod
    def from_estimator(
        cls, estimator: CoreClustering, *, path: CorePath | None = None, ax: Any = None
    ) -> AlphaPathDisplay:
        """Draw the weak fractions of a fitted core clustering.

        Parameters
        ----------
        estimator : fitted CoreClustering
        path : CorePath, default=None
            The result of :meth:`~coreclust.CoreClustering.alpha_path`, if already computed.
        ax : matplotlib Axes, default=None
            The axes to draw on; a new figure by default.
        """
        check_is_fitted(estimator)
        path = estimator.alpha_path() if path is None else path
        if path.parameter != "alpha":
            raise ValueError(f"path must come from alpha_path(), got a path of {path.parameter}.")
        sizes = np.array([core.n_items for core in estimator.cores_])
        return cls(
            path.values,
            1 - path.core_sizes.reshape(path.values.size, sizes.size) / sizes,
            path.weak_fraction,
            estimator.cluster_names_,
            estimator.alpha,
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> AlphaPathDisplay:
        """Draw on `ax`, or on a new figure if it is None."""
        if ax is None:
            ax = new_axes()
        handles, texts = [], []
        step = max(self.alphas.size // _N_MARKERS, 1)
        for cluster, name in enumerate(self.cluster_names):
            look = look_of(cluster)
            style = {"color": look.color, "linestyle": look.dashes, "linewidth": 1.3}
            # The markers are at other places than on other lines.
            style |= {"marker": look.marker, "markersize": 4.5, "markevery": (cluster % step, step)}
            (line,) = ax.plot(self.alphas, self.weak_fractions[:, cluster], clip_on=False, **style)
            handles.append(line)
            texts.append(f"cluster {plain(name)}")
        (line,) = ax.plot(self.alphas, self.overall, color="0.35", linewidth=3, zorder=1.5)
        handles.insert(0, line)
        texts.insert(0, "all items")
        if self.alpha is not None:
            line = ax.axvline(self.alpha, color="0.35", linewidth=1, linestyle=(0, (1, 2)))
            handles.insert(0, line)
            texts.insert(0, f"alpha = {self.alpha:g}")
        highest = max(self.weak_fractions.max(initial=0), self.overall.max(initial=0))
        ax.set(xlabel="alpha", ylabel="weak fraction", ylim=(0, min(max(1.05 * highest, 0.1), 1)))
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
        tidy(ax)
        side_legend(ax, handles, texts, handlelength=3.2)
        self.ax_, self.figure_ = ax, ax.figure
        return self
