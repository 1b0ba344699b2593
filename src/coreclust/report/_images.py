"""The static pictures of a report, for readers without scripts, and for print."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coreclust._inspection.path import CorePath
from coreclust.plotting import AlphaPathDisplay, CooccurrenceDisplay, CoreClusterDisplay
from coreclust.report._content import Layout

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


def draw_images(
    fitted: CoreClustering, path: CorePath, layout: Layout, items: NDArray[np.intp]
) -> dict[str, str]:
    """Return pictures as addresses that hold their data.

    Parameters
    ----------
    fitted : CoreClustering
        Fitted.
    path : CorePath
    layout : Layout
    items : ndarray of int
        To be drawn.

    Returns
    -------
    images : dict from str to str
        `scatter`, `curve` and `heatmap`.
    """
    scatter = CoreClusterDisplay(
        layout.positions[items],
        fitted.labels_[items],
        fitted.reference_labels_[items],
        fitted.cluster_names_,
        layout.axis_names,
    ).plot()
    return {
        "scatter": _address(scatter),
        "curve": _address(AlphaPathDisplay.from_estimator(fitted, path=path)),
        "heatmap": _address(CooccurrenceDisplay.from_estimator(fitted)),
    }


def _address(display: Any) -> str:
    stream = BytesIO()
    display.figure_.savefig(stream, format="png", dpi=110, metadata={"Software": None})
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()
