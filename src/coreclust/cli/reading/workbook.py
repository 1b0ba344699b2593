"""Reads a sheet of an Excel workbook."""

from __future__ import annotations

import datetime as dt
import io
import warnings
import zipfile
from collections.abc import Iterable
from typing import Any

from coreclust.cli.errors import InputError
from coreclust.cli.reading.cells import table_of
from coreclust.cli.reading.formats import import_package
from coreclust.cli.reading.raw import RawTable
from coreclust.cli.reading.source import Source

_MOST_CELLS = 30_000_000  # which take some gigabytes


def read_workbook(
    source: Source, sheet: str | None, *, header: bool | None, missing: Iterable[str]
) -> RawTable:
    """Read the first sheet of a workbook, or the one with a name; formulas as last calculated."""
    openpyxl = import_package("openpyxl", ".xlsx")
    notices: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about parts of the file that are not read
            book = openpyxl.load_workbook(io.BytesIO(source.data), data_only=True)
    except (OSError, KeyError, ValueError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise InputError(f"{source} is not a workbook that can be read: {error}.") from error
    # Hidden sheets last: they are seldom meant.
    sheets = sorted(book.worksheets, key=lambda one: one.sheet_state != "visible")
    names = [one.title for one in sheets]
    if not names:
        raise InputError(f"{source} has no sheet with cells.")
    if sheet is None and len(names) > 1:
        others = ", ".join(names[1:])
        notices.append(f"The sheet {names[0]} is read (--sheet reads another: {others}).")
    if sheet is not None and sheet not in names:
        raise InputError(f"--sheet {sheet}: there is no such sheet; it has {', '.join(names)}.")
    chosen = book[sheet or names[0]]
    if chosen.max_row * chosen.max_column > _MOST_CELLS:
        raise InputError(
            f"{source}: the sheet {chosen.title} reaches to column {chosen.max_column:,} of row "
            f"{chosen.max_row:,}; delete the cells far from the table, or save the table as CSV."
        )
    cells = chosen.iter_rows(values_only=True)
    rows = [(line, [_text(value) for value in row]) for line, row in enumerate(cells, start=1)]
    used = [any(column) for column in zip(*(row for _, row in rows), strict=True)]
    first = used.index(True) if True in used else 0  # tables need not begin in column A
    return table_of(
        source,
        [(line, row[first:]) for line, row in rows if any(row)],
        header=header,
        missing=frozenset(missing),
        notices=notices,
        place="row",
    )


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    return str(value).strip()
