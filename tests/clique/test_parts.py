"""Tests of the parts of the exact search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from coreclust.clique._branch import branch_and_bound
from coreclust.clique._conflicts import conflict_graph
from coreclust.clique._deadline import Deadline
from coreclust.clique._folding import FoldedGraph
from coreclust.clique._graph import Graph
from coreclust.clique._local_search import improve_independent_set, prefer_low_numbers
from coreclust.clique._reductions import reduce_graph
from coreclust.clique._solve import largest_independent_set
from coreclust.clique._unlisted import conflict_free_set
from coreclust.evidence._bounds import apart_table
from coreclust.evidence._counting import pack_labels
from coreclust.evidence._packed import _row_bits
from twins import (
    adjacencies,
    clique_number,
    core_graph,
    is_clique,
    label_matrices,
    random_graph,
)


def conflicts_of(adjacency):
    return Graph.from_sparse(csr_array(adjacency))


def independence_number(conflicts, vertices=None):
    inside = conflicts if vertices is None else conflicts[np.ix_(vertices, vertices)]
    return clique_number(~inside & ~np.eye(len(inside), dtype=bool))


def is_independent(conflicts, vertices):
    return not conflicts[np.ix_(vertices, vertices)].any()


@given(conflicts=adjacencies(12), slack=st.integers(0, 3))
@settings(max_examples=300)
def test_deleting_reductions_lose_nothing(conflicts, slack):
    best = independence_number(conflicts)
    lower_bound = max(best - slack, 0)
    reduced = reduce_graph(conflicts_of(conflicts), lower_bound, Deadline(None))
    assert is_independent(conflicts, reduced.taken)
    reachable = reduced.taken.size + independence_number(conflicts, reduced.undecided)
    assert not conflicts[np.ix_(reduced.taken, reduced.undecided)].any()
    if best > lower_bound:
        assert reachable == best
        assert reduced.upper_bound >= best
    assert max(reduced.upper_bound, lower_bound) >= best


@given(conflicts=adjacencies(12))
@settings(max_examples=300)
def test_folding_keeps_the_heaviest_set_and_unfolds_it(conflicts):
    best = independence_number(conflicts)
    folded = FoldedGraph(conflicts_of(conflicts))
    folded.reduce()
    left = sorted(folded.adjacency)
    heaviest, heaviest_set = -1, ()
    for mask in range(2 ** len(left)):
        chosen = [v for place, v in enumerate(left) if mask >> place & 1]
        if all(u not in folded.adjacency[v] for v in chosen for u in chosen):
            weight = sum(folded.weight[v] for v in chosen)
            if weight > heaviest:
                heaviest, heaviest_set = weight, chosen
    assert folded.offset + heaviest == best
    unfolded = sorted(folded.unfold(heaviest_set))
    assert len(unfolded) == best
    assert is_independent(conflicts, unfolded)


@pytest.mark.parametrize("seed", range(5))
def test_local_search_never_loses_and_stays_independent(seed):
    rng = np.random.default_rng(seed)
    conflicts = random_graph(rng, 150, rng.uniform(0.02, 0.5))
    start = np.zeros(150, dtype=bool)
    start[rng.integers(150)] = True
    better = improve_independent_set(conflicts_of(conflicts), start)
    assert is_independent(conflicts, better)
    lowered = prefer_low_numbers(conflicts_of(conflicts), better, Deadline(None))
    assert is_independent(conflicts, lowered)
    assert lowered.sum() >= better.sum() >= 1
    # No single exchange for a lower number is left.
    for v in np.flatnonzero(~lowered):
        inside = np.flatnonzero(conflicts[v] & lowered)
        assert len(inside) > 1 or (len(inside) == 1 and inside[0] < v)


def test_local_search_is_good_enough_to_prune_with():
    conflicts = random_graph(np.random.default_rng(0), 200, 0.1)
    found = improve_independent_set(conflicts_of(conflicts), np.zeros(200, dtype=bool))
    assert found.sum() >= 42  # 43 is optimal


@pytest.mark.slow
@pytest.mark.parametrize("stop_after", [0, 1, 2, 5])
def test_a_stopped_search_has_a_valid_bound(stop_after):
    conflicts = random_graph(np.random.default_rng(7), 200, 0.1)
    graph = conflicts_of(conflicts)
    calls = []

    def expired():
        calls.append(None)
        return len(calls) > stop_after

    stopped = branch_and_bound(graph, np.zeros(200, dtype=bool), expired)
    best = largest_independent_set(graph, np.zeros(200, dtype=bool), Deadline(None))
    assert best.optimal
    assert len(calls) == stop_after + 1
    assert is_independent(conflicts, stopped.chosen)
    assert stopped.chosen.size <= best.chosen.size <= stopped.upper_bound


@pytest.mark.slow
def test_a_search_that_does_not_fit_has_a_valid_bound():
    conflicts = random_graph(np.random.default_rng(7), 200, 0.1)
    graph = conflicts_of(conflicts)
    start = np.zeros(200, dtype=bool)
    best = largest_independent_set(graph, start, Deadline(None))
    narrow = largest_independent_set(graph, start, Deadline(None), max_memory=1e5)
    assert is_independent(conflicts, narrow.chosen)
    assert narrow.chosen.size <= best.chosen.size < narrow.upper_bound <= 200


@st.composite
def ensembles(draw):
    """Labels of one cluster that mostly agrees, and a strictness."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 30)), int(rng.integers(1, 150))
    labels = np.where(rng.random((n, m)) < rng.random((n, 1)) ** 3, rng.integers(1, 4, (n, m)), 0)
    labels[rng.random((n, m)) < draw(st.sampled_from([0.0, 0.1, 0.37]))] = -2
    labels[rng.random((n, m)) < draw(st.sampled_from([0.0, 0.05]))] = -1
    return labels, draw(st.sampled_from([0.02, 0.1, 0.3, 0.7]))


