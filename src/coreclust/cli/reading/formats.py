"""Readers of files that store numbers as numbers: Parquet, .npy and .h5ad."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coreclust.cli.errors import InputError
from coreclust.cli.reading.raw import RawTable, raw_table
from coreclust.cli.reading.values import join_names


def read_npy(path: Path) -> RawTable:
    """Read a numpy array with one row per item."""
    try:
        with path.open("rb") as file:  # numpy leaves it open after some errors
            array = np.load(file, allow_pickle=False)
            names = [] if isinstance(array, np.ndarray) else array.files
            array = array[names[0]] if len(names) == 1 else array
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path} is not an array of numbers that numpy can read (objects are not read)."
        ) from error
    if not isinstance(array, np.ndarray):
        raise InputError(
            f"{path} holds {len(names)} arrays ({join_names(names, most=4)}); save the one with "
            "the data as .npy."
        )
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path} must hold real numbers, got dtype {array.dtype}.")
    if array.ndim not in (1, 2):
        raise InputError(
            f"{path} must hold an array with one row per item, got one of shape {array.shape}."
        )
    values = array.astype(np.float64)[:, None] if array.ndim == 1 else array.astype(np.float64)
    names = [f"column{position}" for position in range(1, values.shape[1] + 1)]
    return raw_table(pd.DataFrame(values, columns=names))


def read_parquet(path: Path) -> RawTable:
    """Read a Parquet file; an index that names the rows becomes their ids."""
    import_package("pyarrow", "Parquet")  # the message of pandas is longer
    try:
        frame = pd.read_parquet(path)
    except (ValueError, OSError) as error:
        raise _unreadable(path, "a Parquet file", error) from error
    if isinstance(frame.index, pd.RangeIndex):
        return raw_table(frame)
    table = raw_table(frame, ids=frame.index)
    table.notices.append("The index of the frame is used as the ids of the rows.")
    return table


def read_h5ad(path: Path, rep: str | None = None) -> RawTable:
    """Read an AnnData file: a matrix and, as annotations, the columns of obs.

    The matrix is ``obsm[rep]`` or X; by default ``obsm["X_pca"]``, if there is one.
    """
    anndata = import_package("anndata", ".h5ad")
    try:
        data = anndata.read_h5ad(path)
    except (OSError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise _unreadable(path, "an AnnData file", error) from error
    known = sorted(data.obsm)
    used = rep or ("X_pca" if "X_pca" in known else "X")
    if used != "X" and used not in known:
        hint = f"X and {', '.join(known)}" if known else "only X"
        raise InputError(f"--rep {used}: {path} does not have it; it has {hint}.")
    if used == "X" and data.X is None:
        raise InputError(f"{path} has no matrix X; name one of obsm with --rep.")
    matrix = data.X if used == "X" else data.obsm[used]
    matrix = matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
    genes = list(data.var_names)
    columns = genes if used == "X" else [f"{used}{i}" for i in range(1, matrix.shape[1] + 1)]
    X = pd.DataFrame(matrix.astype(np.float64), columns=columns)
    obs = data.obs.reset_index(drop=True).astype(object)  # words, for --label
    obs.columns = [f"obs:{name}" if name in X.columns else str(name) for name in obs.columns]
    frame = pd.concat([X, obs], axis=1)
    table = raw_table(frame, ids=data.obs_names, n_annotations=obs.shape[1])
    if used != "X" and rep is None:
        table.notices.append(f"obsm[{used!r}] is clustered (--rep X clusters the matrix X).")
    if obs.shape[1]:
        table.notices.append("The columns of obs are not features; --label can use one of them.")
    return table


def import_package(package: str, kind: str) -> Any:
    """Import an optional package, or say how to install it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise InputError(
            f"{kind} files need {package}; install it with: pip install 'coreclust[formats]'"
        ) from error


def _unreadable(path: Path, kind: str, error: Exception) -> InputError:
    reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
    return InputError(f"{path} is not {kind} that can be read: {reason}.")


#: The reader of each suffix; files with any other suffix are read as text. A new format is one
#: function that returns a RawTable, and one entry here.
READERS: dict[str, Callable[[Path], RawTable]] = {
    ".npy": read_npy,
    ".npz": read_npy,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".h5ad": read_h5ad,
}
