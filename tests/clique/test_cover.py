import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from coreclust.clique._cover import _cover, _grow, _matrix, cover_bound
from coreclust.clique._deadline import Deadline
from coreclust.clique._graph import Graph
from coreclust.clique._probing import conflict_bits
from coreclust.clique._solve import _solve_component, largest_independent_set
from twins import adjacencies, clique_number, random_graph


def graph_of(adjacency):
    return Graph.from_sparse(csr_array(adjacency.astype(np.int8)))


def independence_number(adjacency):
    return clique_number(~adjacency & ~np.eye(len(adjacency), dtype=bool))


def are_cliques(cliques, adjacency):
    rows = np.split(cliques.indices, cliques.indptr[1:-1])
    return all(adjacency[np.ix_(row, row)].sum() == row.size * (row.size - 1) for row in rows)


@given(adjacencies())
@settings(max_examples=60)
def test_the_bound_holds_at_any_time(adjacency):
    largest = independence_number(adjacency)
    for deadline in (Deadline(0), Deadline(None)):
        assert cover_bound(graph_of(adjacency), 0, deadline) >= largest
    # It never falls below a set that is known.
    assert cover_bound(graph_of(adjacency), largest, Deadline(None)) >= largest


@given(adjacencies())
def test_the_cover_covers_by_maximal_cliques(adjacency):
    n = len(adjacency)
    bits = conflict_bits(*graph_of(adjacency))
    cliques = _matrix(_cover(bits, np.arange(n), 2**62), n)
    assert set(cliques.indices.tolist()) == set(range(n))
    assert are_cliques(cliques, adjacency)
    for row in np.split(cliques.indices, cliques.indptr[1:-1]):
        assert not adjacency[row].all(axis=0).any(), "a vertex could be added"


@given(adjacencies(), st.integers(0, 100))
def test_with_little_effort_the_cover_is_one(adjacency, effort):
    n = len(adjacency)
    cliques = _matrix(_cover(conflict_bits(*graph_of(adjacency)), np.arange(n), effort), n)
    assert set(cliques.indices.tolist()) == set(range(n))
    assert are_cliques(cliques, adjacency)
    if effort == 0:
        assert cliques.shape[0] == n


@given(adjacencies())
def test_violated_cliques_are_cliques_with_too_large_a_sum(adjacency):
    n = len(adjacency)
    x = np.random.default_rng(n).random(n)
    order = np.argsort(-x)
    bits = conflict_bits(*graph_of(adjacency))
    cliques = _matrix(_grow(bits, x, order, order, 1.2), n)
    assert are_cliques(cliques, adjacency)
    assert (cliques @ x > 1.2).all()


def test_the_linear_program_is_exact_on_an_odd_cycle_of_triangles():
    """Five triangles in a ring: a cover by cliques takes five, and a set has at most five."""
    n = 15
    adjacency = np.zeros((n, n), dtype=bool)
    for triangle in range(5):
        a, b, c = 3 * triangle + np.arange(3)
        for u, v in ((a, b), (b, c), (a, c), (c, (c + 1) % n)):
            adjacency[u, v] = adjacency[v, u] = True
    assert cover_bound(graph_of(adjacency), 0, Deadline(None)) == independence_number(adjacency)


@pytest.mark.parametrize("max_memory", [np.inf, 30_000.0])
def test_a_hard_component_gets_a_valid_set_and_bound_in_its_time(max_memory):
    adjacency = random_graph(np.random.default_rng(0), 400, 0.2)
    exact_enough = largest_independent_set(
        graph_of(adjacency), np.zeros(400, dtype=bool), Deadline(0.0)
    )
    found = _solve_component(graph_of(adjacency), Deadline(1.0), max_memory)
    assert not adjacency[np.ix_(found.chosen, found.chosen)].any()
    assert exact_enough.chosen.size <= found.upper_bound
    assert found.chosen.size <= found.upper_bound <= 101  # as a cover by cliques, without more time
