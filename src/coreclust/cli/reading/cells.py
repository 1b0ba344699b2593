"""Turns rows of cells into a table."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from coreclust._utils.text import shorten
from coreclust.cli.errors import InputError
from coreclust.cli.reading.header import count_titles, has_header, has_words
from coreclust.cli.reading.raw import RawTable, distinct_names
from coreclust.cli.reading.values import is_missing, join_names

_NO_HEADER = (
    "The first line holds data, so the columns are called column1, column2 and so on (--header "
    "reads it as names)."
)
LOOKED_AT = 100  # lines from which the separator and the header are detected

Row = tuple[int, list[str]]  # the line on which it begins, and its cells


def table_of(
    name: object,
    rows: list[Row],
    *,
    header: bool | None,
    missing: frozenset[str],
    notices: list[str],
    place: str = "line",
    decimal_comma: bool = False,
    in_comment: list[str] | None = None,
    cut_by: str = "",
) -> RawTable:
    """Return rows of cells as a table; a `header` of None is detected.

    `in_comment` are the cells of a comment above the table, in which numpy writes the names, and
    `cut_by` names the separator of the cells, if there is one.
    """
    if not rows:
        raise InputError(f"{name} is empty.")
    rows = _without_empty_end(rows)
    if header is None:
        rows = _without_titles(rows, missing, decimal_comma, notices)
        head = [cells for _, cells in rows[:LOOKED_AT]]
        header = has_header(head, missing, decimal_comma=decimal_comma)
        if not header and in_comment and len(in_comment) == len(head[0]):
            header = has_header([in_comment, *head], missing, decimal_comma=decimal_comma)
            rows = [(0, in_comment), *rows] if header else rows
        if not header:
            notices.append(_NO_HEADER)
        elif rows[0][0] and not has_words(head, missing, decimal_comma=decimal_comma):
            notices.append(
                f"The first line ({join_names(filter(None, head[0]), most=3)}) is read as the "
                "names of the columns (--no-header reads it as data)."
            )
    names = rows.pop(0)[1] if header else []
    if not rows:
        raise InputError(f"{name} has a header but no rows.")
    width = len(names) if header else Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    if header and all(len(cells) == width + 1 for _, cells in rows):
        names, width = ["", *names], width + 1  # R writes row names without a header
    odd = [(line, len(cells)) for line, cells in rows if len(cells) != width]
    if odd:
        line, found = odd[0]
        raise InputError(
            f"{name}: {place} {line} has {found} {'cell' if found == 1 else 'cells'} and "
            f"{'the header has' if header else 'most lines have'} {width}"
            f"{f', separated by {cut_by}' if cut_by else ''}"
            f"{f' ({len(odd)} such lines)' if len(odd) > 1 else ''}; fix the file"
            f"{' or set --separator' if cut_by else ''}."
        )
    lines = [line for line, _ in rows]
    body = [[None if is_missing(cell, missing) else cell for cell in cells] for _, cells in rows]
    columns = distinct_names(names or [""] * width, notices)
    frame = pd.DataFrame(body, index=lines, columns=columns, dtype=object)
    table = RawTable(frame, place, decimal_comma=decimal_comma, notices=notices)
    if header and not names[0] and width > 1 and frame.iloc[:, 0].notna().any():
        table.ids = ["" if value is None else value for value in frame.iloc[:, 0]]
        table.frame, table.first = frame.iloc[:, 1:], 2
        notices.append("The first column has no name; it is used as the ids of the rows.")
    return table


def _without_titles(
    rows: list[Row], missing: frozenset[str], decimal_comma: bool, notices: list[str]
) -> list[Row]:
    """Drop the lines above the header that have a single cell."""
    head = [cells for _, cells in rows[:LOOKED_AT]]
    n_titles = count_titles(head, missing, decimal_comma=decimal_comma)
    if n_titles:
        titles = " ".join(cell for cells in head[:n_titles] for cell in cells if cell)
        notices.append(f"Left out above the names of the columns: {shorten(titles)}.")
    return rows[n_titles:]


def _without_empty_end(rows: list[Row]) -> list[Row]:
    """Drop empty cells at the end of every line, unless the header names their column."""
    (first, names), body = rows[0], rows[1:] or rows
    width = Counter(len(cells) for _, cells in body).most_common(1)[0][0]
    while width > 1 and all(len(cells) == width and not cells[-1] for _, cells in body):
        if len(names) == width and names[-1]:
            break
        body = [(line, cells[:-1]) for line, cells in body]
        width -= 1
    head = (first, names if any(names[width:]) else names[:width])
    return [head, *body] if len(rows) > 1 else body
