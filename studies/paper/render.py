"""Writes tables as Markdown, as CSV and for the terminal."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator
from typing import TextIO

from coreclust._utils.text import text_table
from coreclust.algorithms import ALGORITHMS
from studies.paper.comparison import Column, Entry, Row, Table
from studies.paper.published import DATASET_TITLES

MARK = "🔴"

_COMPARED = "Each cell: our value (the paper's value, difference)"
_LEGENDS = {
    1: f"{_COMPARED}.",
    2: f"{_COMPARED}, in items; trimmed items are not counted. The first m is for the known "
    "distribution, the second for the bootstrap.",
    3: f"{_COMPARED}.",
    4: f"{_COMPARED}. R: the authors' package, run again with seed 42.",
    5: "Each cell: our time (the paper's time, how many times as fast ours is if m is 1000 as in "
    "the paper). Times are wall-clock times on two cores. R: the authors' package, "
    "run again on another machine.",
}
_TRIMMING_LEGEND = (
    "For tclust and tkmeans, the judged columns count two trimmed items as together, as the "
    "authors' code does; the columns 'apart' count them as apart, the default of this package."
)


def legend_of(table: Table) -> str:
    """Return the text that explains how to read a table."""
    text = _LEGENDS[table.number]
    return f"{text} {_TRIMMING_LEGEND}" if table.number in (2, 3, 4) else text


def to_markdown(table: Table) -> str:
    """Return a table as Markdown, with values out of tolerance marked in red."""
    caption = f"**Table {table.number}. {table.title}.** {legend_of(table)}"
    if any(column.kind == "judged" for column in table.columns):
        caption += f" {MARK} marks values out of tolerance."
    lines = [caption, "", *_markdown_grid(table)]
    return "\n".join(lines) + "\n"


def to_csv(table: Table) -> str:
    """Return a table as CSV: for each value ours, the published one, difference and verdict."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    header = ["dataset", "algorithm", "m"]
    for column in table.columns:
        header += [
            column.key,
            f"{column.key}_published",
            f"{column.key}_{'ratio' if column.as_ratio else 'difference'}",
        ]
        if column.kind == "judged":
            header.append(f"{column.key}_within")
    writer.writerow([*header, "note"])
    for row in table.rows:
        cells: list[object] = [row.dataset, row.algorithm or "", row.resamples]
        for column, entry in zip(table.columns, row.entries, strict=True):
            compared = entry.ratio if column.as_ratio else entry.difference
            cells += [_number(entry.ours), _number(entry.published), _number(compared)]
            if column.kind == "judged":
                cells.append("" if entry.within is None else "yes" if entry.within else "no")
        writer.writerow([*cells, "; ".join(row.notes)])
    return stream.getvalue()


def to_terminal(table: Table, *, color: bool = False) -> str:
    """Return a table for the terminal, with an exclamation mark at values out of tolerance.

    Parameters
    ----------
    table : Table
    color : bool, default=False
        Whether to print values out of tolerance in red as well.
    """
    # The values of the authors' package are only in the files, to keep the lines short.
    shown = [
        (index, column)
        for index, column in enumerate(table.columns)
        if column.kind != "rerun" and _is_used(table, index)
    ]
    rows = [
        [*_names_of(row), *(_marked(column, row.entries[index]) for index, column in shown)]
        for row in table.rows
    ]
    grid = text_table([*_row_names(table), *(column.title for _, column in shown)], rows)
    # Notes are appended afterwards, because text_table shortens long cells.
    notes = ["", *("; ".join(row.notes) for row in table.rows)]
    lines = grid.splitlines()
    width = max(map(len, lines))
    lines = [f"{line:{width}}  {note}".rstrip() for line, note in zip(lines, notes, strict=True)]
    if table.n_judged:
        lines.append(
            f"{table.n_within} of {table.n_judged} rows within tolerance (! is out of it)."
        )
    text = "\n".join([f"Table {table.number}. {table.title}", *lines]) + "\n"
    # The colors are added last: escape codes would count in the widths of the columns.
    return re.sub(r"\S+ \([^()]*\) !", "\x1b[31m\\g<0>\x1b[0m", text) if color else text


def wants_color(stream: TextIO) -> bool:
    """Whether to print in color: on a terminal, unless NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def describe(table: Table, row: Row) -> str:
    """List the values of a row that are out of tolerance."""
    return ", ".join(
        f"{column.title} {_text(column, entry)}"
        for column, entry in zip(table.columns, row.entries, strict=True)
        if entry.within is False
    )


def markdown_grid(header: list[str], lines: list[list[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    return [
        f"| {' | '.join(header)} |",
        f"|{'|'.join(['---'] * len(header))}|",
        *(f"| {' | '.join(line)} |" for line in lines),
    ]


def _markdown_grid(table: Table) -> Iterator[str]:
    used = [index for index in range(len(table.columns)) if _is_used(table, index)]
    has_notes = any(row.notes for row in table.rows)
    header = [*_row_names(table), *(table.columns[index].title for index in used)]
    lines = []
    for row in table.rows:
        line = _names_of(row)
        for index in used:
            entry = row.entries[index]
            text = _text(table.columns[index], entry)
            if entry.within is False:
                text = f'<span style="color:#b00020">{MARK} **{text}**</span>'
            line.append(text)
        lines.append([*line, "; ".join(row.notes)] if has_notes else line)
    yield from markdown_grid([*header, "note"] if has_notes else header, lines)


def _is_used(table: Table, index: int) -> bool:
    return table.columns[index].kind == "judged" or any(
        row.entries[index].ours is not None for row in table.rows
    )


def _row_names(table: Table) -> list[str]:
    return ["dataset"] if table.number == 1 else ["dataset", "algorithm", "m"]


def _names_of(row: Row) -> list[str]:
    dataset = DATASET_TITLES[row.dataset]
    if row.algorithm is None:
        return [dataset]
    return [dataset, ALGORITHMS[row.algorithm].title, row.resamples]


def _marked(column: Column, entry: Entry) -> str:
    return _text(column, entry) + (" !" if entry.within is False else "")


def _text(column: Column, entry: Entry) -> str:
    published = "" if entry.published is None else f"{entry.published:.{column.published_digits}f}"
    if entry.ours is None:
        return f"not run ({published})" if published else ""
    ours = f"{entry.ours:.{column.digits}f}"
    if column.kind == "rerun" or not published:
        return ours
    if entry.difference is None:
        how = ""
    elif column.as_ratio:
        how = "" if entry.ratio is None else f", {_short(entry.ratio)} times"
    elif column.digits == 0:
        how = f", {entry.difference:+.0f}" if entry.difference else ", 0"
    else:
        how = f", {entry.difference:+.{column.digits}f}"
    return f"{ours} ({published}{how})"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
