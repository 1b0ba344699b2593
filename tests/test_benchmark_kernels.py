"""The hard kernels of the clique benchmark, and what is made of the solvers' reports."""

import json
import math
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks._kernel_solvers import (
    OURS,
    SOLVERS,
    Report,
    clique_cover,
    installed,
    search_kernel,
)
from benchmarks._kernel_table import KernelTable, Reached, shortfalls, summarize
from benchmarks._kernels import QUICK_FIT, Kernel, cut_kernels, make_kernels
from benchmarks._timing import Outcome, run_in_child
from coreclust import maximum_clique
from coreclust.clique import Graph

ROOT = Path(__file__).parents[1]


def random_graph(n, density, seed):
    first, second = np.nonzero(np.triu(np.random.default_rng(seed).random((n, n)) < density, 1))
    return Graph.from_pairs(first, second, np.arange(n, dtype=np.int32))


@given(st.integers(1, 40), st.floats(0, 1), st.integers(0, 99))
def test_the_cover_is_made_of_cliques_and_covers_every_conflict(n, density, seed):
    graph = random_graph(n, density, seed)
    conflicts = {(v, int(u)) for v in range(n) for u in graph.neighbors(v) if v < u}
    covered = {pair for clique in clique_cover(graph) for pair in combinations(sorted(clique), 2)}
    assert covered == conflicts


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_reports_a_largest_set_and_its_bound(solver, tmp_path):
    if not installed(solver):
        pytest.skip(f"{solver} is not installed")
    graph = random_graph(50, 0.3, seed=1)
    np.savez(tmp_path / "kernel.npz", **graph._asdict())
    outcome = run_in_child(search_kernel, solver, tmp_path / "kernel.npz", 30.0, limits={})

    largest = maximum_clique(~graph.to_sparse().toarray().astype(bool) & ~np.eye(50, dtype=bool))
    sets = [report.chosen for report in outcome.results if report.chosen is not None]
    assert all(graph.subgraph(np.array(chosen)).indices.size == 0 for chosen in sets)
    found = summarize(outcome, limit=30.0)
    assert (found.size, found.bound) == (largest.size, largest.size)


@pytest.mark.slow
def test_the_budget_is_cpu_time(tmp_path):
    graph = random_graph(600, 0.1, seed=0)  # too hard for every solver
    np.savez(tmp_path / "kernel.npz", **graph._asdict())
    outcome = run_in_child(search_kernel, OURS, tmp_path / "kernel.npz", 1.0, limits={})
    found = summarize(outcome, limit=math.inf)
    assert found.size < found.bound
    assert outcome.finished  # a process that does not stop by itself is ended


def test_late_reports_do_not_count():
    reports = [Report(1.0, [0, 1]), Report(2.0, None, 9), Report(4.0, [0, 1, 2], 3), Report(4.1)]
    assert str(summarize(Outcome(reports), limit=3.0)) == "2-9 (4.1 s)"
    assert str(summarize(Outcome(reports), limit=5.0)) == "3 (4.1 s)"
    assert str(summarize(Outcome(reports, timed_out="search"), limit=3.0)) == "2-9"
    assert str(summarize(Outcome(reports), limit=0.5)) == "too late"
    assert str(summarize(Outcome(reports[:1]), limit=3.0)) == "2-? (1.0 s)"


@pytest.mark.parametrize(
    ("ours", "cp_sat", "rc2", "expected"),
    [
        ((5, 9), (5, 9), (None, 9), []),
        ((6, 8), (5, 9), (None, None), []),
        ((5, 9), (6, 9), (None, 8), ["CP-SAT finds 6", "RC2 proves 8"]),
        ((None, None), (1, 9), (None, None), ["CP-SAT finds 1", "CP-SAT proves 9"]),
    ],
)
def test_a_rival_with_a_larger_set_or_a_smaller_bound_is_named(ours, cp_sat, rc2, expected):
    reached = {OURS: Reached(*ours), "CP-SAT": Reached(*cp_sat), "RC2": Reached(*rc2)}
    assert shortfalls(reached) == expected


def test_a_set_larger_than_a_bound_is_an_error():
    table = KernelTable(seconds=1, memory=1e9)
    table._check_bounds(Kernel("k", Path()), {"a": Reached(5, 7), "b": Reached(None, 4)})
    assert table.errors == ["k: a finds 5 vertices, b proves at most 4"]


def test_kernels_are_connected_the_same_each_time_and_kept(tmp_path):
    (kernel,) = make_kernels([QUICK_FIT], tmp_path)
    graph = kernel.load()
    assert graph.n_vertices >= 300
    adjacency = graph.to_sparse()
    assert (adjacency != adjacency.T).nnz == 0
    assert graph.degrees.min() >= 2  # the reductions take the others
    for first, second in zip(graph, next(cut_kernels(QUICK_FIT)), strict=True):
        np.testing.assert_array_equal(first, second)

    written = kernel.path.stat().st_mtime_ns
    assert list(make_kernels([QUICK_FIT], tmp_path)) == [kernel]
    assert kernel.path.stat().st_mtime_ns == written


@pytest.mark.slow
def test_the_quick_run_compares_the_solvers_on_one_kernel(tmp_path):
    options = ["--quick", "--only", "kernel", "--cache", tmp_path, "--json", tmp_path / "rows.json"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.clique", *map(str, options)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "rows.json").read_text())
    (row,) = result["kernels"]
    assert result["errors"] == []
    assert done.stdout.count(row["kernel"]) == 1
    assert row[OURS]["size"] is not None
    for solver in SOLVERS:
        assert installed(solver) != (row[solver]["note"] == "not installed")
