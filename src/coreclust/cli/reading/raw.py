"""The table as it stands in a file, before its columns are interpreted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from coreclust.cli.reading.values import join_names


@dataclass(eq=False)
class RawTable:
    """A table as it stands in a file.

    The columns of `frame` hold floats (NaN if missing) or words (None if missing); its index holds
    the position of each row in the file.
    """

    frame: pd.DataFrame
    place: str = "row"  # what the index counts: "row" or "line"
    ids: list[str] | None = None  # names of the rows that are stored apart from the columns
    first: int = 1  # number of the first column in the file: 2 after a column of ids
    annotations: frozenset[str] = frozenset()  # columns that are never features
    decimal_comma: bool = False  # a comma can be a decimal sign, because it is no separator
    notices: list[str] = field(default_factory=list)  # how the file was interpreted
    sha256: str = ""  # of the file, if it was read as a whole


def raw_table(
    frame: pd.DataFrame, *, ids: Iterable[object] | None = None, n_annotations: int = 0
) -> RawTable:
    """Return a frame as a table: distinct names, rows counted from 1, floats or words.

    The last `n_annotations` columns are annotations.
    """
    notices: list[str] = []
    names = distinct_names([str(name) for name in frame.columns], notices)
    columns = [_column(frame.iloc[:, position]) for position in range(len(names))]
    return RawTable(
        pd.DataFrame(dict(zip(names, columns, strict=True)), index=range(1, len(frame) + 1)),
        ids=None if ids is None else [str(name) for name in ids],
        annotations=frozenset(names[len(names) - n_annotations :]),
        notices=notices,
    )


def distinct_names(names: list[str], notices: list[str]) -> list[str]:
    """Name columns without a name, and rename columns whose name is already taken."""
    given_names = set(names)
    renamed: list[tuple[str, str]] = []
    result: dict[str, None] = {}  # keeps the order, and finds a name quickly
    for position, given in enumerate(names, start=1):
        name = stem = given or f"column{position}"
        number = 1
        while name in result or (name != given and name in given_names):
            number += 1
            name = f"{stem}.{number}"
        if name != given and given:
            renamed.append((given, name))
        result[name] = None
    if len(renamed) == 1:
        given, name = renamed[0]
        notices.append(
            f"There is more than one column {given!r}; one of them is renamed to {name!r}."
        )
    elif renamed:
        new = join_names([name for _, name in renamed], most=4)
        notices.append(f"Several columns have the same name; they are renamed to {new}.")
    return list(result)


def _column(series: pd.Series) -> np.ndarray:
    if series.dtype.kind in "biuf":
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    return series.astype(object).map(str).where(series.notna(), None).to_numpy()
