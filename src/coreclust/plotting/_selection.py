"""Plots for choosing the number of clusters and the algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.text import percent
from coreclust.plotting._style import COLORS, new_axes, plain, side_legend, tidy

if TYPE_CHECKING:
    from coreclust.model_selection import AlgorithmComparison, ClusterNumber, ClusterResolution

_TITLES = {
    "weak_fraction": "share of weak items",
    "mean_jaccard": "mean Jaccard similarity",
    "ambiguous_pairs": "share of ambiguous pairs",
}


@dataclass(eq=False, repr=False)
class ClusterNumberDisplay:
    """Plot of the stability at each number of clusters, for the data and for null data.

    Parameters
    ----------
    k : ndarray of int of shape (n_k,)
    measured : ndarray of shape (n_k,)
        The value of the criterion for the data.
    null_measures : ndarray of shape (n_nulls, n_k)
        The value of the criterion for each null dataset (data without structure).
    n_clusters : int or None
        The recommended number of clusters.
    title : str
        The name of the criterion, used as the label of the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.model_selection import select_n_clusters
    >>> from coreclust.plotting import ClusterNumberDisplay
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> number = select_n_clusters(None, X, range(2, 5), n_nulls=5, random_state=0)
    >>> display = ClusterNumberDisplay.from_selection(number)
    >>> display.figure_.savefig("number.png")  # doctest: +SKIP
    """

    k: NDArray[np.int64]
    measured: NDArray[np.float64]
    null_measures: NDArray[np.float64]
    n_clusters: int | None
    title: str

    @classmethod
    def from_selection(cls, number: ClusterNumber, *, ax: Any = None) -> ClusterNumberDisplay:
        """Draw the result of :func:`~coreclust.model_selection.select_n_clusters`.

        Parameters
        ----------
        number : ClusterNumber
        ax : matplotlib Axes, default=None
            The axes to draw on; a new figure by default.
        """
        return cls(
            number.k,
            number.measured[number.criterion],
            number.null_measures[number.criterion],
            number.n_clusters,
            _TITLES[number.criterion],
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> ClusterNumberDisplay:
        """Draw on `ax`, or on a new figure if it is None."""
        if ax is None:
            ax = new_axes()
        chosen = np.flatnonzero(self.k == self.n_clusters)
        _draw_measures(ax, self.k, self.measured, self.null_measures, chosen, str(self.n_clusters))
        ax.set(xlabel="number of clusters", ylabel=self.title, ylim=(-0.03, 1.03))
        ax.set_xlim(self.k[0] - 0.5, self.k[-1] + 0.5)
        if self.k.size <= 20:
            ax.set_xticks(self.k)
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass(eq=False, repr=False)
class ResolutionDisplay:
    """Plot of the stability at each resolution, for the data and for null data.

    The numbers above the dots are the numbers of clusters. Filled dots are more stable than chance,
    with few weak items.

    Parameters
    ----------
    resolutions : ndarray of shape (n_resolutions,)
    n_clusters : ndarray of int of shape (n_resolutions,)
        The number of clusters of the data.
    measured : ndarray of shape (n_resolutions,)
        The value of the criterion for the data.
    null_measures : ndarray of shape (n_nulls, n_resolutions)
        The value of the criterion for each null dataset (data without structure); may be empty.
    stable : ndarray of bool of shape (n_resolutions,)
        At which resolutions the clusters are more stable than chance.
    resolution : float or None
        The recommended resolution.
    title : str
        The name of the criterion, used as the label of the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.model_selection import select_resolution
    >>> from coreclust.plotting import ResolutionDisplay
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> found = select_resolution(X, [0.5, 1.0], n_nulls=3, random_state=0)
    >>> display = ResolutionDisplay.from_selection(found)
    >>> display.figure_.savefig("resolution.png")  # doctest: +SKIP
    """

    resolutions: NDArray[np.float64]
    n_clusters: NDArray[np.int64]
    measured: NDArray[np.float64]
    null_measures: NDArray[np.float64]
    stable: NDArray[np.bool_]
    resolution: float | None
    title: str

    @classmethod
    def from_selection(cls, found: ClusterResolution, *, ax: Any = None) -> ResolutionDisplay:
        """Draw the result of :func:`~coreclust.model_selection.select_resolution`.

        Parameters
        ----------
        found : ClusterResolution
        ax : matplotlib Axes, default=None
            The axes to draw on; a new figure by default.
        """
        return cls(
            found.resolutions,
            found.n_clusters,
            found.measured[found.criterion],
            found.null_measures[found.criterion],
            found.stable,
            found.resolution,
            _TITLES[found.criterion],
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> ResolutionDisplay:
        """Draw on `ax`, or on a new figure if it is None."""
        if ax is None:
            ax = new_axes()
        x = np.arange(self.resolutions.size)  # evenly spaced, so that all numbers can be read
        chosen = np.flatnonzero(self.resolutions == self.resolution)
        name = f"{self.resolution:g}" if chosen.size else ""
        _draw_measures(ax, x, self.measured, self.null_measures, chosen, name)
        hollow = ~self.stable
        look = {"color": COLORS[0], "markerfacecolor": "white", "zorder": 3.5}
        ax.plot(x[hollow], self.measured[hollow], "o", **look)
        for at, (value, number) in enumerate(zip(self.measured, self.n_clusters, strict=True)):
            ax.annotate(
                str(number), (at, value), xytext=(0, 11), textcoords="offset points", ha="center"
            )
        ax.set(xlabel="resolution", ylabel=self.title, ylim=(-0.05, 1.12))
        ax.set(xlim=(-0.5, x.size - 0.5), yticks=np.linspace(0, 1, 6))
        ax.set_xticks(x, [f"{value:g}" for value in self.resolutions.tolist()])
        if x.size > 12:
            ax.tick_params(axis="x", rotation=90)
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _draw_measures(
    ax: Any,
    x: NDArray[Any],
    measured: NDArray[np.float64],
    null_measures: NDArray[np.float64],
    chosen: NDArray[np.intp],
    name: str,
) -> None:
    """Draw the measures of the data and of null data, and a ring around what is recommended."""
    handles, texts = [], []
    if len(null_measures):
        least, most = null_measures.min(axis=0), null_measures.max(axis=0)
        middle = null_measures.mean(axis=0)
        # Bars and not a band, which would have no width if there is a single dot.
        (chance,) = ax.plot(x, middle, "s--", color="0.35", markerfacecolor="white", ms=5)
        bars = {"fmt": "none", "ecolor": "0.6", "elinewidth": 5, "alpha": 0.6, "zorder": 1}
        ax.errorbar(x, middle, yerr=[middle - least, most - middle], **bars)
        handles, texts = [chance], ["null data:\nmean and range"]
    (data,) = ax.plot(x, measured, "o-", color=COLORS[0], zorder=3)
    handles, texts = [data, *handles], ["data", *texts]
    if chosen.size:
        look = {"ms": 13, "markerfacecolor": "none", "linestyle": "none"}
        look |= {"markeredgecolor": COLORS[1], "markeredgewidth": 2}
        (ring,) = ax.plot(x[chosen], measured[chosen], "o", zorder=4, clip_on=False, **look)
        handles.append(ring)
        texts.append(f"recommended: {name}")
    side_legend(ax, handles, texts)


@dataclass(eq=False, repr=False)
class ComparisonDisplay:
    """Plot of the weak fraction of several algorithms and of their agreement.

    Parameters
    ----------
    names : list of str
    weak_fraction : ndarray of shape (n_algorithms,)
    agreement : ndarray of shape (n_algorithms, n_algorithms)
        Share of the items that are core under both algorithms or under neither.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.model_selection import compare_algorithms
    >>> from coreclust.plotting import ComparisonDisplay
    >>> found = compare_algorithms(
    ...     load_iris().data, ["kmeans", "hclust"], n_clusters=3, n_resamples=50, random_state=0
    ... )
    >>> display = ComparisonDisplay.from_comparison(found)
    >>> display.figure_.savefig("comparison.png")  # doctest: +SKIP
    """

    names: list[str]
    weak_fraction: NDArray[np.float64]
    agreement: NDArray[np.float64]

    @classmethod
    def from_comparison(cls, comparison: AlgorithmComparison) -> ComparisonDisplay:
        """Draw the result of :func:`~coreclust.model_selection.compare_algorithms`.

        Parameters
        ----------
        comparison : AlgorithmComparison
        """
        weak = np.array([found.weak_fraction for found in comparison.measures])
        return cls(comparison.names, weak, comparison.agreement).plot()

    def plot(self) -> ComparisonDisplay:
        """Draw on a new figure."""
        n = len(self.names)
        names = [plain(name) for name in self.names]
        figure = new_axes(8.0, 1.8 + 0.55 * n).figure
        figure.clear()
        bars, table = figure.subplots(1, 2)
        bars.barh(np.arange(n), self.weak_fraction, color=COLORS[0], height=0.6)
        for row, share in enumerate(self.weak_fraction.tolist()):
            bars.annotate(
                percent(share), (share, row), xytext=(4, 0), textcoords="offset points", va="center"
            )
        bars.set(yticks=np.arange(n), yticklabels=names, ylim=(n - 0.5, -0.5))
        bars.set(xlabel="share of weak items", xlim=(0, 1))
        tidy(bars)
        table.imshow(self.agreement, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for i in range(n):
            for j in range(n):
                share = self.agreement[i, j]
                color = "white" if share > 0.6 else "black"
                table.text(j, i, f"{share:.2f}", ha="center", va="center", color=color)
        table.set(xticks=np.arange(n), yticks=np.arange(n), xticklabels=names, yticklabels=names)
        table.set_title("share of items with the same status\n(core or not core)", fontsize=10)
        table.spines[:].set_visible(False)
        table.tick_params(length=0)
        if n > 4:
            table.tick_params(axis="x", rotation=45)
        self.axes_, self.figure_ = np.array([bars, table]), figure
        return self
