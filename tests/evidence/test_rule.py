"""The rule that decides about pairs, and the registry of guarantees."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from coreclust import CoreClustering, LabelEnsemble, core_clusters
from coreclust._inspection.verdict import verdict
from coreclust.cli.main import make_parser
from coreclust.evidence import GUARANTEES, CoreRule, Guarantee, PairEvidence
from coreclust.evidence._bounds import (
    apart_table,
    bound_table,
    least_estimated,
    least_seen,
    resamples_to_see,
)
from coreclust.evidence._counting import pack_labels
from coreclust.evidence._pair_evidence import CountedPairs
from twins import counts, label_matrices

ALPHAS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])
NOISE_RULES = st.sampled_from(["apart", "together", "absent"])


def hoeffding(n_apart, n_seen, alpha, level):
    """Whether Hoeffding's lower bound of the probability reaches 1 - alpha."""
    return n_apart / n_seen + math.sqrt(math.log(1 / level) / (2 * n_seen)) <= alpha


def test_a_rule_is_frozen():
    rule = CoreRule(0.1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.alpha = 0.2
    assert rule.changed(alpha=0.2) == CoreRule(0.2)
    assert rule == CoreRule(0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 1.5}, "alpha must be a number between 0 and 1"),
        ({"alpha": True}, "alpha must be a number between 0 and 1"),
        ({"confidence": 1.0}, "confidence must be None or a number above 0 and below 1"),
        ({"guarantee": "none"}, "guarantee must be one of 'simultaneous', 'pair', 'new-data', got"),
        ({"guarantee": ["pair"]}, "guarantee must be one of"),
        ({"noise": "loud"}, "noise must be one of"),
        ({"time_limit": -1}, "time_limit must be None or seconds"),
        ({"max_memory": 0}, "max_memory must be None or a number of bytes"),
    ],
)
def test_a_rule_is_checked_when_it_is_created_and_when_it_is_changed(change, message):
    with pytest.raises(ValueError, match=message):
        CoreRule(**change)
    with pytest.raises(ValueError, match=message):
        CoreRule().changed(**change)


@pytest.mark.parametrize("anytime", [False, True])
@pytest.mark.parametrize("name", ["simultaneous", "pair"])
@given(alpha=st.sampled_from([0.01, 0.1, 0.3, 0.9]), confidence=st.sampled_from([0.5, 0.95, 0.999]))
def test_the_table_of_a_guarantee_never_falls_and_starts_at_least_seen(
    name, anytime, alpha, confidence
):
    ensemble = LabelEnsemble(np.zeros((6, 400), dtype=int))
    sizes = np.array([4, 2])
    rule = CoreRule(alpha, confidence, name, anytime=anytime)
    table = rule.table(ensemble, sizes)
    assert table.shape == (401,)
    assert (np.diff(table) >= 0).all()
    edges = np.flatnonzero(table >= 0)
    needed = least_seen(alpha, rule.pair_level(sizes), rule.passes)
    assert edges.size == 0 if needed > 400 else edges[0] == needed


@given(alpha=st.sampled_from([0.02, 0.1, 0.3, 0.9]), spread=st.floats(0.4, 2))
def test_the_table_of_a_spread_is_that_of_the_alpha_of_the_resamples(alpha, spread):
    ensemble, sizes = LabelEnsemble(np.zeros((6, 200), dtype=int)), np.array([4, 2])
    rule = CoreRule(alpha, spread=spread)
    expected = norm.cdf(norm.ppf(alpha) / spread)
    assert rule.resampled_alpha == pytest.approx(expected)
    for confidence in (None, 0.9):
        same = CoreRule(rule.resampled_alpha, confidence)
        np.testing.assert_array_equal(
            rule.changed(confidence=confidence).table(ensemble, sizes), same.table(ensemble, sizes)
        )
        wider = rule.changed(confidence=confidence, alpha=alpha + 0.05)
        assert (wider.table(ensemble, sizes) >= same.table(ensemble, sizes)).all()
    assert CoreRule(alpha).resampled_alpha == alpha  # the very same number


@given(
    alpha=st.sampled_from([0.0, 1e-3, 0.0052, 0.1, 1 / 3, 0.5, 0.95, 1.0]),
    n_items=st.sampled_from([None, 1, 2, 10, 150]),
)
def test_a_pair_must_be_seen_as_often_as_the_table_of_estimates_says(alpha, n_items):
    allowed = np.flatnonzero(apart_table(alpha, n_items, 2000) >= 0)
    assert least_estimated(alpha, n_items) == (allowed[0] if allowed.size else math.inf)


@given(
    least=st.integers(1, 300),
    share=st.floats(0.05, 1),
    miss=st.sampled_from([0.4, 0.01, 1e-6]),
)
def test_the_resamples_that_show_a_pair_are_enough_and_no_more(least, share, miss):
    m = resamples_to_see(least, share, miss)
    assert binom.cdf(least - 1, m, share) <= miss
    assert m == least or binom.cdf(least - 1, m - 1, share) > miss
    assert resamples_to_see(math.inf, share, miss) == math.inf
    assert resamples_to_see(0, share, miss) == 0


def test_the_error_is_shared_among_the_pairs_unless_it_is_for_each():
    sizes = np.array([4, 2])
    assert CoreRule(confidence=0.9, guarantee="pair").pair_level(sizes) == pytest.approx(0.1)
    assert CoreRule(confidence=0.9).pair_level(sizes) == pytest.approx(0.1 / 7)


