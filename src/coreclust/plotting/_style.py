"""Colors, markers, figures and legends that all plots share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from coreclust._utils.text import shorten

# Okabe and Ito's palette for color-blind readers, without its yellow, and then darker colors for
# more than seven clusters. Some colors look alike in gray. There are not equally many colors,
# markers and dashes, so combinations repeat late.
COLORS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
    "#A50F3C", "#1B6B2F", "#8A8200", "#4B3FBF", "#A02CA0", "#7A4A1E",
)  # fmt: skip
MARKERS = "osD^vP<>hX"
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
WEAK_HATCH = "/////"
TRIMMED_COLOR = "0.45"
TRIMMED_FACE = "0.75"

_LONGEST_NAME = 24
_LARGE_LEGEND, _LARGEST_LEGEND = 16, 29  # rows that fit in 9 and in 7 points


class Look(NamedTuple):
    """Color, marker and dashes of a cluster."""

    color: str
    marker: str
    dashes: Any


def look_of(cluster: int) -> Look:
    """Return the look of a cluster, given its label."""
    return Look(
        COLORS[cluster % len(COLORS)],
        MARKERS[cluster % len(MARKERS)],
        DASHES[cluster % len(DASHES)],
    )


def plain(name: Any, longest: int = _LONGEST_NAME) -> str:
    """Return a name shortened and escaped for matplotlib."""
    # A dollar sign would start a formula; a single one would be an error.
    return shorten(name, longest).replace("$", r"\$")


def new_axes(width: float = 7.0, height: float = 4.4) -> Any:
    """Return axes on a new figure of the given size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib; install it with: pip install 'coreclust[plot]'"
        ) from error
    # Without pyplot, so that nothing has to be closed and no display is needed.
    return Figure(figsize=(width, height), layout="constrained", dpi=120).add_subplot()


def side_legend(ax: Any, handles: Sequence[Any], labels: Sequence[str], **options: Any) -> None:
    """Put a legend to the right of the axes; cut it if it is too long."""
    from matplotlib.lines import Line2D

    n_rows = len(labels)
    small = n_rows > _LARGE_LEGEND
    if n_rows > _LARGEST_LEGEND:
        kept = _LARGEST_LEGEND - 1
        handles = [*handles[:kept], Line2D([], [], linestyle="")]
        labels = [*labels[:kept], f"… and {n_rows - kept} more"]
    ax.legend(
        handles,
        labels,
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        frameon=False,
        fontsize=7 if small else 9,
        labelspacing=0.3 if small else 0.5,
        **options,
    )


def status_legend(ax: Any, *, with_trimmed: bool = False) -> None:
    """Add a legend for bars of core, weak and trimmed items."""
    from matplotlib.patches import Patch

    dark = "0.3"
    handles = [
        Patch(facecolor=dark, edgecolor=dark),
        Patch(facecolor="white", edgecolor=dark, hatch=WEAK_HATCH),
    ]
    texts = ["core", "weak"]
    if with_trimmed:
        handles.append(Patch(facecolor=TRIMMED_FACE, edgecolor=TRIMMED_COLOR))
        texts.append("trimmed")
    side_legend(ax, handles, texts)


def tidy(ax: Any) -> None:
    """Remove the top and right lines of the frame."""
    ax.spines[["top", "right"]].set_visible(False)
