"""Compare whole fits of coreclust, a plain loop, consensusclustering and pyckmeans.

Run from the repository root::

    python -m benchmarks.peers            # up to 10,000 items; some minutes, mostly for the peers
    python -m benchmarks.peers --quick    # 300 items, few resamples

All tools use the same data (three overlapping Gaussians in two dimensions), k-means with three
clusters and ten starts, and 100 subsamples of 80 % of the items. Each computes its usual result:
coreclust the cores, proven largest; the others the n × n matrix of how often two items were
together. Each run has its own process and is measured after a small warm-up run: wall-clock
seconds and the largest growth of resident memory. coreclust and scikit-learn use as many CPU
cores as they do by default. consensusclustering and pyckmeans are measured if they are installed.
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


def _coreclust(X: NDArray[np.float64], n_resamples: int) -> None:
    from coreclust import CoreClustering
    from coreclust.cluster import KMeans
    from coreclust.resampling import Subsample

    cc = CoreClustering(
        KMeans(3, n_init=10),
        resampling=Subsample(FRACTION, rescale=False),
        n_resamples=n_resamples,
        random_state=0,
    ).fit(X)
    if not all(core.optimal for core in cc.cores_):
        raise RuntimeError("a core is not proven largest")


def _generic(X: NDArray[np.float64], n_resamples: int) -> None:
    from sklearn.cluster import KMeans

    from coreclust import CoreClustering
    from coreclust.resampling import Subsample

    CoreClustering(
        KMeans(3, n_init=10),
        resampling=Subsample(FRACTION, rescale=False),
        n_resamples=n_resamples,
        engine="generic",
        random_state=0,
    ).fit(X)


def _plain_loop(X: NDArray[np.float64], n_resamples: int) -> None:
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(0)
    n = len(X)
    together, seen = np.zeros((n, n), dtype=np.int32), np.zeros((n, n), dtype=np.int32)
    for seed in range(n_resamples):
        rows = rng.choice(n, int(FRACTION * n), replace=False)
        labels = KMeans(3, n_init=10, random_state=seed).fit_predict(X[rows])
        both = np.ix_(rows, rows)
        seen[both] += 1
        together[both] += labels[:, None] == labels
    np.divide(together, seen, where=seen > 0, out=np.zeros((n, n)))


def _consensusclustering(X: NDArray[np.float64], n_resamples: int) -> None:
    from consensusclustering import ConsensusClustering
    from sklearn.cluster import KMeans

    ConsensusClustering(KMeans(n_init=10), 3, 3, n_resamples, resample_frac=FRACTION, rng=0).fit(X)


def _pyckmeans(X: NDArray[np.float64], n_resamples: int) -> None:
    from pyckmeans import CKmeans

    model = CKmeans(k=3, n_rep=n_resamples, p_samp=FRACTION, p_feat=1.0, metrics=(), n_init=10)
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


def measure(clock: Clock, tool: str, n_items: int, n_resamples: int) -> None:
    """Run one tool on one dataset."""
    TOOLS[tool](mixture(100), 40)
    X = mixture(n_items)
    with clock.phase("run"):
        TOOLS[tool](X, n_resamples)


def run(
    sizes: tuple[int, ...], n_resamples: int, limit: float, memory: float
) -> list[dict[str, Any]]:
    """Measure every tool at every size until it exceeds its time or memory."""
    rows: list[dict[str, Any]] = []
    for tool in TOOLS:
        if tool in ("consensusclustering", "pyckmeans") and find_spec(tool) is None:
            rows.append({"tool": tool, "note": "not installed"})
            continue
        for n_items in sizes:
            outcome = run_in_child(
                measure, tool, n_items, n_resamples, limits={"run": limit}, memory=memory
            )
            row: dict[str, Any] = {"tool": tool, "n_items": n_items, "n_resamples": n_resamples}
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
    """Print the table and, with ``--json``, write it to a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="300 items, 10 resamples")
    parser.add_argument("--limit", type=float, default=300, help="time limit of a run in seconds")
    parser.add_argument("--memory", type=float, default=16e9, help="memory limit of a run in bytes")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    arguments = parser.parse_args()
    sizes, n_resamples = ((300,), 10) if arguments.quick else (SIZES, 100)
    rows = run(sizes, n_resamples, arguments.limit, arguments.memory)
    for row in rows:
        if "n_items" not in row:
            print(f"{row['tool']:20} {row['note']}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