def test_an_added_guarantee_is_known_everywhere(monkeypatch, capsys):
    promise = "Hoeffding: {confidence} that a pair reaches {least}."
    monkeypatch.setitem(GUARANTEES, "hoeffding", Guarantee(hoeffding, True, promise))
    X = np.repeat([[0.0], [9.0]], 10, axis=0) + np.linspace(0, 1, 20)[:, None]

    def cluster(Z):
        return (np.asarray(Z)[:, 0] > 5).astype(int)

    cc = CoreClustering(
        cluster, n_resamples=400, alpha=0.4, confidence=0.9, guarantee="hoeffding", random_state=0
    )
    cc.fit(X)
    assert cc.rule_.guarantee == "hoeffding"
    assert "Hoeffding: 90 % that a pair reaches 0.6 in resamples of these data." in verdict(cc)
    assert cc.core_sample_indices_.size == 20
    expected = bound_table(0.4, 0.1, 400, hoeffding)
    np.testing.assert_array_equal(cc.rule_.table(cc.ensemble_, np.array([10, 10])), expected)
    assert cc.recut(guarantee="pair").recut(guarantee="hoeffding").rule_ == cc.rule_
    with pytest.raises(SystemExit):
        make_parser().parse_args(["fit", "--help"])
    assert "hoeffding" in capsys.readouterr().out


def test_an_unknown_guarantee_is_refused():
    with pytest.raises(ValueError, match="guarantee"):
        CoreClustering(guarantee="hoeffding").fit([[0.0], [1.0]])


@given(labels=label_matrices(), noise=NOISE_RULES, alpha=ALPHAS, data=st.data())
def test_counted_and_packed_pairs_list_the_same_conflicts(labels, noise, alpha, data):
    n_items = len(labels)
    together, seen = counts(labels, noise)
    counted = CountedPairs(seen - together, seen)
    packed = pack_labels(labels, np.arange(n_items), noise)
    tables = np.array(
        [CoreRule(a).table(LabelEnsemble(labels), np.array([n_items])) for a in (alpha / 2, alpha)]
    )
    table = tables[1]
    items = st.permutations(range(n_items))
    rows = np.array(data.draw(items)[: data.draw(st.integers(0, n_items))], dtype=np.intp)
    candidates = np.sort(data.draw(items)[: data.draw(st.integers(0, n_items))]).astype(np.intp)
    limit = data.draw(st.integers(0, n_items))

    found = [pairs.conflict_rows(table, rows, candidates, limit) for pairs in (counted, packed)]
    np.testing.assert_array_equal(found[0][0], found[1][0])
    for row, count in enumerate(found[0][0]):
        filled = [conflicts[row, : min(count, limit)] for _, conflicts in found]
        np.testing.assert_array_equal(*filled)

    is_row = np.zeros(n_items, dtype=bool)
    is_row[rows] = True
    levels = [pairs.conflict_levels(tables, rows, is_row) for pairs in (counted, packed)]
    np.testing.assert_array_equal(levels[0][0], levels[1][0])
    for row, count in enumerate(levels[0][0]):
        for part in (1, 2):
            np.testing.assert_array_equal(
                levels[0][part][row, :count], levels[1][part][row, :count]
            )

    chosen = [np.zeros(n_items, dtype=np.intp) for _ in range(2)]
    sizes = [
        pairs.extend_conflict_free(table, chosen[k], 0, rows)
        for k, pairs in enumerate((counted, packed))
    ]
    assert sizes[0] == sizes[1]
    np.testing.assert_array_equal(*chosen)


def pair_evidence(labels, codes, n_resamples):
    """The counts of an ensemble, as evidence on pairs within the clusters of a reference."""
    together, seen = counts(labels, "apart")
    with_noise, _ = counts(labels, "together")
    _, without = counts(labels, "absent")
    every = np.array([seen, together, with_noise - together, seen - without], dtype=np.int32)
    every[:, np.arange(codes.size), np.arange(codes.size)] = 0  # no item is a pair with itself
    members = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    return PairEvidence(codes, [every[:, m[:, None], m[None]] for m in members], n_resamples)


@pytest.mark.filterwarnings("ignore:.*too few:UserWarning")
@pytest.mark.filterwarnings("ignore:No number of resamples:UserWarning")
@given(labels=label_matrices(), noise=NOISE_RULES, alpha=ALPHAS, data=st.data())
def test_cores_of_counts_are_as_large_as_those_of_labels(labels, noise, alpha, data):
    """With a confidence the table is the same for both: it has no prior."""
    n_items, n_resamples = labels.shape
    codes = np.unique(
        data.draw(st.lists(st.integers(0, 1), min_size=n_items, max_size=n_items)),
        return_inverse=True,
    )[1]
    ensemble = LabelEnsemble(labels)
    pairs = pair_evidence(labels, codes, n_resamples)
    rule = {"alpha": alpha, "confidence": data.draw(st.sampled_from([0.3, 0.6])), "noise": noise}
    found = [core_clusters(evidence, codes, **rule) for evidence in (ensemble, pairs)]
    assert [core.n_core for core in found[0]] == [core.n_core for core in found[1]]
    for one, other in zip(*found, strict=True):
        assert one.optimal and other.optimal  # noqa: PT018
        np.testing.assert_array_equal(one.strength, other.strength)
