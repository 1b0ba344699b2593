"""From a file to what a clusterer takes: numbers, ids and classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coreclust.cli.errors import InputError
from coreclust.cli.reading.delimited import read_delimited
from coreclust.cli.reading.formats import read_h5ad, read_npy, read_parquet
from coreclust.cli.reading.raw import RawColumn, RawTable
from coreclust.cli.reading.values import (
    MOST_CATEGORIES,
    Feature,
    check_name,
    count_odd_cells,
    join_names,
    looks_like_ids,
    numbers_of,
    one_hot,
)

_BINARY = {
    ".npy": read_npy,
    ".npz": read_npy,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".h5ad": read_h5ad,
}


_WORDS = "Skipped columns that hold words (--one-hot turns them into numbers)"
_WORDY = f"Skipped columns with more than {MOST_CATEGORIES} different words"
_EMPTY = "Skipped columns without any value"


@dataclass(frozen=True, eq=False)
class Table:
    """Items to cluster.

    Attributes
    ----------
    X : ndarray of float of shape (n_items, n_features)
        Finite.
    feature_names : list of str
    ids : list of str
        One an item: those of the file, or the position of its row in it.
    classes : ndarray of str or None
        From the column for classes.
    dropped : list of int
        Lines, or rows, of the file that were left out.
    notices : list of str
        What the reader should know about how the file was taken.
    """

    X: NDArray[np.float64]
    feature_names: list[str]
    ids: list[str]
    classes: NDArray[np.str_] | None
    dropped: list[int]
    notices: list[str]


def read_table(
    path: Path,
    *,
    id_column: str | None = None,
    drop: Sequence[str] = (),
    label_column: str | None = None,
    one_hot_encode: bool = False,
    drop_missing: bool = False,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    missing: Sequence[str] = (),
) -> Table:
    """Read a file into numbers, ids and classes.

    Parameters
    ----------
    path : Path
        CSV, TSV or another delimited text, .parquet, .npy or .h5ad.
    id_column, label_column : str, default=None
        The columns with names of items, and with classes, by name or number from 1 on.
    drop : sequence of str, default=()
        Columns to leave out.
    one_hot_encode : bool, default=False
        Turn columns of words into zeros and ones instead of skipping them.
    drop_missing : bool, default=False
        Leave out rows with a value that is missing or infinite, instead of an error.
    separator, encoding, header : str, str and bool, default=None
        Of a text file; None to find out.
    missing : sequence of str, default=()
        More ways to write that a value is missing, in a text file.

    Returns
    -------
    table : Table

    Raises
    ------
    InputError
        With one sentence that says what is wrong with the file and what to do.
    """
    raw = _read(path, separator, encoding, header, frozenset(missing))
    if len(raw.places) == 0:
        raise InputError(f"{path} has columns but no rows.")
    names = [column.name for column in raw.columns]

    def position(name: str | None, option: str) -> int | None:
        return None if name is None else check_name(name, names, option, raw.first)

    left_out = {position(name, "--drop") for name in drop}
    id_at, label_at = position(id_column, "--id"), position(label_column, "--label")
    features = _features(
        path,
        raw,
        left_out | {id_at, label_at},
        one_hot_encode,
    )
    classes = None if label_at is None else _words_of(raw.columns[label_at])
    X = np.column_stack([feature.values for feature in features])
    kept, dropped = _complete_rows(path, raw, X, features, classes, drop_missing)
    notices = list(raw.notices)
    if dropped:
        notices.append(
            f"{_count(len(dropped), 'row')} with missing or infinite values left out: "
            f"{_places(raw, dropped, most=10)}."
        )
    ids = [name for name, keep in zip(_ids(raw, id_at), kept, strict=True) if keep]
    if len(set(ids)) < len(ids):
        n_twice = sum(count > 1 for count in Counter(ids).values())
        comes = "comes" if n_twice == 1 else "come"
        notices.append(f"{_count(n_twice, 'id')} {comes} more than once.")
    notices += _forgotten_ids(features)
    return Table(
        X=X[kept],
        feature_names=[feature.name for feature in features],
        ids=ids,
        classes=None if classes is None else np.array([str(c) for c in classes[kept]]),
        dropped=dropped,
        notices=notices,
    )


def _read(
    path: Path,
    separator: str | None,
    encoding: str | None,
    header: bool | None,
    missing: frozenset[str],
) -> RawTable:
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it.")
    if not path.exists():
        raise InputError(f"There is no file {path}.")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty.")
    read = _BINARY.get(path.suffix.lower())
    if read is not None:
        if missing:
            raise InputError(
                f"--missing is for text files, and {path} has its own way to say that a value is "
                "missing; put NaN there in its place."
            )
        return read(path)
    return read_delimited(
        path, separator=separator, encoding=encoding, header=header, missing=missing
    )


def _features(
    path: Path, raw: RawTable, left_out: set[int | None], one_hot_encode: bool
) -> list[Feature]:
    """Return the columns to cluster by, and say what was made of the others."""
    features: list[Feature] = []
    aside: dict[str, list[str]] = {}  # columns by what there is to say of them
    for position, column in enumerate(raw.columns):
        if position in left_out or column.name in raw.annotations:
            continue
        numbers = numbers_of(column)
        if numbers is None:
            _check_slips(path, raw, column)
            encoded = one_hot(column) if one_hot_encode else None
            features += encoded or []
            if encoded is None:
                aside.setdefault(_WORDY if one_hot_encode else _WORDS, []).append(column.name)
            continue
        values, how = numbers
        if np.isnan(values).all():
            aside.setdefault(_EMPTY, []).append(column.name)
            continue
        features.append(Feature(column.name, values))
        if how:
            aside.setdefault(f"Read with {how}", []).append(column.name)
    raw.notices += [f"{what}: {join_names(names)}." for what, names in aside.items()]
    if not features:
        raise InputError(
            f"{path} has no column of numbers left to cluster by; its columns are "
            f"{join_names(column.name for column in raw.columns)}."
        )
    return features


def _check_slips(path: Path, raw: RawTable, column: RawColumn) -> None:
    n_odd, first = count_odd_cells(column)
    if n_odd:
        raise InputError(
            f"{path}: column {column.name} is made of numbers, but {_count(n_odd, 'cell')} "
            f"{'is' if n_odd == 1 else 'are'} not, first {column.values[first]!r} in "
            f"{raw.place} {raw.places[first]}; mend the file, name it by --missing, or --drop "
            "the column."
        )


def _complete_rows(
    path: Path,
    raw: RawTable,
    X: NDArray[np.float64],
    features: list[Feature],
    classes: NDArray[np.object_] | None,
    drop_missing: bool,
) -> tuple[NDArray[np.bool_], list[int]]:
    """Return which rows have all values, and where the others are in the file."""
    without_class = (
        np.zeros(len(X), dtype=bool) if classes is None else np.array([c is None for c in classes])
    )
    kept = np.isfinite(X).all(axis=1) & ~without_class
    dropped = [raw.places[row] for row in np.flatnonzero(~kept)]
    if dropped and not drop_missing:
        n_missing = int(np.isnan(X).sum() + without_class.sum())
        n_infinite = int(np.isinf(X).sum())
        found = [f"{n_missing} missing" if n_missing else "", f"{n_infinite} infinite"]
        kinds = " and ".join(found[: 1 + bool(n_infinite)]) if n_missing else found[1]
        bad = np.flatnonzero(~np.isfinite(X).all(axis=0))
        where = [features[column].name for column in bad]
        columns = join_names([*where, *(["the classes"] if without_class.any() else [])], most=4)
        n_values = n_missing + n_infinite
        raise InputError(
            f"{path} has {kinds} {'value' if n_values == 1 else 'values'} in "
            f"{_count(len(dropped), 'row')} of {len(X)} ({_places(raw, dropped, most=5)}; in "
            f"{columns}); --drop-missing leaves "
            f"{'that row' if len(dropped) == 1 else 'those rows'} out."
        )
    if dropped and not kept.any():
        raise InputError(
            f"{path} has a missing or infinite value in every row; leave out the columns with "
            "most of them by --drop."
        )
    return kept, dropped


def _words_of(column: RawColumn) -> NDArray[np.object_]:
    """Return the classes in a column, None where there is none."""
    words = np.empty(column.values.size, dtype=object)
    if column.values.dtype.kind == "f":
        words[:] = [None if np.isnan(value) else _word_of(value) for value in column.values]
    else:
        words[:] = column.values
    return words


def _word_of(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(float(value))


def _ids(raw: RawTable, id_at: int | None) -> list[str]:
    if id_at is not None:
        return ["" if word is None else str(word) for word in _words_of(raw.columns[id_at])]
    if raw.ids is not None:
        return raw.ids
    return [str(place) for place in raw.places]


def _forgotten_ids(features: list[Feature]) -> list[str]:
    names = [f.name for f in features if looks_like_ids(f.name, f.values)]
    return [
        f"Column {name} looks like an id, and is clustered by like any other; --id {name} or "
        f"--drop {name} keeps it out."
        for name in names[:1]
        if len(features) > 1
    ]


def _places(raw: RawTable, places: list[int], most: int) -> str:
    return f"{raw.place}{'s' * (len(places) > 1)} {join_names(places, most=most)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
