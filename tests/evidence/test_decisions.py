"""Limits and edge cases of the decision about a pair: the values at which it changes."""

import dataclasses
import math
import re
import tracemalloc
import warnings
from fractions import Fraction
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import bdtr
from scipy.stats import binom

from coreclust import LabelEnsemble
from coreclust._utils.constants import (
    ABSENT,
    DEFAULT_MAX_MEMORY,
    DRAWS_PER_RESAMPLE,
    RESAMPLES_PER_DRAW,
)
from coreclust.evidence import GUARANTEES, CoreRule, _guarantees, cooccurrence_estimate
from coreclust.evidence._bounds import (
    apart_table,
    bound_table,
    least_estimated,
    least_seen,
    resamples_to_see,
    sequence_tables,
)
from coreclust.evidence._guarantees import binomial_tail, exact_bound, is_decided, sequence_bound
from coreclust.evidence._nested import NestedEnsemble
from coreclust.evidence._rule import count_pairs


def alpha_at(apart, seen, n_items):
    """The alpha at which a pair is exactly at the threshold."""
    return Fraction(n_items * (apart + 1) - 1, n_items * (seen + 1))


@pytest.mark.parametrize("apart", range(0, 300, 11))
def test_an_alpha_is_exact_even_as_a_difference_up_to_a_denominator_of_seven_million(apart):
    alpha = float(alpha_at(apart, 999, 7_000))
    for same in (alpha, 1 - (1 - alpha)):
        assert apart_table(same, 7_000, 999)[999] == apart


@pytest.mark.parametrize("n_items", [1_000_003, 1_000_033, 1_000_037, 1_000_039])
def test_an_alpha_is_exact_up_to_a_denominator_of_a_billion(n_items):
    alpha = alpha_at(0, 996, n_items)
    assert 2**29 < alpha.denominator < 10**9
    assert apart_table(float(alpha), n_items, 996)[996] == 0


def test_products_beyond_64_bits():
    n_items = 10**9 + 7
    alpha = float(alpha_at(3, 996, 1_000_003))
    table = apart_table(alpha, n_items, 1000)
    for seen in (0, 1, 500, 999, 1000):
        allowed = (d for d in range(seen + 1) if alpha_at(d, seen, n_items) <= Fraction(alpha))
        assert table[seen] == max(allowed, default=-1)


