"""The search in graphs with few edges, compared with networkx and with brute force."""

from __future__ import annotations

from unittest import mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coreclust import LabelEnsemble
from coreclust.clique import Deadline, _heaviest, conflict_free_set
from coreclust.clique._heaviest import degeneracy_order, heaviest_clique

NOTHING = np.empty(0, dtype=np.intp)


def bit_rows(adjacency):
    n = len(adjacency)
    bits = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
    for a, b in zip(*np.nonzero(adjacency), strict=True):
        bits[a, b >> 6] |= np.uint64(1) << np.uint64(b & 63)
    return bits


def random_graph(rng, n, density):
    upper = np.triu(rng.random((n, n)) < density, 1)
    return upper | upper.T


def is_clique(adjacency, vertices):
    inside = adjacency[np.ix_(vertices, vertices)]
    return inside.sum() == vertices.size * (vertices.size - 1)


@settings(deadline=None, max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 90),
    density=st.floats(0, 1),
    largest_weight=st.sampled_from([1, 2, 50]),
)
def test_the_clique_is_the_heaviest(seed, n, density, largest_weight):
    rng = np.random.default_rng(seed)
    adjacency = random_graph(rng, n, density if n < 40 else density / 2)
    weights = rng.integers(1, largest_weight + 1, n)
    graph = nx.from_numpy_array(adjacency)
    nx.set_node_attributes(graph, {v: int(w) for v, w in enumerate(weights)}, "weight")
    _, heaviest = nx.max_weight_clique(graph)

    clique, bound = heaviest_clique(bit_rows(adjacency), weights, NOTHING, Deadline(None))

    assert is_clique(adjacency, clique)
    assert weights[clique].sum() == bound == heaviest


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 60), density=st.floats(0, 1))
def test_without_time_the_bound_holds(seed, n, density):
    rng = np.random.default_rng(seed)
    adjacency = random_graph(rng, n, density)
    weights = rng.integers(1, 4, n)
    graph = nx.from_numpy_array(adjacency)
    nx.set_node_attributes(graph, {v: int(w) for v, w in enumerate(weights)}, "weight")
    _, heaviest = nx.max_weight_clique(graph)

    clique, bound = heaviest_clique(bit_rows(adjacency), weights, NOTHING, Deadline(0))

    assert is_clique(adjacency, clique)
    assert weights[clique].sum() <= heaviest <= bound


def test_no_vertex_can_be_exchanged_for_a_lower_one():
    adjacency = random_graph(np.random.default_rng(3), 200, 0.3)
    clique, _ = heaviest_clique(bit_rows(adjacency), np.ones(200, int), NOTHING, Deadline(None))
    for v in range(200):
        strangers = clique[~adjacency[v, clique]]
        assert not (strangers.size == 1 and v < strangers[0])


def test_a_planted_clique_of_a_large_graph_is_found_and_proven():
    rng = np.random.default_rng(0)
    adjacency = random_graph(rng, 3000, 0.05)
    planted = rng.choice(3000, 30, replace=False)
    adjacency[np.ix_(planted, planted)] = True
    np.fill_diagonal(adjacency, False)
    clique, bound = heaviest_clique(
        bit_rows(adjacency), np.ones(3000, int), NOTHING, Deadline(None)
    )
    assert bound == 30
    assert set(clique) == set(planted)


# Clusters with more conflicts than can be listed.


