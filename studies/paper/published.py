"""Published values of the paper, and the tolerances for ours."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

#: The datasets and the algorithms in the order of the tables.
DATASETS = ("synthetic", "iris", "wine", "glass", "bcw", "yeast", "kdd")
ALGORITHM_NAMES = ("hclust", "kmeans", "rf", "svm", "tclust", "tkmeans")

#: Datasets with a known distribution, as Algorithm 2 needs it.
KNOWN_DATASETS = ("synthetic", "kdd")

#: Algorithms that trim items.
TRIMMING = ("tclust", "tkmeans")

DATASET_TITLES = {name: name for name in DATASETS} | {"bcw": "BCW", "kdd": "KDD"}

#: Largest allowed difference from the published value.
TOLERANCES = {
    "purity_original": 0.02,
    "purity_core": 0.03,
    "weak": 0.05,
    "items": 6,
}


@dataclass(frozen=True)
class Quality:
    """Purity of the clustering, purity of its cores, and weak fraction."""

    purity_original: float
    purity_core: float
    weak: float


@dataclass(frozen=True)
class BootstrapFigures:
    """A cell of Tables 4 and 5.

    Attributes
    ----------
    paper : Quality
        As printed, with two decimals.
    seconds : float
        As printed, without decimals.
    rerun : Quality or None
        The authors' package run again, with seed 42.
    rerun_seconds : float or None
        Running time of that on one core of a 2.8 GHz Xeon.
    """

    paper: Quality
    seconds: float
    rerun: Quality | None
    rerun_seconds: float | None


@dataclass(frozen=True)
class KnownFigures:
    """A cell of Tables 2 and 3.

    Attributes
    ----------
    paper : Quality
    agreement : tuple of four int
        Numbers of items that are core with both schemes, only with the known distribution,
        only with the bootstrap, and with neither.
    """

    paper: Quality
    agreement: tuple[int, int, int, int]


@dataclass(frozen=True)
class Properties:
    """A row of Table 1."""

    size: int
    classes: int
    attributes: int
    major_class: float
    population: int | None = None


#: Table 1.
PROPERTIES = {
    "synthetic": Properties(150, 3, 2, 0.33),
    "iris": Properties(150, 3, 4, 0.33),
    "wine": Properties(178, 3, 13, 0.40),
    "glass": Properties(214, 6, 9, 0.36),
    "bcw": Properties(683, 2, 9, 0.65),
    "yeast": Properties(1484, 10, 8, 0.31),
    "kdd": Properties(200, 3, 5, 0.58, 485269),
}


@cache
def bootstrap_figures() -> dict[tuple[str, str], BootstrapFigures]:
    """Return the 42 cells of Tables 4 and 5, by dataset and algorithm.

    Examples
    --------
    >>> from studies.paper.published import bootstrap_figures
    >>> bootstrap_figures()["iris", "kmeans"].paper
    Quality(purity_original=0.89, purity_core=0.98, weak=0.15)
    """
    return {
        (row["dataset"], row["algorithm"]): BootstrapFigures(
            paper=_quality(row, "paper"),
            seconds=float(row["paper_seconds"]),
            rerun=_quality(row, "r") if row["r_weak"] else None,
            rerun_seconds=float(row["r_seconds"]) if row["r_seconds"] else None,
        )
        for row in _rows("published_bootstrap.csv")
    }


@cache
def known_figures() -> dict[tuple[str, str], KnownFigures]:
    """Return the twelve cells of Tables 2 and 3, by dataset and algorithm.

    Examples
    --------
    >>> from studies.paper.published import known_figures
    >>> known_figures()["synthetic", "hclust"].agreement
    (40, 4, 30, 76)
    """
    return {
        (row["dataset"], row["algorithm"]): KnownFigures(
            paper=_quality(row, "paper"),
            agreement=(
                int(row["core_core"]),
                int(row["core_weak"]),
                int(row["weak_core"]),
                int(row["weak_weak"]),
            ),
        )
        for row in _rows("published_known.csv")
    }


def _quality(row: dict[str, str], who: str) -> Quality:
    measures = ("purity_original", "purity_core", "weak")
    return Quality(*(float(row[f"{who}_{measure}"]) for measure in measures))


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (files("studies.paper") / name).open(encoding="utf-8") as file:
        yield from csv.DictReader(file)
