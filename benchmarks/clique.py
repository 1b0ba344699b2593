"""Time searches for maximum cliques: coreclust, networkx, igraph, RC2, CP-SAT and HiGHS.

Run from the repository root::

    python -m benchmarks.clique            # everything; up to an hour, mostly time-outs
    python -m benchmarks.clique --quick    # a small subset, less than a minute
    python -m benchmarks.clique --only kernel --cache DIR    # hard kernels, kept in DIR

Every solver runs on one core, in its own process, which is killed at the time-out. Some
solvers are not installed with the package: ``pip install networkx igraph python-sat ortools``. The
exit code is 1 if two solvers that finished disagree, if a reported set is not a clique, or if our
solver raised an error. A missed bar is printed but does not change the exit code.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks._instances import (
    ALPHA,
    Graph,
    Instance,
    Run,
    core_instance,
    near_clique_instance,
    random_instance,
)
from benchmarks._kernel_table import KernelTable
from benchmarks._kernels import FITS, QUICK_FIT, make_kernels
from benchmarks._solvers import SOLVERS, search_cores, search_graphs
from benchmarks._timing import Outcome, run_in_child

CORES = "coreclust core_clusters"
OURS = "coreclust"
PEERS = [solver for solver in SOLVERS if solver != OURS]
QUICK_PEERS = ["networkx", "igraph cliques(min=k)", "python-sat RC2"]
LARGEST_CORE, NEAR_CLIQUE = "core n=20000", "near-clique 500/150"
BARS = {LARGEST_CORE: 5.0, NEAR_CLIQUE: 0.5, "G(200, 0.9)": 20.0, "G(500, 0.5)": 5.0}
FAMILIES = ["core", "near", "random", "kernel"]

NOTES = f"""\
seconds: median time of the search, on one core, after importing and compiling. The time to build
  the solver's graph object is listed under "build s". On the "core" graphs, the time-out applies
  to the three graphs of the clusters together.
{CORES}: starts from the labels, so its seconds include counting the pairs as
  well as the three cores. All others are given the finished graphs, which favors them. Its
  "build s" is LabelEnsemble.from_labels.
coreclust: maximum_clique(adjacency); it takes the matrix itself, so its seconds include all
  conversions and there is nothing to build.
ratio: seconds divided by those of our first row for the instance; above 1, we are faster.
peak MB: largest increase of resident memory while building plus while searching, for the phases
  that were completed.
igraph: largest_cliques() is the documented call; cliques(min=k, max_results=1) with increasing k
  is usually its fastest way to one largest clique, so both are shown.
