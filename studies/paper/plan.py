"""Lists the cells that the tables and figures need, for a full run and for a quick one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from studies.paper.cells import Cell
from studies.paper.published import (
    ALGORITHM_NAMES,
    DATASETS,
    KNOWN_DATASETS,
    bootstrap_figures,
)

TABLES = (1, 2, 3, 4, 5)
FIGURES = (1, 2)

#: Panels of the figures: dataset and algorithm, row by row.
PANELS = {
    1: (("synthetic", "kmeans"),),
    2: (
        ("synthetic", "svm"),
        ("synthetic", "hclust"),
        ("synthetic", "tclust"),
        ("iris", "kmeans"),
        ("iris", "hclust"),
        ("iris", "tkmeans"),
        ("bcw", "kmeans"),
        ("bcw", "hclust"),
        ("bcw", "tclust"),
    ),
}

#: Number of bootstrap resamples in the paper.
BOOTSTRAP_RESAMPLES = 1000

# Algorithm 2 clusters m resamples for every *pair* of items: at m = 1000, four million clusterings
# of the synthetic data or of KDD. If one takes milliseconds, m is smaller here.
KNOWN_RESAMPLES = {
    ("synthetic", "hclust"): 1000,
    ("synthetic", "kmeans"): 1000,
    ("synthetic", "rf"): 1000,
    ("synthetic", "svm"): 1000,
    ("synthetic", "tclust"): 60,
    ("synthetic", "tkmeans"): 100,
    ("kdd", "hclust"): 300,
    ("kdd", "kmeans"): 300,
    ("kdd", "rf"): 1000,
    ("kdd", "svm"): 1000,
    ("kdd", "tclust"): 60,
    ("kdd", "tkmeans"): 100,
}

# A quick run takes minutes. A pair of items is in about 0.4 m of m bootstrap resamples, and at
# least nine are needed to reach 0.9, so with much fewer than 60 resamples every item would be weak.
QUICK_BOOTSTRAP_RESAMPLES = 200
QUICK_KNOWN_RESAMPLES = {("synthetic", "hclust"): 20, ("synthetic", "kmeans"): 20}
QUICK_WITHOUT = ("yeast",)


@dataclass(frozen=True)
class Plan:
    """Which tables and figures to make, and how thoroughly.

    Attributes
    ----------
    tables, figures : tuple of int
        Their numbers in the paper.
    quick : bool
        Whether to use fewer resamples and leave out what is slow.
    seed : int
        The seed of every cell.
    """

    tables: tuple[int, ...] = TABLES
    figures: tuple[int, ...] = FIGURES
    quick: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name, given, known in (
            ("tables", self.tables, TABLES),
            ("figures", self.figures, FIGURES),
        ):
            unknown = [number for number in given if number not in known]
            if unknown:
                raise ValueError(f"{name} must be among {known}, got {unknown[0]!r}.")

    @property
    def is_complete(self) -> bool:
        """Whether all tables and figures are made."""
        return set(self.tables) == set(TABLES) and set(self.figures) == set(FIGURES)

    def bootstrap(self, dataset: str, algorithm: str) -> Cell | None:
        """Return the cell of Algorithm 3, or None if a quick run leaves it out."""
        if self.quick and dataset in QUICK_WITHOUT:
            return None
        m = QUICK_BOOTSTRAP_RESAMPLES if self.quick else BOOTSTRAP_RESAMPLES
        return Cell(dataset, algorithm, "bootstrap", m, self.seed)

    def known(self, dataset: str, algorithm: str) -> Cell | None:
        """Return the cell of Algorithm 2, or None if a quick run leaves it out."""
        resamples = QUICK_KNOWN_RESAMPLES if self.quick else KNOWN_RESAMPLES
        m = resamples.get((dataset, algorithm))
        return None if m is None else Cell(dataset, algorithm, "known", m, self.seed)

    def cells(self) -> list[Cell]:
        """Return the cells that the tables and figures need.

        The fastest cells come first, so that an interrupted run has finished as many as possible.
        """
        every = [(name, algorithm) for name in DATASETS for algorithm in ALGORITHM_NAMES]
        both = [key for key in every if key[0] in KNOWN_DATASETS]
        wanted: dict[Cell, None] = {}
        if {4, 5} & set(self.tables):
            _add(wanted, (self.bootstrap(*key) for key in every))
        if 2 in self.tables:
            _add(wanted, (self.bootstrap(*key) for key in both if self.known(*key)))
        if {2, 3} & set(self.tables):
            _add(wanted, (self.known(*key) for key in both))
        for figure in self.figures:
            _add(wanted, (self.bootstrap(*key) for key in PANELS[figure]))
        return sorted(wanted, key=_cost)


def _add(wanted: dict[Cell, None], cells: Iterable[Cell | None]) -> None:
    wanted.update((cell, None) for cell in cells if cell is not None)


def _cost(cell: Cell) -> tuple[bool, float]:
    seconds = bootstrap_figures()[cell.dataset, cell.algorithm].seconds
    return cell.scheme != "bootstrap", seconds * cell.n_resamples
