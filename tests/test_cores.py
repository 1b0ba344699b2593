import itertools
import threading
import tracemalloc
import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from coreclust import LabelEnsemble, core_clusters
from coreclust.cores import core_path
from coreclust.evidence import CoreRule
from twins import clique_number, core_graph, is_clique, random_graph

# With alpha 0, which many tests try, the rule says that every core is a single item.
pytestmark = pytest.mark.filterwarnings("ignore:No number of resamples can show a co-occurrence")


@st.composite
def clusterings(draw, max_items=14):
    """Labels of some items in some resamples, and a reference clustering of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = int(rng.integers(2, max_items + 1)), int(rng.integers(10, 80))
    reference = rng.integers(-1, 3, size=n)
    labels = np.repeat(np.maximum(reference, 0)[:, None], m, axis=1)
    shaky = rng.random((n, m)) < (rng.random(n) * draw(st.sampled_from([0.1, 0.5, 1.0])))[:, None]
    labels[shaky] = rng.integers(-1, 3, size=shaky.sum())
    labels[rng.random((n, m)) < draw(st.sampled_from([0.0, 0.2, 0.37]))] = -2
    return labels, reference


@pytest.fixture(autouse=True)
def _allow_few_resamples():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*too few for any pair.*")
        yield


def sizes(cores):
    return {core.label: core.n_core for core in cores}


rules = st.sampled_from(["apart", "together", "absent"])
alphas = st.sampled_from([0.0, 0.03, 0.1, 0.25, 0.5, 0.9, 1.0])


@given(case=clusterings(), alpha=alphas, noise=rules)
@settings(max_examples=400)
def test_every_core_keeps_the_rule_and_none_is_larger(case, alpha, noise):
    labels, reference = case
    cores = core_clusters(LabelEnsemble(labels), reference, alpha=alpha, noise=noise)
    assert [core.label for core in cores] == sorted(set(reference[reference >= 0].tolist()))
    for core in cores:
        np.testing.assert_array_equal(core.members, np.flatnonzero(reference == core.label))
        graph = core_graph(labels, core.members, alpha, noise)
        assert is_clique(graph, np.searchsorted(core.members, core.core))
        assert core.n_core == clique_number(graph) == core.upper_bound
        assert core.optimal
        assert np.isin(core.core, core.members).all()
        np.testing.assert_array_equal(np.sort(np.concatenate([core.core, core.weak])), core.members)


@given(case=clusterings(), noise=rules)
def test_cores_never_grow_as_alpha_falls(case, noise):
    labels, reference = case
    ensemble = LabelEnsemble(labels)
    last = None
    for alpha in np.round(np.linspace(1, 0, 12), 3):
        now = sizes(core_clusters(ensemble, reference, alpha=alpha, noise=noise))
        if last is not None:
            assert all(now[label] <= last[label] for label in now)
        last = now


@given(case=clusterings(), alpha=alphas, seed=st.integers(0, 99))
def test_permuting_items_leaves_all_core_sizes(case, alpha, seed):
    labels, reference = case
    order = np.random.default_rng(seed).permutation(len(labels))
    one = core_clusters(LabelEnsemble(labels), reference, alpha=alpha)
    two = core_clusters(LabelEnsemble(labels[order]), reference[order], alpha=alpha)
    assert sizes(one) == sizes(two)


@given(case=clusterings(), alpha=alphas, seed=st.integers(0, 99))
def test_relabeling_any_resample_changes_nothing(case, alpha, seed):
    labels, reference = case
    rng = np.random.default_rng(seed)
    renamed = labels.copy()
    for column in renamed.T:
        column[column >= 0] = rng.permutation(9)[column[column >= 0]]
    one = core_clusters(LabelEnsemble(labels), reference, alpha=alpha)
    two = core_clusters(LabelEnsemble(renamed), reference, alpha=alpha)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.core, b.core)
        np.testing.assert_array_equal(a.strength, b.strength)


@given(case=clusterings(), alpha=alphas, split=st.integers(1, 9))
def test_merging_two_ensembles_equals_running_both(case, alpha, split):
    labels, reference = case
    merged = LabelEnsemble(labels[:, :split]).merge(LabelEnsemble(labels[:, split:]))
    one = core_clusters(LabelEnsemble(labels), reference, alpha=alpha)
    two = core_clusters(merged, reference, alpha=alpha)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.core, b.core)


@pytest.mark.parametrize("seed", range(6))
def test_larger_clusters_against_networkx(seed):
    rng = np.random.default_rng(seed)
    n, m = 60, 150
    labels = np.where(rng.random((n, m)) < (0.35 * rng.random(n) ** 2)[:, None], 1, 0)
    labels[rng.random((n, m)) < 0.37] = -2
    (core,) = core_clusters(LabelEnsemble(labels), np.zeros(n, int), alpha=0.1)
    graph = core_graph(labels, core.members, 0.1)
    assert is_clique(graph, core.core)
    expected = nx.max_weight_clique(nx.from_numpy_array(graph.astype(int)), weight=None)[0]
    assert core.n_core == len(expected)


def proof_outcomes(graph):
    """The clusterings of the paper's NP-hardness proof, each as often as it is likely.

    With probability p = 1/2 - 1/(n(n-1)) all items are one cluster; otherwise a random
    pair becomes a cluster if it is an edge of the graph, and all others are singletons.
    For N pairs that is N(N-1) in 2N² outcomes, and N+1 for each pair.
    """
    n = len(graph)
    pairs = list(itertools.combinations(range(n), 2))
    outcomes = [np.zeros(n, int)] * (len(pairs) * (len(pairs) - 1))
    for i, j in pairs:
        labels = np.arange(n)
        if graph[i, j]:
            labels[j] = labels[i]
        outcomes += [labels] * (len(pairs) + 1)
    assert len(outcomes) == 2 * len(pairs) ** 2
    return np.array(outcomes).T


@pytest.mark.parametrize("seed", range(12))
def test_the_np_hardness_proof(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, rng.integers(2, 8), rng.random())
    ensemble = LabelEnsemble(proof_outcomes(graph))
    (core,) = core_clusters(ensemble, np.zeros(len(graph), int), alpha=0.5)
    assert is_clique(graph, core.core)
    assert core.n_core == clique_number(graph)


def test_ties_lean_toward_the_items_that_co_occur_most():
    # Items 2 and 3 are never together; both go with 0 and 1, but 3 more often.
    m = 100
    labels = np.zeros((4, m), int)
    labels[2] = np.arange(m) % 2
    labels[3] = 1 - labels[2]
    labels[2, :4] = 7
    (core,) = core_clusters(LabelEnsemble(labels), [0, 0, 0, 0], alpha=0.6)
    np.testing.assert_array_equal(core.core, [0, 1, 3])
    assert core.strength[3] > core.strength[2]
    # With nothing to choose between them, the first.
    labels[2, :4] = labels[2, 4:8]
    (core,) = core_clusters(LabelEnsemble(labels), [0, 0, 0, 0], alpha=0.6)
    np.testing.assert_array_equal(core.core, [0, 1, 2])


def test_items_that_never_met():
    labels = np.full((3, 40), -2)
    labels[0, :20] = 0
    labels[1, 20:] = 0
    (core,) = core_clusters(LabelEnsemble(labels), ["a", "a", "a"])
    assert core.n_core == 1
    assert np.isnan(core.strength).all()


def test_too_few_resamples_for_any_pair_give_a_warning():
    with pytest.warns(UserWarning, match="5 resamples are too few for any pair"):
        (core,) = core_clusters(LabelEnsemble(np.zeros((4, 5), int)), [0, 0, 0, 0])
    np.testing.assert_array_equal(core.core, [0])
    assert core.optimal


def hard_ensemble():
    """One cluster of 300 items whose core graph is random: hours of search."""
    conflicts = random_graph(np.random.default_rng(0), 300, 0.1)
    together = np.zeros((300, 20), dtype=np.int8)
    pairs = np.repeat(np.argwhere(np.triu(conflicts)), 5, axis=0)
    apart = np.full((300, len(pairs)), -2, dtype=np.int8)  # only the two, and apart
    apart[pairs[:, 0], np.arange(len(pairs))] = 0
    apart[pairs[:, 1], np.arange(len(pairs))] = 1
    return LabelEnsemble(np.hstack([together, apart])), conflicts


def test_a_time_limit_is_never_silent():
    ensemble, conflicts = hard_ensemble()
    with pytest.warns(
        UserWarning, match="time_limit=0.3 was too little to prove that the cores of 1"
    ):
        (core,) = core_clusters(ensemble, np.zeros(300, int), time_limit=0.3)
    assert not core.optimal
    assert 45 <= core.n_core < core.upper_bound <= 300
    assert not conflicts[np.ix_(core.core, core.core)].any()
    assert "at most" in repr(core)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"alpha": -0.1}, ValueError, "alpha must be a number between 0 and 1"),
        ({"alpha": np.nan}, ValueError, "alpha must be a number between 0 and 1"),
        ({"alpha": "x"}, ValueError, "alpha must be a number between 0 and 1"),
        ({"noise": "loud"}, ValueError, "noise must be one of 'apart', 'together', 'absent'"),
        ({"time_limit": -1}, ValueError, "time_limit must be None or seconds"),
        ({"reference_labels": [0, 0]}, ValueError, "each of the 3 items of the ensemble, got 2"),
        ({"reference_labels": np.full(3, 0.5)}, TypeError, "reference_labels must be integers"),
        (
            {"reference_labels": [0.5, 1.0, 1.0]},
            TypeError,
            "must be integers or strings, got dtype float64",
        ),
        ({"reference_labels": [0, "a", 1]}, TypeError, "reference_labels must be all integers"),
        ({"ensemble": [[0], [1], [1]]}, TypeError, "ensemble must be a LabelEnsemble"),
    ],
)
def test_bad_arguments(change, error, message):
    arguments = {"ensemble": LabelEnsemble(np.zeros((3, 30), int)), "reference_labels": [0, 0, 0]}
    arguments |= change
    with pytest.raises(error, match=message):
        core_clusters(arguments.pop("ensemble"), arguments.pop("reference_labels"), **arguments)


@given(
    case=clusterings(),
    alpha=st.sampled_from([0.1, 0.4, 0.7]),
    confidence=st.sampled_from([0.3, 0.9]),
    guarantee=st.sampled_from(["simultaneous", "pair"]),
)
@settings(max_examples=200)
@pytest.mark.filterwarnings("ignore:.*resamples are too few for confidence")
def test_cores_with_confidence_are_cliques_of_the_bound(case, alpha, confidence, guarantee):
    labels, reference = case
    ensemble = LabelEnsemble(labels)
    clusters = [np.flatnonzero(reference == label) for label in set(reference[reference >= 0])]
    n_pairs = sum(c.size * (c.size - 1) // 2 for c in clusters) if guarantee[0] == "s" else 1
    cores = core_clusters(
        ensemble, reference, alpha=alpha, confidence=confidence, guarantee=guarantee
    )
    for core in cores:
        graph = nx.complete_graph(core.n_items)
        for i, j in itertools.combinations(range(core.n_items), 2):
            together, seen = ensemble.cooccurrence_counts(core.members[i], core.members[j])
            # At a level of alpha the bound is reached iff the one-sided test rejects.
            p_value = binomtest(together, seen, 1 - alpha, "greater").pvalue if seen else 1.0
            if p_value > (1 - confidence) / max(n_pairs, 1):
                graph.remove_edge(i, j)
        largest = max(map(len, nx.find_cliques(graph)))
        assert core.n_core == largest == core.upper_bound


def test_more_is_promised_of_fewer():
    """Forty items that stray ever more often, in 400 resamples."""
    rng = np.random.default_rng(0)
    labels = (rng.random((40, 400)) < np.linspace(0, 0.1, 40)[:, None]).astype(int)
    ensemble, reference = LabelEnsemble(labels), np.zeros(40, int)

    def size(**rule):
        return core_clusters(ensemble, reference, **rule)[0].core.size

    estimate, pair = size(), size(confidence=0.95, guarantee="pair")
    simultaneous, surer = size(confidence=0.95), size(confidence=0.9999)
    assert estimate > pair > simultaneous > surer > 1


def test_too_few_resamples_for_a_confidence_give_a_warning_with_the_number():
    labels = np.zeros((10, 100), int)
    reference = np.zeros(10, int)
    # 45 pairs: 0.9 ** B <= 0.05 / 45 takes B = 65.
    assert core_clusters(LabelEnsemble(labels), reference, confidence=0.95)[0].core.size == 10
    labels[:, 64:] = -2
    with pytest.warns(UserWarning, match=r"seen 65 times.*about 41 times.*at least 159 resamples"):
        cores = core_clusters(LabelEnsemble(labels), reference, confidence=0.95)
    assert cores[0].core.size == 1
    with pytest.warns(UserWarning, match="No number of resamples can show"):
        core_clusters(LabelEnsemble(labels), reference, alpha=0, confidence=0.95)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"confidence": 1}, "confidence must be None or a number above 0 and below 1, got 1"),
        ({"confidence": "high"}, "confidence must be None or a number"),
        ({"guarantee": "all"}, "guarantee must be one of 'simultaneous', 'pair', 'new-data', got"),
    ],
)
def test_a_wrong_confidence_is_refused(rule, message):
    with pytest.raises(ValueError, match=message):
        core_clusters(LabelEnsemble(np.zeros((3, 9), int)), [0, 0, 0], **rule)


def chance_ensemble(n_items=300, n_resamples=120, seed=0):
    """One cluster of items whose labels are tossed: nearly every pair is in conflict."""
    rng = np.random.default_rng(seed)
    return LabelEnsemble(rng.integers(0, 2, size=(n_items, n_resamples)).astype(np.int8))


def test_too_little_memory_is_never_silent():
    labels = np.random.default_rng(0).random((300, 120)) < np.linspace(0, 0.2, 300)[:, None]
    ensemble = LabelEnsemble(labels.astype(np.int8))
    with pytest.warns(
        UserWarning, match="max_memory=1000 was too little to prove that the cores of 1"
    ):
        (core,) = core_clusters(ensemble, np.zeros(300, int), max_memory=1000)
    (exact,) = core_clusters(ensemble, np.zeros(300, int), max_memory=None)
    assert exact.optimal
    assert exact.limited_by is None
    assert core.limited_by == "max_memory"
    assert core.n_core <= exact.core.size <= core.upper_bound < 300
    graph = core_graph(ensemble.labels, core.core, alpha=0.1)
    assert is_clique(graph, range(core.n_core))


def test_pure_chance_is_proven_without_the_memory():
    (core,) = core_clusters(chance_ensemble(), np.zeros(300, int), max_memory=1000)
    assert core.n_core == 1
    assert core.optimal


def test_a_little_memory_is_enough_for_a_steady_cluster():
    labels = np.zeros((2000, 100), dtype=np.int8)
    labels[:3, ::2] = 1
    (core,) = core_clusters(LabelEnsemble(labels), np.zeros(2000, int), max_memory=1e6)
    assert core.optimal
    assert core.n_core == 1997


def test_the_memory_for_conflicts_is_what_was_said():
    """All pairs of 1,500 items are in conflict: 2.2 million, of up to 40 bytes each."""
    ensemble = chance_ensemble(1500)
    reference = np.zeros(1500, int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        core_clusters(ensemble, reference, max_memory=1000)  # compiled before it is measured
        tracemalloc.start()
        core_clusters(ensemble, reference, max_memory=None)
        all_of_it = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        core_clusters(ensemble, reference, max_memory=2e6)
        limited = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert all_of_it <= 40 * 1500**2
    assert limited <= 2e6 + 8e6  # and a few rows at a time, and the packed labels


def test_a_path_goes_on_where_its_strictest_rule_does_not_fit():
    rng = np.random.default_rng(1)
    steady = np.zeros((40, 200), dtype=np.int8)
    unsteady = (rng.random((160, 200)) < 0.25).astype(np.int8)
    ensemble = LabelEnsemble(np.vstack([steady, unsteady]))
    reference = np.zeros(200, int)
    rules = [CoreRule(0.1), CoreRule(0.3), CoreRule(0.6)]
    with pytest.warns(UserWarning, match="max_memory=2000 was too little"):
        path = core_path(ensemble, reference, [rule.changed(max_memory=2_000) for rule in rules])
    exact = core_path(ensemble, reference, rules)
    for (some,), (best,) in zip(path, exact, strict=True):
        assert some.n_core <= best.n_core <= some.upper_bound
    assert path[-1][0].optimal


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_change_nothing(n_jobs):
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(6), 40)[:, None] * np.ones(150, dtype=np.int8)
    labels = np.where(rng.random(labels.shape) < 0.05, rng.integers(0, 6, labels.shape), labels)
    ensemble, reference = LabelEnsemble(labels.astype(np.int8)), np.repeat(list("abcdef"), 40)
    serial = core_clusters(ensemble, reference)
    threaded = core_clusters(ensemble, reference, n_jobs=n_jobs)
    assert [c.label for c in threaded] == list("abcdef")
    for one, other in zip(serial, threaded, strict=True):
        np.testing.assert_array_equal(one.core, other.core)
        np.testing.assert_array_equal(one.members, other.members)


@pytest.mark.parametrize("failing", [1, 2])
def test_an_error_in_one_thread_stops_the_others(monkeypatch, failing):
    ensemble, reference = chance_ensemble(), np.arange(300) % 3
    before = threading.active_count()
    calls = []

    def fail_or_wait(packed, table, deadline, max_memory):
        calls.append(deadline)
        if len(calls) == failing:
            raise KeyboardInterrupt
        while True:
            deadline.raise_if_cancelled()

    monkeypatch.setattr("coreclust.cores.conflict_graph", fail_or_wait)
    with pytest.raises(KeyboardInterrupt):
        core_clusters(ensemble, reference, n_jobs=2)
    assert threading.active_count() == before


@pytest.mark.parametrize("wrong", [0, -5, "2GB", True])
def test_max_memory_is_a_number_of_bytes(wrong):
    with pytest.raises(ValueError, match="max_memory must be None or a number of bytes"):
        core_clusters(chance_ensemble(5), np.zeros(5, int), max_memory=wrong)


def test_a_search_that_does_not_fit_is_said_to_be_limited_by_memory():
    """Four conflicts an item: few to hold, too many to search within the same bytes."""
    n = 80
    rng = np.random.default_rng(0)
    pairs = np.concatenate([rng.permutation(n).reshape(-1, 2) for _ in range(4)])
    apart = np.full((n, len(pairs)), -2, dtype=np.int8)  # in each resample one pair, apart
    apart[pairs[:, 0], np.arange(len(pairs))] = 0
    apart[pairs[:, 1], np.arange(len(pairs))] = 1
    ensemble = LabelEnsemble(np.concatenate([apart, np.zeros((n, 9), np.int8)], axis=1))
    reference = np.zeros(n, dtype=int)
    (best,) = core_clusters(ensemble, reference, max_memory=None)
    with pytest.warns(UserWarning, match="max_memory"):
        (narrow,) = core_clusters(ensemble, reference, max_memory=30_000, time_limit=4)
    assert best.optimal
    assert narrow.limited_by == "max_memory"
    assert narrow.core.size <= best.core.size <= narrow.upper_bound
