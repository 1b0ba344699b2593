"""Measure time and peak memory of resampling, evidence and clique at 10^4 to 10^6 items.

Run from the repository root::

    python -m benchmarks.scale            # up to a million items: some minutes
    python -m benchmarks.scale --quick    # 2,000 items, few resamples

The data is a mixture of ten Gaussians in ten dimensions with moderate overlap; the clusterer is
k-means with ten clusters. Every size runs in its own process. "both" is the wall-clock time of
``core_clusters`` on all CPU cores; "evidence" and "clique" are the seconds of its threads in each
part, summed. A peak is the largest resident memory of the process, including data and
interpreter: overall, and in each part, measured every few milliseconds. Clusters may be in
different parts at the same time. Growth is computed between sizes with the same number of
resamples. At the smallest size the answer is compared with a dense implementation, which counts
all pairs in square matrices.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import Clock, peak_memory, run_in_child
from coreclust import CoreClustering, LabelEnsemble, core_clustering, core_clusters, cores
from coreclust.cluster import KMeans
from coreclust.evidence._bounds import apart_table

SIZES = ((10**4, 1000), (10**5, 1000), (10**5, 200), (10**6, 200))  # items and resamples
QUICK_SIZES = ((2 * 10**3, 100),)
DENSE = 10**4  # largest number of items for the dense implementation
LONGEST_EVIDENCE = 60.0  # seconds at a million items
MOST_GROWTH = 20.0  # ratio of the times for ten times as many items
SPARE_MEMORY = 500e6


def main() -> int:
    """Print the table; the exit code is 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small sizes, few resamples")
    parser.add_argument("--sizes", type=float, nargs="+", help="only these numbers of items")
    arguments = parser.parse_args()
    sizes: tuple[tuple[int, int], ...] = QUICK_SIZES if arguments.quick else SIZES
    if arguments.sizes:
        sizes = tuple((n, m) for n, m in sizes if n in {int(size) for size in arguments.sizes})
    print(_HEAD, flush=True)
    run_in_child(compile_everything, limits={})  # so that compiling is not measured
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for n_items, n_resamples in sizes:
        outcome = run_in_child(measure, n_items, n_resamples, limits={"run": 7200})
        if not outcome.finished:
            print(f"{n_items}: {outcome.failure or 'timed out'}", file=sys.stderr)
            return 1
        result = found[n_items, n_resamples] = outcome.results[0]
        print(_row(n_items, n_resamples, result), flush=True)
    bars = _bars(found)
    for text, holds in bars:
        print(f"  {'PASS' if holds else 'MISS'}  {text}", flush=True)
    return 0 if all(holds for _, holds in bars) else 1


_HEAD = """\
                 seconds                            peak MB
    items      m sampling  both evidence clique     all sampling evidence clique labels  core"""


def _row(n_items: int, n_resamples: int, result: dict[str, Any]) -> str:
    seconds = "{resampling:8.2f} {both:5.2f} {evidence:8.2f} {clique:6.2f}".format_map(result)
    megabytes = {part: peak / 1e6 for part, peak in result["peaks"].items()}
    peaks = "{resampling:8.0f} {evidence:8.0f} {clique:6.0f}".format_map(megabytes)
    return (
        f"{n_items:9,} {n_resamples:6,} {seconds} {result['peak'] / 1e6:7.0f} {peaks} "
        f"{n_items * n_resamples / 1e6:6.0f} {result['core_share']:5.3f}"
    )


