"""A table as it stands in a file, before anyone asked what it means."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column of a file.

    Attributes
    ----------
    name : str
    values : ndarray of shape (n_rows,)
        Floats with NaN for missing, or objects: a str, or None for missing.
    decimal_comma : bool
        Whether a comma can be a decimal sign: it does not separate the columns.
    """

    name: str
    values: NDArray[Any]
    decimal_comma: bool = False


@dataclass(eq=False)
class RawTable:
    """What a file holds.

    Attributes
    ----------
    columns : list of RawColumn
        With different names.
    places : list of int
        Where each row stands in the file.
    place : str
        What they count: "line" or "row".
    ids : list of str or None
        Names of the rows that came apart from the columns.
    first : int
        The number of the first column in the file, from 1 on: 2 behind a column of ids.
    annotations : frozenset of str
        Columns that are about the rows and not for clustering.
    notices : list of str
        What the reader should know about how the file was taken.
    """

    columns: list[RawColumn]
    places: list[int] | range
    place: str = "row"
    ids: list[str] | None = None
    first: int = 1
    annotations: frozenset[str] = frozenset()
    notices: list[str] = field(default_factory=list)


def distinct_names(names: list[str], notices: list[str]) -> list[str]:
    """Tell apart names that come more than once, and name columns without a name."""
    taken: set[str] = set(names)
    seen: set[str] = set()
    result: list[str] = []
    for position, given in enumerate(names, start=1):
        name = given or f"column{position}"
        stem, number = name, 1
        while name in seen or (name != given and name in taken):
            number += 1
            name = f"{stem}.{number}"
        if name != given and given:
            notices.append(
                f"There is more than one column {given!r}; one of them is called {name!r} here."
            )
        seen.add(name)
        result.append(name)
    return result
