"""The solvers of the clique benchmark, run in child processes.

A solver is a pair of functions. The first builds the solver's graph object from an adjacency
matrix; the second returns one largest clique and whether it is proven to be largest.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import compress, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import Clock

Adjacency = NDArray[np.bool_]
Found = tuple[list[int], bool]


def search_graphs(clock: Clock, solver: str, paths: list[Path]) -> None:
    """Find a largest clique of each graph; report (graph, clique, proven) for each."""
    build, find = SOLVERS[solver]
    with clock.phase("warm-up"):  # import or compile
        find(build(_warm_up_graph()))
    for position, path in enumerate(paths):
        adjacency = np.load(path)
        with clock.phase("build"):
            graph = build(adjacency)
        del adjacency
        with clock.phase("search"):
            clique, proven = find(graph)
        del graph
        clock.report((position, clique, proven))


def search_cores(clock: Clock, labels_path: Path, alpha: float) -> None:
    """Find the cores of all clusters from the labels, including the counting of pairs."""
    from coreclust import LabelEnsemble, core_clusters, maximum_clique

    with np.load(labels_path) as data:
        labels, reference = data["labels"], data["reference"]
    with clock.phase("warm-up"):
        maximum_clique(_warm_up_graph(), return_bound=True)
        few = np.linspace(0, len(labels) - 1, 100).astype(int)
        core_clusters(LabelEnsemble.from_labels(labels[few]), reference[few], alpha=alpha)
    with clock.phase("build"):
        ensemble = LabelEnsemble.from_labels(labels)
    with clock.phase("search"):
        cores = core_clusters(ensemble, reference, alpha=alpha)
    for core in cores:
        # The graph of a cluster numbers its items in ascending order.
        clique = np.searchsorted(np.flatnonzero(reference == core.label), core.core)
        clock.report((int(core.label), clique.tolist(), bool(core.optimal)))


def _warm_up_graph() -> Adjacency:
    """Draw a graph that needs branching, so that everything is compiled before the timing."""
    upper = np.triu(np.random.default_rng(0).random((80, 80)) < 0.7, 1)
    return upper | upper.T


def _build_coreclust(adjacency: Adjacency) -> Adjacency:
    return adjacency


def _find_coreclust(adjacency: Adjacency) -> Found:
    from coreclust import maximum_clique

    clique, upper_bound = maximum_clique(adjacency, return_bound=True)
    return clique.tolist(), len(clique) == upper_bound


def _build_networkx(adjacency: Adjacency) -> Any:
    import networkx as nx

    vertices = list(range(len(adjacency)))
    graph = nx.Graph()
    graph.add_nodes_from(vertices)
    for i in vertices:  # row by row: a list of all edges would take gigabytes
        graph.add_edges_from(zip(repeat(i), compress(vertices[:i], adjacency[i, :i])))
    return graph


def _find_networkx(graph: Any) -> Found:
    import networkx as nx

    # The search recurses once for each vertex of the clique.
    sys.setrecursionlimit(10 * len(graph) + 1000)
    clique, _ = nx.max_weight_clique(graph, weight=None)
    return clique, True


def _build_igraph(adjacency: Adjacency) -> Any:
    import igraph as ig

    return ig.Graph(n=len(adjacency), edges=np.argwhere(np.triu(adjacency)))


def _find_igraph_largest(graph: Any) -> Found:
    return list(graph.largest_cliques()[0]), True


def _find_igraph_bounded(graph: Any) -> Found:
    # Asking for one clique of at least k vertices runs a different algorithm than asking for the
    # largest cliques, and is often much faster. Increasing steps need few calls, whether the
    # largest clique is small or nearly the whole graph.
    best: tuple[int, ...] = ()
    too_large = graph.vcount() + 1
    step = 1
    while too_large - len(best) > 1:
        k = min(len(best) + step, too_large - 1)
        found = graph.cliques(min=k, max=0, max_results=1)
        if found:
            best, step = found[0], 2 * step
        else:
            too_large, step = k, 1
    return list(best), True


def _build_maxsat(adjacency: Adjacency) -> Any:
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    formula = WCNF()
    non_edges = np.argwhere(np.triu(~adjacency, 1)) + 1  # variables count from 1
    formula.extend((-non_edges).tolist())
    vertices = [[vertex] for vertex in range(1, len(adjacency) + 1)]
    formula.extend(vertices, weights=[1] * len(vertices))
    # Without `adapt` (detect sets of vertices of which at most one can be taken), RC2 solves only
    # the easiest of these graphs.
    return RC2(formula, adapt=True), len(adjacency)


def _find_maxsat(graph: Any) -> Found:
    solver, n_vertices = graph
    model = solver.compute()
    return [variable - 1 for variable in model if 0 < variable <= n_vertices], True


SOLVERS: dict[str, tuple[Callable[[Adjacency], Any], Callable[[Any], Found]]] = {
    "coreclust": (_build_coreclust, _find_coreclust),
    "networkx": (_build_networkx, _find_networkx),
    "igraph largest_cliques": (_build_igraph, _find_igraph_largest),
    "igraph cliques(min=k)": (_build_igraph, _find_igraph_bounded),
    "python-sat RC2": (_build_maxsat, _find_maxsat),
}
