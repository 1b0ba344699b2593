"""Time whole fits: compiled clusterers, the generic engine and the authors' R package.

Run from the repository root::

    python -m benchmarks.clusterers --data DIR            # all datasets, all algorithms
    python -m benchmarks.clusterers --data DIR --quick    # iris only, few resamples

The times are those of a whole ``CoreClustering.fit`` (m = 1000, alpha = 0.1) after compilation,
the median of several runs. The generic engine fits a clone of scikit-learn's KMeans or
AgglomerativeClustering to every resample on one core, and is run once. The R times were measured
earlier with the authors' package on one core of a similar machine, so the ratios to R are
approximate.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering
from sklearn.cluster import KMeans as SklearnKMeans

from coreclust import CoreClustering
from coreclust.cluster import HierarchicalClustering, KMeans, TClust, TrimmedKMeans

DATASETS = ["synthetic", "iris", "wine", "glass", "kdd", "bcw", "yeast"]
FILES = {"kdd": "kdd_sample200"}
# name in the R table: native estimator, estimator for the generic engine, required ratio to R
ALGORITHMS: dict[str, tuple[Callable[[int], Any], Callable[[int], Any] | None, float]] = {
    "kmeans": (KMeans, lambda k: SklearnKMeans(k, n_init=10), 10.0),
    "hclust": (
        HierarchicalClustering,
        lambda k: AgglomerativeClustering(k, linkage="complete"),
        10.0,
    ),
    "tkmeans": (TrimmedKMeans, None, 5.0),
    "tclust": (TClust, None, 5.0),
}
GENERIC_BAR = 20.0  # on iris


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
    print(f"{'loop s':>8} {'loop/fit':>8}  bars")
    rows = []
    for dataset in options.datasets:
        X, k = _load(options.data / "data" / f"{FILES.get(dataset, dataset)}.csv")
        for algorithm in options.only:
            row = _measure(dataset, algorithm, X, k, options)
            row["r_seconds"] = r_seconds[dataset, algorithm]
            rows.append(row)
            print(_line(row, full=options.resamples == 1000), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    missed = [row for row in rows if not all(ok for _, ok in _bars(row))]
    return int(bool(missed) and options.resamples == 1000)


def _load(path: Path) -> tuple[NDArray[np.float64], int]:
    table = np.genfromtxt(path, delimiter=",", dtype=str, skip_header=1)
    return table[:, :-1].astype(float), np.unique(table[:, -1]).size


def _r_seconds(path: Path) -> dict[tuple[str, str], float]:
    with path.open(newline="") as file:
        return {
            (row["dataset"], row["algorithm"]): float(row["r_seconds"])
            for row in csv.DictReader(file)
        }


def _measure(
    dataset: str, algorithm: str, X: NDArray[np.float64], k: int, options: argparse.Namespace
) -> dict[str, Any]:
    native, generic, _ = ALGORITHMS[algorithm]
    _seconds(native(k), X, 20)  # compile
    runs = [_seconds(native(k), X, options.resamples) for _ in range(options.repeats)]
    row = {"dataset": dataset, "algorithm": algorithm, "seconds": statistics.median(runs)}
    row["runs"] = runs
    row["loop_seconds"] = None
    if generic is not None and not options.no_generic:
        row["loop_seconds"] = _seconds(generic(k), X, options.resamples, engine="generic", n_jobs=1)
    return row


def _seconds(estimator: Any, X: NDArray[np.float64], n_resamples: int, **how: Any) -> float:
    begin = time.perf_counter()
    cc = CoreClustering(estimator, n_resamples=n_resamples, random_state=0, alpha=0.1, **how)
    if n_resamples < 100:
        cc.set_params(alpha=0.9)  # few resamples are only used to compile
    cc.fit(X)
    return time.perf_counter() - begin


def _bars(row: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    bar = ALGORITHMS[row["algorithm"]][2]
    yield f"{bar:g} x R", row["r_seconds"] / row["seconds"] >= bar
    if row["dataset"] == "iris" and row["loop_seconds"] is not None:
        yield f"{GENERIC_BAR:g} x loop", row["loop_seconds"] / row["seconds"] >= GENERIC_BAR


def _line(row: dict[str, Any], *, full: bool) -> str:
    loop, seconds = row["loop_seconds"], row["seconds"]
    line = f"{row['dataset']:10} {row['algorithm']:9} {seconds:8.3f} {row['r_seconds']:8.2f} "
    line += f"{row['r_seconds'] / seconds:7.1f} " if full else f"{'-':>7} "
    line += f"{loop:8.2f} {loop / seconds:8.1f}" if loop is not None else f"{'-':>8} {'-':>8}"
    if full:
        line += "  " + ", ".join(f"{bar}: {'yes' if ok else 'NO'}" for bar, ok in _bars(row))
    return line


if __name__ == "__main__":
    sys.exit(main())
