"""Files that hold numbers as numbers: Parquet, .npy and .h5ad."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from coreclust.cli.errors import InputError
from coreclust.cli.reading.raw import RawColumn, RawTable, distinct_names


def read_npy(path: Path) -> RawTable:
    """Read an array of numpy: a row an item."""
    try:
        with path.open("rb") as file:  # numpy leaves it open after some errors
            array = np.load(file, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path} is not an array of numbers that numpy can read (objects are not read)."
        ) from error
    if not isinstance(array, np.ndarray):
        raise InputError(f"{path} holds several arrays; save the one with the data as .npy.")
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path} must hold real numbers, got dtype {array.dtype}.")
    if array.ndim not in (1, 2):
        raise InputError(
            f"{path} must hold an array with a row an item, got one of shape {array.shape}."
        )
    table = array.astype(np.float64)
    if table.ndim == 1:
        table = table[:, None]
    names = [f"column{position}" for position in range(1, table.shape[1] + 1)]
    return _numbers(path, names, table)


def read_parquet(path: Path) -> RawTable:
    """Read a Parquet file; an index that names the rows becomes their ids."""
    try:
        import pyarrow as pa  # noqa: F401  (pandas asks for it late, and at length)
    except ImportError as error:
        raise InputError(
            "Parquet files need pyarrow; install it with: pip install 'coreclust[formats]'"
        ) from error
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except (ValueError, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{path} is not a Parquet file that can be read: {reason}.") from error
    notices: list[str] = []
    ids = None
    if not isinstance(frame.index, pd.RangeIndex):
        ids = [str(name) for name in frame.index]
        notices.append("The index of the frame was taken as the ids of the rows.")
    names = distinct_names([str(name) for name in frame.columns], notices)
    columns = [_column(name, frame.iloc[:, position]) for position, name in enumerate(names)]
    return RawTable(columns, range(1, len(frame) + 1), ids=ids, notices=notices)


def read_h5ad(path: Path) -> RawTable:
    """Read an AnnData file: its matrix X, the names of its observations, and their columns."""
    try:
        import anndata
    except ImportError as error:
        raise InputError(
            ".h5ad files need anndata; install it with: pip install 'coreclust[formats]'"
        ) from error
    try:
        data = anndata.read_h5ad(path)
    except (OSError, KeyError, ValueError, TypeError, RuntimeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{path} is not an AnnData file that can be read: {reason}.") from error
    if data.X is None:
        raise InputError(f"{path} has no matrix X; save one with X, such as its components.")
    matrix = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X)
    notices: list[str] = []
    names = distinct_names([str(name) for name in data.var_names], notices)
    table = _numbers(path, names, matrix.astype(np.float64))
    table.ids = [str(name) for name in data.obs_names]
    # Annotations are never features, whatever their type: words, so that --label finds them.
    taken = set(names)
    for name in data.obs.columns:
        values = _words(data.obs[name])
        table.columns.append(RawColumn(f"obs:{name}" if name in taken else str(name), values))
    if len(data.obs.columns):
        notices.append("The annotations of the observations are no features; --label takes one.")
    table.annotations = frozenset(column.name for column in table.columns[len(names) :])
    table.notices = notices
    return table


def _numbers(path: Path, names: list[str], values: Any) -> RawTable:
    if values.shape[1] == 0:
        raise InputError(f"{path} has no columns.")
    columns = [RawColumn(name, values[:, position]) for position, name in enumerate(names)]
    return RawTable(columns, range(1, len(values) + 1))


def _column(name: str, series: Any) -> RawColumn:
    if series.dtype.kind in "biuf":
        return RawColumn(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    return RawColumn(name, _words(series))


def _words(series: Any) -> Any:
    words = np.empty(len(series), dtype=object)
    words[:] = [
        None if missing else str(value)
        for value, missing in zip(series.tolist(), series.isna().tolist(), strict=True)
    ]
    return words
