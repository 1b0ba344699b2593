"""Plots how cores split and merge from one number of clusters to the next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from coreclust.plotting._style import TRIMMED_COLOR, TRIMMED_FACE, new_axes
from coreclust.plotting._tree_layout import Band, TreeLayout, lay_out_tree

if TYPE_CHECKING:
    from coreclust.model_selection import ClusterNumber, ClusterResolution, CoreTree

NODE_WIDTH = 0.22  # as a share of the distance between columns
PLAIN_COLOR = "#5b8db8"  # of all cores if strengths are not known
_LIGHTEST, _DARKEST = 0.05, 0.85  # part of the color map that is used
_CMAP = "viridis_r"
_SMALL, _LARGE = 6, 8  # sizes of the text in boxes, in points


@dataclass(eq=False, repr=False)
class CoreTreeDisplay:
    """Plot of the cores at several levels and of the items that they have in common.

    Each column is a level, for example a number of clusters. Each box is a core; its height is the
    number of its items. A band between two boxes has the items that are in both. Darker boxes and
    bands are stronger. Gray boxes are the items that are in no core. Boxes are ordered so that few
    bands cross.

    Parameters
    ----------
    tree : CoreTree
        As returned by :func:`~coreclust.model_selection.core_tree`.
    level_name : str, default="level"
        The label of the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from coreclust.model_selection import core_tree
    >>> from coreclust.plotting import CoreTreeDisplay
    >>> tree = core_tree([2, 3], [[0, 0, 0, 1, 1], [0, 0, 2, 1, -1]])
    >>> display = CoreTreeDisplay.from_tree(tree, level_name="number of clusters")
    >>> display.figure_.savefig("tree.png")  # doctest: +SKIP
    """

    tree: CoreTree
    level_name: str = "level"

    @classmethod
    def from_tree(
        cls, tree: CoreTree, *, level_name: str = "level", ax: Any = None
    ) -> CoreTreeDisplay:
        """Draw a tree of cores.

        Parameters
        ----------
        tree : CoreTree
        level_name : str, default="level"
            The label of the axis.
        ax : matplotlib Axes, default=None
            The axes to draw on; by default a new figure, wider for more levels.
        """
        return cls(tree, level_name).plot(ax=ax)

    @classmethod
    def from_selection(
        cls, found: ClusterNumber | ClusterResolution, *, ax: Any = None
    ) -> CoreTreeDisplay:
        """Draw the cores of a selection at every number of clusters, or at every resolution.

        Parameters
        ----------
        found : ClusterNumber or ClusterResolution
            As returned by :func:`~coreclust.model_selection.select_n_clusters` or
            :func:`~coreclust.model_selection.select_resolution`.
        ax : matplotlib Axes, default=None
            The axes to draw on; by default a new figure, wider for more levels.
        """
        name = "resolution" if hasattr(found, "resolutions") else "number of clusters"
        return cls(found.tree(), name).plot(ax=ax)

    def plot(self, ax: Any = None) -> CoreTreeDisplay:
        """Draw on `ax`, or on a new figure if it is None."""
        layout = lay_out_tree(self.tree)
        if ax is None:
            n_boxes = max(np.bincount([box.column for box in layout.boxes]))
            width = min(max(1.6 + 1.0 * len(layout.levels), 5.0), 24.0)
            ax = new_axes(width, min(max(2.4 + 0.28 * n_boxes, 4.4), 16.0))
        colors = StrengthColors(layout)
        self._draw_bands(ax, layout, colors)
        self._draw_boxes(ax, layout, colors)
        ax.set_xticks(range(len(layout.levels)), [f"{level:g}" for level in layout.levels])
        ax.set(xlabel=self.level_name, yticks=[])
        ax.set_xlim(-0.5 * NODE_WIDTH - 0.1, len(layout.levels) - 1 + 0.5 * NODE_WIDTH + 0.1)
        ax.set_ylim(layout.height + 0.01, -0.01)  # the first box is at the top
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0)
        self._draw_legend(ax, layout, colors)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_bands(self, ax: Any, layout: TreeLayout, colors: StrengthColors) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
        for band in sorted(layout.bands, key=lambda band: not band.is_weak):
            path = Path([*outline(band), (0, 0)], codes)
            face = TRIMMED_FACE if band.is_weak else colors.of(band.strength)
            alpha = 0.3 if band.is_weak else 0.55
            ax.add_patch(PathPatch(path, facecolor=face, alpha=alpha, linewidth=0))

    def _draw_boxes(self, ax: Any, layout: TreeLayout, colors: StrengthColors) -> None:
        from matplotlib.colors import to_rgb
        from matplotlib.patches import Rectangle
        from matplotlib.patheffects import withStroke

        inches = ax.get_figure().get_size_inches()[1] * 0.8 * ax.get_position().height
        for box in layout.boxes:
            is_weak = box.cluster < 0
            face = TRIMMED_FACE if is_weak else colors.of(box.strength)
            corner = box.column - 0.5 * NODE_WIDTH, box.top
            edge = TRIMMED_COLOR if is_weak else "0.2"
            look: dict[str, Any] = {"facecolor": face, "edgecolor": edge, "linewidth": 0.6}
            ax.add_patch(Rectangle(corner, NODE_WIDTH, box.bottom - box.top, **look))
            height = (box.bottom - box.top) / layout.height * inches
            if is_weak:
                continue
            if height > _SMALL / 72:
                dark = float(np.dot(to_rgb(face), (0.299, 0.587, 0.114))) < 0.55
                middle = 0.5 * (box.top + box.bottom)
                ax.text(
                    box.column,
                    middle,
                    str(box.cluster),
                    ha="center",
                    va="center",
                    fontsize=_LARGE if height > _LARGE / 72 else _SMALL,
                    color="white" if dark else "black",
                )
            else:  # beside the box, readable on bands
                ax.annotate(
                    str(box.cluster),
                    (box.column + 0.5 * NODE_WIDTH, 0.5 * (box.top + box.bottom)),
                    xytext=(2, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=_SMALL,
                    path_effects=[withStroke(linewidth=2, foreground="white")],
                )

    def _draw_legend(self, ax: Any, layout: TreeLayout, colors: StrengthColors) -> None:
        from matplotlib.patches import Patch

        if any(box.cluster < 0 for box in layout.boxes):
            weak = Patch(facecolor=TRIMMED_FACE, edgecolor=TRIMMED_COLOR, label="in no core")
            ax.legend(
                handles=[weak],
                loc="lower right",
                bbox_to_anchor=(1.0, 1.0),
                frameon=False,
                fontsize=9,
                borderaxespad=0.2,
            )
        if colors.are_known:
            bar = ax.get_figure().colorbar(colors.scale, ax=ax, shrink=0.7, pad=0.02)
            bar.set_label("mean strength of the items")
            bar.outline.set_visible(False)


class StrengthColors:
    """The colors of strengths: the stronger, the darker."""

    def __init__(self, layout: TreeLayout) -> None:
        known = [box.strength for box in layout.boxes if box.cluster >= 0]
        known += [band.strength for band in layout.bands if not band.is_weak]
        known = [strength for strength in known if not math.isnan(strength)]
        self.are_known = bool(known)
        self.lowest = min(math.floor(10 * min(known, default=1.0)) / 10, 0.9)

    def of(self, strength: float) -> str:
        """Return the color of a strength, in hexadecimal."""
        from matplotlib.colors import to_hex

        if math.isnan(strength):
            return PLAIN_COLOR
        return str(to_hex(self.scale.to_rgba(strength)))

    @cached_property
    def scale(self) -> Any:
        """The colors as a mappable of matplotlib."""
        import matplotlib as mpl
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import ListedColormap, Normalize

        used = mpl.colormaps[_CMAP](np.linspace(_LIGHTEST, _DARKEST, 256))
        return ScalarMappable(Normalize(self.lowest, 1.0), ListedColormap(used))


def outline(band: Band) -> list[tuple[float, float]]:
    """Return the corners and control points of a band: an upper curve and a lower one."""
    left = band.start.column + 0.5 * NODE_WIDTH
    right = band.end.column - 0.5 * NODE_WIDTH
    middle = 0.5 * (left + right)
    start, end = band.start_top, band.end_top
    upper = [(left, start), (middle, start), (middle, end), (right, end)]
    start, end = start + band.height, end + band.height
    return [*upper, (right, end), (middle, end), (middle, start), (left, start)]
