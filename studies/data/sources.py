"""Reads datasets from a folder or downloads them."""

from __future__ import annotations

import csv
import os
import socket
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import BadGzipFile
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np

from studies.data.content import Arrays, Content, name_classes, plain

FOLDER_VARIABLE = "CORECLUST_DATA"
_TIMEOUT = 20.0  # seconds
_IDENTIFIERS = {"id", "id_number", "sample_code_number", "sequence_name", "protein_name", "name"}


class DatasetNotFoundError(FileNotFoundError):
    """Raised if a dataset is neither in the folder nor can be downloaded.

    Examples
    --------
    >>> from studies.data import DatasetNotFoundError
    >>> issubclass(DatasetNotFoundError, FileNotFoundError)
    True
    """


def find_folder(data_home: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder of the argument, or of the environment variable if it is None."""
    argument, given = "data_home", data_home
    if given is None:
        argument, given = FOLDER_VARIABLE, os.environ.get(FOLDER_VARIABLE) or None
    if given is None:
        return None
    folder = Path(given).expanduser() if isinstance(given, (str, os.PathLike)) else None
    if folder is None or not folder.is_dir():
        raise ValueError(f"{argument} must be a folder that exists, got {given!r}.")
    return folder


def find_file(folder: Path | None, name: str) -> Path | None:
    """Return the file of that name in the folder, or None."""
    return folder / name if folder is not None and (folder / name).is_file() else None


def read_csv(path: Path, content: Content) -> Arrays:
    """Read a small CSV file: a header, then rows of numbers with the class at the end."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.reader(file) if row]
        table = np.array(rows[1:])
        _check_width(content, table)
        data = table[:, :-1].astype(np.float64)
    except ValueError as error:  # ragged rows, words instead of numbers, binary data
        raise _unreadable(path, content, error) from error
    return data, name_classes(content, table[:, -1].tolist(), path)


def read_large_csv(path: Path, content: Content) -> Arrays:
    """Read a compressed CSV file with many rows, of the same layout."""
    import pandas as pd

    try:
        table = pd.read_csv(path, low_memory=False)
        _check_width(content, table)
        data = table.iloc[:, :-1].to_numpy(dtype=np.float64)
    except (ValueError, BadGzipFile, EOFError, zlib.error) as error:
        raise _unreadable(path, content, error) from error
    return data, name_classes(content, table.iloc[:, -1].tolist(), path)


def download_openml(content: Content) -> Arrays:
    """Fetch a dataset from OpenML, or from scikit-learn's copy of an earlier download."""
    import pandas as pd
    from sklearn.datasets import fetch_openml

    with _going_online():
        # An id identifies one version. This parser reads numbers exactly.
        fetched = fetch_openml(
            data_id=content.openml, as_frame=True, parser="liac-arff", n_retries=1, delay=0.5
        )
    table = pd.DataFrame(
        {
            name: pd.to_numeric(column.astype(object), errors="coerce")
            for name, column in fetched.data.items()
            if plain(name).replace(" ", "_") not in _IDENTIFIERS
        }
    ).dropna(axis="columns", how="all")  # identifiers in other columns
    complete = table.notna().all(axis="columns").to_numpy()
    data = table.to_numpy(dtype=np.float64)[complete]
    spellings = np.asarray(fetched.target, dtype=object)[complete]
    return data, name_classes(content, spellings.tolist(), source_of(content))


def download_kdd(content: Content) -> Arrays:
    """Fetch the KDD Cup data through scikit-learn; keep the rows and columns of the paper."""
    from sklearn.datasets import fetch_kddcup99

    with _going_online():
        fetched = fetch_kddcup99(percent10=True, n_retries=1, delay=0.5)
    kept = np.array([plain(name) in content.classes for name in fetched.target])
    columns = [list(fetched.feature_names).index(name) for name in content.features]
    data = np.asarray(fetched.data)[:, columns][kept].astype(np.float64)
    spellings = np.asarray(fetched.target)[kept]
    return data, name_classes(content, spellings.tolist(), source_of(content))


def source_of(content: Content) -> str:
    """Return the source from which a dataset is downloaded."""
    return "fetch_kddcup99" if content.openml is None else f"OpenML (id {content.openml})"


def download_or_raise(
    content: Content, *, file_name: str, folder: Path | None, download: bool
) -> Arrays:
    """Download a dataset, or raise an error that says what to do."""
    way_out = "or pass download=True to fetch it"
    cause: BaseException | None = None
    if download:
        try:
            return (download_kdd if content.openml is None else download_openml)(content)
        except _OfflineError as error:
            cause = error.__cause__
            reason = str(cause).partition("\n")[0]
            way_out = f"or go online to fetch it ({type(cause).__name__}: {reason})"
    where = "a folder, because none is given" if folder is None else str(folder)
    raise DatasetNotFoundError(
        f"The dataset {content.name!r} was not found in {where}: put {file_name} into a folder "
        f"and name it with data_home or with the environment variable {FOLDER_VARIABLE}, "
        f"{way_out}."
    ) from cause


class _OfflineError(Exception):
    """Raised if a download failed; its cause says why."""


@contextmanager
def _going_online() -> Iterator[None]:
    # The downloads of scikit-learn have no time limit: a silent server would block forever.
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_TIMEOUT if before is None else before)
    try:
        yield
    except (OSError, HTTPException, EOFError, zlib.error, ValueError, LookupError) as error:
        # No answer, an incomplete answer, or one that scikit-learn cannot read.
        raise _OfflineError from error
    finally:
        socket.setdefaulttimeout(before)


def _check_width(content: Content, table: Any) -> None:
    width = table.shape[1] if table.ndim == 2 else 0
    if width != len(content.features) + 1:
        raise ValueError(f"it has {width} columns")


def _unreadable(path: Path, content: Content, error: Exception) -> ValueError:
    return ValueError(
        f"The dataset {content.name!r} cannot be read from {path} ({error}): replace the file by "
        f"one with a header and the columns {', '.join(content.features)}, class."
    )
