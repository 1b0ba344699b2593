"""From text to columns: which sign separates them, and whether the first line names them."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from pathlib import Path

import numpy as np

from coreclust.cli.errors import InputError
from coreclust.cli.reading.decode import decode
from coreclust.cli.reading.raw import RawColumn, RawTable, distinct_names
from coreclust.cli.reading.values import is_missing, is_number

_SEPARATORS = (",", ";", "\t", "|")
SPACES = " "  # any number of blanks
_LOOKED_AT = 100  # lines, to find the separator and the header

Row = tuple[int, list[str]]  # the line it begins on, its cells


def read_delimited(
    path: Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    missing: frozenset[str] = frozenset(),
) -> RawTable:
    """Read a file with a row a line. None stands for: find out."""
    notices: list[str] = []
    text, said, comment = _preamble(decode(path, encoding, notices))
    if not text.strip():
        raise InputError(f"{path} is empty.")
    separator = separator or said
    if separator is None:
        separator = find_separator(text, missing, tabs_first=path.suffix.lower() == ".tsv")
    rows = _split(path, text, separator)
    if not rows:
        raise InputError(f"{path} is empty.")
    rows = _without_empty_end(rows)
    comma = separator != ","
    if header is None:
        head = [cells for _, cells in rows[:_LOOKED_AT]]
        header = has_header(head, missing, decimal_comma=comma)
        said_names = _cut(comment, separator)[:1]  # behind a sign for comments, as numpy does
        if not header and said_names and len(said_names[0][1]) == len(head[0]):
            header = has_header([said_names[0][1], *head], missing, decimal_comma=comma)
            rows = said_names + rows if header else rows
        if not header:
            notices.append(
                "The first line holds data, so the columns are called column1, column2 and so on "
                "(--header takes it as names)."
            )
    names = rows.pop(0)[1] if header else []
    if not rows:
        raise InputError(f"{path} has a header but no rows.")
    width = len(names) if header else Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    if header and all(len(cells) == width + 1 for _, cells in rows):
        names, width = ["", *names], width + 1  # as R writes row names
    _check_widths(path, rows, width, separator, header=header)
    unnamed = header and not names[0] and width > 1
    names = distinct_names(names or [""] * width, notices)
    columns = [
        RawColumn(name, _cells(values, missing), decimal_comma=comma)
        for name, values in zip(names, zip(*(cells for _, cells in rows), strict=True), strict=True)
    ]
    table = RawTable(columns, [line for line, _ in rows], "line", notices=notices)
    if unnamed:
        first = table.columns.pop(0)
        table.first = 2
        table.ids = ["" if value is None else value for value in first.values]
        notices.append("The first column has no name; it was taken as the ids of the rows.")
    return table


def find_separator(text: str, missing: frozenset[str], *, tabs_first: bool = False) -> str:
    """Return the sign that cuts the first lines into the most even rows of numbers."""
    head = text[: 2**16].splitlines(keepends=True)[:_LOOKED_AT]
    if len(text) > 2**16 and len(head) > 1:
        head.pop()  # cut off in the middle
    order = ("\t", ",", ";", "|") if tabs_first else _SEPARATORS
    best, best_score = order[0], (0.0, 0.0, 0)
    for separator in (*order, SPACES):
        rows = [cells for _, cells in _cut("".join(head), separator) if any(cells)]
        widths = Counter(len(cells) for cells in rows)
        width, n_even = widths.most_common(1)[0] if widths else (0, 0)
        if width < 2:
            continue
        cells = [cell for row in rows[1:] or rows for cell in row]
        comma = separator != ","
        n_numbers = sum(
            is_number(cell, decimal_comma=comma) or is_missing(cell, missing) for cell in cells
        )
        numbers = n_numbers / len(cells)
        if separator == SPACES and numbers < 0.5:
            continue  # words, more likely
        score = (n_even / len(rows), numbers, width)
        if score > best_score:
            best, best_score = separator, score
    return best


def has_header(
    rows: list[list[str]], missing: frozenset[str], *, decimal_comma: bool = False
) -> bool:
    """Tell whether the first row names the columns.

    It does if it holds a word above a column of numbers, or if there are no numbers at all.
    """

    def number(cell: str) -> bool:
        return is_number(cell, decimal_comma=decimal_comma)

    first, rest = rows[0], rows[1:]
    if not rest:  # a single line: names if there is no number in it
        return not any(number(cell) for cell in first)
    n_numeric = 0
    for position, cell in enumerate(first):
        below = [row[position] for row in rest if position < len(row)]
        below = [value for value in below if not is_missing(value, missing)]
        if below and sum(map(number, below)) > 0.5 * len(below):
            n_numeric += 1
            if not number(cell) and not is_missing(cell, missing):
                return True
    # Without a word above numbers, numbers in the first row are data.
    return n_numeric == 0


def _preamble(text: str) -> tuple[str, str | None, str]:
    """Blank out what stands above a table: the separator, as Excel takes it, and comments.

    Returns the text, with as many lines as before, the separator if one is named, and the last
    comment.
    """
    said = re.match(r"sep=([^\r\n])(?=\r?\n)", text, flags=re.IGNORECASE)
    if said:
        text = text[said.end() :]
    comments = re.match(r"(?:\s*#[^\r\n]*(?:\r?\n|$))+", text)
    if comments is None:
        return text, said and said[1], ""
    lines = comments[0].splitlines()
    blank = "\n" * comments[0].count("\n")
    return blank + text[comments.end() :], said and said[1], lines[-1].strip().lstrip("# ")


def _split(path: Path, text: str, separator: str) -> list[Row]:
    try:
        return [(line, cells) for line, cells in _cut(text, separator, strict=True) if any(cells)]
    except csv.Error as error:
        raise InputError(
            f"{path} cannot be cut into cells ({error}); is a quotation mark left open?"
        ) from error


def _cut(text: str, separator: str, *, strict: bool = False) -> list[Row]:
    if separator == SPACES:
        text = re.sub(r"[^\S\n]+", " ", text.replace("\r\n", "\n").replace("\r", "\n"))
        text = "\n".join(line.strip() for line in text.split("\n"))
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=strict
    )
    rows, line = [], 1
    for row in reader:
        rows.append((line, [cell.strip() for cell in row]))
        line = reader.line_num + 1  # a quoted cell may go over several lines
    return rows


def _without_empty_end(rows: list[Row]) -> list[Row]:
    """Drop empty cells that end every line, or every line but the header."""
    n_even = Counter(len(cells) for _, cells in rows[1:]).most_common(1)
    width = n_even[0][0] if n_even else len(rows[0][1])
    n_names = len(rows[0][1])
    body = rows[1:] or rows
    while width > 1 and all(len(cells) == width and not cells[-1] for _, cells in body):
        if n_names == width and rows[0][1][-1]:
            break  # a column without values, but with a name
        body = [(line, cells[:-1]) for line, cells in body]
        width -= 1
    head = (rows[0][0], rows[0][1][:width] if not any(rows[0][1][width:]) else rows[0][1])
    return [head, *body] if len(rows) > 1 else body


def _check_widths(path: Path, rows: list[Row], width: int, separator: str, *, header: bool) -> None:
    odd = [(line, len(cells)) for line, cells in rows if len(cells) != width]
    if not odd:
        return
    line, found = odd[0]
    sign = {"\t": "a tab", SPACES: "blanks"}.get(separator, repr(separator))
    expected = "the header has" if header else "most lines have"
    others = "" if len(odd) == 1 else f" ({len(odd)} such lines)"
    cells = "cell" if found == 1 else "cells"
    raise InputError(
        f"{path}: line {line} has {found} {cells} and {expected} {width}, separated by "
        f"{sign}{others}; mend the file, or name its --separator."
    )


def _cells(values: tuple[str, ...], missing: frozenset[str]) -> np.ndarray:
    cells = np.empty(len(values), dtype=object)
    cells[:] = [None if is_missing(value, missing) else value for value in values]
    return cells
