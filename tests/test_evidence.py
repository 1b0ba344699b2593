from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coreclust.evidence import apart_table, cooccurrence_estimate
from twins import is_edge

alphas = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)


@given(alpha=alphas, n_items=st.integers(2, 500), n_samples=st.integers(0, 60))
def test_the_table_is_the_paper_rule_for_every_count(alpha, n_items, n_samples):
    table = apart_table(alpha, n_items, n_samples)
    assert table.shape == (n_samples + 1,)
    for seen in range(n_samples + 1):
        for apart in range(seen + 1):
            assert (apart <= table[seen]) == is_edge(seen - apart, seen, n_items, alpha)


@given(alpha=alphas, n_items=st.integers(2, 10**6))
def test_the_table_never_falls(alpha, n_items):
    assert (np.diff(apart_table(alpha, n_items, 300)) >= 0).all()


def test_a_pair_exactly_at_the_threshold_is_an_edge():
    assert (8 + Fraction(1, 10)) / 9 == Fraction(9, 10)
    assert (8 + 1 / 10) / 9 < 0.9  # what floats make of it
    assert apart_table(0.1, n_items=10, n_samples=8)[8] == 0
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
