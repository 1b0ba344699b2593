"""Tests of the tables about new data, against the same values computed by loops."""

import math

import numpy as np
import pytest
from made_up_trials import made_up
from scipy.stats import spearmanr

from studies.calibration.new_data import audit_table, fraction_table, merge_table, new_data_table
from studies.calibration.numbers import with_error
from studies.calibration.summary import summarize
from studies.calibration.trials import FRACTIONS, Trial

NAMES = ("too-few", "too-many", "moderate-overlap", "leiden")


@pytest.fixture
def results():
    return [made_up(Trial(name, b, n_truth=100), least=0.8) for name in NAMES for b in range(4)]


def cells(table, title):
    (line,) = [line for line in table.splitlines() if line.startswith(f"| {title} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def shares(summary, name, scheme, rule, kept):
    tallies = [
        entry.tally
        for entry in summary.entries
        if (entry.design, entry.scheme, entry.rule) == (name, scheme, rule)
        and entry.repetition in kept
    ]
    return sum(t.n_nearly for t in tallies) / sum(t.n_pairs for t in tallies)


def test_shares_for_new_data_are_of_all_and_of_unflagged_datasets(results):
    summary = summarize(results)
    table = new_data_table(summary)
    mine = [result for result in results if result["design"] == "too-few"]
    calm = [
        result["repetition"]
        for result in mine
        if result["n_doubtful"] == 0 and result["other_solutions"] <= 0.1
    ]
    assert 0 < len(calm) < 4
    row = cells(table, "one cluster too few")
    for place, rule in ((2, "0.95"), (3, "0.9")):
        share = shares(summary, "too-few", "new-data", rule, range(4))
        assert row[place].startswith(f"{100 * share:.1f} ± ")
    assert row[4] == f"{4 - len(calm)} of 4"
    share = shares(summary, "too-few", "new-data", "0.95", calm)
    assert row[5].startswith(f"{100 * share:.1f}")
    assert "Mean size over the 3 old designs" in table  # Leiden is new


def test_errors_are_those_over_datasets(results):
    summary = summarize(results)
    share, error = summary.nearly_with_error("bootstrap", "paper", "too-few")
    tallies = summary.tallies("bootstrap", "paper", "too-few")
    pairs = np.array([tally.n_pairs for tally in tallies])
    off = np.array([tally.n_nearly for tally in tallies]) - share * pairs
    assert error == pytest.approx(math.sqrt((off**2).sum() / 3 / 4) / pairs.mean())
    nothing = summary.nearly_with_error("bootstrap", "paper", "leiden")
    assert np.isnan(nothing).all()


def test_predictions_are_means_over_datasets(results):
    results[0]["audit"] = [None, None]  # no core pairs in any draw
    summary = summarize(results)
    table = audit_table(summary)
    row = cells(table, "one cluster too few")
    predicted = np.mean([result["audit"][0] for result in results[1:4]])
    real = np.mean([t.nearly for t in summary.tallies("bootstrap", "simultaneous", "too-few")[1:]])
    assert row[2].startswith(f"{100 * predicted:.1f}")
    assert row[4] == f"{100 * (predicted - real):+.1f} %"
    assert (row[1], cells(table, "one cluster too many")[1]) == ("", "yes")
    means = []
    for name in NAMES:
        scheme = "subsample" if name == "leiden" else "bootstrap"
        reals = [tally.nearly for tally in summary.tallies(scheme, "simultaneous", name)]
        found = [result["audit"][0] for result in results if result["design"] == name]
        if name == "too-few":
            reals, found = reals[1:], found[1:]
        means.append((np.mean(found), np.mean(reals)))
    assert f"{spearmanr(*zip(*means, strict=True)).statistic:.2f} (bar" in table


def test_flagged_datasets_are_counted_by_case(results):
    table = merge_table(summarize(results))
    mine = [result for result in results if result["design"] == "too-many"]
    doubtful = [result["n_doubtful"] > 0 for result in mine]
    other = [result["other_solutions"] > 0.1 for result in mine]
    either = [one or two for one, two in zip(doubtful, other, strict=True)]
    shares = [f"{25 * sum(which)} %" for which in (doubtful, other, either)]
    row = cells(table, "one cluster too many")
    assert row[1:] == ["too many clusters", "100", *shares]
    assert table.index("moderate overlap") < table.index("one cluster too few")


def test_subsamples_of_all_sizes_are_listed(results):
    assert fraction_table(summarize(results)) == "No design was run."
    for result in results[:8]:
        same = result["cuts"]["all"]["paper"]
        result["cuts"].update({f"fraction {f:g}": {"paper": same} for f in FRACTIONS})
    row = cells(fraction_table(summarize(results)), "one cluster too few")
    assert len(row) == 2 + len(FRACTIONS)
    assert len(set(row[1:])) == 1


def test_a_share_without_an_error():
    assert with_error(0.5, math.nan) == "50.0 %"
