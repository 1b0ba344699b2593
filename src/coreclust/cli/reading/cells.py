"""Turns rows of cells into a table; detects the header."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import pandas as pd

from coreclust.cli.errors import InputError
from coreclust.cli.reading.raw import RawTable, distinct_names
from coreclust.cli.reading.values import is_missing, is_number, join_names

_NO_HEADER = (
    "The first line holds data, so the columns are called column1, column2 and so on (--header "
    "reads it as names)."
)
_FIRST_YEAR, _LAST_YEAR = 1800, 2100
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
        head = [cells for _, cells in rows[:LOOKED_AT]]
        header = has_header(head, missing, decimal_comma=decimal_comma)
        if not header and in_comment and len(in_comment) == len(head[0]):
            header = has_header([in_comment, *head], missing, decimal_comma=decimal_comma)
            rows = [(0, in_comment), *rows] if header else rows
        if not header:
            notices.append(_NO_HEADER)
        elif rows[0][0] and not _has_words(head, missing, decimal_comma=decimal_comma):
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


def has_header(
    rows: list[list[str]], missing: frozenset[str], *, decimal_comma: bool = False
) -> bool:
    """Tell whether the first row names the columns.

    It does if it holds a word above a column of numbers, if there are no numbers at all, or if its
    numbers are years or count the columns.
    """
    if _has_words(rows, missing, decimal_comma=decimal_comma):
        return True
    return len(rows) > 1 and _has_numbers_as_names(rows)


def _has_words(rows: list[list[str]], missing: frozenset[str], *, decimal_comma: bool) -> bool:
    """Tell whether the first row has a word above a column of numbers, or no row has numbers."""
    number = partial(is_number, decimal_comma=decimal_comma)
    first, rest = rows[0], rows[1:]
    if not rest:  # a single line: names if there is no number in it
        return not any(number(cell) for cell in first)
    above = []  # the cells of the first row above columns of numbers
    for position, cell in enumerate(first):
        below = [row[position] for row in rest if position < len(row)]
        below = [value for value in below if not is_missing(value, missing)]
        if below and sum(map(number, below)) > 0.5 * len(below):
            above.append(cell)
    return not above or not all(number(cell) or is_missing(cell, missing) for cell in above)


def _has_numbers_as_names(rows: list[list[str]]) -> bool:
    """Tell whether the last cells of the first row are numbers that name their columns.

    They are years, or count from 0 or 1, and no other row looks like that.
    """
    first, rest = rows[0], rows[1:]
    n_words = max((i + 1 for i, cell in enumerate(first) if not _is_whole(cell)), default=0)
    names = np.array(first[n_words:], dtype=np.float64)
    if not names.size or not (names.size == 1 or _evenly_spaced(names)):
        return False
    below = [_floats(row[-names.size :]) for row in rest]
    if names.size > 2 and any(_evenly_spaced(row) for row in below):
        return False
    cells = np.concatenate(below)  # NaN for numbers that are not plain, such as 1,5
    is_whole = cells == np.round(cells)
    if names[0] >= _FIRST_YEAR and names[-1] <= _LAST_YEAR and names.size > 1:
        return bool((is_whole & (cells >= _FIRST_YEAR) & (cells <= _LAST_YEAR)).mean() < 0.5)
    if names[0] not in (0, 1) or (np.diff(names) != 1).any() or any(first[:n_words]):
        return False
    # An empty cell, or none, above the names of the rows, as pandas and R write them.
    above_ids = n_words == 1 or all(len(row) == len(first) + 1 for row in rest)
    fractions = np.isfinite(cells) & ~is_whole
    is_data = is_whole.any() and not fractions.any()  # of two columns, which say little
    return above_ids or names.size > 2 or (names.tolist() == [0, 1] and not is_data)


def _is_whole(cell: str) -> bool:
    return cell.isascii() and cell.isdecimal()


def _evenly_spaced(row: np.ndarray) -> bool:
    steps = np.diff(row)
    return bool(steps.size and (steps > 0).all() and (steps == steps[0]).all())


def _floats(cells: list[str]) -> np.ndarray:
    return pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(np.float64)


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
