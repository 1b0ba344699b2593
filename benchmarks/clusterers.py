"""Time whole fits: compiled clusterers and classifiers, the generic engine, the authors' R package.

Run from the repository root::

    python -m benchmarks.clusterers --data DIR            # all datasets, all algorithms
    python -m benchmarks.clusterers --data DIR --quick    # iris only, few resamples

The times are those of a whole ``CoreClustering.fit`` (m = 1000, alpha = 0.1) after compilation,
the median of several runs. The generic engine fits a clone of scikit-learn's estimator to every
resample on one core, and is run once; classifiers are fitted to 10 resamples and the time is scaled
("*"), because all of them would take hours. The R times were measured earlier with the authors'
package on one core of a similar machine, so the ratios to R are approximate.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering
from sklearn.cluster import KMeans as SklearnKMeans

from coreclust import CoreClustering
from coreclust.algorithms import make_algorithm
from coreclust.cluster import HierarchicalClustering, KMeans, TClust, TrimmedKMeans

DATASETS = ["synthetic", "iris", "wine", "glass", "kdd", "bcw", "yeast"]
FILES = {"kdd": "kdd_sample200"}
LOOP_OF_CLASSIFIERS = 10  # resamples


@dataclass(frozen=True)
class Algorithm:
    """What is measured, and the ratios that are required."""

    make: Callable[[int], Any]  # the estimator for a number of clusters
    make_generic: Callable[[int], Any] | None  # the one for the generic engine
    r_bar: float
    loop_bar: float
    loop_datasets: tuple[str, ...] = ("iris",)  # where the ratio to the loop is required
    is_classifier: bool = False


def _classifier(name: str, loop_bar: float) -> Algorithm:
    def make(k: int) -> Any:
        return make_algorithm(name, k)

    return Algorithm(make, make, 5.0, loop_bar, tuple(DATASETS), is_classifier=True)


ALGORITHMS = {  # by their names in the R table
    "kmeans": Algorithm(KMeans, lambda k: SklearnKMeans(k, n_init=10), 10.0, 20.0),
    "hclust": Algorithm(
        HierarchicalClustering,
        lambda k: AgglomerativeClustering(k, linkage="complete"),
        10.0,
        20.0,
    ),
    "tkmeans": Algorithm(TrimmedKMeans, None, 5.0, 0.0),
    "tclust": Algorithm(TClust, None, 5.0, 0.0),
    "rf": _classifier("rf", 30.0),
    "svm": _classifier("svm", 3.0),
}


def main() -> int:
    """Print the table; return 1 if a required ratio is not reached, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="folder with data/ and reference/")
    parser.add_argument("--only", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=DATASETS)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-generic", action="store_true", help="skip the generic engine")
    parser.add_argument("--quick", action="store_true", help="iris, 50 resamples, one repeat")
    parser.add_argument("--json", type=Path, help="file to write the rows to")
    options = parser.parse_args()
    if options.quick:
        options.datasets, options.resamples, options.repeats = ["iris"], 50, 1
    r_seconds = _r_seconds(options.data / "reference" / "paper_tables.csv")
    print(f"{'dataset':10} {'algorithm':9} {'fit s':>8} {'R s':>8} {'R/fit':>7}", end=" ")
    print(f"{'loop s':>8} {'loop/fit':>9}  bars")
    rows = []
    for dataset in options.datasets:
        X, classes = _load(options.data / "data" / f"{FILES.get(dataset, dataset)}.csv")
        for algorithm in options.only:
            row = _measure(dataset, algorithm, X, classes, options)
            row["r_seconds"] = r_seconds[dataset, algorithm]
            rows.append(row)
            print(_line(row, full=options.resamples == 1000), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    missed = [row for row in rows if not all(ok for _, ok in _bars(row))]
    return int(bool(missed) and options.resamples == 1000)


def _load(path: Path) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    table = np.genfromtxt(path, delimiter=",", dtype=str, skip_header=1)
    return table[:, :-1].astype(float), table[:, -1]


def _r_seconds(path: Path) -> dict[tuple[str, str], float]:
    with path.open(newline="") as file:
        return {
            (row["dataset"], row["algorithm"]): float(row["r_seconds"])
            for row in csv.DictReader(file)
        }


def _measure(
    dataset: str,
    name: str,
    X: NDArray[np.float64],
    classes: NDArray[np.str_],
    options: argparse.Namespace,
) -> dict[str, Any]:
    algorithm, k, m = ALGORITHMS[name], np.unique(classes).size, options.resamples
    y = classes if algorithm.is_classifier else None
    _seconds(algorithm.make(k), X, y, 20)  # compile
    runs = [_seconds(algorithm.make(k), X, y, m) for _ in range(options.repeats)]
    row = {"dataset": dataset, "algorithm": name, "seconds": statistics.median(runs)}
    row["runs"] = runs
    row["loop_seconds"], row["loop_scaled"] = None, False
    if algorithm.make_generic is not None and not options.no_generic:
        few = min(m, LOOP_OF_CLASSIFIERS) if algorithm.is_classifier else m
        seconds = _seconds(algorithm.make_generic(k), X, y, few, engine="generic", n_jobs=1)
        row["loop_seconds"] = seconds * (m + 1) / (few + 1)  # the reference is fitted, too
        row["loop_scaled"] = few < m
    return row


def _seconds(estimator: Any, X: Any, y: Any, n_resamples: int, **how: Any) -> float:
    begin = time.perf_counter()
    cc = CoreClustering(estimator, n_resamples=n_resamples, random_state=0, alpha=0.1, **how)
    if n_resamples < 100:
        cc.set_params(alpha=0.9)  # few resamples are used to compile, or for the loop only
    cc.fit(X, y)
    return time.perf_counter() - begin


def _bars(row: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    algorithm = ALGORITHMS[row["algorithm"]]
    yield f"{algorithm.r_bar:g} x R", row["r_seconds"] / row["seconds"] >= algorithm.r_bar
    if row["dataset"] in algorithm.loop_datasets and row["loop_seconds"] is not None:
        bar = algorithm.loop_bar
        yield f"{bar:g} x loop", row["loop_seconds"] / row["seconds"] >= bar


def _line(row: dict[str, Any], *, full: bool) -> str:
    loop, seconds = row["loop_seconds"], row["seconds"]
    line = f"{row['dataset']:10} {row['algorithm']:9} {seconds:8.3f} {row['r_seconds']:8.2f} "
    line += f"{row['r_seconds'] / seconds:7.1f} " if full else f"{'-':>7} "
    star = "*" if row["loop_scaled"] else " "
    line += f"{'-':>8} {'-':>9}" if loop is None else f"{loop:8.2f}{star} {loop / seconds:8.1f}"
    if full:
        line += "  " + ", ".join(f"{bar}: {'yes' if ok else 'NO'}" for bar, ok in _bars(row))
    return line


if __name__ == "__main__":
    sys.exit(main())
