"""Colors of clusters for the plots of scanpy."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np

GRAY = "#c0c0c0"  # of cells in no core or in no cluster

# matplotlib's tab20 without its grays, the dark colors first.
_FIRST = (
    *("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#bcbd22"),
    *("#17becf", "#aec7e8", "#ffbb78", "#98df8a", "#ff9896", "#c5b0d5", "#c49c94", "#f7b6d2"),
    *("#dbdb8d", "#9edae5"),
)
_GOLDEN = 0.618033988749895  # turns of the hue, which never repeat


def colors_of(
    shown: list[str], clusters: list[str], none: str, adata: Any, reference: str | None
) -> list[str]:
    """Return the colors of the categories `shown`, gray for `none`.

    A cluster has the same color whether it is shown or not; that of `reference`, if scanpy chose
    colors for it.
    """
    color = {name: _color(number) for number, name in enumerate(clusters)}
    known = None if reference is None else adata.uns.get(f"{reference}_colors")
    own = None if reference is None else getattr(adata.obs[reference], "cat", None)
    if known is not None and own is not None and len(known) >= len(own.categories):
        color |= dict(zip(map(str, own.categories), np.asarray(known).tolist(), strict=False))
    return [GRAY if name == none else color[name] for name in shown]


def _color(number: int) -> str:
    if number < len(_FIRST):
        return _FIRST[number]
    lightness = (0.35, 0.5, 0.65)[number % 3]
    parts = colorsys.hls_to_rgb(number * _GOLDEN % 1.0, lightness, 0.8)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)
