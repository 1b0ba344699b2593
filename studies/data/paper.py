"""Loads the seven datasets of the paper's experiments."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from studies.data._r_random import RRandom
from studies.data.content import (
    BCW,
    GLASS,
    IRIS,
    KDD,
    SYNTHETIC,
    WINE,
    YEAST,
    Arrays,
    Content,
    as_bunch,
    verify,
)
from studies.data.sources import (
    download_or_raise,
    find_file,
    find_folder,
    read_csv,
    read_large_csv,
    source_of,
)
from studies.data.synthetic import paper_sample

PAPER_DATASETS = ("synthetic", "iris", "wine", "glass", "bcw", "yeast", "kdd")

_FROM_A_FOLDER = {content.name: content for content in (GLASS, BCW, YEAST)}
_POPULATION, _SAMPLE = "kdd.csv.gz", "kdd_sample200.csv"
_POPULATION_ROWS = 485269
_REPLACE = "replace the file by an untouched copy, or remove it to download the dataset"
_BRING = "put an untouched {} into a folder and pass the folder as data_home"


def load_paper_dataset(
    name: str, data_home: str | os.PathLike[str] | None = None, *, download: bool = True
) -> Bunch:
    """Load a dataset of the paper, exactly as it was clustered there.

    The authors' synthetic sample is drawn again; iris and wine are part of scikit-learn. The
    others are read from a folder, or downloaded by scikit-learn into its own folder
    (:func:`sklearn.datasets.get_data_home`). A checksum compares the rows with those of the
    paper. The order of the rows is that of the source.

    Parameters
    ----------
    name : {"synthetic", "iris", "wine", "glass", "bcw", "yeast", "kdd"}
        The name of the dataset. "bcw" is Breast Cancer Wisconsin (Original), not the dataset of
        scikit-learn; "kdd" has the 200 rows of :func:`load_kdd_population` that the authors
        drew.
    data_home : str or path-like, default=None
        A folder with files ``glass.csv``, ``bcw.csv``, ``yeast.csv`` and
        ``kdd_sample200.csv`` or ``kdd.csv.gz``: a header, numbers, the class in the last
        column. None for the folder in the environment variable ``CORECLUST_DATA``, if it is
        set.
    download : bool, default=True
        Whether to download a dataset that is not in the folder.

    Returns
    -------
    dataset : sklearn.utils.Bunch
        With `data` (float64), `target` (the classes, strings or integers),
        `feature_names`, `target_names` (the distinct classes) and `DESCR`.

    Raises
    ------
    DatasetNotFoundError
        If the file is missing and is not downloaded.
    ValueError
        If a file, or what was downloaded, is not the dataset of the paper.

    Examples
    --------
    >>> from studies.data import load_paper_dataset
    >>> dataset = load_paper_dataset("synthetic")
    >>> dataset.data.shape, dataset.data[0].round(6).tolist()
    ((150, 2), [-0.718042, -0.924018])
    >>> load_paper_dataset("wine").target_names.tolist()
    [1, 2, 3]
    """
    if not isinstance(name, str) or name not in PAPER_DATASETS:
        raise ValueError(f"name must be one of {', '.join(PAPER_DATASETS)}, got {name!r}.")
    if data_home is not None:
        find_folder(data_home)  # a wrong folder is an error even for datasets that need none
    if name == "synthetic":
        return as_bunch(SYNTHETIC, *paper_sample(), source="drawn as R does with seed 42")
    if name in ("iris", "wine"):
        return _load_from_sklearn(IRIS if name == "iris" else WINE)
    folder = find_folder(data_home)
    if name == "kdd":
        return _load_kdd_sample(folder, download)
    return _load_from_folder(_FROM_A_FOLDER[name], folder, download)


def load_kdd_population(
    data_home: str | os.PathLike[str] | None = None, *, download: bool = True
) -> Bunch:
    """Load all 485,269 rows from which the 200 of the paper's "kdd" were drawn.

    They are the normal, neptune and smurf connections of the 10 percent file of the KDD
    Cup 1999, in the original order, with five of its features.

    Parameters
    ----------
    data_home : str or path-like, default=None
        A folder with ``kdd.csv.gz``. None for the folder in the environment variable
        ``CORECLUST_DATA``, if it is set.
    download : bool, default=True
        Whether to download the data if the file is not in the folder.

    Returns
    -------
    dataset : sklearn.utils.Bunch
        As returned by :func:`load_paper_dataset`.

    Raises
    ------
    DatasetNotFoundError
        If the file is missing and is not downloaded.
    ValueError
        If the number of rows or the authors' 200 rows are not those of the paper.

    Examples
    --------
    >>> from studies.data import DatasetNotFoundError, load_kdd_population
    >>> try:
    ...     n_items = load_kdd_population(download=False).data.shape[0]
    ... except DatasetNotFoundError:  # the error says what to do
    ...     n_items = 485_269
    >>> n_items
    485269
    """
    arrays, source = _kdd_population(find_folder(data_home), download, _POPULATION)
    return as_bunch(KDD, *arrays, source=source)


def kdd_sample_rows() -> NDArray[np.int64]:
    """Return the rows of the population that the authors drew in R with seed 42.

    Examples
    --------
    >>> from studies.data.paper import kdd_sample_rows
    >>> kdd_sample_rows()[:3].tolist()
    [443927, 454732, 138854]
    """
    return RRandom(42).distinct(_POPULATION_ROWS, 200)


def _load_from_sklearn(content: Content) -> Bunch:
    from sklearn.datasets import load_iris, load_wine

    if content is IRIS:
        bunch = load_iris()
        target = bunch.target_names[bunch.target]
    else:
        bunch = load_wine()
        target = bunch.target + 1
    arrays = verify(content, (bunch.data, target), "scikit-learn", "use another version of it")
    return as_bunch(content, *arrays, source="from scikit-learn")


def _load_from_folder(content: Content, folder: Path | None, download: bool) -> Bunch:
    file_name = f"{content.name}.csv"
    path = find_file(folder, file_name)
    if path is not None:
        arrays, source, advice = read_csv(path, content), str(path), _REPLACE
    else:
        arrays = download_or_raise(content, file_name=file_name, folder=folder, download=download)
        source, advice = source_of(content), _BRING.format(file_name)
    return as_bunch(content, *verify(content, arrays, source, advice), source=source)


def _load_kdd_sample(folder: Path | None, download: bool) -> Bunch:
    path = find_file(folder, _SAMPLE)
    if path is not None:
        return as_bunch(KDD, *verify(KDD, read_csv(path, KDD), path, _REPLACE), source=path)
    wanted = f"{_SAMPLE} or {_POPULATION}"
    (data, target), source = _kdd_population(folder, download, wanted)
    rows = kdd_sample_rows()
    return as_bunch(KDD, data[rows], target[rows], source=f"200 rows of {source}")


def _kdd_population(folder: Path | None, download: bool, wanted: str) -> tuple[Arrays, str]:
    path = find_file(folder, _POPULATION)
    if path is not None:
        arrays, source, advice = read_large_csv(path, KDD), str(path), _REPLACE
    else:
        arrays = download_or_raise(KDD, file_name=wanted, folder=folder, download=download)
        source, advice = source_of(KDD), _BRING.format(wanted)
    data, target = arrays
    if len(data) != _POPULATION_ROWS:
        raise ValueError(
            f"The dataset 'kdd' from {source} has {len(data)} rows, but the population of the "
            f"paper has {_POPULATION_ROWS}: {advice}."
        )
    rows = kdd_sample_rows()  # a checksum of all rows would take longer than reading them
    verify(KDD, (data[rows], target[rows]), source, advice)
    return arrays, source
