"""How far the reductions go: what they leave can be reduced no further."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from coreclust.clique._deadline import Deadline
from coreclust.clique._folding import FoldedGraph
from coreclust.clique._graph import Graph
from coreclust.clique._matching import maximum_matching
from coreclust.clique._reductions import reduce_graph
from twins import adjacencies, clique_number, random_graph


def graph_of(adjacency):
    return Graph.from_sparse(csr_array(adjacency.astype(np.int8)))


def networkx_graph(graph):
    return graph_of(nx.to_numpy_array(graph, nodelist=sorted(graph), dtype=np.int8))


def independence_number(adjacency):
    return clique_number(~adjacency & ~np.eye(len(adjacency), dtype=bool))


def reduced(adjacency, lower_bound=0):
    return reduce_graph(graph_of(adjacency), lower_bound, Deadline(None))


@given(adjacencies(), st.integers(0, 8))
@settings(max_examples=300)
def test_what_is_left_has_neither_pendant_vertices_nor_such_with_too_many_conflicts(
    adjacency, lower_bound
):
    found = reduced(adjacency, lower_bound)
    inside = adjacency[np.ix_(found.undecided, found.undecided)]
    degree = inside.sum(axis=1)
    assert (degree >= 2).all()
    assert (found.taken.size + found.undecided.size - degree > lower_bound).all()
    assert found.upper_bound >= found.taken.size
    if found.undecided.size:
        # All that the linear program leaves has the value 1/2.
        assert found.upper_bound <= found.taken.size + found.undecided.size // 2
        matched = maximum_bipartite_matching(csr_array(inside.astype(np.int8))) >= 0
        assert matched.all() or found.upper_bound <= lower_bound
    else:
        assert found.upper_bound <= found.taken.size or found.upper_bound <= lower_bound


@pytest.mark.parametrize("seed", range(20))
def test_forests_are_decided_completely(seed):
    rng = np.random.default_rng(seed)
    tree = nx.random_labeled_tree(int(rng.integers(2, 60)), seed=seed)
    tree.remove_edges_from([edge for edge in list(tree.edges) if rng.random() < 0.1])
    adjacency = nx.to_numpy_array(tree, nodelist=sorted(tree)) > 0
    found = reduced(adjacency)
    largest = len(tree) - len(nx.max_weight_matching(tree, maxcardinality=True))  # König
    assert found.undecided.size == 0
    assert found.taken.size == found.upper_bound == largest
    assert not adjacency[np.ix_(found.taken, found.taken)].any()


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=7)
    )
)
def test_the_bound_of_a_bipartite_graph_is_the_size_of_a_largest_set(sides):
    across = np.array(sides)
    n, m = across.shape
    adjacency = np.zeros((n + m, n + m), dtype=bool)
    adjacency[:n, n:], adjacency[n:, :n] = across, across.T
    largest = n + m - (maximum_bipartite_matching(csr_array(across.astype(np.int8))) >= 0).sum()
    assert reduced(adjacency).upper_bound == largest


def test_of_equal_vertices_the_lower_number_is_taken():
    adjacency = np.kron(np.eye(5, dtype=bool), np.array([[0, 1], [1, 0]], dtype=bool))
    assert reduced(adjacency).taken.tolist() == [0, 2, 4, 6, 8]
    path = np.eye(4, k=1, dtype=bool) | np.eye(4, k=-1, dtype=bool)
    assert reduced(path).taken.tolist() == [0, 2]


def test_the_linear_program_decides_where_no_vertex_is_pendant():
    """Three vertices of one side are in conflict with the same two vertices of the other."""
    adjacency = nx.to_numpy_array(nx.complete_bipartite_graph(3, 2)) > 0
    found = reduced(adjacency)
    assert found.taken.tolist() == [0, 1, 2]
    assert (found.undecided.size, found.upper_bound) == (0, 3)


def test_deletions_are_passed_on():
    """With 3 vertices known, the hub of a wheel goes first; the rim is then a plain cycle."""
    adjacency = nx.to_numpy_array(nx.wheel_graph(9)) > 0  # vertex 0 is the hub
    found = reduced(adjacency, lower_bound=3)
    assert found.undecided.tolist() == list(range(1, 9))
    assert found.upper_bound == 4
    assert reduced(adjacency, lower_bound=4).upper_bound <= 4


# Matching


@pytest.mark.parametrize("seed", range(5))
def test_the_matching_starts_from_one_to_which_no_edge_can_be_added(seed):
    adjacency = random_graph(np.random.default_rng(seed), 40, 0.08)
    partner, complete = maximum_matching(graph_of(adjacency), lambda: True)
    assert not complete
    free_left = partner < 0
    free_right = ~np.isin(np.arange(40), partner)
    assert not adjacency[np.ix_(free_left, free_right)].any()


def test_vertices_with_few_neighbors_are_matched_first():
    """Both vertices 1 and 2 conflict with 0, and 1 with many more: 2 gets vertex 0."""
    graph = nx.Graph([(0, 1), (0, 2), (1, 3), (1, 4), (3, 4)])
    partner, _ = maximum_matching(networkx_graph(graph), lambda: True)
    assert partner[2] == 0


@pytest.mark.parametrize("n", [20, 200, 2000])
def test_the_number_of_phases_grows_slowly(n):
    """A long path that starts in the middle is augmented in one phase."""
    order = np.random.default_rng(n).permutation(n)
    path = nx.relabel_nodes(nx.path_graph(n), dict(enumerate(order.tolist())))
    asked = itertools.count()
    partner, complete = maximum_matching(networkx_graph(path), lambda: next(asked) < 0)
    assert complete
    assert (partner >= 0).all()
    assert next(asked) <= 2 * np.sqrt(n)


# Folding


def fold(graph):
    folded = FoldedGraph(graph)
    folded.reduce()
    return folded


@given(adjacencies(12))
@settings(max_examples=300)
def test_no_rule_applies_to_what_is_left(adjacency):
    folded = fold(graph_of(adjacency))
    adjacent, weight = folded.adjacency, folded.weight
    for v, neighbors in adjacent.items():
        assert v not in neighbors
        assert all(v in adjacent[u] for u in neighbors)
        assert 0 < weight[v] < sum(weight[u] for u in neighbors)
        assert len(neighbors) >= 2
        for u in neighbors:
            assert weight[u] > weight[v] or not neighbors - {u} <= adjacent[u]
        if len(neighbors) == 2:
            assert weight[v] < max(weight[u] for u in neighbors)
    conflicts = [frozenset(neighbors) for neighbors in adjacent.values()]
    assert len(set(conflicts)) == len(conflicts)


@pytest.mark.parametrize(
    "graph",
    [
        nx.empty_graph(3),
        nx.path_graph(9),
        nx.cycle_graph(4),
        nx.cycle_graph(9),
        nx.complete_graph(6),
        nx.complete_bipartite_graph(3, 5),
        nx.random_labeled_tree(30, seed=0),
        nx.ladder_graph(6),
        nx.wheel_graph(7),
    ],
    ids=str,
)
def test_simple_graphs_are_folded_to_nothing(graph):
    folded = fold(networkx_graph(graph))
    assert not folded.adjacency
    chosen = folded.unfold([])
    largest, _ = nx.max_weight_clique(nx.complement(graph), None)
    assert len(chosen) == folded.offset == len(largest)
    assert not any(v in graph[u] for u in chosen for v in chosen)


def heaviest_set(folded):
    """Vertices of a heaviest independent set of what is left."""
    left = sorted(folded.adjacency)
    sets = itertools.chain.from_iterable(
        itertools.combinations(left, size) for size in range(len(left) + 1)
    )
    independent = (
        chosen
        for chosen in sets
        if not any(u in folded.adjacency[v] for u, v in itertools.combinations(chosen, 2))
    )
    return max(independent, key=lambda chosen: sum(folded.weight[v] for v in chosen))


@pytest.mark.parametrize("n_steps", range(8))
def test_folding_that_is_stopped_can_be_unfolded(n_steps):
    graph = nx.cycle_graph(9)
    folded = FoldedGraph(networkx_graph(graph))
    asked = itertools.count()
    folded.reduce(lambda: next(asked) >= n_steps)
    assert next(asked) <= n_steps + 1
    chosen = folded.unfold(heaviest_set(folded))
    assert len(chosen) == 4
    assert not any(v in graph[u] for u in chosen for v in chosen)


def test_folding_does_nothing_if_the_time_is_up_at_once():
    folded = FoldedGraph(networkx_graph(nx.path_graph(3)))
    folded.reduce(lambda: True)
    assert folded.adjacency == {0: {1}, 1: {0, 2}, 2: {1}}
    assert folded.offset == 0
