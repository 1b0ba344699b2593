"""Compares solvers on hard kernels: the set and the bound that each reaches in the same time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks._kernel_solvers import OURS, SOLVERS, Report, installed, search_kernel
from benchmarks._kernels import Kernel
from benchmarks._timing import Outcome, run_in_child
from coreclust.clique import Graph

RIVALS = ["CP-SAT", "RC2"]  # that ours must not be behind
_WIDTHS = [22, 8, 7, *[17] * len(SOLVERS), 0]
_HEADER = ["kernel", "vertices", "density", *SOLVERS, "bar"]

NOTES = """\
kernels: conflict graphs of single clusters of unstable fits, after all reductions. "density" is
  the share of pairs in conflict. Each cell has the size of the largest set without conflicts found
  and the best upper bound of its size (one number if they are equal), and the CPU seconds of
  the search. Every solver has one thread and {seconds:g} s of CPU time (HiGHS: of time), after
  building its model; results that are more than a tenth late do not count.
bar: our set is not smaller, and our bound not larger, than that of CP-SAT or RC2.
coreclust: largest_independent_set, without a first set. CP-SAT and HiGHS (scipy's milp): one
  constraint per clique of a greedy cover of the conflicts. RC2: adapt, exhaust, minz, trim=5; a
  clause per conflict."""


@dataclass
class Reached:
    """What one solver reached on one kernel; `seconds` is None if it was stopped."""

    size: int | None = None
    bound: int | None = None
    seconds: float | None = None
    note: str = ""

    def __str__(self) -> str:
        if self.size is None and self.bound is None:
            return self.note or "-"
        size, bound = ("?" if value is None else str(value) for value in (self.size, self.bound))
        found = size if size == bound else f"{size}-{bound}"
        return found if self.seconds is None else f"{found} ({self.seconds:.1f} s)"


class KernelTable:
    """Runs the solvers on kernels, prints a row for each kernel, and collects rows and errors.

    Parameters
    ----------
    seconds : float
        CPU time of each solver on each kernel.
    memory : float
        Bytes a solver may use.
    """

    def __init__(self, seconds: float, memory: float) -> None:
        self.seconds = seconds
        self.memory = memory
        self.rows: list[dict[str, Any]] = []
        self.errors: list[str] = []

    def measure(self, kernels: Iterable[Kernel]) -> None:
        """Run all solvers on all kernels and print the table."""
        print(f"\n{_aligned(_HEADER)}", flush=True)
        for kernel in kernels:
            graph = kernel.load()
            reached = {solver: self._run(solver, kernel, graph) for solver in SOLVERS}
            self._check_bounds(kernel, reached)
            n, density = graph.n_vertices, _density(graph)
            behind = shortfalls(reached)
            bar = f"MISS: {', '.join(behind)}" if behind else "PASS"
            cells = [kernel.name, str(n), f"{density:.3f}", *map(str, reached.values()), bar]
            print(_aligned(cells), flush=True)
            self.rows.append(
                {"kernel": kernel.name, "vertices": n, "density": density, "bar": bar}
                | {solver: asdict(found) for solver, found in reached.items()}
            )
        n_passed = sum(row["bar"] == "PASS" for row in self.rows)
        print(f"\n{NOTES.format(seconds=self.seconds)}\n")
        print(f"  {n_passed} of {len(self.rows)} kernels PASS", flush=True)
        for error in self.errors:
            print(f"ERROR {error}")

    def _run(self, solver: str, kernel: Kernel, graph: Graph) -> Reached:
        if not installed(solver):
            return Reached(note="not installed")
        outcome = run_in_child(
            search_kernel,
            solver,
            kernel.path,
            self.seconds,
            limits={"search": 20 * self.seconds + 60},  # the child limits its CPU time
            memory=self.memory,
        )
        if outcome.failure is not None and solver == OURS:
            self.errors.append(f"{kernel.name}: {solver} failed: {outcome.failure}")
        sets = [report.chosen for report in outcome.results if report.chosen is not None]
        if not all(_is_independent(graph, chosen) for chosen in sets):
            self.errors.append(f"{kernel.name}: {solver} reports a set with conflicts")
        return summarize(outcome, 1.1 * self.seconds)

    def _check_bounds(self, kernel: Kernel, reached: dict[str, Reached]) -> None:
        """Collect an error if a set is larger than a bound."""
        for solver, found in reached.items():
            for other, bounded in reached.items():
                if None not in (found.size, bounded.bound) and found.size > bounded.bound:
                    self.errors.append(
                        f"{kernel.name}: {solver} finds {found.size} vertices, {other} proves "
                        f"at most {bounded.bound}"
                    )


def summarize(outcome: Outcome, limit: float) -> Reached:
    """Return the best of what was reported within `limit` seconds."""
    reports: list[Report] = [report for report in outcome.results if report.seconds <= limit]
    sizes = [len(report.chosen) for report in reports if report.chosen is not None]
    bounds = [report.bound for report in reports if report.bound is not None]
    seconds = outcome.results[-1].seconds if outcome.finished else None
    late = "too late" if outcome.results and not reports else ""
    died = outcome.failure is not None and outcome.failure.startswith("process died")
    note = "stopped" if died else outcome.failure or late
    return Reached(max(sizes, default=None), min(bounds, default=None), seconds, note)


def shortfalls(reached: dict[str, Reached]) -> list[str]:
    """Name the rivals with a larger set or a smaller bound than ours."""
    ours = reached[OURS]
    size = -1 if ours.size is None else ours.size
    bound = np.inf if ours.bound is None else ours.bound
    behind = []
    for rival in RIVALS:
        theirs = reached[rival]
        if theirs.size is not None and theirs.size > size:
            behind.append(f"{rival} finds {theirs.size}")
        if theirs.bound is not None and theirs.bound < bound:
            behind.append(f"{rival} proves {theirs.bound}")
    return behind


def _density(graph: Graph) -> float:
    return graph.indices.size / (graph.n_vertices * (graph.n_vertices - 1))


def _is_independent(graph: Graph, chosen: list[int]) -> bool:
    return (
        len(set(chosen)) == len(chosen)
        and graph.subgraph(np.array(chosen, np.intp)).indices.size == 0
    )


def _aligned(cells: list[str]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()
