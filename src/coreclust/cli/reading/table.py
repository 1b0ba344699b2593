"""Turns a file into the numbers, ids and classes that a clusterer takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coreclust.cli.errors import InputError
from coreclust.cli.reading import values
from coreclust.cli.reading.delimited import read_delimited
from coreclust.cli.reading.formats import READERS
from coreclust.cli.reading.raw import RawTable

_WORDS = "Skipped columns that hold words (--one-hot turns them into numbers)"
_WORDY = f"Skipped columns with more than {values.MOST_CATEGORIES} different words"
_EMPTY = "Skipped columns without any value"


@dataclass(frozen=True, eq=False)
class Table:
    """Items to cluster."""

    X: NDArray[np.float64]  # shape (n_items, n_features), finite
    feature_names: list[str]
    ids: list[str]  # from the file, or the position of each row in the file
    classes: NDArray[np.str_] | None  # from the column of classes
    dropped: list[int]  # lines or rows of the file that were left out
    notices: list[str]  # how the file was interpreted


def read_table(
    path: Path,
    *,
    id_column: str | None = None,
    drop: Sequence[str] = (),
    label_column: str | None = None,
    one_hot_encode: bool = False,
    drop_missing: bool = False,
    **text_options: Any,
) -> Table:
    """Read a file into numbers, ids and classes.

    Each argument is an option of the command line; `text_options` are those of `read_delimited`.
    """
    raw = _read(path, text_options)

    def position(name: str | None, option: str) -> int | None:
        names = list(raw.frame.columns)
        return None if name is None else values.check_name(name, names, option, raw.first)

    left_out = {position(name, "--drop") for name in drop}
    id_at, label_at = position(id_column, "--id"), position(label_column, "--label")
    features = _features(path, raw, left_out | {id_at, label_at}, one_hot_encode)
    classes = None if label_at is None else values.words_of(raw.frame.iloc[:, label_at])
    X = np.column_stack([feature.to_numpy() for feature in features])
    names = [str(feature.name) for feature in features]
    checked, with_classes = X, names
    if classes is not None:  # a missing class counts like a missing value
        checked = np.column_stack([X, [np.nan if word is None else 0.0 for word in classes]])
        with_classes = [*names, "the classes"]
    kept = _complete_rows(path, raw, checked, with_classes, drop_missing)
    dropped = raw.frame.index[~kept].tolist()
    notices = list(raw.notices)
    if dropped:
        notices.append(
            f"{_count(len(dropped), 'row')} with missing or infinite values left out: "
            f"{_places(raw, dropped, most=10)}."
        )
    ids = raw.ids or [str(place) for place in raw.frame.index]
    if id_at is not None:
        ids = [word or "" for word in values.words_of(raw.frame.iloc[:, id_at])]
    ids = [name for name, keep in zip(ids, kept, strict=True) if keep]
    n_twice = sum(count > 1 for count in Counter(ids).values())
    if n_twice:
        notices.append(f"{_count(n_twice, 'id')} occur{'s' * (n_twice == 1)} more than once.")
    suspects = [name for name, x in zip(names, X.T, strict=True) if values.looks_like_ids(name, x)]
    if suspects and len(names) > 1:
        notices.append(
            f"Column {suspects[0]} looks like an id, but it is clustered like any other; "
            f"--id {suspects[0]} or --drop {suspects[0]} leaves it out."
        )
    words = None if classes is None else np.array(classes, dtype=object)[kept].astype(str)
    return Table(X[kept], names, ids, words, dropped, notices)


def _read(path: Path, text_options: dict[str, Any]) -> RawTable:
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it.")
    if not path.exists():
        raise InputError(f"There is no file {path}.")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty.")
    read = READERS.get(path.suffix.lower())
    if read is not None and text_options.get("missing"):
        raise InputError(
            f"--missing is for text files, and {path} stores missing values in its own way; "
            "write NaN to the file instead."
        )
    raw = read_delimited(path, **text_options) if read is None else read(path)
    for count, what in zip(raw.frame.shape, ("rows", "columns"), strict=True):
        if count == 0:
            raise InputError(f"{path} has no {what}.")
    return raw


def _features(
    path: Path, raw: RawTable, left_out: set[int | None], one_hot_encode: bool
) -> list[pd.Series]:
    """Return the columns to cluster, and note how the others are treated."""
    features: list[pd.Series] = []
    aside: dict[str, list[str]] = {}  # names of columns by what there is to note about them
    for position, (name, column) in enumerate(raw.frame.items()):
        if position in left_out or name in raw.annotations:
            continue
        numbers = values.numbers_of(column, decimal_comma=raw.decimal_comma)
        if numbers is None:
            odd = values.odd_cells(column, decimal_comma=raw.decimal_comma)
            if len(odd):
                raise InputError(
                    f"{path}: column {name} holds numbers except in {_count(len(odd), 'cell')}, "
                    f"first {odd.iloc[0]!r} in {raw.place} {odd.index[0]}; fix the file, declare "
                    "the code with --missing, or --drop the column."
                )
            encoded = values.one_hot(column) if one_hot_encode else None
            if encoded is None:
                aside.setdefault(_WORDY if one_hot_encode else _WORDS, []).append(name)
            else:
                features += [encoded[word] for word in encoded]
            continue
        x, how = numbers
        if np.isnan(x).all():
            aside.setdefault(_EMPTY, []).append(name)
            continue
        features.append(pd.Series(x, name=name))
        if how:
            aside.setdefault(f"Read with {how}", []).append(name)
    raw.notices += [f"{what}: {values.join_names(names)}." for what, names in aside.items()]
    if not features:
        raise InputError(
            f"{path} has no column of numbers left to cluster; its columns are "
            f"{values.join_names(raw.frame.columns)}."
        )
    return features


def _complete_rows(
    path: Path, raw: RawTable, X: NDArray[np.float64], names: list[str], drop_missing: bool
) -> NDArray[np.bool_]:
    """Return which rows have all values; raise unless the others may be left out."""
    finite = np.isfinite(X)
    kept = np.asarray(finite.all(axis=1))
    if kept.all() or (drop_missing and kept.any()):
        return kept
    if drop_missing:
        raise InputError(
            f"{path} has a missing or infinite value in every row; --drop the worst columns."
        )
    counts = {"missing": np.isnan(X).sum(), "infinite": np.isinf(X).sum()}
    found = " and ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    places = raw.frame.index[~kept].tolist()
    holed = [names[column] for column in np.flatnonzero(~finite.all(axis=0))]
    columns = values.join_names(holed, most=4)
    raise InputError(
        f"{path} has {found} {'value' if sum(counts.values()) == 1 else 'values'} in "
        f"{_count(len(places), 'row')} of {len(X)} ({_places(raw, places, most=5)}; in {columns}); "
        f"--drop-missing leaves {'that row' if len(places) == 1 else 'those rows'} out."
    )


def _places(raw: RawTable, places: list[int], most: int) -> str:
    return f"{raw.place}{'s' * (len(places) > 1)} {values.join_names(places, most=most)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
