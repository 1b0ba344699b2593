"""Turns a file into the numbers, ids and classes that a clusterer takes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coreclust._utils.text import shorten
from coreclust.cli.errors import InputError
from coreclust.cli.reading import values
from coreclust.cli.reading.delimited import read_delimited
from coreclust.cli.reading.formats import READERS, read_h5ad
from coreclust.cli.reading.raw import RawTable
from coreclust.cli.reading.source import is_stream, name_of, open_source
from coreclust.cli.reading.workbook import read_workbook

_WORDS = "Skipped columns that hold words (--one-hot turns them into numbers)"
_UNREAD = "Skipped columns whose cells are not plain numbers"
_WORDY = f"Skipped columns with more than {values.MOST_CATEGORIES} different words"
_EMPTY = "Skipped columns without any value"
_CODES = "Columns with zeros in front look like codes, but are clustered as numbers (see --drop)"
_NO_SHEETS = "--sheet is for .xlsx files, and {} is not one."
_ADDRESS = re.compile(r"[a-z]{2,}:/", flags=re.IGNORECASE)  # Path joins the two slashes
_TOTALS = frozenset(["total", "totals", "grand total", "sum", "mean", "average"])


@dataclass(frozen=True, eq=False)
class Table:
    """Items to cluster."""

    X: NDArray[np.float64]  # shape (n_items, n_features), finite
    feature_names: list[str]
    ids: list[str]  # from the file, or the position of each row in the file
    classes: NDArray[np.str_] | None  # from the column of classes
    dropped: list[int]  # lines or rows of the file that were left out
    notices: list[str]  # how the file was interpreted
    sha256: str = ""  # of the file as it was read, also of standard input; empty if not known


def read_table(
    path: Path,
    *,
    id_column: str | None = None,
    drop: Sequence[str] = (),
    label_column: str | None = None,
    one_hot_encode: bool = False,
    drop_missing: bool = False,
    **options: Any,
) -> Table:
    """Read a file into numbers, ids and classes.

    Each argument is an option of the command line; `options` are those about the file: its `rep`,
    its `sheet`, and those of `read_delimited`.
    """
    raw = _read(path, options)
    name = name_of(path)

    def position(column: str | None, option: str) -> int | None:
        names = list(raw.frame.columns)
        return None if column is None else values.check_name(column, names, option, raw.first)

    left_out = {position(column, "--drop") for column in drop}
    id_at, label_at = position(id_column, "--id"), position(label_column, "--label")
    features = _features(name, raw, left_out | {id_at, label_at}, one_hot_encode)
    classes = None if label_at is None else values.words_of(raw.frame.iloc[:, label_at])
    X = np.column_stack([feature.to_numpy() for feature in features])
    names = [str(feature.name) for feature in features]
    checked, with_classes = X, names
    if classes is not None:  # a missing class counts like a missing value
        checked = np.column_stack([X, [np.nan if word is None else 0.0 for word in classes]])
        with_classes = [*names, "the classes"]
    kept = _complete_rows(name, raw, checked, with_classes, drop_missing)
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
    n_twice = sum(count > 1 for name, count in Counter(ids).items() if name)
    if n_twice:
        notices.append(f"{_count(n_twice, 'id')} occur{'s' * (n_twice == 1)} more than once.")
    notices += _note_totals(raw, kept)
    suspects = [name for name, x in zip(names, X.T, strict=True) if values.looks_like_ids(name, x)]
    if suspects and len(names) > 1:
        notices.append(
            f"Column {suspects[0]} looks like an id, but it is clustered like any other; "
            f"--id {suspects[0]} or --drop {suspects[0]} leaves it out."
        )
    words = None if classes is None else np.array(classes, dtype=object)[kept].astype(str)
    return Table(X[kept], names, ids, words, dropped, notices, raw.sha256)


def _read(path: Path, options: dict[str, Any]) -> RawTable:
    if not is_stream(path):
        if path.is_dir():
            raise InputError(f"{path} is a folder; name a file in it.")
        if _ADDRESS.match(str(path)):
            raise InputError(f"{path} is an address; download the file, and name it.")
        if not path.exists():
            raise InputError(f"There is no file {path}.")
        if path.stat().st_size == 0:
            raise InputError(f"{path} is empty.")
    suffix = "" if is_stream(path) else path.suffix.lower()
    rep, sheet = options.pop("rep", None), options.pop("sheet", None)
    read = READERS.get(suffix)
    if rep is not None:
        if suffix != ".h5ad":
            raise InputError(f"--rep is for .h5ad files, and {name_of(path)} is not one.")
        read = partial(read_h5ad, rep=rep)
    if read is not None and sheet is not None:
        raise InputError(_NO_SHEETS.format(path))
    if read is not None:
        _refuse_text_options(path, options)
    if read is not None and options.get("missing"):
        raise InputError(
            f"--missing is for text files, and {path} stores missing values in its own way; "
            "write NaN to the file instead."
        )
    raw = _read_cells(path, sheet, options) if read is None else read(path)
    for count, what in zip(raw.frame.shape, ("rows", "columns"), strict=True):
        if count == 0:
            raise InputError(f"{name_of(path)} has no {what}.")
    return raw


def _refuse_text_options(path: Path, options: dict[str, Any]) -> None:
    """Raise for options that have no effect on files that are not text."""
    for option in ("separator", "encoding", "header"):
        if options.get(option) is not None:
            name = "no-header" if option == "header" and not options[option] else option
            raise InputError(f"--{name} is for text files, and {path} is not one; leave it out.")


def _read_cells(path: Path, sheet: str | None, options: dict[str, Any]) -> RawTable:
    """Read a file of cells that are text: a workbook, or lines."""
    source = open_source(path)
    if source.is_workbook:
        raw = read_workbook(
            source, sheet, header=options.get("header"), missing=options.get("missing", ())
        )
    elif sheet is not None:
        raise InputError(_NO_SHEETS.format(source))
    else:
        raw = read_delimited(source, **options)
    raw.sha256 = source.sha256
    return raw


def _features(
    file: str, raw: RawTable, left_out: set[int | None], one_hot_encode: bool
) -> list[pd.Series]:
    """Return the columns to cluster, and note how the others are treated."""
    features: list[pd.Series] = []
    aside: dict[str, list[str]] = {}  # names of columns by what there is to note about them
    for position, (name, column) in enumerate(raw.frame.items()):
        if position in left_out or name in raw.annotations:
            continue
        numbers = values.numbers_of(column, decimal_comma=raw.decimal_comma)
        if numbers is None:
            odd, way = values.odd_cells(column, decimal_comma=raw.decimal_comma)
            if len(odd):
                raise InputError(
                    f"{file}: column {name} holds numbers{f' with {way}' if way else ''} except in "
                    f"{_count(len(odd), 'cell')}, first {odd.iloc[0]!r} in {raw.place} "
                    f"{odd.index[0]}; fix the file, declare the code with --missing, or --drop the "
                    "column."
                )
            encoded = values.one_hot(column) if one_hot_encode else None
            cell = values.like_a_number(column)
            if encoded is None and cell is not None and not one_hot_encode:
                aside.setdefault(_UNREAD, []).append(f"{name} (such as {shorten(repr(cell))})")
            elif encoded is None:
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
        if values.has_leading_zeros(column):
            aside.setdefault(_CODES, []).append(name)
    raw.notices += [f"{what}: {values.join_names(names)}." for what, names in aside.items()]
    if not features:
        raise InputError(
            f"{file} has no column of numbers left to cluster; its columns are "
            f"{values.join_names(raw.frame.columns)}{_first_word(raw, left_out)}."
        )
    return features


def _note_totals(raw: RawTable, kept: NDArray[np.bool_]) -> list[str]:
    """Return a notice if the last row seems to sum up the others."""
    last = [*(raw.ids or [])[-1:], *raw.frame.iloc[-1]]
    words = [cell for cell in last if isinstance(cell, str) and cell.lower() in _TOTALS]
    if not words or not kept[-1]:
        return []
    text = (
        f"The last {raw.place}, {raw.frame.index[-1]}, is called {words[0]!r}, but it is clustered "
        "like any other; delete it if it is not an item."
    )
    return [text]


def _first_word(raw: RawTable, left_out: set[int | None]) -> str:
    """Return where the first cell is that is no number, as the end of a sentence."""
    for position, (name, column) in enumerate(raw.frame.items()):
        cells = column.dropna()
        if position not in left_out and name not in raw.annotations and len(cells):
            return (
                f", and {name} holds {shorten(repr(cells.iloc[0]))} in {raw.place} {cells.index[0]}"
            )
    return ""


def _complete_rows(
    file: str, raw: RawTable, X: NDArray[np.float64], names: list[str], drop_missing: bool
) -> NDArray[np.bool_]:
    """Return which rows have all values; raise unless the others may be left out."""
    finite = np.isfinite(X)
    kept = np.asarray(finite.all(axis=1))
    if kept.all() or (drop_missing and kept.any()):
        return kept
    if drop_missing:
        raise InputError(
            f"{file} has a missing or infinite value in every row; --drop the worst columns."
        )
    counts = {"missing": np.isnan(X).sum(), "infinite": np.isinf(X).sum()}
    found = " and ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    places = raw.frame.index[~kept].tolist()
    holed = [names[column] for column in np.flatnonzero(~finite.all(axis=0))]
    columns = values.join_names(holed, most=4)
    raise InputError(
        f"{file} has {found} {'value' if sum(counts.values()) == 1 else 'values'} in "
        f"{_count(len(places), 'row')} of {len(X)} ({_places(raw, places, most=5)}; in {columns}); "
        f"--drop-missing leaves {'that row' if len(places) == 1 else 'those rows'} out."
    )


def _places(raw: RawTable, places: list[int], most: int) -> str:
    return f"{raw.place}{'s' * (len(places) > 1)} {values.join_names(places, most=most)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
