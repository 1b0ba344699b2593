"""Conflicts in several draws of the data, compared with plain counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coreclust import LabelEnsemble
from coreclust._utils.constants import RESAMPLES_PER_DRAW
from coreclust.resampling import Bootstrap, Subsample
from coreclust.resampling._nested import Nested


def nested_conflicts(ensemble, table, share):
    """Count, pair by pair and draw by draw, with plain Python."""
    n = ensemble.n_items
    labels = ensemble.labels.reshape(n, -1, 64)
    conflicts = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            judged = failed = 0
            for draw in range(labels.shape[1]):
                first, second = labels[i, draw], labels[j, draw]
                both = (first != -2) & (second != -2)
                allowed = table[both.sum()]
                if allowed >= 0:
                    judged += 1
                    failed += ((first != second) | (first == -1))[both].sum() > allowed
            conflicts[i, j] = judged * share < 1 or failed > judged * share
    np.fill_diagonal(conflicts, False)
    return conflicts


def random_ensemble(rng, n, n_draws, stability):
    labels = rng.integers(0, 3, (n, n_draws * 64))
    labels = np.where(rng.random(labels.shape) < stability, 0, labels)
    labels[rng.random(labels.shape) < 0.05] = -1
    labels[rng.random(labels.shape) < 0.3] = -2
    labels[rng.random((n, n_draws)).repeat(64, axis=1) < 0.2] = -2  # not in the draw at all
    return LabelEnsemble(labels)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 12),
    n_draws=st.integers(1, 24),
    stability=st.sampled_from([0.5, 0.9, 0.97]),
    share=st.sampled_from([0.05, 0.1, 0.25, 0.5]),
    alpha=st.sampled_from([0.1, 0.3]),
)
def test_conflicts_are_those_of_plain_counts(seed, n, n_draws, stability, share, alpha):
    ensemble = random_ensemble(np.random.default_rng(seed), n, n_draws, stability)
    table = np.floor(alpha * np.arange(65)).astype(np.int64)
    table[:10] = -1
    expected = nested_conflicts(ensemble, table, share)
    every = np.arange(n)
    pairs = ensemble.pairs(every, "apart").in_draws(share)

    counts, found = pairs.conflict_rows(table, every, every, n)
    listed = np.zeros((n, n), dtype=bool)
    for row in every:
        listed[row, found[row, : counts[row]]] = True
    np.testing.assert_array_equal(listed, expected)

    bits = np.zeros((n, 1), dtype=np.uint64)
    pairs.fill_edges(table, every, 0, bits)
    edges = (bits >> every.astype(np.uint64)) & np.uint64(1)
    np.testing.assert_array_equal(edges.astype(bool), ~expected & ~np.eye(n, dtype=bool))

    steady = np.flatnonzero(pairs.steady_items(table))
    assert not expected[np.ix_(steady, steady)].any()
    alone = ~pairs.connectable_items(table)
    assert expected[alone].sum() == alone.sum() * (n - 1)


def test_levels_are_the_tables_with_a_conflict():
    ensemble = random_ensemble(np.random.default_rng(0), 12, 20, 0.9)
    tables = np.array([np.floor(alpha * np.arange(65)) for alpha in (0, 0.1, 0.2, 0.4, 0.6)], int)
    tables[:, :10] = -1
    every = np.arange(12)
    pairs = ensemble.pairs(every, "apart").in_draws(0.1)
    counts, others, levels = pairs.conflict_levels(tables, every, np.ones(12, bool))
    found = np.zeros((12, 12), dtype=int)
    for row in every:
        found[row, others[row, : counts[row]]] = levels[row, : counts[row]]
    expected = sum(nested_conflicts(ensemble, table, 0.1).astype(int) for table in tables)
    np.testing.assert_array_equal(found, np.tril(expected))
    assert np.unique(expected).size > 3


@pytest.mark.parametrize(
    ("scheme", "share", "n_drawn"), [(Bootstrap(), 0.632, 200), (Subsample(0.6), 0.5, 60)]
)
def test_resamples_of_a_draw_contain_only_its_items(scheme, share, n_drawn):
    nested = Nested(scheme)
    seeds = [np.random.SeedSequence(7, spawn_key=(b, 0)) for b in range(3 * RESAMPLES_PER_DRAW)]
    counts = nested.counts(200, seeds)
    assert (counts.sum(axis=1) == n_drawn).all()
    in_draw = counts.reshape(3, RESAMPLES_PER_DRAW, 200).sum(axis=1) > 0
    # A draw has 63 % of the items, or half; its 64 resamples contain nearly all of them.
    assert np.abs(in_draw.mean(axis=1) - share).max() < 0.1
    assert (in_draw[0] != in_draw[1]).any()
    # A resample that is drawn again belongs to the same draw.
    again = nested.draw(200, np.random.SeedSequence(7, spawn_key=(5, 2)))
    assert in_draw[0][again].mean() > 0.97
    assert nested.pair_share(200) == pytest.approx(
        np.mean([(row > 0)[:100][:, None] & (row > 0)[None, 100:] for row in counts]), abs=0.03
    )
