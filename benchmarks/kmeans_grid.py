"""Time k-means on resamples against a loop over scikit-learn's KMeans, over dimensions and sizes.

Run from the repository root::

    python -m benchmarks.kmeans_grid            # the whole grid, some 20 minutes
    python -m benchmarks.kmeans_grid --quick    # small sizes, one resample

Both cluster the same bootstrap resamples, given by distinct items and their multiplicities, with
the same parameters, on one core. The times are processor times of one resample; the two take turns.
The ratio should be at least 1 everywhere, and at least 3 up to 50 features. "inertia" is the mean
inertia of ours divided by theirs: the seeds differ, so it is only near 1. The data has overlapping
clusters and a spectrum that decays like that of embeddings.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans as SklearnKMeans
from threadpoolctl import threadpool_limits

from coreclust.cluster import KMeans

DIMENSIONS = (2, 8, 50, 128, 384, 768)
CLUSTERS = (3, 10, 50)
SIZES = (1_000, 10_000, 100_000)
LOW = 50  # features up to which more is required


def main() -> int:
    """Print the table; return 1 if a required ratio is not reached, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small sizes, one resample")
    parser.add_argument("-d", type=int, nargs="+", default=DIMENSIONS)
    parser.add_argument("-k", type=int, nargs="+", default=CLUSTERS)
    parser.add_argument("-n", type=int, nargs="+", default=SIZES)
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("--seconds", type=float, default=3.0, help="of the loop, per row")
    parser.add_argument("--json", type=Path, help="file to write the rows to")
    options = parser.parse_args()
    if options.quick:
        options.d, options.k, options.n, options.seconds = (2, 50), (3,), (300,), 0.0
    print(f"{'items':>7} {'d':>4} {'k':>3} {'starts':>6} {'ours ms':>10} {'loop ms':>10}", end=" ")
    print(f"{'loop/ours':>9} {'inertia':>8}  bar")
    rows = []
    with threadpool_limits(1):
        for n, d, k in itertools.product(options.n, options.d, options.k):
            rows.append(_measure(n, d, k, options))
            print(_line(rows[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return int(not options.quick and not all(map(_reached, rows)))


def _measure(n: int, d: int, k: int, options: Any) -> dict[str, Any]:
    X = _overlapping(n, d, k).astype(options.dtype)
    starts = 10 if n <= 1_000 else 1
    ours = KMeans(k, n_init=starts, tol=1e-4)
    label = ours._labeler(X)
    label(np.ones((1, n), np.int32), np.zeros(1, np.int64))  # compile, and touch the memory
    rng = np.random.default_rng(0)
    seconds, inertia = np.zeros(2), np.zeros(2)
    for seed in itertools.count():
        counts = rng.multinomial(n, np.full(n, 1 / n)).astype(np.int32)
        items = np.flatnonzero(counts)
        weights = counts[items]
        start = time.process_time()
        labels = label(counts[None], np.array([seed])).labels[0, items]
        middle = time.process_time()
        theirs = SklearnKMeans(k, n_init=starts, random_state=seed)
        expected = theirs.fit_predict(X[items], sample_weight=weights)
        seconds += middle - start, time.process_time() - middle
        inertia += _inertia(X[items], weights, labels), _inertia(X[items], weights, expected)
        enough = seed >= 4 and seconds[1] > options.seconds
        if enough or seconds[1] > 4 * options.seconds:
            break
    return {
        "n": n,
        "d": d,
        "k": k,
        "starts": starts,
        "ours": seconds[0] / (seed + 1),
        "loop": seconds[1] / (seed + 1),
        "inertia": inertia[0] / inertia[1],
    }


def _overlapping(n: int, d: int, k: int) -> NDArray[np.float64]:
    """Return k Gaussian clusters; feature f has a standard deviation of about 1 / sqrt(f)."""
    rng = np.random.default_rng([n, d, k])
    scales = 1 / np.sqrt(np.arange(1, d + 1))
    centers = 1.5 * rng.normal(size=(k, d))
    X = centers[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    return np.asarray(X * scales)


def _inertia(X: NDArray[Any], weights: NDArray[Any], labels: NDArray[Any]) -> float:
    total = 0.0
    for label in np.unique(labels):
        own = labels == label
        mean = np.average(X[own], axis=0, weights=weights[own])
        total += float((weights[own, None] * (X[own] - mean) ** 2).sum())
    return total


def _bar(row: dict[str, Any]) -> float:
    return 3.0 if row["d"] <= LOW else 1.0


def _reached(row: dict[str, Any]) -> bool:
    return bool(row["loop"] >= _bar(row) * row["ours"])


def _line(row: dict[str, Any]) -> str:
    return (
        f"{row['n']:>7} {row['d']:>4} {row['k']:>3} {row['starts']:>6} {1e3 * row['ours']:>10.2f} "
        f"{1e3 * row['loop']:>10.2f} {row['loop'] / row['ours']:>9.2f} {row['inertia']:>8.4f}  "
        f"{_bar(row):.0f} x: {'yes' if _reached(row) else 'no'}"
    )


if __name__ == "__main__":
    sys.exit(main())
