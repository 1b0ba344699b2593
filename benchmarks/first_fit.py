"""Measure the first fit, which compiles: processor seconds with an empty cache of compiled code.

Run from the repository root::

    python -m benchmarks.first_fit            # some five minutes
    python -m benchmarks.first_fit --quick    # one estimator

Each estimator is fitted in a process of its own to data with clear clusters. The time does not
contain imports; the second fit shows how much of it is not compilation.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
from sklearn.base import is_classifier

_BAR, _BAR_OF_KMEANS = 20.0, 15.0
_NAMES = (
    "KMeans",
    "KMeans, 384 features",
    "HierarchicalClustering",
    "TrimmedKMeans",
    "TClust",
    "Leiden",
    "GaussianMixture",
    "RandomForestClassifier",
    "SVC",
    "DBSCAN",
)


def main() -> int:
    """Print one line per estimator; return 1 if one takes too long, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="one estimator")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(*_first_and_second(options.one))
        return 0
    print(f"{'estimator':24} {'first s':>8} {'second s':>9}  bar")
    in_bounds = [_measure(name) for name in (_NAMES[:1] if options.quick else _NAMES)]
    return int(not options.quick and not all(in_bounds))


def _measure(name: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        answer = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.first_fit", "--one", name],
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    first, second = map(float, answer.split())
    bar = _BAR_OF_KMEANS if name.startswith("KMeans") else _BAR
    in_bounds = first - second <= bar
    answer = "yes" if in_bounds else "no"
    print(f"{name:24} {first:8.1f} {second:9.2f}  {bar:g}: {answer}", flush=True)
    return in_bounds


def _first_and_second(name: str) -> tuple[float, float]:
    from coreclust import CoreClustering

    estimator = _estimator(name)
    n_features = 384 if "384" in name else 4
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(3), 50)
    X = 6 * rng.normal(size=(3, n_features))[classes] + rng.normal(size=(150, n_features))
    y = classes if is_classifier(estimator) else None
    seconds = []
    for _ in range(2):
        begin = time.process_time()
        CoreClustering(estimator, n_resamples=100, random_state=0).fit(X, y)
        seconds.append(time.process_time() - begin)
    return seconds[0], seconds[1]


def _estimator(name: str) -> Any:
    from sklearn.cluster import DBSCAN
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.mixture import GaussianMixture
    from sklearn.svm import SVC

    from coreclust import cluster

    others = {
        "KMeans, 384 features": lambda: cluster.KMeans(3),
        "Leiden": lambda: cluster.Leiden(),
        "GaussianMixture": lambda: GaussianMixture(3),
        "RandomForestClassifier": lambda: RandomForestClassifier(10),
        "SVC": lambda: SVC(),
        "DBSCAN": lambda: DBSCAN(eps=2.5),
    }
    return others[name]() if name in others else getattr(cluster, name)(3)


if __name__ == "__main__":
    sys.exit(main())