def _bars(found: dict[tuple[int, int], dict[str, Any]]) -> list[tuple[str, bool]]:
    """Return the targets, and whether each one holds."""
    bars = [("all cores proven largest", all(result["optimal"] for result in found.values()))]
    for (n_items, n_resamples), result in found.items():
        fewer = found.get((n_items // 10, n_resamples))
        if fewer:
            growth = result["both"] / fewer["both"]
            text = f"{n_items // 10:,} to {n_items:,} items, {n_resamples:,} resamples each"
            text = f"{text}: {growth:.1f} times the time (at most {MOST_GROWTH:g})"
            bars.append((text, growth <= MOST_GROWTH))
        room = 2 * n_items * n_resamples + SPARE_MEMORY
        text = f"{n_items:,} items, {n_resamples:,} resamples: peak {result['peak'] / 1e6:.0f} MB"
        bars.append((f"{text} (at most {room / 1e6:.0f})", result["peak"] <= room))
        if n_items == 10**6:
            text = f"a million items: evidence and clique in {result['both']:.1f} s"
            bars.append((f"{text} (at most 60)", result["both"] <= LONGEST_EVIDENCE))
        if "dense" in result:
            bars.append((f"{n_items:,} items: as the dense implementation", result["dense"]))
    return bars


def mixture(n_items: int) -> NDArray[np.float64]:
    """Draw from ten overlapping Gaussians."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(10, 10))
    return centers[rng.integers(0, 10, n_items)] + rng.normal(size=(n_items, 10))


def measure(clock: Clock, n_items: int, n_resamples: int) -> None:
    """Fit, and report the seconds of each part."""
    compile_everything(clock)
    X = mixture(n_items)
    estimator = KMeans(10, n_init=3, random_state=0)
    watch = _Stopwatch()
    with clock.phase("run"), watch:
        without_search = patch.object(core_clustering, "find_cores", return_value=[])
        with watch.part("resampling"), without_search:
            cc = CoreClustering(estimator, n_resamples=n_resamples, random_state=0).fit(X)
        watch.wrap(LabelEnsemble, "member_counts", "evidence")
        watch.wrap(LabelEnsemble, "pairs", "evidence")
        watch.wrap(cores, "conflict_graph", "evidence")
        watch.wrap(cores, "largest_independent_set", "clique")
        started = time.perf_counter()
        found = core_clusters(cc.ensemble_, cc.reference_labels_)
        both = time.perf_counter() - started
    result = {
        "both": both,
        **watch.seconds,
        "peak": peak_memory(),
        "peaks": watch.peaks,
        "core_share": sum(core.n_core for core in found) / n_items,
        "optimal": all(core.optimal for core in found),
    }
    if n_items <= DENSE:
        result["dense"] = all(_is_dense_answer(cc.ensemble_, core) for core in found)
    clock.report(result)


def compile_everything(_clock: Clock) -> None:
    """Compile all kernels, or load them from the cache."""
    CoreClustering(KMeans(10, n_init=3), n_resamples=50, random_state=0).fit(mixture(500))


class _Stopwatch:
    """Sums the seconds of each part over all threads, and records the peak memory of each part."""

    PARTS = ("resampling", "evidence", "clique")

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(self.PARTS, 0.0)
        self.peaks = dict.fromkeys(self.PARTS, 0)
        self._running = dict.fromkeys(self.PARTS, 0)
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._looker = threading.Thread(target=self._look)

    def __enter__(self) -> _Stopwatch:
        self._looker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._looker.join()

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Time the body, in any thread."""
        with self._lock:
            self._running[name] += 1
        started = time.perf_counter()
        try:
            yield
        finally:
            with self._lock:
                self.seconds[name] += time.perf_counter() - started
                self._running[name] -= 1

    def wrap(self, owner: Any, function_name: str, part: str) -> None:
        """Time all calls of a function of a module or of a method of a class."""
        function: Callable[..., Any] = getattr(owner, function_name)

        def timed(*args: Any) -> Any:
            with self.part(part):
                return function(*args)

        setattr(owner, function_name, timed)

    def _look(self) -> None:
        page = resource.getpagesize()
        while not self._done.wait(0.005):
            held = page * int(Path("/proc/self/statm").read_text().split()[1])
            with self._lock:
                for name, running in self._running.items():
                    if running:
                        self.peaks[name] = max(self.peaks[name], held)


def _is_dense_answer(ensemble: Any, core: cores.Core) -> bool:
    """Return whether a core equals the answer of the dense implementation.

    The conflicts are counted in square matrices. The core must have no conflict inside, and the
    largest clique of the whole dense graph must not be larger.
    """
    labels = ensemble.labels[core.members]
    seen = np.zeros((core.n_items, core.n_items), dtype=np.int32)
    apart = np.zeros_like(seen)
    for column in labels.T:
        both = (column != -2)[:, None] & (column != -2)
        seen += both
        apart += both & (column[:, None] != column)
    table = apart_table(0.1, ensemble.n_items, ensemble.n_resamples)
    edges = apart <= table[seen]
    np.fill_diagonal(edges, True)
    order = np.argsort(-core.strength, kind="stable")
    best = np.sort(order[_maximum_clique(edges[np.ix_(order, order)])])
    inside = np.searchsorted(core.members, core.core)
    return bool(edges[np.ix_(inside, inside)].all()) and best.size == inside.size


def _maximum_clique(edges: NDArray[np.bool_]) -> NDArray[np.intp]:
    from coreclust import maximum_clique

    return maximum_clique(edges)


if __name__ == "__main__":
    sys.exit(main())
