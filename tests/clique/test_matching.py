import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from coreclust.clique._deadline import Deadline
from coreclust.clique._graph import Graph
from coreclust.clique._matching import maximum_matching
from coreclust.clique._reductions import UNDECIDED, _linear_program, reduce_graph
from twins import adjacencies, clique_number, random_graph


def graph_of(adjacency):
    return Graph.from_sparse(csr_array(adjacency.astype(np.int8)))


def check_matching(adjacency, partner):
    matched = np.flatnonzero(partner >= 0)
    assert adjacency[matched, partner[matched]].all()
    assert np.unique(partner[matched]).size == matched.size


@given(adjacencies())
def test_the_matching_is_one_and_as_large_as_scipys(adjacency):
    graph = graph_of(adjacency)
    partner, complete = maximum_matching(graph)
    assert complete
    check_matching(adjacency, partner)
    expected = maximum_bipartite_matching(graph.to_sparse(), perm_type="column")
    assert (partner >= 0).sum() == (expected >= 0).sum()


@pytest.mark.parametrize("density", [0.002, 0.01, 0.1, 0.6])
def test_larger_graphs(density):
    adjacency = random_graph(np.random.default_rng(1), 700, density)
    graph = graph_of(adjacency)
    partner, complete = maximum_matching(graph)
    assert complete
    check_matching(adjacency, partner)
    expected = maximum_bipartite_matching(graph.to_sparse(), perm_type="column")
    assert (partner >= 0).sum() == (expected >= 0).sum()


@given(adjacencies(), st.integers(0, 3))
def test_a_search_that_is_stopped_leaves_a_matching_with_a_valid_bound(adjacency, n_phases):
    graph = graph_of(adjacency)
    asked = itertools.count()
    partner, complete = maximum_matching(graph, lambda: next(asked) >= n_phases)
    check_matching(adjacency, partner)
    largest = clique_number(~adjacency & ~np.eye(len(adjacency), dtype=bool))
    assert len(adjacency) - ((partner >= 0).sum() + 1) // 2 >= largest
    if complete:
        assert (partner >= 0).sum() == (maximum_matching(graph)[0] >= 0).sum()


@given(adjacencies())
def test_no_vertex_is_decided_by_a_matching_that_may_not_be_the_largest(adjacency):
    deadline = Deadline(0)
    decided, bound = _linear_program(graph_of(adjacency), deadline)
    assert (decided == UNDECIDED).all()
    largest = clique_number(~adjacency & ~np.eye(len(adjacency), dtype=bool))
    assert bound >= largest
    reduced = reduce_graph(graph_of(adjacency), max(largest - 1, 0), deadline)
    assert reduced.upper_bound >= largest


def test_a_chain_with_long_augmenting_paths_is_matched_completely():
    """Vertex v is joined to the forty vertices up to its own twin."""
    n = 600
    rows = np.repeat(np.arange(n), np.minimum(np.arange(n) + 1, 40))
    columns = np.concatenate([np.arange(max(0, v - 39), v + 1) for v in range(n)])
    upper = csr_array((np.ones(rows.size, np.int8), (rows, columns + n)), (2 * n, 2 * n))
    graph = Graph.from_sparse(csr_array(upper + upper.T))
    partner, complete = maximum_matching(graph)
    assert complete
    assert (partner >= 0).all()
