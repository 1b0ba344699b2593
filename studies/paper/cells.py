"""Runs one cell of the paper's tables (an algorithm on a dataset) and stores its result."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numba
import numpy as np
import scipy
import sklearn

import coreclust
from coreclust import CoreClustering
from coreclust._utils.files import write_whole
from coreclust.algorithms import ALGORITHMS, make_algorithm
from coreclust.datasets import synthetic_sampler
from coreclust.metrics import purity_score, weak_fraction
from coreclust.resampling import Bootstrap, KnownDistribution
from studies.data import load_kdd_population, load_paper_dataset

ALPHA = 0.1

# The authors' package counts two trimmed items as together; by default, we count them as apart.
NOISE_RULES = ("together", "apart")


@dataclass(frozen=True)
class Cell:
    """An algorithm on a dataset, with a resampling scheme.

    Attributes
    ----------
    dataset : str
        A name that :func:`~studies.data.load_paper_dataset` accepts.
    algorithm : str
        A name in :data:`~coreclust.algorithms.ALGORITHMS`.
    scheme : {"bootstrap", "known"}
        Algorithm 3 or Algorithm 2 of the paper.
    n_resamples : int
    seed : int
    """

    dataset: str
    algorithm: str
    scheme: str
    n_resamples: int
    seed: int = 0

    @property
    def file_name(self) -> str:
        """Name of the file with the result."""
        parts = (self.scheme, self.dataset, self.algorithm, f"m{self.n_resamples}")
        return "-".join(parts) + f"-seed{self.seed}.json"


class Named(Protocol):
    """Anything with a file name for its result, such as a cell."""

    @property
    def file_name(self) -> str:
        """Name of the file with the result."""


class Results:
    """Folder with one file per result, so that finished cells are not run again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, cell: Named) -> dict[str, Any] | None:
        """Return the result of a cell, or None if it is missing or cannot be read."""
        try:
            return json.loads((self.folder / cell.file_name).read_text())
        except (OSError, ValueError):
            return None

    def put(self, cell: Named, result: dict[str, Any]) -> None:
        """Store the result of a cell."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(result, indent=1)
        write_whole(self.folder / cell.file_name, lambda file: file.write(text.encode()))


def run_cell(
    cell: Cell, *, data_home: Path | None = None, download: bool = True, verbose: int = 0
) -> dict[str, Any]:
    """Find the core clusters of one cell with both noise rules.

    Returns
    -------
    result : dict
        Ready for JSON: the fields of the cell, `purity_original`, `reference` (the cluster of
        each item), `seconds`, `n_dropped`, `optimal`, `versions`, and in `noise`, for each
        noise rule, `purity_core`, `weak_fraction` and `labels` (the core of each item).
    """
    data = load_paper_dataset(cell.dataset, data_home, download=download)
    scheme = _scheme(cell, data_home, download)
    begin = time.perf_counter()
    cc = CoreClustering(
        make_algorithm(cell.algorithm, np.unique(data.target).size),
        alpha=ALPHA,
        n_resamples=cell.n_resamples,
        resampling=scheme,
        noise=NOISE_RULES[0],
        n_jobs=-1,
        random_state=cell.seed,
        verbose=verbose,
    ).fit(data.data, data.target if ALGORITHMS[cell.algorithm].is_classifier else None)
    seconds = time.perf_counter() - begin
    cuts = {rule: cc if rule == cc.noise else cc.recut(noise=rule) for rule in NOISE_RULES}
    return {
        **asdict(cell),
        "alpha": ALPHA,
        "purity_original": purity_score(data.target, cc.reference_labels_),
        "reference": cc.reference_labels_.tolist(),
        "noise": {
            rule: {
                "purity_core": purity_score(data.target, cut.labels_),
                "weak_fraction": weak_fraction(cut.labels_),
                "labels": cut.labels_.tolist(),
            }
            for rule, cut in cuts.items()
        },
        "optimal": all(core.optimal for cut in cuts.values() for core in cut.cores_),
        "n_dropped": cc.n_dropped_resamples_,
        "seconds": seconds,
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute the results."""
    modules = (coreclust, np, scipy, sklearn, numba)
    return {
        "python": platform.python_version(),
        **{module.__name__: module.__version__ for module in modules},
    }


def listed_versions(results: Iterable[Mapping[str, Any]]) -> str:
    """List the versions with which results were computed."""
    found: dict[str, dict[str, None]] = {}
    for result in results:
        for name, version in result["versions"].items():
            found.setdefault(name, {})[version] = None
    return ", ".join(f"{name} {' and '.join(known)}" for name, known in found.items())


def _scheme(cell: Cell, data_home: Path | None, download: bool) -> Bootstrap | KnownDistribution:
    if cell.scheme == "bootstrap":
        return Bootstrap()
    if cell.dataset == "synthetic":
        return KnownDistribution(synthetic_sampler)
    if cell.dataset == "kdd":
        population = load_kdd_population(data_home, download=download)
        return KnownDistribution(population.data, population.target)
    raise ValueError(
        f"scheme must be 'bootstrap' for {cell.dataset}, whose distribution is not known."
    )