@pytest.mark.slow
@given(ensembles())
@settings(max_examples=200)
def test_steady_items_have_no_conflicts_among_each_other(case):
    labels, alpha = case
    n, m = labels.shape
    packed = pack_labels(labels, np.arange(n), "apart")
    steady = np.flatnonzero(packed.steady_items(apart_table(alpha, n, m)))
    edges = core_graph(labels, steady, alpha)
    assert (edges | np.eye(len(steady), dtype=bool)).all()


def test_most_items_of_a_stable_cluster_are_steady():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((500, 400)) < 0.005, 1, 0)
    labels[rng.random((500, 400)) < 0.37] = -2
    packed = pack_labels(labels, np.arange(500), "apart")
    assert packed.steady_items(apart_table(0.1, 500, 400)).mean() > 0.9


@given(ensembles())
@settings(max_examples=200)
def test_the_conflict_graph_is_the_complement_of_the_core_graph(case):
    labels, alpha = case
    n, m = labels.shape
    packed = pack_labels(labels, np.arange(n), "apart")
    kept, graph, start = conflict_graph(packed, apart_table(alpha, n, m), Deadline(None))
    conflicts = ~core_graph(labels, np.arange(n), alpha) & ~np.eye(n, dtype=bool)
    np.testing.assert_array_equal(
        graph.to_sparse().toarray().astype(bool), conflicts[np.ix_(kept, kept)]
    )
    assert is_independent(conflicts, kept[start])
    # No item that was ruled out is in a largest core, unless all cores are single items.
    for item in np.setdiff1d(np.arange(n), kept):
        assert n - conflicts[item].sum() < max(start.sum(), 2)


def test_row_bits():
    bits = np.array([[0, 2**64 - 1], [5, 1]], dtype=np.uint64)
    np.testing.assert_array_equal(_row_bits(bits), [64, 3])


@given(label_matrices(max_items=9, max_samples=14), st.sampled_from([0.1, 0.3, 0.6]))
def test_a_set_and_its_bound_without_the_graph(labels, alpha):
    labels = np.asarray(labels)
    table = apart_table(alpha, len(labels), labels.shape[1])
    packed = pack_labels(labels, np.arange(len(labels)), "apart")
    chosen, bound, _ = conflict_free_set(packed, table, Deadline(None))
    graph = core_graph(labels, np.arange(len(labels)), alpha)
    assert is_clique(graph, chosen.tolist())
    assert max(chosen.size, 1) <= clique_number(graph) <= bound


@given(adjacencies(), st.randoms(use_true_random=False))
def test_a_subgraph_is_the_submatrix(conflicts, random):
    conflicts = np.asarray(conflicts)
    vertices = [v for v in range(len(conflicts)) if random.random() < 0.6]
    random.shuffle(vertices)
    part = conflicts_of(conflicts).subgraph(np.array(vertices, dtype=np.intp))
    expected = conflicts[np.ix_(vertices, vertices)].reshape(len(vertices), len(vertices))
    np.testing.assert_array_equal(part.to_sparse().toarray() > 0, expected)


@given(adjacencies(), st.randoms(use_true_random=False))
def test_a_graph_from_pairs_is_the_submatrix(conflicts, random):
    conflicts = np.asarray(conflicts)
    kept = np.array([random.random() < 0.6 for _ in range(len(conflicts))], dtype=bool)
    number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    first, second = np.nonzero(np.triu(conflicts))
    graph = Graph.from_pairs(first, second, number)
    expected = conflicts[np.ix_(kept, kept)]
    np.testing.assert_array_equal(graph.to_sparse().toarray() > 0, expected)
