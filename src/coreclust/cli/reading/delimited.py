"""Reads delimited text; detects its encoding, its separator and its header."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pandas as pd

from coreclust.cli.errors import InputError
from coreclust.cli.reading.raw import RawTable, distinct_names
from coreclust.cli.reading.values import is_missing, is_number

_MARKS = {  # UTF-32 before UTF-16, whose mark is the beginning of that of UTF-32
    (codecs.BOM_UTF8,): "utf-8-sig",
    (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE): "utf-32",
    (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE): "utf-16",
}
_OTHER_FILES = {
    b"PK\x03\x04": "a spreadsheet or a zip file; save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet; save the sheet as CSV",
    b"%PDF": "a PDF file, but a table such as a CSV file is needed",
    b"\x89PNG": "a picture, but a table such as a CSV file is needed",
    b"\x89HDF": "an HDF5 file; if it holds an AnnData object, rename it to .h5ad",
    b"PAR1": "a Parquet file; rename it to .parquet",
    b"\x93NUMPY": "a numpy array; rename it to .npy",
}
_NO_HEADER = (
    "The first line holds data, so the columns are called column1, column2 and so on (--header "
    "reads it as names)."
)
SPACES = " "  # any number of blanks
_LOOKED_AT = 100  # lines from which the separator and the header are detected

Row = tuple[int, list[str]]  # the line on which it begins, and its cells


def read_delimited(
    path: Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    missing: Iterable[str] = (),
) -> RawTable:
    """Read a text file with one row per line; what is None is detected."""
    notices: list[str] = []
    missing = frozenset(missing)
    text, declared, comment = _preamble(_decode(path, encoding, notices))
    separator = separator or declared
    if separator is None:
        separator = find_separator(text, missing, tabs_first=path.suffix.lower() == ".tsv")
    try:
        rows = [row for row in _cut(text, separator, strict=True) if any(row[1])]
    except csv.Error as error:
        raise InputError(
            f"{path} cannot be cut into cells ({error}); is a quotation mark left open?"
        ) from error
    if not rows:
        raise InputError(f"{path} is empty.")
    rows = _without_empty_end(rows)
    comma = separator != ","
    if header is None:
        head = [cells for _, cells in rows[:_LOOKED_AT]]
        header = has_header(head, missing, decimal_comma=comma)
        in_comment = _cut(comment, separator)[:1]  # numpy writes the names in a comment
        if not header and in_comment and len(in_comment[0][1]) == len(head[0]):
            header = has_header([in_comment[0][1], *head], missing, decimal_comma=comma)
            rows = in_comment + rows if header else rows
        if not header:
            notices.append(_NO_HEADER)
    names = rows.pop(0)[1] if header else []
    if not rows:
        raise InputError(f"{path} has a header but no rows.")
    width = len(names) if header else Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    if header and all(len(cells) == width + 1 for _, cells in rows):
        names, width = ["", *names], width + 1  # R writes row names without a header
    odd = [(line, len(cells)) for line, cells in rows if len(cells) != width]
    if odd:
        line, found = odd[0]
        sign = {"\t": "a tab", SPACES: "blanks"}.get(separator, repr(separator))
        raise InputError(
            f"{path}: line {line} has {found} {'cell' if found == 1 else 'cells'} and "
            f"{'the header has' if header else 'most lines have'} {width}, separated by {sign}"
            f"{f' ({len(odd)} such lines)' if len(odd) > 1 else ''}; fix the file or set "
            "--separator."
        )
    lines = [line for line, _ in rows]
    body = [[None if is_missing(cell, missing) else cell for cell in cells] for _, cells in rows]
    columns = distinct_names(names or [""] * width, notices)
    frame = pd.DataFrame(body, index=lines, columns=columns, dtype=object)
    table = RawTable(frame, "line", decimal_comma=comma, notices=notices)
    if header and not names[0] and width > 1:
        table.ids = ["" if value is None else value for value in frame.iloc[:, 0]]
        table.frame, table.first = frame.iloc[:, 1:], 2
        notices.append("The first column has no name; it is used as the ids of the rows.")
    return table


def find_separator(text: str, missing: frozenset[str], *, tabs_first: bool = False) -> str:
    """Return the separator that cuts the first lines into the most even rows of numbers.

    csv.Sniffer and pandas' ``sep=None``, which uses it, mistake decimal commas for separators.
    """
    head = text[: 2**16].splitlines(keepends=True)[:_LOOKED_AT]
    if len(text) > 2**16 and len(head) > 1:
        head.pop()  # it may be incomplete
    order = ("\t", ",", ";", "|", SPACES) if tabs_first else (",", ";", "\t", "|", SPACES)

    def score(separator: str) -> tuple[float, float, int]:
        rows = [cells for _, cells in _cut("".join(head), separator) if any(cells)]
        width, n_even = ([*Counter(map(len, rows)).most_common(1), (0, 0)])[0]
        if width < 2:
            return 0, 0, 0
        cells = [cell for row in rows[1:] or rows for cell in row]
        comma = separator != ","
        numbers = [is_number(c, decimal_comma=comma) or is_missing(c, missing) for c in cells]
        share = sum(numbers) / len(cells)
        if separator == SPACES and share < 0.5:
            return 0, 0, 0  # blanks between words
        return n_even / len(rows), share, width

    return max(order, key=score)  # the first of equals


def has_header(
    rows: list[list[str]], missing: frozenset[str], *, decimal_comma: bool = False
) -> bool:
    """Tell whether the first row names the columns.

    It does if it holds a word above a column of numbers, or if there are no numbers at all.
    """
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


def _decode(path: Path, encoding: str | None, notices: list[str]) -> str:
    """Return the text of a file, which may be compressed by gzip."""
    data = path.read_bytes()
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path} is compressed by gzip, but damaged: {error}.") from error
    for magic, kind in _OTHER_FILES.items():
        if data.startswith(magic):
            raise InputError(f"{path} is {kind}.")
    marked = (name for marks, name in _MARKS.items() if data.startswith(marks))
    encoding = encoding or next(marked, None) or _utf16_without_mark(data)
    try:
        if encoding is not None:
            # A byte order mark is not part of the first name, whatever the encoding.
            return data.decode(encoding).removeprefix("\ufeff")
    except LookupError as error:
        raise InputError(f"--encoding {encoding} is not known; try utf-8 or cp1252.") from error
    except UnicodeError as error:
        raise InputError(
            f"{path} is not {encoding}, or it is damaged at byte {getattr(error, 'start', 0)}; "
            "try another --encoding."
        ) from error
    if b"\0" in data:
        raise InputError(f"{path} is not a text file, but a table such as a CSV file is needed.")
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8")
    notices.append("The file is not UTF-8; it is read as Windows-1252 (see --encoding).")
    with suppress(UnicodeDecodeError):
        return data.decode("cp1252")
    return data.decode("latin-1")  # Windows-1252 leaves five codes undefined


def _utf16_without_mark(data: bytes) -> str | None:
    """Recognize UTF-16 by the zeros in every second byte of Western text."""
    head = data[:400]
    if len(head) < 4 or len(data) % 2:
        return None
    low, high = head[::2].count(0), head[1::2].count(0)
    if max(low, high) <= 0.8 * (len(head) // 2) or min(low, high) > 0:
        return None
    return "utf-16-le" if high else "utf-16-be"


def _preamble(text: str) -> tuple[str, str | None, str]:
    """Blank out the lines above a table: Excel's declaration of the separator, and comments.

    Returns the text with as many lines as before, the declared separator and the last comment.
    """
    declared = re.match(r"sep=([^\r\n])(?=\r?\n)", text, flags=re.IGNORECASE)
    separator = declared[1] if declared else None
    text = text[declared.end() :] if declared else text
    comments = re.match(r"(?:\s*#[^\r\n]*(?:\r?\n|$))+", text)
    if comments is None:
        return text, separator, ""
    last = comments[0].splitlines()[-1].strip().lstrip("# ")
    return "\n" * comments[0].count("\n") + text[comments.end() :], separator, last


def _cut(text: str, separator: str, *, strict: bool = False) -> list[Row]:
    # Not pandas.read_csv: it pads short rows, and does not tell on which line a row begins.
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
        line = reader.line_num + 1  # a quoted cell may contain line breaks
    return rows


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
