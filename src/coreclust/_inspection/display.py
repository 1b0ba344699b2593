"""How a fitted estimator shows itself: the verdict and the table of clusters."""

from __future__ import annotations

import textwrap
from html import escape
from typing import TYPE_CHECKING

from coreclust._inspection.verdict import cluster_name, percent, verdict

if TYPE_CHECKING:
    from coreclust.answers import CoreAnswers
    from coreclust.cores import Core

_MAX_ROWS = 20
_WIDTH = 88
_HEADS = ("cluster", "items", "core", "weak", "weak fraction")


def as_text(fitted: CoreAnswers) -> str:
    """Return the verdict and the table of clusters, for a terminal."""
    table = [_HEADS, *_rows(fitted)]
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEADS))]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in table
    ]
    return "\n".join([*textwrap.wrap(verdict(fitted), _WIDTH), "", *lines, *_more(fitted)])


def as_html(fitted: CoreAnswers) -> str:
    """Return the verdict and the table of clusters, for a notebook."""
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


def _rows(fitted: CoreAnswers) -> list[tuple[str, ...]]:
    return [_row(fitted, core) for core in fitted.cores_[:_MAX_ROWS]]


def _row(fitted: CoreAnswers, core: Core) -> tuple[str, ...]:
    weak = core.size - core.core.size
    counts = [f"{number:,}" for number in (core.size, core.core.size, weak)]
    return (cluster_name(fitted, core), *counts, percent(weak / core.size))


def _more(fitted: CoreAnswers) -> list[str]:
    n_left = len(fitted.cores_) - _MAX_ROWS
    return [f"and {n_left} more: summary() has all of them"] if n_left > 0 else []
