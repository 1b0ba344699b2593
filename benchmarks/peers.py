"""Whole answers side by side: coreclust, a plain loop, consensusclustering, pyckmeans.

Run from the repository root::

    python -m benchmarks.peers            # up to 10,000 items; some minutes, mostly the peers'
    python -m benchmarks.peers --quick    # 300 items, few resamples

Each is given the same data (three overlapping Gaussians in two dimensions), k-means with three
clusters and ten starts, and 100 subsamples of 80 % of the items, and asked for what it is for:
coreclust for the cores, proven largest; the others for the n × n matrix of how often two items were
together, from which a user would go on. Everything is measured in a process of its own, after a
small run that is not: seconds by the clock, and the growth of resident memory at its highest.
coreclust runs on all cores, as it does by default; so does scikit-learn inside the others as far as
it does by default. consensusclustering and pyckmeans are measured where they are installed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import Clock, run_in_child

SIZES = (300, 1000, 3000, 10_000)
FRACTION = 0.8


def _coreclust(X: NDArray[np.float64], n_samples: int) -> None:
    from coreclust import CoreClustering
    from coreclust.cluster import KMeans
    from coreclust.resampling import Subsample

    cc = CoreClustering(
        KMeans(3, n_init=10),
        resampling=Subsample(FRACTION),
        n_resamples=n_samples,
        random_state=0,
    ).fit(X)
    if not all(core.optimal for core in cc.cores_):
        raise RuntimeError("a core is not proven largest")


def _generic(X: NDArray[np.float64], n_samples: int) -> None:
    from sklearn.cluster import KMeans

    from coreclust import CoreClustering
    from coreclust.resampling import Subsample

    CoreClustering(
        KMeans(3, n_init=10),
        resampling=Subsample(FRACTION),
        n_resamples=n_samples,
        engine="generic",
        random_state=0,
    ).fit(X)


def _plain_loop(X: NDArray[np.float64], n_samples: int) -> None:
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(0)
    n = len(X)
    together, seen = np.zeros((n, n), dtype=np.int32), np.zeros((n, n), dtype=np.int32)
    for seed in range(n_samples):
        rows = rng.choice(n, int(FRACTION * n), replace=False)
        labels = KMeans(3, n_init=10, random_state=seed).fit_predict(X[rows])
        both = np.ix_(rows, rows)
        seen[both] += 1
        together[both] += labels[:, None] == labels
    np.divide(together, seen, where=seen > 0, out=np.zeros((n, n)))


def _consensusclustering(X: NDArray[np.float64], n_samples: int) -> None:
    from consensusclustering import ConsensusClustering
    from sklearn.cluster import KMeans

    ConsensusClustering(KMeans(n_init=10), 3, 3, n_samples, resample_frac=FRACTION, rng=0).fit(X)


def _pyckmeans(X: NDArray[np.float64], n_samples: int) -> None:
    from pyckmeans import CKmeans

    model = CKmeans(k=3, n_rep=n_samples, p_samp=FRACTION, p_feat=1.0, metrics=(), n_init=10)
    model.fit(X)
    model.predict(X)


TOOLS: dict[str, Callable[[NDArray[np.float64], int], None]] = {
    "coreclust": _coreclust,
    "coreclust, generic": _generic,
    "plain loop": _plain_loop,
    "consensusclustering": _consensusclustering,
    "pyckmeans": _pyckmeans,
}


def mixture(n_items: int) -> NDArray[np.float64]:
    """Draw from three overlapping Gaussians."""
    rng = np.random.default_rng(0)
    centers = 2 * np.array([[0, 1], [0.87, -0.5], [-0.87, -0.5]])
    return centers[rng.integers(0, 3, n_items)] + rng.normal(size=(n_items, 2))


def measure(clock: Clock, tool: str, n_items: int, n_samples: int) -> None:
    """Run one tool on one dataset."""
    TOOLS[tool](mixture(100), 40)
    X = mixture(n_items)
    with clock.phase("run"):
        TOOLS[tool](X, n_samples)


def run(
    sizes: tuple[int, ...], n_samples: int, limit: float, memory: float
) -> list[dict[str, Any]]:
    """Measure every tool at every size, as long as it keeps within its time and memory."""
    rows: list[dict[str, Any]] = []
    for tool in TOOLS:
        if tool in ("consensusclustering", "pyckmeans") and find_spec(tool) is None:
            rows.append({"tool": tool, "note": "not installed"})
            continue
        for n_items in sizes:
            outcome = run_in_child(
                measure, tool, n_items, n_samples, limits={"run": limit}, memory=memory
            )
            row: dict[str, Any] = {"tool": tool, "n_items": n_items, "n_samples": n_samples}
            if outcome.finished:
                row |= {"seconds": outcome.seconds["run"], "peak": outcome.peaks.get("run")}
            else:
                late = f"more than {limit:g} s" if outcome.timed_out else None
                row["note"] = late or outcome.failure
            rows.append(row)
            print(_line(row, rows), flush=True)
            if not outcome.finished:
                break
    return rows


def _line(row: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    start = f"{row['tool']:20} {row['n_items']:7,} items"
    if "seconds" not in row:
        return f"{start}  {row['note']}"
    peak = "" if row["peak"] is None else f"{row['peak'] / 1e6:8.0f} MB"
    ours = [r for r in rows if r["tool"] == "coreclust" and r.get("n_items") == row["n_items"]]
    ratio = row["seconds"] / ours[0]["seconds"] if ours and "seconds" in ours[0] else 1.0
    return f"{start} {row['seconds']:9.2f} s {peak}  {ratio:7.1f} times ours"


def main() -> int:
    """Print the table and, if asked to, write it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="300 items, 10 samples")
    parser.add_argument("--limit", type=float, default=300, help="seconds a run may take")
    parser.add_argument("--memory", type=float, default=16e9, help="bytes a run may ask for")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    sizes, n_samples = ((300,), 10) if arguments.quick else (SIZES, 100)
    rows = run(sizes, n_samples, arguments.limit, arguments.memory)
    for row in rows:
        if "n_items" not in row:
            print(f"{row['tool']:20} {row['note']}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
