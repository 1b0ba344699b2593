import itertools
import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import coo_array, csr_matrix

from coreclust import maximum_clique
from twins import adjacencies, clique_number, is_clique, random_graph


def assert_largest(adjacency, size):
    clique, bound = maximum_clique(adjacency, return_bound=True)
    assert is_clique(adjacency, clique)
    assert len(clique) == bound == size
    assert (np.diff(clique) > 0).all()


def networkx_number(adjacency):
    graph = nx.from_numpy_array(adjacency.astype(int))
    return len(nx.max_weight_clique(graph, weight=None)[0])


@pytest.mark.slow
@given(adjacency=adjacencies())
@settings(max_examples=500)
def test_small_graphs_against_brute_force(adjacency):
    assert_largest(adjacency, clique_number(adjacency))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_thousands_of_random_graphs_of_all_densities(seed):
    rng = np.random.default_rng(seed)
    for _ in range(400):
        adjacency = random_graph(rng, rng.integers(1, 14), rng.random())
        assert_largest(adjacency, clique_number(adjacency))


@pytest.mark.parametrize("seed", range(4))
def test_medium_graphs_against_networkx(seed):
    rng = np.random.default_rng([1, seed])
    for density in np.linspace(0.05, 0.95, 10):
        adjacency = random_graph(rng, rng.integers(30, 45), density)
        assert_largest(adjacency, networkx_number(adjacency))


def test_medium_graphs_against_igraph():
    igraph = pytest.importorskip("igraph")
    rng = np.random.default_rng(5)
    for density in np.linspace(0.2, 0.9, 15):
        adjacency = random_graph(rng, 60, density)
        assert_largest(adjacency, igraph.Graph.Adjacency(adjacency, "undirected").clique_number())


