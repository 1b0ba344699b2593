"""Reads delimited text; detects its encoding and its separator."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from coreclust.cli.errors import InputError
from coreclust.cli.reading.cells import LOOKED_AT, Row, table_of
from coreclust.cli.reading.kinds import other_kind
from coreclust.cli.reading.raw import RawTable
from coreclust.cli.reading.source import Source
from coreclust.cli.reading.values import is_missing, is_number

_MARKS = {  # UTF-32 before UTF-16, whose mark is the beginning of that of UTF-32
    (codecs.BOM_UTF8,): "utf-8-sig",
    (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE): "utf-32",
    (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE): "utf-16",
}
SPACES = " "  # any number of blanks
_WHOLE = re.compile(r"[+-]?\d+")


def read_delimited(
    source: Source,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    missing: Iterable[str] = (),
) -> RawTable:
    """Read a text file with one row per line; what is None is detected."""
    notices: list[str] = []
    missing = frozenset(missing)
    text, declared, comment = _preamble(_decode(source, encoding, notices))
    separator = separator or declared
    is_given = separator is not None
    if separator is None:
        separator = find_separator(text, missing, tabs_first=source.suffix == ".tsv")
    try:
        rows = [row for row in _cut(text, separator, strict=True) if any(row[1])]
    except csv.Error as error:
        raise InputError(
            f"{source} cannot be cut into cells ({error}); is a quotation mark left open?"
        ) from error
    if separator == "," and not is_given and header is not False and _is_one_column(source, rows):
        separator = ";"  # the comma is a decimal sign
        rows = [(line, [",".join(cells)]) for line, cells in rows]
    in_comment = _cut(comment, separator)[:1]
    return table_of(
        source,
        rows,
        header=header,
        missing=missing,
        notices=notices,
        decimal_comma=separator != ",",
        in_comment=in_comment[0][1] if in_comment else None,
        cut_by={"\t": "a tab", SPACES: "blanks"}.get(separator, repr(separator)),
    )


def find_separator(text: str, missing: frozenset[str], *, tabs_first: bool = False) -> str:
    """Return the separator that cuts the first lines into the most even rows of numbers.

    csv.Sniffer and pandas' ``sep=None``, which uses it, mistake decimal commas for separators.
    """
    head = text[: 2**16].splitlines(keepends=True)[:LOOKED_AT]
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
        ends = [row[-1] for row in rows[1:] or rows]
        words = share < 0.5 or (share == 0.5 and not any(is_number(end) for end in ends))
        if separator == SPACES and words:
            return 0, 0, 0  # blanks between words, or before units
        return n_even / len(rows), share, width

    return max(order, key=score)  # the first of equals


def _is_one_column(source: Source, rows: list[Row]) -> bool:
    """Tell whether a name stands above a single column of numbers with a decimal comma."""
    head, body = [cells for _, cells in rows[:1]], [cells for _, cells in rows[1:]]
    if not body or len(head[0]) != 1 or is_number(head[0][0]):
        return False
    if not all(len(row) == 2 and _WHOLE.fullmatch(row[0]) and row[1].isdecimal() for row in body):
        return False
    whole = [int(row[0]) for row in body]
    if whole == list(range(whole[0], whole[0] + len(whole))):  # names of rows, as R writes them
        raise InputError(
            f"{source}: the header has 1 cell and line {rows[1][0]} has 2 ({','.join(body[0])}); "
            "name both columns, or set --separator ';' if the comma is a decimal sign."
        )
    return True


def _decode(source: Source, encoding: str | None, notices: list[str]) -> str:
    """Return the text of a file."""
    data = source.data
    kind = other_kind(data)
    if kind is not None:
        raise InputError(f"{source} is {kind}.")
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
            f"{source} is not {encoding}, or it is damaged at byte {getattr(error, 'start', 0)}; "
            "try another --encoding."
        ) from error
    if b"\0" in data:
        raise InputError(f"{source} is not a text file, but a table such as a CSV file is needed.")
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
    text = text.rstrip("\x1a")  # with which DOS ends a file
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
        text = re.sub(r"[ \t\f\v]+", " ", text.replace("\r\n", "\n").replace("\r", "\n"))
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
