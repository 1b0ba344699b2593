"""Interprets cells as numbers, missing values or words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coreclust.cli.errors import InputError

_MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", "."})
_TRUTHS = {"true": 1.0, "false": 0.0}
MOST_CATEGORIES = 20
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")  # 1,234.5
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)?(,\d*)?([eE][+-]?\d+)?")  # 1.234,5


def is_missing(cell: str, more: frozenset[str]) -> bool:
    """Tell whether a cell stands for a missing value."""
    return cell.lower() in _MISSING or cell in more


def is_number(cell: str, *, decimal_comma: bool = False) -> bool:
    """Tell whether a cell is a number, infinity included."""
    other = _comma_number if decimal_comma else _grouped_number
    return _plain_number(cell) is not None or other(cell) is not None


def numbers_of(column: pd.Series, *, decimal_comma: bool) -> tuple[NDArray[np.float64], str] | None:
    """Return a column as numbers (NaN if missing), or None if it holds words.

    The second value says how the numbers are written, if they are not plain.
    """
    if column.dtype.kind == "f":
        return column.to_numpy(), ""
    # Not pandas.to_numeric: it knows none of these notations, and rounds the last digit otherwise.
    ways: list[tuple[Callable[[str], float | None], str]] = [(_plain_number, "")]
    if not decimal_comma:
        ways.append((_grouped_number, "a comma between thousands"))
    ways.append((_comma_number, "a decimal comma"))
    ways.append((lambda cell: _TRUTHS.get(cell.lower()), "TRUE and FALSE, as 1 and 0"))
    present = column.notna().to_numpy()
    for convert, how in ways:
        found = [convert(cell) for cell in column[present]]
        if None not in found:
            numbers = np.full(len(column), np.nan)
            numbers[present] = found
            return numbers, how
    return None


def odd_cells(column: pd.Series, *, decimal_comma: bool) -> pd.Series:
    """Return the cells of a column that are words, if most of its cells are numbers."""
    cells = column.dropna()
    odd = cells[[not is_number(cell, decimal_comma=decimal_comma) for cell in cells]]
    return odd if 2 * len(odd) < len(cells) else odd.iloc[:0]


def one_hot(column: pd.Series) -> pd.DataFrame | None:
    """Return one column of zeros and ones per word, or None if there are too many words.

    A missing cell is missing in all of them.
    """
    if column.nunique() > MOST_CATEGORIES:
        return None
    encoded = pd.get_dummies(column, prefix=column.name, prefix_sep="=", dtype=np.float64)
    return encoded.where(column.notna(), np.nan)


def words_of(column: pd.Series) -> list[str | None]:
    """Return a column as words, None where a value is missing."""

    def word(value: Any) -> str:
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)

    return [None if pd.isna(value) else word(value) for value in column]


def looks_like_ids(name: str, values: NDArray[np.float64]) -> bool:
    """Tell whether a column of numbers probably names its rows."""
    if values.size < 3 or not np.isfinite(values).all() or (values != np.round(values)).any():
        return False
    counts = values[0] in (0, 1) and (np.diff(values) == 1).all()
    named = {"id", "index", "key", "nr"} & set(re.split(r"[\W_]+", name.lower()))
    return bool(counts or (named and np.unique(values).size == values.size))


def join_names(names: Iterable[Any], most: int = 8) -> str:
    """Return the first few names as text."""
    shown = [str(name) for name in names]
    if len(shown) > most:
        return ", ".join(shown[:most]) + f" and {len(shown) - most} more"
    return ", ".join(shown)


def check_name(name: str, names: list[str], option: str, first: int = 1) -> int:
    """Return the position of a column, given by its name or its number (counted from `first`)."""
    if name in names:
        return names.index(name)
    if name.isdecimal() and first <= int(name) < first + len(names):
        return int(name) - first
    alike = [f"did you mean {known}?" for known in names if known.lower() == name.lower()]
    hint = alike[0] if alike else f"the columns are {join_names(names)}."
    raise InputError(f"{option} {name}: there is no such column; {hint}")


def _plain_number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)  # Python reads 1_000 as a number
    except ValueError:
        return None


def _grouped_number(cell: str) -> float | None:
    return _plain_number(cell.replace(",", "") if _GROUPED.fullmatch(cell) else cell)


def _comma_number(cell: str) -> float | None:
    plain = cell.replace(".", "").replace(",", ".")
    return _plain_number(plain) if _COMMA.fullmatch(cell) else None
