"""Finds the row that names the columns of a table, if there is one."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coreclust.cli.reading.values import is_missing, is_number

_FIRST_YEAR, _LAST_YEAR = 1800, 2100
_STEPS_OF_YEARS = (1, 2, 5, 10, 20, 25, 50, 100)  # between only two years
_MOST_TITLES = 5
_NUMBER = re.compile(r"\d+(\.\d+)?")
# Words that name the column of the items, and hardly an item.
_NAMES_OF_IDS = frozenset(
    ("id", "ids", "index", "key", "name", "names", "nr", "no", "item", "label", "class", "row")
) | {"sample", "gene", "cell", "patient", "subject", "customer", "country", "date", "time"}

Cells = list[str]


def has_header(rows: list[Cells], missing: frozenset[str], *, decimal_comma: bool = False) -> bool:
    """Tell whether the first row names the columns.

    It does if it holds a word above a column of numbers, if there are no numbers at all, if it
    names the column of the items, or if its numbers are names: years, numbers that count the
    columns, or numbers in even steps that are unlike all others.
    """
    if has_words(rows, missing, decimal_comma=decimal_comma):
        return True
    if len(rows) < 2:
        return False
    numeric = _columns_of_numbers(rows, missing, decimal_comma=decimal_comma)
    return _names_the_items(rows, numeric) or _has_numbers_as_names(rows, numeric)


def has_words(rows: list[Cells], missing: frozenset[str], *, decimal_comma: bool) -> bool:
    """Tell whether the first row has a word above a column of numbers, or no row has numbers."""
    number = partial(is_number, decimal_comma=decimal_comma)
    if len(rows) < 2:  # a single line: names if there is no number in it
        return not any(number(cell) for cell in rows[0])
    numeric = _columns_of_numbers(rows, missing, decimal_comma=decimal_comma)
    above = [cell for cell, below in zip(rows[0], numeric, strict=True) if below]
    return not above or not all(number(cell) or is_missing(cell, missing) for cell in above)


def count_titles(rows: list[Cells], missing: frozenset[str], *, decimal_comma: bool = False) -> int:
    """Return the number of lines above the header that have a single cell, such as a title."""
    number = partial(is_number, decimal_comma=decimal_comma)
    for n_titles, row in enumerate(rows[:-1]):
        names = [cell for cell in row if cell]
        if any(map(number, names)) or n_titles > _MOST_TITLES:
            return 0
        if len(names) > 1 and n_titles == 0:
            return 0
        if len(names) > 1:
            table = rows[n_titles:]
            numeric = _columns_of_numbers(table, missing, decimal_comma=decimal_comma)
            return n_titles if any(numeric) else 0
    return 0


def _columns_of_numbers(
    rows: list[Cells], missing: frozenset[str], *, decimal_comma: bool
) -> list[bool]:
    """Tell for each cell of the first row whether most cells below it are numbers."""
    found = []
    for position in range(len(rows[0])):
        below = [row[position] for row in rows[1:] if position < len(row)]
        below = [value for value in below if not is_missing(value, missing)]
        n_numbers = sum(is_number(value, decimal_comma=decimal_comma) for value in below)
        found.append(n_numbers > 0.5 * len(below))
    return found


def _names_the_items(rows: list[Cells], numeric: list[bool]) -> bool:
    """Tell whether the first row has a word such as id above a column of other words."""
    return any(
        cell.lower() in _NAMES_OF_IDS and cell not in {row[position] for row in rows[1:]}
        for position, cell in enumerate(rows[0])
        if not numeric[position] and all(position < len(row) for row in rows[1:])
    )


def _has_numbers_as_names(rows: list[Cells], numeric: list[bool]) -> bool:
    """Tell whether the first row has numbers that name their columns, and no other row has."""
    first, rest = rows[0], rows[1:]
    is_r = all(len(row) == len(first) + 1 for row in rest)  # no name above the names of the rows
    places = [place for place, cell in enumerate(first) if is_r or (numeric[place] and cell)]
    if not places or not all(_NUMBER.fullmatch(first[place]) for place in places):
        return False
    names = np.array([first[place] for place in places], dtype=np.float64)
    below = np.array([_floats(row, places, shift=int(is_r)) for row in rest])
    has_words = any(cell for place, cell in enumerate(first) if place not in places)
    # An empty cell, or none, above the names of the rows, as pandas and R write them.
    above_ids = is_r or (not first[0] and 0 not in places)
    if _are_years(names, below):
        return True
    if not above_ids and _look_alike(names, below):
        return False
    if _are_even_steps(names, below):
        return True
    return not has_words and _count_columns(names, below, above_ids)


def _look_alike(names: NDArray[np.float64], below: NDArray[np.float64]) -> bool:
    """Tell whether other rows are in even steps, too, or have the same numbers in another order."""
    if names.size < 3:
        return False
    alike = [bool(_is_even(row) or (np.sort(row) == np.sort(names)).all()) for row in below]
    return float(np.mean(alike)) >= 0.25  # some rows of small whole numbers are by chance


def _are_years(names: NDArray[np.float64], below: NDArray[np.float64]) -> bool:
    """Tell whether the names are years in order, and most of the other numbers are none."""

    def years(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
        return (numbers == np.round(numbers)) & (numbers >= _FIRST_YEAR) & (numbers <= _LAST_YEAR)

    steps = np.diff(names)
    in_order = bool((steps > 0).all() or (steps < 0).all())
    if names.size == 2:  # which are in order by chance
        in_order = abs(steps[0]) in _STEPS_OF_YEARS
    return bool(names.size > 1 and in_order and years(names).all() and years(below).mean() < 0.5)


def _are_even_steps(names: NDArray[np.float64], below: NDArray[np.float64]) -> bool:
    """Tell whether four or more names are in even steps, as wavelengths are, unlike the rest."""
    unlike = (below < names.min()) | (below > names.max()) | np.isnan(below)
    return bool(names.size > 3 and _is_even(names) and unlike.all())


def _count_columns(names: NDArray[np.float64], below: NDArray[np.float64], above_ids: bool) -> bool:
    """Tell whether the names count the columns from 0 or 1."""
    if names[0] not in (0, 1) or (np.diff(names) != 1).any():
        return False
    if above_ids or names.size > 2:
        return True
    # One or two columns say little. NaN is a number that is not plain, such as 1,5.
    is_whole = below == np.round(below)
    fractions = np.isfinite(below) & ~is_whole
    if names.tolist() == [0, 1]:
        return bool(fractions.any() or not is_whole.any())
    return bool(names.tolist() in ([0], [1, 2]) and len(below) > 2 and fractions.all())


def _is_even(row: NDArray[np.float64]) -> bool:
    steps = np.diff(row)
    return bool(steps.size and (steps > 0).all() and np.allclose(steps, steps[0], atol=0))


def _floats(row: Cells, places: list[int], shift: int) -> NDArray[np.float64]:
    cells = [row[place + shift] if place + shift < len(row) else "" for place in places]
    return pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(np.float64)