networkx: max_weight_clique(weight=None), with a higher recursion limit.
python-sat: RC2(adapt=True), with a hard clause for every non-edge and a soft one per vertex."""


@dataclass
class Row:
    """One solver on one instance, over all its runs."""

    instance: str
    vertices: str
    density: float
    solver: str
    seconds: float | None  # None: failed; infinite: timed out
    limit: float
    build: float | None
    size: str
    proven: str
    peak_mb: float | None
    ratio: float | None
    note: str

    def cells(self) -> list[str]:
        """Return the row as text."""
        ratio = _number(self.ratio)
        if self.ratio is not None and self.seconds == math.inf:
            ratio = f"> {ratio}"
        return [
            self.instance,
            self.vertices,
            f"{self.density:.3f}",
            self.solver,
            _seconds(self.seconds, self.limit),
            self.size,
            self.proven,
            ratio,
            _number(self.build),
            "-" if self.peak_mb is None else f"{self.peak_mb:.0f}",
            self.note,
        ]


@dataclass
class Bar:
    """A required result; `passed` is None if it was not measured."""

    bar: str
    passed: bool | None = None
    measured: str = "not run"


HEADER = [
    "instance",
    "vertices",
    "density",
    "solver",
    "seconds",
    "clique",
    "proven",
    "ratio",
    "build s",
    "peak MB",
    "note",
]
WIDTHS = [19, 14, 7, 23, 8, 14, 6, 8, 8, 7, 0]


class Benchmark:
    """Runs the solvers, prints each row when it is done, and collects rows and errors.

    Parameters
    ----------
    timeout : float
        Seconds a solver may search in one run.
    memory : float
        Bytes a solver may use.
    peers : list of str
        The other solvers to run.
    repeats : int
        Number of times `core_clusters` is timed.
    """

    def __init__(self, timeout: float, memory: float, peers: list[str], repeats: int) -> None:
        self.timeout = timeout
        self.memory = memory
        self.peers = peers
        self.repeats = repeats
        self.rows: list[Row] = []
        self.errors: list[str] = []
        self._proven: dict[Path, tuple[str, int]] = {}

    def measure(self, instance: Instance) -> None:
        """Run all solvers on one instance."""
        ours = None
        if instance.runs[0].labels is not None:
            ours = self._row(CORES, instance, instance.runs * self.repeats, None)
        clique_only = self._row(OURS, instance, instance.runs, ours)
        for solver in self.peers:
            self._row(solver, instance, instance.runs, ours or clique_only)

    def _row(self, solver: str, instance: Instance, runs: list[Run], ours: Row | None) -> Row:
        outcomes: list[Outcome] = []
        for run in runs:
            outcome = self._search(solver, run)
            self._check(solver, instance, run, outcome)
            outcomes.append(outcome)
            if solver in PEERS and len(runs) > len(outcomes) == 1 and not outcome.finished:
                print(f"skipped: other seeds of {instance.name} for {solver}", flush=True)
                break
        row = _summary(solver, instance, outcomes, self.timeout)
        reference = row if ours is None else ours
        if reference.seconds and row.seconds is not None and reference.seconds != math.inf:
            row.ratio = min(row.seconds, self.timeout) / reference.seconds
        self.rows.append(row)
        print(_aligned(row.cells()), flush=True)
        return row

    def _search(self, solver: str, run: Run) -> Outcome:
        limits = {"search": self.timeout}
        if solver == CORES:
            return run_in_child(search_cores, run.labels, ALPHA, limits=limits, memory=self.memory)
        paths = [graph.path for graph in run.graphs]
        return run_in_child(search_graphs, solver, paths, limits=limits, memory=self.memory)

    def _check(self, solver: str, instance: Instance, run: Run, outcome: Outcome) -> None:
        """Collect errors: a wrong clique, a different proven size, a failure of our solver."""
        if outcome.failure is not None and solver in (CORES, OURS):
            self.errors.append(f"{instance.name}: {solver} failed: {outcome.failure}")
        for position, clique, proven in outcome.results:
            graph = run.graphs[position]
            if not _is_clique(graph, clique):
                self.errors.append(f"{instance.name}: {solver} reports a set that is not a clique")
            first, size = self._proven.get(graph.path, (solver, len(clique)))
            if len(clique) > size or (proven and len(clique) < size):
                self.errors.append(
                    f"{instance.name}: {solver} finds {len(clique)} vertices, {first} {size}"
                )
            if proven:
                self._proven.setdefault(graph.path, (solver, len(clique)))


def _summary(solver: str, instance: Instance, outcomes: list[Outcome], limit: float) -> Row:
    """Take medians over the runs; a run that timed out counts as infinitely slow."""
    failures = [outcome.failure for outcome in outcomes if outcome.failure is not None]
    late = [outcome for outcome in outcomes if outcome.timed_out is not None]
    times = [o.seconds["search"] if o.finished else math.inf for o in outcomes]
    builds = [outcome.seconds["build"] for outcome in outcomes if "build" in outcome.seconds]
    peaks = [
        outcome.peaks.get("build", 0) + outcome.peaks.get("search", 0)
        for outcome in outcomes
        if outcome.peaks
    ]
    n_proven = sum(o.finished and all(proven for *_, proven in o.results) for o in outcomes)
    part_proven = f"{n_proven} of {len(outcomes)}" if n_proven else "no"
    notes = failures[:1]
    if len(times) > 1:
        notes.append("runs: " + ", ".join(_seconds(time, limit) for time in times))
    if late:
        found = len(late[0].results)
        part = f", {found} of {len(instance.runs[0].graphs)} graphs done" if found else ""
        notes.append(f"time-out in {late[0].timed_out}{part}")
    if len(outcomes) < len(instance.runs):
        notes.append(f"{len(outcomes)} of {len(instance.runs)} seeds run")
    counts = [_joined(graph.n_vertices for graph in run.graphs) for run in instance.runs]
    sizes = [
        _joined(len(clique) for _, clique, _ in sorted(o.results)) if o.finished else "-"
        for o in outcomes
    ]
    return Row(
        instance=instance.name,
        vertices=_once(counts),
        density=instance.density,
        solver=solver,
        seconds=None if failures else median(times),
        limit=limit,
        build=median(builds) if builds else None,
        size=_once(sizes),
        proven="yes" if n_proven == len(outcomes) else part_proven,
        peak_mb=max(peaks) / 1e6 if peaks else None,
        ratio=None,
        note="; ".join(notes),
    )


def _is_clique(graph: Graph, clique: list[int]) -> bool:
    adjacency = np.load(graph.path, mmap_mode="r")
    n_ends = int(np.count_nonzero(adjacency[np.ix_(clique, clique)]))
    return len(set(clique)) == len(clique) and n_ends == len(clique) * (len(clique) - 1)


def _bars(rows: list[Row]) -> list[Bar]:
    """Compare our rows with the required results."""
    first = {row.instance: row for row in reversed(rows) if row.solver in (CORES, OURS)}
    bars = [_time_bar(name, limit, first.get(name)) for name, limit in BARS.items()]
    n = int(LARGEST_CORE.split("=")[1])
    allowed = n * n / 1e6
    memory = Bar(f"{LARGEST_CORE} in less than a byte per pair of items ({allowed:.0f} MB)")
    row = first.get(LARGEST_CORE)
    if row is not None and row.peak_mb is not None:
        memory.passed = row.seconds is not None and row.peak_mb < allowed
        memory.measured = f"{row.peak_mb:.0f} MB"
    return [*bars, memory]


def _time_bar(instance: str, limit: float, row: Row | None) -> Bar:
    bar = Bar(f"{instance} under {limit:g} s")
    if row is None:
        return bar
    bar.measured = f"{_seconds(row.seconds, row.limit)} s, proven: {row.proven}"
    if row.solver == CORES:
        bar.measured += f", and {_number(row.build)} s for LabelEnsemble.from_labels"
    if row.seconds != math.inf or row.limit >= limit:  # a time-out below the bar decides nothing
        bar.passed = row.seconds is not None and row.seconds < limit and row.proven == "yes"
    return bar


def _instances(families: list[str], quick: bool, folder: Path, cache: Path) -> Iterator[Instance]:
    n_seeds = 1 if quick else 3
    if "core" in families:
        for n in [600] if quick else [600, 3000, 20000]:
            yield core_instance(n, folder, cache)
    if "near" in families:
        yield near_clique_instance(500, 150, 0.05, n_seeds, folder)
    if "random" in families:
        # The quick ones are small enough for most solvers to finish and be compared.
        for n, p in [(60, 0.9), (150, 0.5)] if quick else [(200, 0.9), (500, 0.5)]:
            yield random_instance(n, p, n_seeds, folder)


def _seconds(value: float | None, limit: float) -> str:
    return f"> {limit:g}" if value == math.inf else _number(value)


def _number(value: float | None) -> str:
    """Format with three significant digits and no exponent; "-" for None."""
    if value is None:
        return "-"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:#.3g}" if value >= 1e-4 else "0"


def _joined(numbers: Iterable[int]) -> str:
    return "+".join(str(number) for number in numbers)


def _once(texts: list[str]) -> str:
    """Join the texts of the runs, or return the one that they share."""
    return ", ".join(texts[:1] if len(set(texts)) == 1 else texts)


def _aligned(cells: list[str]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()


def _print_conclusions(benchmark: Benchmark, bars: list[Bar]) -> None:
    print(f"\n{NOTES}\n\nbars")
    for bar in bars:
        verdict = {True: "PASS", False: "FAIL", None: "----"}[bar.passed]
        print(f"  {verdict}  {bar.bar}: {bar.measured}")
    for row in benchmark.rows:
        if row.instance == NEAR_CLIQUE and row.solver in PEERS:
            print(f"  seen  {row.instance}, {row.solver}: {row.cells()[4]} s {row.note}".rstrip())
    for error in benchmark.errors:
        print(f"ERROR {error}")
    if not benchmark.errors:
        print("all solvers that finished agree on the sizes")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clique", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--timeout", type=float, help="seconds per search (60; quick: 5)")
    parser.add_argument(
        "--budget", type=float, help="CPU seconds per kernel, solver (20; quick: 1)"
    )
    parser.add_argument("--memory", type=float, default=12, help="GB per solver (%(default)s)")
    parser.add_argument("--only", choices=FAMILIES, nargs="+", default=FAMILIES)
    parser.add_argument("--quick", action="store_true", help="a small subset with one seed")
    parser.add_argument("--cache", type=Path, help="folder for labels and kernels, to reuse")
    parser.add_argument("--json", type=Path, help="file to write the rows to")
    options = parser.parse_args(arguments)

    # Read by the child processes when they start: every solver gets one core.
    for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"]:
        os.environ[variable] = "1"
    timeout = options.timeout or (5 if options.quick else 60)
    benchmark = Benchmark(
        timeout=timeout,
        memory=options.memory * 1e9,
        peers=QUICK_PEERS if options.quick else PEERS,
        repeats=1 if options.quick else 3,
    )
    table = KernelTable(options.budget or (1 if options.quick else 20), options.memory * 1e9)
    with tempfile.TemporaryDirectory() as name:
        cache = options.cache or Path(name)
        cache.mkdir(parents=True, exist_ok=True)
        bars = []
        if options.only != ["kernel"]:
            print(_aligned(HEADER), flush=True)
            for instance in _instances(options.only, options.quick, Path(name), cache):
                benchmark.measure(instance)
            bars = _bars(benchmark.rows)
            _print_conclusions(benchmark, bars)
        if "kernel" in options.only:
            table.measure(make_kernels([QUICK_FIT] if options.quick else FITS, cache))
    if options.json is not None:
        rows = [asdict(row) for row in benchmark.rows]
        for row in rows:
            # JSON has no infinity.
            row["timed_out"] = row["seconds"] == math.inf
            row["seconds"] = None if row["timed_out"] else row["seconds"]
        result = {
            "rows": rows,
            "bars": [asdict(bar) for bar in bars],
            "kernels": table.rows,
            "errors": benchmark.errors + table.errors,
        }
        options.json.write_text(json.dumps(result, indent=2) + "\n")
    return 1 if benchmark.errors or table.errors else 0


if __name__ == "__main__":
    sys.exit(main())
