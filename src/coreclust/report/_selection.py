"""Renders the selection of a number of clusters as one self-contained HTML file."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from coreclust._utils.text import p_text, shorten
from coreclust.plotting._selection import ClusterNumberDisplay
from coreclust.plotting._tree import NODE_WIDTH, StrengthColors, outline
from coreclust.plotting._tree_layout import Band, Box, TreeLayout, lay_out_tree
from coreclust.report import _html as html
from coreclust.report._text import clean, versions

if TYPE_CHECKING:
    from coreclust.model_selection import ClusterNumber

_MAX_BOXES = 2000  # a larger tree is not drawn
_MAX_EDGES = 500  # rows of the table
_HEIGHT, _MARGIN = 420, 30  # of the tree, in pixels
_WIDTH = 1080  # of the page; a tree with more levels than fit into it is scrolled
_NARROW, _WIDE = 70, 110  # distance of two levels
_HEIGHT_OF_BOX = 34  # on average, at least, where there are many
_LEAST_TEXT = 11  # height of a box that has room for text, in pixels
_MEASURES = {
    "weak_fraction": "Weak items",
    "mean_jaccard": "Mean Jaccard similarity",
    "ambiguous_pairs": "Ambiguous pairs",
}


def write_selection_report(
    number: ClusterNumber,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    made: Iterable[tuple[str, str]] = (),
    next_step: str | None = None,
) -> None:
    """Write the selection of a number of clusters to an HTML file that opens offline.

    Parameters
    ----------
    number : ClusterNumber
        As returned by :func:`~coreclust.model_selection.select_n_clusters`.
    path : str or path-like
        The file. It is written completely or not at all.
    title, made, next_step
        As for :func:`selection_html`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.model_selection import select_n_clusters
    >>> from coreclust.report import write_selection_report
    >>> X = load_iris().data
    >>> number = select_n_clusters(None, X, [2, 3], n_nulls=3, n_resamples=50, random_state=0)
    >>> write_selection_report(number, Path(mkdtemp()) / "selection.html")
    """
    html.write_page(
        path,
        lambda: selection_html(number, title=title, made=made, next_step=next_step),
        "selection.html",
    )


def selection_html(
    number: ClusterNumber,
    *,
    title: str | None = None,
    made: Iterable[tuple[str, str]] = (),
    next_step: str | None = None,
) -> str:
    """Return the selection of a number of clusters as HTML.

    The page has the recommended number and the reason, the measures at every number, their plot,
    the tree of cores, and how the page was made.

    Parameters
    ----------
    number : ClusterNumber
        As returned by :func:`~coreclust.model_selection.select_n_clusters`.
    title : str, default=None
        The title of the page.
    made : iterable of tuple of (str, str), default=()
        More about how the selection was made, such as the name of the file, as names and texts.
    next_step : str, default=None
        A command or code to run next.

    Returns
    -------
    page : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.model_selection import select_n_clusters
    >>> from coreclust.report import selection_html
    >>> X = load_iris().data
    >>> number = select_n_clusters(None, X, [2, 3], n_nulls=3, n_resamples=50, random_state=0)
    >>> selection_html(number)[:15]
    '<!doctype html>'
    """
    if not hasattr(number, "n_clusters") or not hasattr(number, "k"):
        raise TypeError(
            "number must be the result of select_n_clusters, got an object of type "
            f"{type(number).__name__}."
        )
    html.check_title(title)
    environment = html.templates()
    tree = number.tree()
    edges = tree.edges[(tree.edges["from_cluster"] >= 0) | (tree.edges["to_cluster"] >= 0)]
    style = html.asset("selection.css")
    drawing = _drawing(lay_out_tree(tree), number) if len(tree.nodes) <= _MAX_BOXES else None
    return environment.get_template("selection.html").render(
        title=clean(shorten(title, 120)) if title else "Number of clusters",
        number=number,
        rows=_rows(number),
        measures=_MEASURES,
        picture=_picture(number),
        drawing=drawing,
        sentences=tree.sentences(),
        edges=edges.head(_MAX_EDGES).to_dict("records"),
        n_edges=len(edges),
        next_step=None if next_step is None else clean(next_step),
        made=[(clean(name), clean(text)) for name, text in (*made, *_how_made(number))],
        style=html.trusted(style),
        policy=html.policy(style, []),
    )


def _rows(number: ClusterNumber) -> list[dict[str, Any]]:
    """Return one row per number of clusters."""
    rows = number.table().to_dict("records")
    for row in rows:
        row["p_text"] = p_text(row["p_value"], number.level).removeprefix("= ")
    return rows


def _picture(number: ClusterNumber) -> str:
    """Return the plot of the measures as a data URL."""
    stream = BytesIO()
    figure = ClusterNumberDisplay.from_selection(number).figure_
    figure.savefig(stream, format="png", dpi=110, metadata={"Software": None})
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"


def _drawing(layout: TreeLayout, number: ClusterNumber) -> dict[str, Any]:
    """Return the shapes of the tree, in pixels."""
    colors = StrengthColors(layout)
    n_steps = len(layout.levels) - 1 + NODE_WIDTH
    column = min(max((_WIDTH - 2 * _MARGIN) / n_steps, _NARROW), _WIDE)
    most = max(np.bincount([box.column for box in layout.boxes]).tolist())
    height = max(_HEIGHT, _HEIGHT_OF_BOX * most)
    high = height / layout.height

    def across(x: float) -> float:
        return _MARGIN + column * (0.5 * NODE_WIDTH + x)

    return {
        "width": f"{column * n_steps + 2 * _MARGIN:.0f}",
        "height": height + 2 * _MARGIN,
        "base": height + 2 * _MARGIN - 8,
        "levels": [
            {
                "x": f"{across(place):.1f}",
                "text": f"k = {level:g}",
                "chosen": level == number.n_clusters,
            }
            for place, level in enumerate(layout.levels)
        ],
        "bands": [
            {
                "path": _path(band, across, high),
                "color": None if band.is_weak else colors.of(band.strength),
                "words": f"from {_name(band.start, layout)} to {_name(band.end, layout)}: "
                f"{_counted(band.n_items)}{_strength(band)}",
            }
            for band in sorted(layout.bands, key=lambda band: not band.is_weak)
        ],
        "boxes": [
            {
                "x": f"{across(box.column - 0.5 * NODE_WIDTH):.1f}",
                "y": f"{_y(box.top, high):.1f}",
                "width": f"{column * NODE_WIDTH:.1f}",
                "height": f"{max((box.bottom - box.top) * high, 1):.1f}",
                "color": None if box.cluster < 0 else colors.of(box.strength),
                "text": "" if box.cluster < 0 else str(box.cluster),
                "has_room": (box.bottom - box.top) * high >= _LEAST_TEXT,
                "dark": _is_dark(colors.of(box.strength)),
                "middle": f"{_y(0.5 * (box.top + box.bottom), high):.1f}",
                "center": f"{across(box.column):.1f}",
                "beside": f"{across(box.column + 0.5 * NODE_WIDTH) + 3:.1f}",
                "words": f"{_name(box, layout)}: {_counted(box.n_items)}{_strength(box)}",
            }
            for box in layout.boxes
        ],
        "scale": [
            {"share": f"{share:.2f}", "color": colors.of(share)}
            for share in np.linspace(colors.lowest, 1.0, 5).tolist()
        ]
        if colors.are_known
        else [],
    }


def _y(share: float, high: float) -> float:
    return 8 + share * high


def _path(band: Band, across: Callable[[float], float], high: float) -> str:
    """Return a band as the path of an SVG."""
    points = [f"{across(x):.1f},{_y(y, high):.1f}" for x, y in outline(band)]
    return (
        f"M{points[0]}C{points[1]} {points[2]} {points[3]}"
        f"L{points[4]}C{points[5]} {points[6]} {points[7]}Z"
    )


def _name(box: Box, layout: TreeLayout) -> str:
    what = "items in no core" if box.cluster < 0 else f"core {box.cluster}"
    return f"{what} at k = {layout.levels[box.column]:g}"


def _counted(n_items: int) -> str:
    return f"{n_items:,} item{'s' * (n_items != 1)}"


def _strength(shape: Box | Band) -> str:
    return "" if np.isnan(shape.strength) else f", mean strength {shape.strength:.2f}"


def _is_dark(color: str) -> bool:
    red, green, blue = bytes.fromhex(color[1:])
    return 0.299 * red + 0.587 * green + 0.114 * blue < 140


def _how_made(number: ClusterNumber) -> list[tuple[str, str]]:
    used = f"{number.n_items:,}"
    if number.n_items < number.n_items_given:
        used += f" of {number.n_items_given:,}, chosen at random"
    null = {
        "uniform": "uniform in the box of the principal components",
        "permuted": "every column permuted",
    }
    return [
        ("Items", used),
        ("Numbers of clusters", ", ".join(map(str, number.k.tolist()))),
        ("Criterion", number.criterion),
        ("Null data", null.get(number.null, number.null)),
        ("Null datasets", f"{len(number.null_measures[number.criterion]):,}"),
        ("Level", f"{number.level:g}"),
        ("Date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        ("Versions", versions()),
    ]
