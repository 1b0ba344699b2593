from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import bdtr
from scipy.stats import binomtest

from coreclust.evidence import cooccurrence_estimate, pair_test
from coreclust.evidence._bounds import apart_table, bound_table, least_seen
from twins import is_edge

alphas = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)


@given(alpha=alphas, n_items=st.integers(2, 500), n_resamples=st.integers(0, 60))
def test_the_table_is_the_paper_rule_for_every_count(alpha, n_items, n_resamples):
    table = apart_table(alpha, n_items, n_resamples)
    assert table.shape == (n_resamples + 1,)
    for seen in range(n_resamples + 1):
        for apart in range(seen + 1):
            assert (apart <= table[seen]) == is_edge(seen - apart, seen, n_items, alpha)


@given(alpha=alphas, n_items=st.integers(2, 10**6))
def test_the_table_never_falls(alpha, n_items):
    assert (np.diff(apart_table(alpha, n_items, 300)) >= 0).all()


def test_a_pair_exactly_at_the_threshold_is_an_edge():
    assert (8 + Fraction(1, 10)) / 9 == Fraction(9, 10)
    assert (8 + 1 / 10) / 9 < 0.9  # what floats make of it
    assert apart_table(0.1, n_items=10, n_resamples=8)[8] == 0
    assert cooccurrence_estimate(8, 8, n_items=10) >= 0.9


def test_alpha_is_meant_as_it_would_be_written():
    np.testing.assert_array_equal(apart_table(1 - 0.9, 10, 50), apart_table(0.1, 10, 50))
    assert apart_table(1 / 3, 10**6, 2)[2] == 0  # (2 + a millionth) / 3 is enough


def test_extreme_alphas():
    assert (apart_table(0.0, 150, 1000) == -1).all()
    np.testing.assert_array_equal(apart_table(1.0, 150, 1000), np.arange(1001))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 100))
def test_the_estimate(together, apart, n_items):
    expected = (together + Fraction(1, n_items)) / (together + apart + 1)
    assert cooccurrence_estimate(together, together + apart, n_items) == float(expected)


def binomial_cdf(apart, seen, alpha):
    """The exact chance of being apart `apart` times or fewer, in whole numbers."""
    a, b = alpha.as_integer_ratio()
    ways = sum(comb(seen, d) * a**d * (b - a) ** (seen - d) for d in range(apart + 1))
    return Fraction(ways, b**seen)


@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(1, 20), Fraction(1, 3)])
@pytest.mark.parametrize("level", [0.05, 0.05 / 1225, 0.01 / 10**6])
def test_the_error_of_the_confidence_rule_is_at_most_its_level(alpha, level):
    """By enumeration: a pair just at 1 - alpha passes with probability `level` at most.

    And no more could be allowed: with one more time apart the level is exceeded. A pair
    below 1 - alpha passes less often still.
    """
    table = bound_table(float(alpha), level, 2000)
    for seen in [10, 11, 28, 29, 50, 99, 100, 250, 400, 777, 1000, 2000]:
        apart = int(table[seen])
        error = binomial_cdf(apart, seen, alpha) if apart >= 0 else 0
        assert error <= level * (1 + 1e-9)
        assert binomial_cdf(apart + 1, seen, alpha) > level * (1 - 1e-9)
        assert binomial_cdf(apart, seen, alpha + Fraction(1, 50)) <= error


@given(
    seen=st.integers(1, 300),
    apart=st.integers(0, 300),
    alpha=st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.9]),
    level=st.sampled_from([0.2, 0.05, 1e-4, 1e-7]),
)
def test_the_confidence_rule_is_the_clopper_pearson_bound(seen, apart, alpha, level):
    apart = min(apart, seen)
    test = binomtest(seen - apart, seen, 0.5, alternative="greater")
    bound = test.proportion_ci(confidence_level=1 - level, method="exact").low
    assume(abs(bound - (1 - alpha)) > 1e-9)
    assert (apart <= bound_table(alpha, level, seen)[seen]) == (bound >= 1 - alpha)


@given(alpha=st.floats(0, 1), level=st.floats(1e-9, 0.5), n_resamples=st.integers(1, 150))
def test_the_bound_table_climbs_slowly_and_starts_where_it_says(alpha, level, n_resamples):
    table = bound_table(alpha, level, n_resamples)
    assert set(np.diff(table).tolist()) <= {0, 1}
    assert (table <= np.arange(n_resamples + 1)).all()
    first = np.flatnonzero(table >= 0)
    needed = least_seen(alpha, level)
    if needed > n_resamples:
        assert first.size == 0 or bdtr(0, first[0], alpha) == pytest.approx(level)
    elif bdtr(0, needed, alpha) != pytest.approx(level):
        assert first[0] == needed


@given(
    counts=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60)), min_size=1, max_size=5),
    alpha=st.sampled_from([0.05, 0.1, 0.4]),
    confidence=st.sampled_from([0.8, 0.95, 0.999]),
)
def test_pair_tests_are_exact_binomial_tests(counts, alpha, confidence):
    together, seen = np.array([(min(a, b), b) for a, b in counts]).T
    found = pair_test(together, seen, 30, alpha=alpha, confidence=confidence)
    np.testing.assert_allclose(found.estimate, (together + 1 / 30) / (seen + 1))
    for k, (a, b) in enumerate(zip(together.tolist(), seen.tolist(), strict=True)):
        interval = binomtest(a, b).proportion_ci(confidence, method="exact")
        assert (found.lower[k], found.upper[k]) == pytest.approx((interval.low, interval.high))
        p_value = binomtest(a, b, 1 - alpha, alternative="greater").pvalue
        assert found.p_value[k] == pytest.approx(p_value)
        assert found.together[k] == (found.p_value[k] <= 1 - confidence)


def test_pair_tests_at_the_ends():
    unseen = pair_test(0, 0, 10, alpha=0.1, confidence=0.95)
    assert (unseen.lower, unseen.upper, unseen.p_value, unseen.together) == (0, 1, 1, False)
    assert isinstance(unseen.together, bool)
    assert pair_test(9, 9, 10, alpha=0, confidence=0.95).p_value == 1
    assert pair_test(0, 9, 10, alpha=1, confidence=0.95).together
    assert bound_table(0, 0.05, 50).max() == -1
    np.testing.assert_array_equal(bound_table(1, 0.05, 3), [0, 1, 2, 3])


@given(alpha=st.fractions(0, 1, max_denominator=60), n_resamples=st.integers(1, 60))
def test_without_a_prior_the_rule_is_that_of_algorithm_2(alpha, n_resamples):
    table = apart_table(float(alpha), None, n_resamples)
    for seen in range(1, n_resamples + 1):
        passing = [d for d in range(seen + 1) if Fraction(seen - d, seen) >= 1 - alpha]
        assert table[seen] == max(passing, default=-1)
    assert table[0] == (-1 if alpha < 1 else 0)


def test_estimates_do_not_depend_on_the_type_of_the_counts():
    wide = cooccurrence_estimate(np.array([1000]), np.array([1000]), 3_000_000)
    narrow = cooccurrence_estimate(np.array([1000], "i4"), np.array([1000], "i4"), 3_000_000)
    np.testing.assert_array_equal(narrow, wide)
