"""Exact search for a largest independent set of a conflict graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coreclust.clique._branch import branch_and_bound
from coreclust.clique._cover import cover_bound
from coreclust.clique._deadline import Deadline
from coreclust.clique._folding import FoldedGraph
from coreclust.clique._graph import Graph, Solution
from coreclust.clique._local_search import (
    exchange_one_for_two,
    improve_independent_set,
    improve_until,
    prefer_low_numbers,
)
from coreclust.clique._probing import FEW, conflict_bits, probe
from coreclust.clique._reductions import reduce_graph

# Folding stores its graph in Python sets, and reduces little if conflicts are dense.
_MOST_NEIGHBORS_TO_FOLD = 2_000_000
_MOST_CONFLICTS_PER_VERTEX_TO_FOLD = 100

# Memory of the branch and bound: two numbers of four bytes and three bits per pair of vertices.
_BYTES_PER_PAIR = 8.4

# Each takes one of so many parts of the time that is left.
_FIRST_SEARCH, _PROBING, _LOCAL_SEARCH, _COVER = 4.0, 3.0, 5.0, 1.5
_LONG_PROBING = 1.1  # if it seems to succeed
_FIRST_SECONDS, _FIRST_SECONDS_WITHOUT_LIMIT = 2.0, 20.0
_PROBING_WITHOUT_LIMIT = 60.0  # seconds

_FEW_TO_BRANCH = 1_000  # vertices, of which the first node takes little time
_MOST_TO_BRANCH = 3_000
_MOST_TO_PROBE = 50_000
_MOST_TO_COVER = 20_000  # vertices, of which a cover by cliques takes a second


def largest_independent_set(
    graph: Graph, start: NDArray[np.bool_], deadline: Deadline, max_memory: float = np.inf
) -> Solution:
    """Return a largest independent set of a conflict graph.

    If there are several, it is one in which no vertex can be exchanged for a lower-numbered
    (more preferred) one.
    `start` is a first set, which may be empty. When the deadline passes, the best set so far is
    returned with the bound proven so far. A component that needs more than `max_memory` bytes for
    the branch and bound gets a set from the local search and a bound.
    """
    isolated = np.flatnonzero(graph.degrees == 0)
    connected = np.flatnonzero(graph.degrees > 0)
    if connected.size == 0:
        return Solution(isolated, isolated.size)
    inner = graph.subgraph(connected)
    chosen = exchange_one_for_two(inner, start[connected])
    solution = _prove(inner, chosen, deadline, max_memory)
    chosen = np.zeros(connected.size, dtype=bool)
    chosen[solution.chosen] = True
    chosen = prefer_low_numbers(inner, chosen, deadline)
    both = np.sort(np.concatenate([isolated, connected[chosen]]))
    return Solution(both, max(isolated.size + solution.upper_bound, both.size))


def _prove(
    graph: Graph, chosen: NDArray[np.bool_], deadline: Deadline, max_memory: float
) -> Solution:
    """Prove that a set is largest, or find a larger one.

    Often the first reduction is enough. If not, it has decided about most vertices, and the
    longer search is limited to the others.
    """
    known = np.flatnonzero(chosen)
    reduced = reduce_graph(graph, known.size, deadline)
    if reduced.upper_bound <= known.size:
        return Solution(known, known.size)
    part = graph.subgraph(reduced.undecided)
    better = np.flatnonzero(improve_independent_set(part, chosen[reduced.undecided]))
    if reduced.taken.size + better.size > known.size:
        known = np.concatenate([reduced.taken, reduced.undecided[better]])
    rest = _prove_part(part, known.size - reduced.taken.size, deadline, max_memory)
    found = np.concatenate([reduced.taken, reduced.undecided[rest.chosen]])
    bound = min(reduced.upper_bound, reduced.taken.size + rest.upper_bound)
    best = found if found.size > known.size else known
    # The reductions assume that a set larger than the known one exists, so the bound may be
    # below the size of the known one.
    return Solution(best, max(bound, best.size))


def _prove_part(graph: Graph, lower_bound: int, deadline: Deadline, max_memory: float) -> Solution:
    """Find a set larger than the bound, or prove that there is none and return any set."""
    reduced = reduce_graph(graph, lower_bound, deadline)
    if reduced.upper_bound <= lower_bound or deadline.expired():
        return Solution(reduced.taken, max(reduced.upper_bound, reduced.taken.size))
    rest = _solve_folded(graph.subgraph(reduced.undecided), deadline, max_memory)
    chosen = np.concatenate([reduced.taken, reduced.undecided[rest.chosen]])
    return Solution(chosen, min(reduced.upper_bound, reduced.taken.size + rest.upper_bound))


def _solve_folded(graph: Graph, deadline: Deadline, max_memory: float) -> Solution:
    """Fold a graph, solve its components one by one, and unfold the result."""
    limit = min(_MOST_NEIGHBORS_TO_FOLD, _MOST_CONFLICTS_PER_VERTEX_TO_FOLD * graph.n_vertices)
    if graph.indices.size > limit:
        return _solve_components(graph, deadline, max_memory)
    folded = FoldedGraph(graph)
    folded.reduce(deadline.expired)
    # A vertex of weight w becomes w twins, which the search handles efficiently.
    copies = [v for v in sorted(folded.adjacency) for _ in range(folded.weight[v])]
    solution = _solve_components(_expand(folded, copies), deadline, max_memory)
    unfolded = folded.unfold({copies[c] for c in solution.chosen})
    return Solution(np.array(sorted(unfolded), dtype=np.intp), folded.offset + solution.upper_bound)


def _expand(folded: FoldedGraph, copies: list[int]) -> Graph:
    places: dict[int, list[int]] = {}
    for place, v in enumerate(copies):
        places.setdefault(v, []).append(place)
    rows = [
        np.array(sorted(p for u in folded.adjacency[v] for p in places[u]), dtype=np.int32)
        for v in copies
    ]
    indptr = np.concatenate([[0], np.cumsum([row.size for row in rows], dtype=np.int64)])
    return Graph(indptr.astype(np.int64), np.concatenate(rows) if rows else np.empty(0, np.int32))


def _solve_components(graph: Graph, deadline: Deadline, max_memory: float) -> Solution:
    if graph.n_vertices == 0:
        return Solution(np.empty(0, dtype=np.intp), 0)
    component = graph.components()
    members = np.split(np.argsort(component, kind="stable"), np.cumsum(np.bincount(component))[:-1])
    chosen: list[NDArray[np.intp]] = []
    upper_bound = 0
    for place, vertices in enumerate(sorted(members, key=len)):
        part = graph.subgraph(vertices)
        solution = _solve_component(part, deadline.share(len(members) - place), max_memory)
        chosen.append(vertices[solution.chosen])
        upper_bound += solution.upper_bound
    return Solution(np.sort(np.concatenate(chosen)), upper_bound)


def fits_in_memory(graph: Graph, max_memory: float) -> bool:
    """Tell whether a graph can be searched by branch and bound."""
    return _BYTES_PER_PAIR * graph.n_vertices**2 <= max_memory


def _solve_component(graph: Graph, deadline: Deadline, max_memory: float) -> Solution:
    """Find a largest set, or the best set and bound that the time and the memory allow."""
    start = improve_independent_set(graph, np.zeros(graph.n_vertices, dtype=bool), thorough=True)
    known = Solution(np.flatnonzero(start), graph.n_vertices)
    limited = deadline.remaining() is not None
    if graph.n_vertices <= _FEW_TO_BRANCH and fits_in_memory(graph, max_memory):
        first = deadline.share(_FIRST_SEARCH)
        if graph.n_vertices > 2 * FEW:  # for which probing is worthwhile
            first = first.at_most(_FIRST_SECONDS if limited else _FIRST_SECONDS_WITHOUT_LIMIT)
        known = _better(known, branch_and_bound(graph, start, first.expired))
    vertices = np.arange(graph.n_vertices)
    if not known.optimal and graph.n_vertices <= min(_MOST_TO_PROBE, (2 * max_memory) ** 0.5):
        share = deadline.share(_PROBING) if limited else deadline.at_most(_PROBING_WITHOUT_LIMIT)
        few = int(min(FEW, (max_memory / _BYTES_PER_PAIR) ** 0.5))
        bits = conflict_bits(graph.indptr, graph.indices)
        longer = deadline.share(_LONG_PROBING)
        probed = probe(bits, known.chosen, share, extended=longer, few=few)
        known = _better(known, Solution(probed.chosen, probed.upper_bound))
        vertices = np.union1d(probed.undecided, probed.chosen)
    if known.optimal:
        return known
    start = np.zeros(graph.n_vertices, dtype=bool)
    start[known.chosen] = True
    rest = _solve_hard(
        graph.subgraph(vertices), start[vertices], known.upper_bound, deadline, max_memory
    )
    return _better(known, Solution(vertices[rest.chosen], rest.upper_bound))


def _better(first: Solution, second: Solution) -> Solution:
    """Return the larger of two sets, with the better of their bounds."""
    chosen = second.chosen if second.chosen.size > first.chosen.size else first.chosen
    return Solution(chosen, max(min(first.upper_bound, second.upper_bound), chosen.size))


def _solve_hard(
    graph: Graph, start: NDArray[np.bool_], bound: int, deadline: Deadline, max_memory: float
) -> Solution:
    """Look for a better set, then a better bound, and search with both.

    The bound is at least the size of a largest set that is larger than `start`.
    """
    limited = deadline.remaining() is not None
    if limited:
        start = improve_until(graph, start, deadline.share(_LOCAL_SEARCH))
    size = int(np.count_nonzero(start))
    if graph.n_vertices <= min(_MOST_TO_COVER, (8 * max_memory) ** 0.5):
        share = deadline.share(_COVER) if limited else Deadline(0)
        bound = min(bound, cover_bound(graph, size, share))
    known = Solution(np.flatnonzero(start), max(bound, size))
    small = graph.n_vertices <= _MOST_TO_BRANCH or not limited
    if known.optimal or deadline.expired() or not (small and fits_in_memory(graph, max_memory)):
        return known
    return _better(known, branch_and_bound(graph, start, deadline.expired))
