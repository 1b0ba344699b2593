"""Tests of the summary against the same values computed by loops."""

import csv
import io
import itertools

import numpy as np
import pytest
from made_up_trials import made_up

from studies.calibration.summary import Tally, summarize, to_csv
from studies.calibration.trials import Trial

pytestmark = pytest.mark.slow

TRIALS = [
    Trial(name, repetition, n_truth=100)
    for name in ("too-few", "imbalance", "hierarchical")
    for repetition in range(2)
]


@pytest.fixture
def results():
    rng = np.random.default_rng(0)
    return [
        made_up(
            trial,
            least=0.6,
            exact_pairs=None if trial.design == "hierarchical" else rng.choice(50, 20, False),
        )
        for trial in TRIALS
    ]


def truth_by_pair(result):
    """The count of every pair of a cluster, exact where there is one."""
    labels = result["reference"]
    pairs = [
        (i, j)
        for cluster in sorted(set(labels))
        for i, j in itertools.combinations(range(len(labels)), 2)
        if labels[i] == labels[j] == cluster
    ]
    quick = result["truth"]["quick"] or [None] * len(pairs)
    exact = dict(zip(result["truth"]["exact_pairs"], result["truth"]["exact"], strict=True))
    return {pair: exact.get(place, quick[place]) for place, pair in enumerate(pairs)}, quick, exact


def figures(result, scheme, rule):
    """(pairs, meeting, nearly, worst, core, oracle, items), counted one by one."""
    labels = result["cuts"][scheme][rule]
    counts = [
        count
        for (i, j), count in truth_by_pair(result)[0].items()
        if labels[i] >= 0 and labels[j] >= 0
    ]
    return (
        len(counts),
        sum(count >= 90 for count in counts),
        sum(count >= 88 for count in counts),
        min(counts, default=100) / 100,
        sum(label >= 0 for label in labels),
        sum(label >= 0 for label in result["oracle"]),
        len(labels),
    )


def test_values_are_what_counting_gives(results):
    summary = summarize(results)
    assert len(summary.entries) == 2 * (11 + 11 + 8)
    for entry in summary.entries:
        result = next(
            result
            for result in results
            if (result["design"], result["repetition"]) == (entry.design, entry.repetition)
        )
        assert entry.tally == Tally(*figures(result, entry.scheme, entry.rule))


@pytest.mark.parametrize("design", ["too-few", None])
def test_pooled_values_are_sums(results, design):
    tally = summarize(results).tally("bootstrap", "pair", design)
    each = [
        figures(result, "bootstrap", "pair")
        for result in results
        if design in (None, result["design"])
    ]
    pairs, meeting, nearly, worst, core, oracle, items = zip(*each, strict=True)
    assert tally.meet == sum(meeting) / sum(pairs)
    assert tally.nearly == sum(nearly) / sum(pairs)
    assert tally.worst == min(worst)
    assert tally.size == sum(core) / sum(oracle)
    assert tally.weak == pytest.approx(1 - sum(core) / sum(items))


def test_designs_count_the_same_in_the_mean(results):
    summary = summarize(results)
    shares = []
    for name in ("too-few", "imbalance", "hierarchical"):
        each = [figures(r, "bootstrap", "paper") for r in results if r["design"] == name]
        shares.append(sum(row[2] for row in each) / sum(row[0] for row in each))
    assert summary.mean_nearly("bootstrap", "paper") == pytest.approx(np.mean(shares))


def test_a_scheme_that_a_design_does_not_allow_is_left_out(results):
    summary = summarize(results)
    assert summary.has("too-few", "all")
    assert not summary.has("hierarchical", "all")
    assert len(summary.tallies("all", "paper")) == 4


def test_the_check_of_the_quick_truth_is_what_counting_gives(results):
    summary = summarize(results)
    assert set(summary.checks) == {"too-few", "imbalance"}
    near, far, changed, n_near, n_core, n_core_exact = [], [], 0, 0, 0, 0
    for result in results:
        if result["design"] != "imbalance":
            continue
        counts, quick, exact = truth_by_pair(result)
        for place, (i, j) in enumerate(counts):
            judged = any(
                labels[i] >= 0 and labels[j] >= 0
                for cuts in result["cuts"].values()
                for labels in cuts.values()
            )
            is_near = (70 if judged else 80) <= quick[place] <= 95
            n_near += is_near
            n_core += judged and is_near
            n_core_exact += judged and is_near and place in exact
            if place not in exact:
                continue
            (near if is_near else far).append((exact[place] - quick[place]) / 100)
            if not is_near:
                changed += any((exact[place] >= bar) != (quick[place] >= bar) for bar in (90, 88))
    check = summary.checks["imbalance"]
    np.testing.assert_allclose(check.differences, near, atol=1e-12)
    np.testing.assert_allclose(check.outside, far, atol=1e-12)
    assert (check.n_band, check.n_band_exact, check.n_changed) == (n_near, len(near), changed)
    assert (check.n_core, check.n_core_exact) == (n_core, n_core_exact)
    assert changed > 0


def test_no_core_pairs_is_no_error():
    empty = Tally(0, 0, 0, 1.0, 3, 6, 10)
    assert (empty.meet, empty.nearly, empty.size) == (1.0, 1.0, 0.5)


def test_csv_has_one_row_per_dataset_scheme_and_rule(results):
    summary = summarize(results)
    rows = list(csv.DictReader(io.StringIO(to_csv(summary))))
    assert len(rows) == len(summary.entries)
    for row, entry in zip(rows, summary.entries, strict=True):
        assert (row["design"], int(row["dataset"])) == (entry.design, entry.repetition + 1)
        assert float(row["share_nearly"]) == pytest.approx(entry.tally.nearly, abs=1e-5)
        assert float(row["size_to_oracle"]) == pytest.approx(entry.tally.size, abs=1e-5)
