"""Draws the two figures of the paper: core filled, weak open, trimmed items as stars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.utils import Bunch

from coreclust.algorithms import ALGORITHMS
from coreclust.plotting import CoreClusterDisplay
from studies.paper.plan import PANELS
from studies.paper.published import DATASET_TITLES, bootstrap_figures
from studies.paper.tables import Findings

CAPTIONS = {
    1: "Core clusters of the synthetic data with k-means++",
    2: "Core clusters of the synthetic, iris and BCW data; iris and BCW are drawn by their first "
    "two principal components",
}
LEGEND = (
    "Each cluster has its own marker shape and color. Core items are filled, weak items are open, "
    "and trimmed items are stars (two trimmed items count as together, as in the paper)."
)

_N_COLUMNS = {1: 1, 2: 3}
_PANEL_INCHES = {1: (5.6, 4.4), 2: (3.3, 2.8)}
_MARKER_AREA = {1: 26.0, 2: 12.0}
_DPI = 110


@dataclass(frozen=True)
class Panel:
    """Data of one scatter plot.

    Attributes
    ----------
    title : str
    data : ndarray of shape (n_items, n_features) or None
        None leaves the panel empty.
    reference, labels : ndarray of int of shape (n_items,)
        The cluster and the core of each item, -1 for none.
    axis_names : tuple of two str
        For data with two features.
    reason : str
        Why the panel is empty.
    """

    title: str
    data: NDArray[np.float64] | None = None
    reference: NDArray[np.int64] | None = None
    labels: NDArray[np.int64] | None = None
    axis_names: tuple[str, str] = ("", "")
    reason: str = ""


def panels_of(number: int, findings: Findings, datasets: Mapping[str, Bunch]) -> list[Panel]:
    """Collect the data of a figure.

    Parameters
    ----------
    number : {1, 2}
    findings : Findings
    datasets : mapping from str to Bunch
        The datasets that were found.

    Returns
    -------
    panels : list of Panel
    """
    return [_panel(key, findings, datasets) for key in PANELS[number]]


def draw_figure(number: int, panels: Sequence[Panel]) -> Any:
    """Draw a figure.

    Parameters
    ----------
    number : {1, 2}
    panels : sequence of Panel

    Returns
    -------
    figure : matplotlib Figure

    Raises
    ------
    ImportError
        If matplotlib is missing.
    """
    from matplotlib.figure import Figure

    n_columns = _N_COLUMNS[number]
    n_rows = -(-len(panels) // n_columns)
    width, height = _PANEL_INCHES[number]
    # Without pyplot there is nothing to close, and no display is needed.
    figure = Figure(
        figsize=(width * n_columns, height * n_rows + 0.4), layout="constrained", dpi=_DPI
    )
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax, panel in zip(axes, panels, strict=True):
        _draw_panel(ax, panel, _MARKER_AREA[number])
    figure.legend(
        handles=_legend_handles(any(_has_trimmed(panel) for panel in panels)),
        loc="outside lower center",
        ncols=3,
        frameon=False,
    )
    return figure


def to_png(figure: Any) -> bytes:
    """Return a figure as a PNG file."""
    stream = BytesIO()
    figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()


def to_svg(figure: Any) -> bytes:
    """Return a figure as an SVG file, reproducible byte for byte."""
    import matplotlib as mpl

    stream = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "coreclust"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def _panel(key: tuple[str, str], findings: Findings, datasets: Mapping[str, Bunch]) -> Panel:
    dataset, algorithm = key
    title = f"{DATASET_TITLES[dataset]}, {ALGORITHMS[algorithm].title}"
    title = title[0].upper() + title[1:]
    cell = findings.plan.bootstrap(*key)
    result = None if cell is None else findings.results.get(cell)
    if result is None or dataset not in datasets:
        return Panel(title, reason=findings.why_not(cell))
    cut = result["noise"]["together"]
    published = bootstrap_figures()[key].paper.weak
    data = datasets[dataset]
    return Panel(
        f"{title}: {_percent(cut['weak_fraction'])} weak (paper: {_percent(published)})",
        np.asarray(data.data, dtype=np.float64),
        np.array(result["reference"]),
        np.array(cut["labels"]),
        (str(data.feature_names[0]), str(data.feature_names[1])),
    )


def _draw_panel(ax: Any, panel: Panel, marker_area: float) -> None:
    ax.set_title(panel.title, fontsize=9)
    if panel.data is None or panel.reference is None or panel.labels is None:
        ax.text(0.5, 0.5, panel.reason, ha="center", va="center", wrap=True, fontsize=8)
        ax.set_axis_off()
        return
    positions, axis_names = _positions(panel)
    names = np.unique(panel.reference[panel.reference >= 0])
    CoreClusterDisplay(positions, panel.labels, panel.reference, names, axis_names).plot(ax)
    ax.get_legend().remove()  # the figure has one for all panels
    for collection in ax.collections:
        collection.set_linewidths([0.7])
        if str(collection.get_label()).endswith("trimmed"):
            collection.set_sizes([1.8 * marker_area])
            collection.set_zorder(3)  # in front, because they are few and easily hidden
        else:
            collection.set_sizes([marker_area])
    ax.tick_params(labelsize=7)
    ax.xaxis.label.set_size(8)
    ax.yaxis.label.set_size(8)


def _positions(panel: Panel) -> tuple[NDArray[np.float64], tuple[str, str]]:
    data = panel.data
    assert data is not None  # noqa: S101 - for the type checker
    if data.shape[1] == 2:
        return data, panel.axis_names
    places: NDArray[np.float64] = PCA(2, svd_solver="full").fit_transform(data)
    return places, ("principal component 1", "principal component 2")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _has_trimmed(panel: Panel) -> bool:
    return panel.reference is not None and bool((panel.reference < 0).any())


def _legend_handles(with_stars: bool) -> list[Any]:
    from matplotlib.lines import Line2D

    looks = [("core", "o", "0.3", "0.3"), ("weak", "o", "white", "0.3")]
    if with_stars:
        looks.append(("trimmed", "*", "0.45", "0.45"))
    return [
        Line2D(
            [], [], linestyle="", marker=marker, label=name, markerfacecolor=face,
            markeredgecolor=edge, markersize=8 if marker == "*" else 6,
        )
        for name, marker, face, edge in looks
    ]  # fmt: skip
