"""The paper's scatter plot: filled core, open weak, starred trimmed items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from coreclust.core_clustering import CoreClustering

# Okabe and Ito's palette, which colour-blind people can tell apart, without its yellow.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "osD^vP<>hX"


class CoreClusterDisplay:
    """Scatter plot of a core clustering.

    One marker shape and colour a cluster: filled for core items, open for weak points,
    grey stars for trimmed items. Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    positions : ndarray of shape (n_items, 2)
        Where to draw each item.
    labels : ndarray of int of shape (n_items,)
        Core of each item, -1 for none.
    reference_labels : ndarray of int of shape (n_items,)
        Cluster of each item, -1 for trimmed items.
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

    def __init__(
        self,
        positions: NDArray[np.float64],
        labels: NDArray[np.int64],
        reference_labels: NDArray[np.int64],
        cluster_names: NDArray[Any],
        axis_names: tuple[str, str],
    ) -> None:
        self.positions = positions
        self.labels = labels
        self.reference_labels = reference_labels
        self.cluster_names = cluster_names
        self.axis_names = axis_names

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
        estimator : CoreClustering
            Fitted.
        X : array-like of shape (n_items, n_features), default=None
            The data. Two features are drawn as they are, more are reduced to their first
            two principal components.
        positions : array-like of shape (n_items, 2), default=None
            Where to draw the items instead, for instance a UMAP embedding.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        display : CoreClusterDisplay
        """
        check_is_fitted(estimator)
        if (X is None) == (positions is None):
            raise ValueError("Pass either X, the data, or positions, where to draw the items.")
        if positions is not None:
            places, axis_names = check_array(positions), ("", "")
            if places.shape[1] != 2:
                raise ValueError(f"positions must have 2 columns, got {places.shape[1]}.")
        else:
            places, axis_names = _project(X, estimator)
        n_items = estimator.labels_.size
        if len(places) != n_items:
            name = "X" if positions is None else "positions"
            raise ValueError(f"{name} must have a row for each of {n_items} items.")
        display = cls(
            places,
            estimator.labels_,
            estimator.reference_labels_,
            estimator.cluster_names_,
            axis_names,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> CoreClusterDisplay:
        """Draw on `ax`, or on a new figure."""
        if ax is None:
            ax = _new_axes()
        for cluster, name in enumerate(self.cluster_names):
            member = self.reference_labels == cluster
            core = self.labels == cluster
            look = {
                "marker": _MARKERS[cluster % len(_MARKERS)],
                "edgecolors": _COLOURS[cluster % len(_COLOURS)],
                "linewidths": 0.9,
                "s": 26,
            }
            # Weak points on top: they are fewer, and they are what one looks for.
            ax.scatter(
                *self.positions[core].T,
                facecolors=look["edgecolors"],
                label=f"cluster {name}: {core.sum()} core",
                **look,
            )
            weak = member & ~core
            if weak.any():
                ax.scatter(
                    *self.positions[weak].T,
                    facecolors="white",
                    label=f"cluster {name}: {weak.sum()} weak",
                    zorder=2.5,
                    **look,
                )
        trimmed = self.reference_labels < 0
        if trimmed.any():
            ax.scatter(
                *self.positions[trimmed].T,
                marker="*",
                c="0.45",
                s=36,
                linewidths=0,
                label=f"{trimmed.sum()} trimmed",
            )
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self


def _new_axes() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib; install it with: pip install 'coreclust[plot]'"
        ) from error
    # Not through pyplot: nothing to close, and no display needed.
    return Figure(figsize=(7, 4.4), layout="constrained", dpi=120).add_subplot()


def _project(X: Any, estimator: CoreClustering) -> tuple[NDArray[np.float64], tuple[str, str]]:
    data = check_array(X, dtype=np.float64, ensure_min_features=2)
    if data.shape[1] == 2:
        names = getattr(estimator, "feature_names_in_", ("feature 1", "feature 2"))
        return data, (str(names[0]), str(names[1]))
    pca = PCA(2, svd_solver="full").fit(data)
    shares = pca.explained_variance_ratio_
    return pca.transform(data), (
        f"principal component 1 ({shares[0]:.0%} of variance)",
        f"principal component 2 ({shares[1]:.0%} of variance)",
    )
