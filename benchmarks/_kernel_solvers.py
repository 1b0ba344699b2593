"""The solvers of the hard kernels, run in child processes with a budget of CPU time.

A solver is a function that prepares a search in a conflict graph. The search gets the CPU seconds
it may take, and a function to report a set or a bound as soon as it has one.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks._kernels import Kernel
from benchmarks._timing import Clock
from coreclust.clique import Deadline, Graph, largest_independent_set


class Report(NamedTuple):
    """An independent set, or a bound on the size of any, and the CPU seconds it took."""

    seconds: float
    chosen: list[int] | None = None
    bound: int | None = None


Tell = Callable[[list[int] | None, float | None], None]
Search = Callable[[float, Tell], None]


class _OutOfTimeError(Exception):
    pass


class CpuDeadline(Deadline):
    """A deadline in CPU seconds of the process, which do not depend on what else is running."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__(None)
        self._cpu_end = process_time() + (math.inf if seconds is None else seconds)

    def expired(self) -> bool:
        """Return whether the time has passed or the search was cancelled."""
        return self.cancelled or process_time() >= self._cpu_end

    def remaining(self) -> float:
        """Return the CPU seconds that are left."""
        return max(self._cpu_end - process_time(), 0.0)

    def _part(self, seconds: float | None) -> Deadline:
        part = CpuDeadline(seconds)
        part._whole = self
        return part


def search_kernel(clock: Clock, solver: str, path: Path, seconds: float) -> None:
    """Search a kernel, and report every set and bound with the CPU seconds that it took."""
    graph = Kernel(solver, path).load()
    with clock.phase("build"):
        search = SOLVERS[solver](graph)
    _die_after(1.2 * seconds + 2)
    began = process_time()

    def tell(chosen: list[int] | None, bound: float | None) -> None:
        whole = None if bound is None else math.floor(bound + 1e-6)
        clock.report(Report(process_time() - began, chosen, whole))

    with clock.phase("search"):
        search(seconds, tell)
    tell(None, None)


def _die_after(seconds: float) -> None:
    """End the process after some CPU seconds: compiled code may not listen to anything else."""
    with contextlib.suppress(ImportError):  # not a POSIX system
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(process_time() + seconds), hard))


def clique_cover(graph: Graph) -> list[list[int]]:
    """Return cliques that contain both ends of every conflict, each grown greedily."""
    n = graph.n_vertices
    conflicts = []  # of each vertex, as the bits of an integer
    for v in range(n):
        row = np.zeros(n, dtype=bool)
        row[graph.neighbors(v)] = True
        conflicts.append(int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little"))
    uncovered = conflicts.copy()
    cliques = []
    for v in range(n):
        while uncovered[v]:
            clique, common = [v], conflicts[v]
            while common:
                preferred = common & uncovered[v] or common
                u = (preferred & -preferred).bit_length() - 1
                clique.append(u)
                common &= conflicts[u]
            covered = ~sum(1 << u for u in clique)
            for u in clique:
                uncovered[u] &= covered
            cliques.append(clique)
    return cliques


def _coreclust(graph: Graph) -> Search:
    # Too hard for the time it gets, so that everything is compiled before the timing.
    upper = np.triu(np.random.default_rng(0).random((300, 300)) < 0.1, 1)
    first, second = np.nonzero(upper)
    hard = Graph.from_pairs(first, second, np.arange(300, dtype=np.int32))
    largest_independent_set(hard, np.zeros(300, dtype=bool), CpuDeadline(2))

    def search(seconds: float, tell: Tell) -> None:
        start = np.zeros(graph.n_vertices, dtype=bool)
        solution = largest_independent_set(graph, start, CpuDeadline(seconds))
        tell(solution.chosen.tolist(), solution.upper_bound)

    return search


def _cp_sat(graph: Graph) -> Search:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in range(graph.n_vertices)]
    for clique in clique_cover(graph):
        model.add_at_most_one(taken[v] for v in clique)
    model.maximize(sum(taken))

    def search(seconds: float, tell: Tell) -> None:
        class Callback(cp_model.CpSolverSolutionCallback):
            def on_solution_callback(self) -> None:
                tell([v for v, one in enumerate(taken) if self.boolean_value(one)], None)

        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.best_bound_callback = lambda bound: tell(None, bound)
        deadline, done = CpuDeadline(seconds), threading.Event()

        def watch() -> None:
            while not deadline.expired() and not done.wait(0.05):
                pass
            solver.stop_search()

        watcher = threading.Thread(target=watch)
        watcher.start()
        status = solver.solve(model, Callback())
        done.set()
        watcher.join()
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):  # else the bound is not set
            tell(None, solver.best_objective_bound)

    return search


def _rc2(graph: Graph) -> Search:
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    n = graph.n_vertices
    owner = np.repeat(np.arange(n), graph.degrees)
    once = owner < graph.indices
    conflicts = np.column_stack([owner[once], graph.indices[once]]) + 1  # variables count from 1
    formula = WCNF()
    formula.extend((-conflicts).tolist())
    formula.extend([[v] for v in range(1, n + 1)], weights=[1] * n)

    class Reporting(RC2):  # type: ignore[misc]
        """RC2 that tells every bound and every model of the hard clauses."""

        tell: Tell = staticmethod(lambda chosen, bound: None)
        _cost = 0

        @property
        def cost(self) -> int:
            return self._cost

        @cost.setter
        def cost(self, cost: int) -> None:
            self._cost = cost
            self.tell(None, n - cost)

        def _call_oracle(self, *args: Any, **kwargs: Any) -> Any:
            satisfied = super()._call_oracle(*args, **kwargs)
            if satisfied:
                model = self.oracle.get_model()
                self.tell([variable - 1 for variable in model[:n] if variable > 0], None)
            return satisfied

    solver = Reporting(formula, adapt=True, exhaust=True, minz=True, trim=5)

    def search(seconds: float, tell: Tell) -> None:
        end = process_time() + seconds

        def tell_in_time(chosen: list[int] | None, bound: float | None) -> None:
            if process_time() > end:
                raise _OutOfTimeError
            tell(chosen, bound)

        solver.tell = tell_in_time
        try:
            solver.compute()
        except _OutOfTimeError:
            return
        tell(None, n - solver.cost)

    return search


def _highs(graph: Graph) -> Search:
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import csr_array

    n = graph.n_vertices
    cliques = clique_cover(graph)
    indptr = np.concatenate([[0], np.cumsum([len(clique) for clique in cliques])])
    indices = np.concatenate(cliques)
    matrix = csr_array((np.ones(indices.size), indices, indptr), (len(cliques), n))

    def search(seconds: float, tell: Tell) -> None:
        found = milp(
            -np.ones(n),
            integrality=np.ones(n),
            bounds=(0, 1),
            constraints=LinearConstraint(matrix, ub=1),
            options={"time_limit": seconds},
        )
        if found.x is not None:
            tell(np.flatnonzero(found.x > 0.5).tolist(), None)
        if found.mip_dual_bound is not None and math.isfinite(found.mip_dual_bound):
            tell(None, -found.mip_dual_bound)

    return search


OURS = "coreclust"
SOLVERS: dict[str, Callable[[Graph], Search]] = {
    OURS: _coreclust,
    "CP-SAT": _cp_sat,
    "RC2": _rc2,
    "HiGHS": _highs,
}
_NEEDS = {OURS: "coreclust", "CP-SAT": "ortools", "RC2": "pysat", "HiGHS": "scipy"}


def installed(solver: str) -> bool:
    """Tell whether the package of a solver is installed."""
    return find_spec(_NEEDS[solver]) is not None
