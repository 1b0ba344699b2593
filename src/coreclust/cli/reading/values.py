"""What a cell means: a number, nothing, or a word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust.cli.errors import InputError
from coreclust.cli.reading.raw import RawColumn

_MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", "."})
_TRUTHS = {"true": 1.0, "false": 0.0}
MOST_CATEGORIES = 20
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")  # 1,234.5
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)?(,\d*)?([eE][+-]?\d+)?")  # 1.234,5


@dataclass(frozen=True, eq=False)
class Feature:
    """A column of numbers."""

    name: str
    values: NDArray[np.float64]


def is_missing(cell: str, more: frozenset[str]) -> bool:
    """Tell whether a cell stands for no value."""
    return cell.lower() in _MISSING or cell in more


def is_number(cell: str, *, decimal_comma: bool = False) -> bool:
    """Tell whether a cell is a number, infinity included."""
    if _plain_number(cell) is not None:
        return True
    return (_comma_number if decimal_comma else _grouped_number)(cell) is not None


def numbers_of(column: RawColumn) -> tuple[NDArray[np.float64], str] | None:
    """Return a column as numbers with NaN for missing, or None if it holds words.

    Beside the numbers stands how they were written, if not plainly.
    """
    if column.values.dtype.kind == "f":
        return column.values, ""
    n_present = sum(cell is not None for cell in column.values)
    for convert, how in _ways(column):
        found = [None if cell is None else convert(cell) for cell in column.values]
        if sum(value is not None for value in found) == n_present:
            return np.array([np.nan if value is None else value for value in found]), how
    return None


def count_odd_cells(column: RawColumn) -> tuple[int, int]:
    """Return how many cells of a column are words, and the row of the first, if they are few.

    They are few if most cells are numbers; otherwise it is a column of words, and the
    answer (0, -1).
    """
    odd = [
        row
        for row, cell in enumerate(column.values)
        if cell is not None and not is_number(cell, decimal_comma=column.decimal_comma)
    ]
    n_present = sum(cell is not None for cell in column.values)
    return (len(odd), odd[0]) if odd and 2 * len(odd) < n_present else (0, -1)


def one_hot(column: RawColumn) -> list[Feature] | None:
    """Return a column of zeros and ones for each word, or None if there are too many words.

    A cell without a value is missing in all of them.
    """
    words = sorted({cell for cell in column.values if cell is not None})
    if len(words) > MOST_CATEGORIES:
        return None
    missing = np.array([cell is None for cell in column.values])
    features = []
    for word in words:
        values = np.array([cell == word for cell in column.values], dtype=np.float64)
        values[missing] = np.nan
        features.append(Feature(f"{column.name}={word}", values))
    return features


def looks_like_ids(name: str, values: NDArray[np.float64]) -> bool:
    """Tell whether a column of numbers is likely to name its rows and not to measure them."""
    if values.size < 3 or not np.isfinite(values).all() or (values != np.round(values)).any():
        return False
    counts = values[0] in (0, 1) and bool((np.diff(values) == 1).all())
    words = set(re.split(r"[\W_]+", name.lower()))
    distinct = np.unique(values).size == values.size
    return counts or (bool(distinct) and bool({"id", "index", "key", "nr"} & words))


def join_names(names: Iterable[Any], most: int = 8) -> str:
    """Return names as text, the first few of them."""
    shown = [str(name) for name in names]
    if len(shown) > most:
        return ", ".join(shown[:most]) + f" and {len(shown) - most} more"
    return ", ".join(shown)


def check_name(name: str, names: list[str], option: str, first: int = 1) -> int:
    """Return which column is meant by its name or by its number, the first one's being `first`."""
    if name in names:
        return names.index(name)
    if name.isdecimal() and first <= int(name) < first + len(names):
        return int(name) - first
    alike = [known for known in names if known.lower() == name.lower()]
    hint = f"did you mean {alike[0]}?" if alike else f"there are {join_names(names)}."
    raise InputError(f"{option} {name}: there is no such column; {hint}")


def _ways(column: RawColumn) -> list[tuple[Callable[[str], float | None], str]]:
    """Return how the numbers of a column may be written, the likeliest first."""
    ways: list[tuple[Callable[[str], float | None], str]] = [(_plain_number, "")]
    if not column.decimal_comma:
        ways.append((_grouped_number, "a comma between thousands"))
    ways += [(_comma_number, "a decimal comma"), (_truth, "TRUE and FALSE, as 1 and 0")]
    return ways


def _plain_number(cell: str) -> float | None:
    if "_" in cell:  # Python reads 1_000 as a number
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _grouped_number(cell: str) -> float | None:
    return _plain_number(cell.replace(",", "") if _GROUPED.fullmatch(cell) else cell)


def _comma_number(cell: str) -> float | None:
    if not _COMMA.fullmatch(cell):
        return None
    return _plain_number(cell.replace(".", "").replace(",", "."))


def _truth(cell: str) -> float | None:
    return _TRUTHS.get(cell.lower())
