"""Interprets cells as numbers, missing values or words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coreclust.cli.errors import InputError

_MISSING = frozenset(
    ("", "na", "n/a", "#n/a", "#na", "<na>", "nan", "null", "none", "?", ".", "-", "--")
) | {"\N{EN DASH}", "\N{EM DASH}", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"}
_TRUTHS = {"true": 1.0, "false": 0.0}
MOST_CATEGORIES = 20
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{2,3})*,\d{3}(\.\d*)?")  # 1,234.5; in India 1,23,456
_DIGIT = re.compile(r"\d")
_BEGINS_AS_NUMBER = re.compile(r"\W*\d")
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)?(,\d*)?([eE][+-]?\d+)?")  # 1.234,5
_MARKS = "\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}'\N{RIGHT SINGLE QUOTATION MARK}"
_MARKED = re.compile(rf"[+-]?\d{{1,3}}([{_MARKS}]\d{{3}})+([.,]\d*)?")  # 1'234.5
_SPACED = re.compile(r"[^\d\s]*\d{1,3}( \d{3})+([.,]\d*)?\D*")  # 1 234,5
_IN_PARENTHESES = re.compile(r"\(([^()+-]+)\)")
_WITHOUT_MARKS = str.maketrans("", "", _MARKS)

Way = Callable[[str], float | None]  # how a column writes its numbers; None for words


def is_missing(cell: str, more: frozenset[str]) -> bool:
    """Tell whether a cell stands for a missing value."""
    return cell.lower() in _MISSING or cell in more


def is_number(cell: str, *, decimal_comma: bool = False) -> bool:
    """Tell whether a cell is a number, infinity included."""
    bases = (_plain_number, _comma_number if decimal_comma else _grouped_number)
    return any(base(unsigned(cell)) is not None for base in bases for unsigned in _SIGNS)


def numbers_of(column: pd.Series, *, decimal_comma: bool) -> tuple[NDArray[np.float64], str] | None:
    """Return a column as numbers (NaN if missing), or None if it holds words.

    The second value says how the numbers are written, if they are not plain.
    """
    if column.dtype.kind == "f":
        return column.to_numpy(), ""
    # Not pandas.to_numeric: it knows none of these notations, and rounds the last digit otherwise.
    present = column.notna().to_numpy()
    cells = column[present].tolist()
    ways = [*_ways(decimal_comma), (_truth, "TRUE and FALSE, as 1 and 0")]
    for convert, how in ways:
        found = _convert_all(cells, convert)
        if found is not None:
            numbers = np.full(len(column), np.nan)
            numbers[present] = found
            return numbers, how
    return None


def odd_cells(column: pd.Series, *, decimal_comma: bool) -> tuple[pd.Series, str]:
    """Return the cells that keep a column from being numbers, if there are only few.

    The second value says how the other cells are written, if they are not plain.
    """
    cells = column.dropna()
    few, how = cells.iloc[:0], ""
    if 2 * sum(_DIGIT.search(cell) is None for cell in cells) >= len(cells):
        return few, how  # plain words, which are quick to tell
    for convert, written in _ways(decimal_comma):
        odd = cells[[convert(cell) is None for cell in cells]]
        if 2 * len(odd) < len(cells) and (few.empty or len(odd) < len(few)):
            few, how = odd, written.partition(",")[0]
    return few, how


def like_a_number(column: pd.Series) -> str | None:
    """Return the first cell if most cells of a column of words begin as numbers do, as in 5 kg."""
    cells = column.dropna()
    begin = [_BEGINS_AS_NUMBER.match(cell) is not None for cell in cells]
    return next(iter(cells)) if 2 * sum(begin) > len(begin) else None


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


def has_leading_zeros(column: pd.Series) -> bool:
    """Tell whether whole numbers are written with zeros in front, as codes are."""
    cells = [cell for cell in column if cell is not None]
    if column.dtype.kind == "f" or not all(cell.isdecimal() for cell in cells):
        return False
    return any(len(cell) > 1 and cell.startswith("0") for cell in cells)


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


def _ways(decimal_comma: bool) -> Iterator[tuple[Way, str]]:
    """Yield the ways to write a column of numbers, and what to note about each."""
    bases: list[tuple[Way, str]] = [(_plain_number, "")]
    if not decimal_comma:
        bases.append((_grouped_number, "a comma between thousands"))
    bases.append((_comma_number, "a decimal comma"))
    for base, how in list(bases):
        bases.append((_spaced(base), _joined("a blank between thousands", how)))
    yield from bases
    for wrap, sign in (
        (_percentage, "a percent sign, divided by 100"),
        (_money, "a currency sign"),
        (_accounting, "negative numbers in parentheses"),
    ):
        for base, how in bases:
            yield wrap(base), _joined(sign, how)


def _convert_all(cells: list[str], convert: Way) -> list[float] | None:
    numbers = []
    for cell in cells:
        number = convert(cell)
        if number is None:
            return None
        numbers.append(number)
    return numbers


def _truth(cell: str) -> float | None:
    return _TRUTHS.get(cell.lower())


def _percentage(base: Way) -> Way:
    def convert(cell: str) -> float | None:
        number = base(_without_percent(cell)) if cell.endswith("%") else None
        return None if number is None else number / 100

    return convert


def _money(base: Way) -> Way:
    return lambda cell: base(_without_currency(cell))


def _accounting(base: Way) -> Way:
    return lambda cell: base(_without_currency(_without_parentheses(cell)))


def _spaced(base: Way) -> Way:
    return lambda cell: base(_without_blanks(cell))


def _joined(*parts: str) -> str:
    return " and ".join(filter(None, parts))


def _without_blanks(cell: str) -> str:
    return cell.replace(" ", "") if _SPACED.fullmatch(cell) else cell


def _without_parentheses(cell: str) -> str:
    """Return a cell with a minus instead of parentheses, as accountants write -5."""
    found = _IN_PARENTHESES.fullmatch(cell)
    return f"-{found[1].strip()}" if found else cell


def _without_percent(cell: str) -> str:
    return cell[:-1].rstrip() if cell.endswith("%") else cell


def _without_currency(cell: str) -> str:
    """Return a cell without the currency sign before or behind its number, as in -$5.1 or 5 €."""
    sign = cell[:1] if cell[:1] in ("+", "-", "\N{MINUS SIGN}", "\N{EN DASH}") else ""
    rest = cell.removeprefix(sign)
    if _is_currency(rest[:1]):
        return sign + rest[1:].lstrip()
    return sign + rest[:-1].rstrip() if _is_currency(rest[-1:]) else cell


def _is_currency(letter: str) -> bool:
    return bool(letter) and unicodedata.category(letter) == "Sc"


def _bare(cell: str) -> str:
    return _without_currency(_without_parentheses(_without_blanks(cell)))


_SIGNS = (str, _without_percent, _bare)


def _plain_number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(_plain(cell))  # Python reads 1_000 as a number
    except ValueError:
        return None


def _grouped_number(cell: str) -> float | None:
    return _plain_number(cell.replace(",", "") if _GROUPED.fullmatch(_plain(cell)) else cell)


def _comma_number(cell: str) -> float | None:
    cell = _plain(cell)
    plain = cell.replace(".", "").replace(",", ".")
    return _plain_number(plain) if _COMMA.fullmatch(cell) else None


def _plain(cell: str) -> str:
    """Return a cell with an ASCII minus, and without marks between thousands that are no comma."""
    if cell.isascii() and "'" not in cell:
        return cell
    cell = cell.replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", "-")
    return cell.translate(_WITHOUT_MARKS) if _MARKED.fullmatch(cell) else cell
