"""The figures of a report, in the order in which the page shows them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coreclust._inspection.path import CorePath
from coreclust.plotting import AlphaPathDisplay, CooccurrenceDisplay, CoreClusterDisplay
from coreclust.report._content import Layout

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


@dataclass(frozen=True)
class Figure:
    """A figure of a report."""

    name: str  # its id in the page
    title: str  # above it
    caption: str  # below it
    alt: str  # its description for readers who cannot see it
    # Takes the fitted estimator, its path, the layout and the shown items; returns a display.
    draw: Callable[[CoreClustering, CorePath, Layout, NDArray[np.intp]], Any]
    # The CSS classes of the interactive chart that report.js draws instead, if there is one. The
    # picture is then shown only where JavaScript is off.
    chart: str = ""


def _scatter(fitted: CoreClustering, path: CorePath, layout: Layout, items: Any) -> Any:
    return CoreClusterDisplay(
        layout.positions[items],
        fitted.labels_[items],
        fitted.reference_labels_[items],
        fitted.cluster_names_,
        layout.axis_names,
    ).plot()


# The first figure is shown above the table of clusters, with the slider; the others below it.
FIGURES = (
    Figure(
        name="scatter",
        title="Which items are core",
        caption="Filled markers are core items. Open markers are weak items: they are in a cluster "
        "but not in its core. Stars are trimmed items, which are in no cluster.",
        alt="Scatter plot of the items. Filled markers are core, open markers are weak and stars "
        "are trimmed. The table of items shows the same.",
        draw=_scatter,
        chart="chart",
    ),
    Figure(
        name="curve",
        title="How much alpha matters",
        caption="The share of weak items at each alpha. Each cluster has a line; the thick line is "
        "for all items and counts trimmed items as weak. If the line of a cluster falls steeply at "
        "small alphas, nearly all of the cluster is stable. If it stays high, it is not stable.",
        alt="Weak fraction against alpha, one line per cluster and one for all items.",
        draw=lambda fitted, path, layout, items: AlphaPathDisplay.from_estimator(fitted, path=path),
        chart="chart low",
    ),
    Figure(
        name="heatmap",
        title="Co-occurrence of items",
        caption="The probability that two items are in the same cluster if the data is resampled. "
        "Blocks on the diagonal are clusters. Color outside of them shows where clusters mix.",
        alt="Heat map of the probability that two items are in the same cluster. Items are ordered "
        "by cluster.",
        draw=lambda fitted, path, layout, items: CooccurrenceDisplay.from_estimator(fitted),
    ),
)


def draw_figures(
    fitted: CoreClustering, path: CorePath, layout: Layout, items: NDArray[np.intp]
) -> list[tuple[Figure, str]]:
    """Return each figure with its picture, as a data URL."""
    pictures = []
    for figure in FIGURES:
        stream = BytesIO()
        drawn = figure.draw(fitted, path, layout, items).figure_
        drawn.savefig(stream, format="png", dpi=110, metadata={"Software": None})
        encoded = base64.b64encode(stream.getvalue()).decode()
        pictures.append((figure, f"data:image/png;base64,{encoded}"))
    return pictures