def complement(graph):
    adjacency = ~nx.to_numpy_array(graph, dtype=bool)
    np.fill_diagonal(adjacency, False)
    return adjacency


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 30, 31, 64, 65, 128, 129])
def test_complements_of_paths_and_cycles(n):
    assert_largest(complement(nx.path_graph(n)), (n + 1) // 2)
    if n >= 3:
        assert_largest(complement(nx.cycle_graph(n)), n // 2)


@pytest.mark.parametrize("seed", range(20))
def test_complements_of_bipartite_graphs_by_matching(seed):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(1, 60, size=2)
    graph = nx.bipartite.random_graph(left, right, 3 * rng.random() / max(left, right), seed=seed)
    matching = nx.bipartite.maximum_matching(graph, top_nodes=range(left))
    assert_largest(complement(graph), left + right - len(matching) // 2)


@pytest.mark.parametrize("seed", range(30))
def test_graphs_full_of_twins(seed):
    rng = np.random.default_rng(seed)
    base = random_graph(rng, 9, rng.uniform(0.3, 0.9))
    owner = np.repeat(np.arange(9), rng.integers(1, 6, size=9))
    adjacent_twins = rng.random(9) < 0.7
    adjacency = base[np.ix_(owner, owner)]
    same = owner[:, None] == owner[None]
    adjacency |= same & adjacent_twins[owner][:, None]
    np.fill_diagonal(adjacency, False)
    shuffled = rng.permutation(len(owner))
    adjacency = adjacency[np.ix_(shuffled, shuffled)]
    assert_largest(adjacency, networkx_number(adjacency))


@pytest.mark.parametrize("seed", range(10))
def test_sparse_conflicts_that_take_every_kind_of_reduction(seed):
    rng = np.random.default_rng(seed)
    adjacency = ~random_graph(rng, 60, rng.uniform(0.02, 0.08))
    np.fill_diagonal(adjacency, False)
    conflicts = nx.from_numpy_array((~adjacency & ~np.eye(60, dtype=bool)).astype(int))
    size = sum(
        networkx_number(complement(conflicts.subgraph(part)))
        for part in nx.connected_components(conflicts)
    )
    assert_largest(adjacency, size)


def test_all_ways_to_write_a_matrix():
    adjacency = random_graph(np.random.default_rng(0), 20, 0.6)
    expected = maximum_clique(adjacency)
    for same in (
        adjacency.astype(int),
        adjacency * 0.5,
        np.asfortranarray(adjacency),
        adjacency.tolist(),
        adjacency | np.eye(20, dtype=bool),
        csr_matrix(adjacency),
        coo_array(adjacency | np.eye(20, dtype=bool)),
    ):
        assert len(maximum_clique(same)) == len(expected)


def test_a_large_sparse_graph_with_a_planted_clique():
    rng = np.random.default_rng(0)
    n, planted = 20_000, rng.choice(20_000, 12, replace=False)
    ends = rng.integers(0, n, size=(2, 60_000))
    ends = np.hstack([ends, np.array(list(itertools.combinations(planted, 2))).T])
    graph = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(n, n))
    np.testing.assert_array_equal(maximum_clique(graph + graph.T), np.sort(planted))


def test_ties_prefer_low_numbers():
    two_triangles = np.zeros((6, 6), dtype=bool)
    two_triangles[:3, :3] = two_triangles[3:, 3:] = True
    cycle = nx.to_numpy_array(nx.cycle_graph(4), dtype=bool)
    np.testing.assert_array_equal(maximum_clique(cycle), [0, 1])
    assert len(maximum_clique(two_triangles)) == 3
    star_missing = ~np.eye(5, dtype=bool)
    star_missing[3, 4] = star_missing[4, 3] = False
    np.testing.assert_array_equal(maximum_clique(star_missing), [0, 1, 2, 3])


def test_the_same_graph_gives_the_same_clique():
    adjacency = random_graph(np.random.default_rng(3), 120, 0.8)
    first = maximum_clique(adjacency)
    np.testing.assert_array_equal(maximum_clique(adjacency.copy()), first)


def test_a_time_limit_gives_a_valid_clique_and_a_valid_bound():
    adjacency = random_graph(np.random.default_rng(0), 400, 0.9)
    maximum_clique(random_graph(np.random.default_rng(1), 40, 0.9))  # compile
    begin = time.perf_counter()
    clique, bound = maximum_clique(adjacency, time_limit=0.5, return_bound=True)
    assert time.perf_counter() - begin < 30  # it would take hours
    assert is_clique(adjacency, clique)
    assert len(clique) >= 45
    assert len(clique) < bound <= 400


def test_a_time_limit_holds_on_a_large_graph_with_few_conflicts():
    rng = np.random.default_rng(0)
    adjacency = ~random_graph(rng, 3000, 20 / 3000)
    np.fill_diagonal(adjacency, False)
    begin = time.perf_counter()
    clique, bound = maximum_clique(adjacency, time_limit=1, return_bound=True)
    assert time.perf_counter() - begin < 20  # 3 s on an idle machine, and minutes without limit
    assert is_clique(adjacency, clique)
    assert 400 < len(clique) < bound < 1600


def test_a_time_limit_of_zero_gives_a_valid_clique():
    adjacency = random_graph(np.random.default_rng(0), 80, 0.9)
    clique, bound = maximum_clique(adjacency, time_limit=0, return_bound=True)
    assert is_clique(adjacency, clique)
    assert len(clique) <= len(maximum_clique(adjacency)) <= bound


@pytest.mark.parametrize(
    ("adjacency", "error", "message"),
    [
        (np.zeros((2, 3)), ValueError, "adjacency must be a square matrix"),
        (np.zeros(4), ValueError, "adjacency must be a square matrix"),
        ([[0, 1], [0, 0]], ValueError, "adjacency must be symmetric"),
        (csr_matrix([[0, 1], [0, 0]]), ValueError, "adjacency must be symmetric"),
        ([[0, np.nan], [np.nan, 0]], ValueError, "adjacency must be finite"),
        ([["a", "b"], ["b", "a"]], TypeError, "adjacency must be boolean or numeric"),
    ],
)
def test_bad_matrices(adjacency, error, message):
    with pytest.raises(error, match=message):
        maximum_clique(adjacency)


def test_bad_time_limit():
    with pytest.raises(ValueError, match="time_limit must be None or seconds"):
        maximum_clique([[0]], time_limit=-1)


def test_an_empty_graph():
    assert maximum_clique(np.zeros((0, 0))).size == 0
    np.testing.assert_array_equal(maximum_clique(np.zeros((3, 3))), [0])