def random_labels(rng, n, m, n_labels, absent, noise):
    """Labels with some identical rows, some absences and some noise."""
    distinct = rng.integers(0, n_labels, (max(n // 2, 1), m))
    labels = distinct[rng.integers(0, len(distinct), n)]
    flip = rng.random((n, m)) < 0.03
    labels = np.where(flip, rng.integers(0, n_labels, (n, m)), labels)
    labels = np.where(rng.random((n, m)) < noise, -1, labels)
    return np.where(rng.random((n, m)) < absent, LabelEnsemble.ABSENT, labels)


def brute_force(pairs, table):
    """Return the size of a largest conflict-free set, from the counts of all pairs."""
    together, seen = pairs.matrix_counts()
    free = seen - together <= table[seen]
    np.fill_diagonal(free, False)
    return len(nx.max_weight_clique(nx.from_numpy_array(free), weight=None)[0]), free


@settings(deadline=None, max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 30),
    m=st.integers(1, 70),
    n_labels=st.integers(1, 3),
    absent=st.sampled_from([0.0, 0.3]),
    noise=st.sampled_from([0.0, 0.0, 0.2]),
    rule=st.sampled_from(["apart", "together", "absent"]),
    alpha=st.sampled_from([0.0, 0.1, 0.4, 1.0]),
    time=st.sampled_from([None, 0.0]),
)
def test_the_set_without_a_list_is_the_largest(
    seed, n, m, n_labels, absent, noise, rule, alpha, time
):
    rng = np.random.default_rng(seed)
    ensemble = LabelEnsemble(random_labels(rng, n, m, n_labels, absent, noise))
    pairs = ensemble.pairs(np.arange(n), rule)
    table = ensemble.estimate_table(alpha)
    largest, free = brute_force(pairs, table)

    found, bound, _ = conflict_free_set(pairs, table, Deadline(time))

    assert is_clique(free, found)
    assert 1 <= found.size <= largest <= bound
    if time is None and 2 * pairs.steady_items(table).sum() < n:
        assert found.size == bound


@pytest.mark.parametrize("noise", ["apart", "together", "absent"])
def test_twins_have_the_same_labels(noise):
    rng = np.random.default_rng(1)
    labels = random_labels(rng, 60, 5, 2, 0.2, 0.2)
    ensemble = LabelEnsemble(labels)
    pairs = ensemble.pairs(np.arange(60), noise)
    table = ensemble.estimate_table(0.4)
    leader, weight = pairs.twins(table)
    _, free = brute_force(pairs, table)
    shown = np.where(labels == -1, LabelEnsemble.ABSENT, labels) if noise == "absent" else labels
    for item in range(60):
        same = np.flatnonzero((shown == shown[item]).all(axis=1))
        assert leader[item] == same[0]
        in_one_core = same.size if is_clique(free, same) else 1
        assert weight[leader[item]] == in_one_core
    assert np.unique(leader).size < 60


def test_items_seen_too_rarely_are_not_connectable():
    labels = np.zeros((20, 12), dtype=int)
    labels[3, :6] = LabelEnsemble.ABSENT
    ensemble = LabelEnsemble(labels)
    table = np.where(np.arange(13) < 7, -1, 0)
    connectable = ensemble.pairs(np.arange(20), "apart").connectable_items(table)
    assert np.flatnonzero(~connectable).tolist() == [3]
    never = np.full(13, -1)
    assert not ensemble.pairs(np.arange(20), "apart").connectable_items(never).any()


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 40),
    density=st.floats(0, 1),
    n_looks=st.integers(0, 5),
    n_rows=st.integers(1, 50),
)
def test_the_order_and_its_loads(seed, n, density, n_looks, n_rows):
    """Each load covers the later neighbors, and is their weight if there is time."""

    class Looks(Deadline):
        def expired(self):
            self.n = getattr(self, "n", 0) + 1
            return self.n > n_looks

    rng = np.random.default_rng(seed)
    adjacency = random_graph(rng, n, density)
    weights = rng.integers(1, 9, n)
    with mock.patch.object(_heaviest, "_WORDS_PER_CALL", n * n_rows):
        cut, bounds = degeneracy_order(bit_rows(adjacency), weights, Looks(None))
    order, exact = degeneracy_order(bit_rows(adjacency), weights, Deadline(None))
    for found, loads in ((cut, bounds), (order, exact)):
        assert sorted(found.tolist()) == list(range(n))
        later = [
            weights[v] + weights[found[k:]][adjacency[v, found[k:]]].sum()
            for k, v in enumerate(found)
        ]
        assert (loads[found] >= later).all()
    assert exact[order].tolist() == later
    for k in range(n):  # by always taking the least
        left = order[k:]
        assert exact[order[k]] == min(
            weights[v] + weights[left][adjacency[v, left]].sum() for v in left
        )
