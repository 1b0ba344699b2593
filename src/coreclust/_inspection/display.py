"""Builds the text and HTML representations of a fitted estimator."""

from __future__ import annotations

import textwrap
from html import escape
from typing import TYPE_CHECKING

from coreclust._inspection.verdict import cluster_name, verdict
from coreclust._utils.text import percent, text_table

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering
    from coreclust.cores import Core

_MAX_ROWS = 20
_WIDTH = 88
_HEADS = ("cluster", "items", "core", "weak", "weak fraction")


def as_text(fitted: CoreClustering) -> str:
    """Return the verdict and the table of clusters as text, for a terminal."""
    table = text_table(_HEADS, _rows(fitted), right=[True] * len(_HEADS))
    return "\n".join([*textwrap.wrap(verdict(fitted), _WIDTH), "", table, *_more(fitted)])


def as_html(fitted: CoreClustering) -> str:
    """Return the verdict and the table of clusters as HTML, for a notebook."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in _HEADS)
    body = "".join(
        "<tr>"
        f'<th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, *cells in _rows(fitted)
    )
    more = "".join(f"<p>{escape(text)}</p>" for text in _more(fitted))
    return (
        f"<div><p>{escape(verdict(fitted))}</p>"
        f"<table><caption>Core clusters, alpha = {fitted.alpha:g}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"
    )


def _rows(fitted: CoreClustering) -> list[tuple[str, ...]]:
    return [_row(fitted, core) for core in fitted.cores_[:_MAX_ROWS]]


def _row(fitted: CoreClustering, core: Core) -> tuple[str, ...]:
    counts = [f"{number:,}" for number in (core.n_items, core.n_core, core.n_weak)]
    return (cluster_name(fitted, core), *counts, percent(core.weak_fraction))


def _more(fitted: CoreClustering) -> list[str]:
    n_left = len(fitted.cores_) - _MAX_ROWS
    return [f"and {n_left} more: summary() has all of them"] if n_left > 0 else []
