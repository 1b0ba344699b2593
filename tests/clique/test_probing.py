"""Probing by matchings, compared with networkx, with scipy and with brute force."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from coreclust import LabelEnsemble
from coreclust._utils.constants import ABSENT
from coreclust.clique import (
    Deadline,
    Graph,
    conflict_free_set,
    conflict_graph,
    largest_independent_set,
)
from coreclust.clique import _probing as probing
from coreclust.clique._probing import (
    as_bits,
    complement,
    conflict_bits,
    members,
    n_members,
    probe,
    subgraph,
)
from twins import adjacencies, clique_number, is_clique, random_graph

NOTHING = np.empty(0, dtype=np.intp)


def graph_of(adjacency):
    return Graph.from_sparse(csr_array(adjacency.astype(np.int8)))


def bits_of(adjacency):
    graph = graph_of(adjacency)
    return conflict_bits(graph.indptr, graph.indices)


def edges_of(conflicts):
    return ~conflicts & ~np.eye(len(conflicts), dtype=bool)


def far_apart(rng, n, dimension, share):
    """Return which points of a cube are among a share of the most distant pairs."""
    points = rng.random((n, dimension))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    return distances > np.quantile(distances, 1 - share)


def size_of_a_largest_clique(adjacency):
    return nx.max_weight_clique(nx.from_numpy_array(adjacency), weight=None)[1]


def check(conflicts, probed):
    """Check a result against the size of a largest set."""
    largest = size_of_a_largest_clique(edges_of(conflicts))
    assert is_clique(edges_of(conflicts), probed.chosen)
    assert probed.chosen.size <= largest <= probed.upper_bound
    if probed.chosen.size < largest:  # a larger set is inside what is undecided
        inside = edges_of(conflicts)[np.ix_(probed.undecided, probed.undecided)]
        assert size_of_a_largest_clique(inside) == largest


@pytest.mark.parametrize("few", [0, 4, 200])
@settings(deadline=None, max_examples=150)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 70), density=st.floats(0, 1))
def test_random_graphs(few, seed, n, density):
    conflicts = random_graph(np.random.default_rng(seed), n, 0.2 + 0.8 * density)
    check(conflicts, probe(bits_of(conflicts), NOTHING, Deadline(None), few=few))


@pytest.mark.parametrize("few", [0, 4, 200])
@settings(deadline=None, max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 60),
    dimension=st.integers(1, 4),
    share=st.floats(0.1, 0.95),
)
def test_conflicts_between_distant_points(few, seed, n, dimension, share):
    conflicts = far_apart(np.random.default_rng(seed), n, dimension, share)
    check(conflicts, probe(bits_of(conflicts), NOTHING, Deadline(None), few=few))


def test_in_the_plane_nothing_is_left():
    """Not even with no vertex left to the branch and bound, and a poor first set."""
    for seed in range(10):
        conflicts = far_apart(np.random.default_rng(seed), 400, 2, 0.4)
        probed = probe(bits_of(conflicts), NOTHING, Deadline(None), few=0)
        assert probed.chosen.size == probed.upper_bound
        assert is_clique(edges_of(conflicts), probed.chosen)
        # The matching of the whole graph proves nothing like it.
        assert probed.chosen.size < 0.8 * 200


@given(adjacencies())
def test_without_time_the_bound_holds(conflicts):
    probed = probe(bits_of(conflicts), NOTHING, Deadline(0))
    assert probed.upper_bound >= clique_number(edges_of(conflicts))


def test_the_first_set_is_kept_if_none_is_larger():
    conflicts = np.zeros((6, 6), dtype=bool)
    conflicts[[0, 1, 2, 3], [1, 0, 3, 2]] = True
    start = np.array([1, 3, 4, 5])
    assert probe(bits_of(conflicts), start, Deadline(None)).chosen.tolist() == start.tolist()


def test_a_cancelled_search_stops():
    deadline = Deadline(None)
    deadline.cancel()
    conflicts = far_apart(np.random.default_rng(0), 400, 2, 0.4)
    probed = probe(bits_of(conflicts), np.array([0]), deadline)
    assert probed.upper_bound >= probed.chosen.size == 1


@given(adjacencies(), st.integers(0, 2**11 - 1))
def test_the_matching_is_as_large_as_scipys(conflicts, subset):
    n = len(conflicts)
    alive = np.flatnonzero([subset >> v & 1 for v in range(n)])
    inside = conflicts[np.ix_(alive, alive)]
    expected = maximum_bipartite_matching(csr_array(inside.astype(np.int8)), perm_type="column")
    for first in (np.arange(n), alive):  # from the matching of all vertices, and from nothing
        partner, owner = np.full((2, n), -1, dtype=np.int32)
        assert probing._match(bits_of(conflicts), as_bits(first, n), partner, owner, 100)
        assert probing._match(bits_of(conflicts), as_bits(alive, n), partner, owner, 100)
        matched = np.flatnonzero(partner >= 0)
        assert matched.size == (expected >= 0).sum()
        assert np.isin([matched, partner[matched]], alive).all()
        assert conflicts[matched, partner[matched]].all()
        assert owner[partner[matched]].tolist() == matched.tolist()


@given(adjacencies(), st.integers(0, 2**11 - 1), st.integers(0, 10), st.integers(0, 4))
def test_similar_vertices(conflicts, subset, vertex, slack):
    n = len(conflicts)
    vertex %= n
    alive = {v for v in range(n) if subset >> v & 1} | {vertex}
    closed = {u for u in alive if conflicts[vertex, u]} | {vertex}
    expected = [
        u for u in sorted(alive) if len(closed - {u} - set(np.flatnonzero(conflicts[u]))) <= slack
    ]
    found = probing._similar(bits_of(conflicts), as_bits(np.array(sorted(alive)), n), vertex, slack)
    assert members(found).tolist() == expected


@given(adjacencies(), st.integers(0, 2**11 - 1))
def test_bits(conflicts, subset):
    n = len(conflicts)
    some = np.flatnonzero([subset >> v & 1 for v in range(n)])
    bits = as_bits(some, n)
    assert members(bits).tolist() == some.tolist()
    assert n_members(bits) == some.size
    small = subgraph(bits_of(conflicts), some)
    assert (small.to_sparse().toarray() == conflicts[np.ix_(some, some)]).all()
    degrees = probing._degrees(bits_of(conflicts), bits)
    inside = conflicts[:, some].sum(axis=1)
    assert degrees.tolist() == [inside[v] if v in some else -1 for v in range(n)]


@given(adjacencies())
def test_complement(conflicts):
    assert (complement(bits_of(edges_of(conflicts))) == bits_of(conflicts)).all()


def test_halves_whose_rows_are_not_equal_are_proven():
    """Under the bootstrap, no two items of a half have the same labels."""
    rng = np.random.default_rng(0)
    n, m = 600, 100
    half = np.repeat([0, 1], [n - n // 3, n // 3])
    labels = np.where(rng.random((1, m)) < 0.5, 0, half[:, None])
    labels[rng.random((n, m)) < 0.03] = 1
    labels[rng.random((n, m)) < 0.37] = ABSENT
    pairs = LabelEnsemble(labels).pairs(np.arange(n), "apart")
    table = np.arange(m + 1) // 5
    chosen, bound, _ = conflict_free_set(pairs, table, Deadline(None))
    assert chosen.size == bound
    _, graph, start = conflict_graph(pairs, table, Deadline(None))
    assert largest_independent_set(graph, start, Deadline(None)).chosen.size == bound


def test_a_search_that_succeeds_gets_more_time():
    """After the deadline, it goes on only if it has deleted a good part of the vertices."""
    conflicts = far_apart(np.random.default_rng(0), 400, 2, 0.4)
    bits = bits_of(conflicts)

    class Looks(Deadline):
        """A deadline that passes after some looks at it."""

        def __init__(self, n_looks):
            super().__init__(None)
            self.n_looks = n_looks

        def expired(self):
            self.n_looks -= 1
            return self.n_looks < 0

    looks = [0, *range(10, 400, 10), 10_000]

    def is_proven(**extended):
        probed = [probe(bits, NOTHING, Looks(n), few=0, **extended) for n in looks]
        return np.array([result.chosen.size == result.upper_bound for result in probed])

    stopped, longer = is_proven(), is_proven(extended=Deadline(None))
    assert stopped[-1]
    assert not longer[0]
    assert (longer & ~stopped).any()
    assert (longer >= stopped).all()