def test_an_ordinary_table_needs_no_python_integers():
    apart_table(0.1, 150, 10)
    tracemalloc.start()
    try:
        apart_table(0.1, 150, 20_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * 8 * 20_001


@given(st.integers(0, 50), st.integers(0, 50))
@example(1, 0)
@example(0, 0)
def test_without_a_prior_the_estimate_is_the_share(together, apart):
    estimate = cooccurrence_estimate([together, 0], [together + apart, 0], None)
    expected = together / (together + apart) if together + apart else np.nan
    np.testing.assert_array_equal(estimate, [expected, np.nan])


@pytest.mark.parametrize("n_seen", range(1, 40))
def test_a_pair_exactly_at_the_level_passes(n_seen):
    """Halves have exact powers: a pair that is apart half the time is never so with 2 ** -n."""
    assert exact_bound(0, n_seen, 0.5, 0.5**n_seen)
    assert not exact_bound(0, n_seen, 0.5, math.nextafter(0.5**n_seen, 0))
    assert least_seen(0.5, 0.5**n_seen) == n_seen


def test_nothing_is_left_to_decide_if_any_error_is_allowed():
    assert is_decided(0, 0, 0.1, 1.0)
    assert not is_decided(0, 0, 0.1, 0.999)


def test_a_pair_that_is_decided_to_be_apart_does_not_pass():
    assert is_decided(90, 100, 0.1, 0.05)
    assert not sequence_bound(90, 100, 0.1, 0.05)
    assert sequence_bound(0, 100, 0.1, 0.05)


@given(st.floats(0.001, 0.999), st.integers(1, 500))
def test_a_pair_at_its_mean_is_undecided(alpha, n_seen):
    n_apart = alpha * n_seen
    assert not is_decided(n_apart, n_seen, alpha, 0.999)
    assert not sequence_bound(n_apart, n_seen, alpha, 0.999)


@pytest.mark.parametrize("passes", [exact_bound, sequence_bound])
@pytest.mark.parametrize("alpha", [0.9, 0.5, 0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("level", [0.5, 0.05, 1e-6])
def test_the_least_number_passes_and_one_less_does_not(passes, alpha, level):
    needed = least_seen(alpha, level, passes)
    assert passes(0, needed, alpha, level)
    assert needed == 1 or not passes(0, needed - 1, alpha, level)
    assert isinstance(needed, int)


@given(st.floats(0, 1), st.integers(1, 200) | st.none())
@example(0.0, 1)
@example(0.5, 1)
def test_the_least_number_of_an_estimate_is_where_its_table_starts(alpha, n_items):
    alpha = round(alpha, 2)
    needed = least_estimated(alpha, n_items)
    table = apart_table(alpha, n_items, 120)
    assert needed == (math.inf if table[-1] < 0 and alpha == 0 else np.argmax(table >= 0))
    assert isinstance(needed, int) or needed == math.inf


@given(
    st.integers(1, 20), st.sampled_from([0.05, 0.3, 0.5, 0.9]), st.sampled_from([0.4, 0.1, 1e-4])
)
def test_resamples_to_see_is_the_least_number_with_so_small_an_error(least, share, miss):
    found = resamples_to_see(least, share, miss)
    assert binom.cdf(least - 1, found, share) <= miss
    assert found == least or binom.cdf(least - 1, found - 1, share) > miss
    assert isinstance(found, int)


@pytest.mark.parametrize("least", [0, 5, math.inf])
def test_pairs_that_are_always_seen_need_no_more(least):
    assert resamples_to_see(least, 1.0, 0.01) == least


def test_resamples_to_see_a_pair_that_is_hardly_ever_drawn():
    found = resamples_to_see(1, 1e-7, 0.01)
    assert found == pytest.approx(-math.log(0.01) * 1e7, rel=1e-6)


def test_nothing_and_everything_need_no_luck():
    assert resamples_to_see(0, 0.5, 0.01) == 0
    assert resamples_to_see(math.inf, 0.5, 0.01) == math.inf
    assert resamples_to_see(1, 0.5, 0.5) == 1
    assert resamples_to_see(1, 0.5, 0.125) == 3


@pytest.mark.parametrize("alpha", [1e-9, 3e-12])
def test_billions_of_resamples_are_counted(alpha):
    """More than the largest 32-bit integer, for which scipy's bdtr returns NaN."""
    needed = least_seen(alpha, 0.05)
    assert needed == pytest.approx(math.log(0.05) / math.log1p(-alpha), rel=1e-9)
    assert resamples_to_see(needed, 1.0, 0.01) == needed
    assert resamples_to_see(needed, 0.5, 0.5) == pytest.approx(2 * needed, rel=1e-3)


@given(st.integers(1, 400), st.floats(0.01, 0.99), st.integers(0, 399))
def test_the_tail_of_large_numbers_is_that_of_small_ones(n, p, most):
    most = min(most, n - 1)
    with mock.patch.object(_guarantees, "_MOST_TRIALS_OF_BDTR", 0):
        assert binomial_tail(most, n, p) == pytest.approx(bdtr(most, n, p), rel=1e-9)


def test_more_than_a_trillion_resamples_are_out_of_reach():
    """At a level of 1/2, log(2) / alpha resamples are needed."""
    needed = least_seen(0.7e-12, 0.5, sequence_bound)
    assert needed == pytest.approx(math.log(2) / 0.7e-12, rel=1e-3)
    assert least_seen(0.5e-12, 0.5, sequence_bound) == math.inf
    assert least_seen(0, 0.05) == math.inf
    assert least_seen(1, 0.05) == 0


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_bound_table_has_the_largest_number_that_passes(every, n_resamples):
    """A bound of one's own: one time apart is allowed for each `every` resamples."""
    table = bound_table(0.1, 0.05, n_resamples, lambda apart, seen, *_: apart * every + 1 < seen)
    assert table.dtype == np.int64
    for seen in range(n_resamples + 1):
        passing = [d for d in range(seen) if d * every + 1 < seen]
        assert table[seen] == max(passing, default=-1)


def test_a_bound_gets_the_alpha_and_the_level():
    asked = set()
    bound_table(0.3, 0.02, 5, lambda apart, seen, alpha, level: asked.add((alpha, level)))
    assert asked == {(0.3, 0.02)}


@pytest.mark.parametrize("n_resamples", [0, 1, 7])
def test_tables_have_an_entry_for_every_count(n_resamples):
    for alpha in (0, 0.1, 1):
        tables = [bound_table(alpha, 0.05, n_resamples), *sequence_tables(alpha, 0.05, n_resamples)]
        assert [table.tolist()[0] for table in tables[:2]] == [-1 if alpha < 1 else 0] * 2
        assert {table.shape for table in tables} == {(n_resamples + 1,)}
        assert tables[2][0] == 0
    np.testing.assert_array_equal(sequence_tables(1, 0.05, 3)[1], [0, 1, 2, 3])


# The rule


def test_the_defaults_of_a_rule():
    assert dataclasses.asdict(CoreRule()) == {
        "alpha": 0.1,
        "confidence": None,
        "guarantee": "simultaneous",
        "noise": "apart",
        "time_limit": None,
        "max_memory": DEFAULT_MAX_MEMORY,
        "anytime": False,
        "spread": 1.0,
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"alpha": 0},
        {"alpha": 1},
        {"confidence": 1e-9},
        {"confidence": 0.999999},
        {"time_limit": 0},
        {"time_limit": 1.5},
        {"max_memory": 0.5},
        {"max_memory": None},
        {"spread": 1e-9},
    ],
)
def test_settings_at_the_ends_are_accepted(settings):
    (name,) = settings
    assert getattr(CoreRule(**settings), name) == settings[name]


@pytest.mark.parametrize(
    "settings",
    [
        {"alpha": math.nextafter(0, -1)},
        {"alpha": math.nextafter(1, 2)},
        {"alpha": math.nan},
        {"alpha": "0.1"},
        {"alpha": None},
        {"confidence": 0},
        {"confidence": 1},
        {"confidence": -0.5},
        {"confidence": 1.5},
        {"confidence": "0.9"},
        {"guarantee": "sum"},
        {"guarantee": None},
        {"time_limit": math.nextafter(0, -1)},
        {"time_limit": "1"},
        {"max_memory": 0},
        {"max_memory": -1},
        {"max_memory": "2e9"},
        {"spread": 0},
        {"spread": -1},
        {"spread": math.inf},
        {"spread": "1"},
    ],
)
def test_settings_beyond_the_ends_are_refused_with_their_name_and_value(settings):
    ((name, value),) = settings.items()
    with pytest.raises(ValueError, match=rf"^{name} must be .*got {value!r}\.$"):
        CoreRule(**settings)


def test_the_limit_on_memory_as_a_number():
    assert CoreRule(max_memory=None).bytes_allowed == math.inf
    assert CoreRule(max_memory=5e8).bytes_allowed == 5e8


@pytest.mark.parametrize("name", ["simultaneous", "pair"])
def test_a_guarantee_has_one_bound_for_each_way_of_sampling(name):
    assert CoreRule(guarantee=name).passes is exact_bound
    assert CoreRule(guarantee=name, anytime=True).passes is sequence_bound
    with pytest.raises(dataclasses.FrozenInstanceError):
        GUARANTEES[name].per_pair = None


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_pairs_within_clusters(sizes):
    expected = sum(math.comb(size, 2) for size in sizes)
    assert count_pairs(np.array(sizes)) == expected
    assert type(count_pairs(np.array(sizes))) is int
    level = CoreRule(confidence=0.75).pair_level(np.array(sizes))
    assert level == 0.25 / max(expected, 1)
    assert CoreRule(confidence=0.75, guarantee="pair").pair_level(np.array(sizes)) == 0.25
    assert CoreRule().pair_level(np.array(sizes)) == 1 / max(expected, 1)
    assert CoreRule(confidence=0.75, guarantee="new-data").pair_level(np.array(sizes)) == 0.25


def test_the_table_of_a_rule_is_that_of_its_setting():
    ensemble = LabelEnsemble(np.zeros((6, 50), dtype=int))
    sizes = np.array([4, 2])
    exact = bound_table(0.2, 0.05 / 7, 50)
    anytime = bound_table(0.2, 0.05 / 7, 50, sequence_bound)
    assert (exact != anytime).any()
    rule = CoreRule(0.2, 0.95)
    np.testing.assert_array_equal(rule.table(ensemble, sizes), exact)
    np.testing.assert_array_equal(rule.changed(anytime=True).table(ensemble, sizes), anytime)
    np.testing.assert_array_equal(CoreRule(0.2).table(ensemble, sizes), apart_table(0.2, 6, 50))


def evidence(n_resamples, pair_share, n_prior=None):
    """Evidence as far as the warnings need it."""
    return SimpleNamespace(
        n_resamples=n_resamples,
        pair_share=pair_share,
        n_prior=n_prior,
        estimate_table=lambda alpha: apart_table(alpha, n_prior, n_resamples),
    )


@pytest.mark.parametrize(
    ("rule", "found", "numbers"),
    [
        # An estimate of at least 0.75 takes two resamples: (2 + 1/4) / (2 + 1).
        (CoreRule(0.25), evidence(2, 1.0, 4), None),
        (CoreRule(0.25), evidence(1, 1.0, 4), [1, 0.75, 2]),
        (CoreRule(1.0), evidence(1, 1.0, 4), None),
        (CoreRule(0.0), evidence(9, 1.0, 4), [1]),
        (CoreRule(0.0), evidence(3, 1.0), None),
        # Of six pairs one may be seen fewer than 9 times, in half of the resamples.
        (CoreRule(0.1), evidence(8, 0.5, 150), [8, 0.9, 22]),
        # Where no pair was seen so far, the share is taken as one in m.
        (CoreRule(0.1), evidence(8, 0.0, 150), [8, 0.9, 93]),
        (CoreRule(0.0, 0.9), evidence(100, 1.0), [1]),
        # A pair by itself must be seen 3 times: 0.5 ** 3 = 1 - 0.875.
        (CoreRule(0.5, 0.875, "pair"), evidence(3, 1.0), None),
        (CoreRule(0.5, 0.875, "pair"), evidence(6, 0.5), None),
        (CoreRule(0.5, 0.875, "pair"), evidence(99, 0.5), None),
        (CoreRule(0.5, 0.875, "pair"), evidence(5, 0.5), [5, 0.875, 3, 0.5, 2, 6]),
        (CoreRule(0.5, 0.875, "pair"), evidence(4, 0.0), [4, 0.875, 3, 0.5, 0, 12]),
        # All 6 pairs of 4 items: 0.5 ** 6 < (1 - 0.875) / 6.
        (CoreRule(0.5, 0.875), evidence(6, 1.0), None),
        (CoreRule(0.5, 0.875), evidence(5, 1.0), [5, 0.875, 6, 0.5, 5, 6]),
        (CoreRule(0.5, 0.875), evidence(8, 0.7), [8, 0.875, 6, 0.5, 6, 9]),
        # A confidence sequence needs more.
        (
            CoreRule(0.5, 0.875, "pair", anytime=True),
            evidence(9, 1.0),
            [9, 0.875, 10, 0.5, 9, 10],
        ),
        # Resamples that vary half or twice as much.
        (CoreRule(0.1, spread=0.5), evidence(9, 1.0, 150), [9, 0.99481, 0.9, 191]),
        (CoreRule(0.1, spread=2.0), evidence(1, 1.0, 150), [1, 0.73917, 0.9, 3]),
        (
            CoreRule(0.1, 0.5, "pair", spread=0.5),
            evidence(9, 1.0),
            [9, 0.5, 134, 0.99481, 0.9, 9, 134],
        ),
    ],
)
def test_a_warning_says_what_is_missing(rule, found, numbers):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rule.warn_if_unreachable(found, np.array([4]))
    assert len(caught) == (numbers is not None)
    if numbers is not None:
        message = str(caught[0].message)
        assert [float(number) for number in re.findall(r"\d+(?:\.\d+)?", message)] == numbers
        assert ("a smaller share of the items" in message) == (rule.spread < 1)


@pytest.mark.parametrize("rule", [CoreRule(0.1), CoreRule(0.1, 0.9), CoreRule(0.0, 0.9)])
def test_a_warning_points_at_the_caller_of_the_function_that_checks(rule):
    def check():
        rule.warn_if_unreachable(evidence(3, 1.0, 150), np.array([4]))

    def caller():
        check()

    with pytest.warns(UserWarning, match="every core|too few") as caught:
        caller()
    assert caught[0].lineno == caller.__code__.co_firstlineno + 1


def test_what_is_said_about_a_rule():
    assert CoreRule(0.25).promise() == (
        "Any two items of one core get the same label with an estimated probability of at least "
        "0.75."
    )
    assert CoreRule(0.25, 0.95).promise() == (
        "With 95 % confidence, every two items of one core get the same label with a probability "
        "of at least 0.75."
    )
    assert CoreRule(0.25, 0.95, "pair").promise() == (
        "Any two items of one core, taken by themselves, get the same label with a probability of "
        "at least 0.75, with 95 % confidence."
    )
    assert CoreRule().describe() == "none: the estimate itself is compared with 1 - alpha"
    assert CoreRule(confidence=0.95, guarantee="pair").describe() == "0.95, pair"


@pytest.mark.parametrize("confidence", [None, 0.95])
@pytest.mark.parametrize(("spread", "share"), [(0.5, "0.99481"), (2.0, "0.73917")])
def test_a_promise_names_the_share_of_resamples_and_that_of_the_bootstrap(
    confidence, spread, share
):
    rule = CoreRule(0.1, confidence, spread=spread)
    assert re.findall(r"0\.\d+", rule.promise(" in resamples")) == [share, "0.9"]
    assert " in resamples" in rule.promise(" in resamples")


@pytest.mark.parametrize(("sizes", "miss"), [([1], 1 / 2), ([2, 1], 1 / 2), ([4], 1 / 6)])
def test_one_pair_of_all_is_expected_to_be_seen_too_rarely(sizes, miss):
    """An estimate of 0.9 takes 9 resamples in which the pair is seen."""
    needed = CoreRule(0.1).resamples_needed(evidence(8, 0.4, 150), np.array(sizes))
    assert needed == next(n for n in range(9, 99) if binom.cdf(8, n, 0.4) <= miss)


# Draws of the data


def nested(n_draws, n_judged, n_items=4):
    """Evidence of draws in which all labels agree; in some of them no item was seen."""
    labels = np.zeros((n_items, n_draws * RESAMPLES_PER_DRAW), dtype=int)
    labels[:, n_judged * RESAMPLES_PER_DRAW :] = ABSENT
    return NestedEnsemble(labels)


@pytest.mark.parametrize(
    ("n_draws", "n_judged", "numbers"),
    [
        # A pair must be judged in 4 draws: one in 4 may fail.
        (4, 4, None),
        (8, 4, None),
        (3, 3, [3, 0.75, 4, 3, 4 / DRAWS_PER_RESAMPLE]),
        (8, 2, [8, 0.75, 4, 2, 16 / DRAWS_PER_RESAMPLE]),
        (8, 0, [8, 0.75, 4, 0, 400 / DRAWS_PER_RESAMPLE]),
        (3, 3, [3, 0.7, 3, 3, 10 / 3 / DRAWS_PER_RESAMPLE]),
    ],
)
def test_a_warning_says_how_many_draws_are_missing(n_draws, n_judged, numbers):
    confidence = numbers[1] if numbers else 0.75
    rule = CoreRule(0.1, confidence, "new-data")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rule.warn_if_unreachable(nested(n_draws, n_judged), np.array([4]))
    assert len(caught) == (numbers is not None)
    if numbers is not None:
        found = re.findall(r"\d+(?:\.\d+)?", str(caught[0].message))
        assert [float(number) for number in found] == [*numbers[:-1], math.ceil(numbers[-1])]


def test_rules_about_new_data_and_draws_belong_together():
    plain, draws = LabelEnsemble(np.zeros((4, 64), dtype=int)), nested(1, 1)
    rule, other = CoreRule(0.25, 0.75, "new-data"), CoreRule(0.25, 0.75)
    assert (rule.nested, other.nested) == (True, False)
    np.testing.assert_array_equal(rule.table(draws, np.array([4])), draws.draw_table(0.25))
    with pytest.raises(ValueError, match="needs resamples of draws"):
        rule.table(plain, np.array([4]))
    with pytest.raises(ValueError, match="cannot be used with resamples of draws"):
        other.table(draws, np.array([4]))
    with pytest.raises(ValueError, match="needs a confidence"):
        CoreRule(0.25, None, "new-data")


@pytest.mark.parametrize(("n_apart", "in_conflict"), [(2, False), (3, True)])
def test_a_pair_may_fail_in_as_many_draws_as_the_confidence_leaves(n_apart, in_conflict):
    """Two items agree in 8 draws, apart from some: a quarter of them is 2."""
    labels = np.zeros((2, 8, RESAMPLES_PER_DRAW), dtype=int)
    labels[1, :n_apart] = 1
    evidence = NestedEnsemble(labels.reshape(2, -1))
    rule, items = CoreRule(0.1, 0.75, "new-data"), np.arange(2)
    table = rule.table(evidence, np.array([2]))
    counts, _ = rule.pairs(evidence, items).conflict_rows(table, items, items, 2)
    assert counts.tolist() == [in_conflict, in_conflict]


def test_other_rules_count_the_pairs_of_all_resamples():
    ensemble = LabelEnsemble(np.array([[0, 0, 1], [0, 1, 1]]))
    pairs = CoreRule(0.1).pairs(ensemble, np.arange(2))
    together, seen = pairs.pair_counts(np.array([0]), np.array([1]))
    assert (together[0], seen[0]) == (2, 3)
