"""The counting kernels, compared with their definitions on the counts of all pairs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coreclust.evidence._counting import pack_labels
from twins import ABSENT, counts, label_matrices

NOISE_RULES = st.sampled_from(["apart", "together", "absent"])


@st.composite
def tables(draw, n_resamples):
    """Any table that never falls, as those of a rule."""
    steps = draw(st.lists(st.integers(0, 2), min_size=n_resamples, max_size=n_resamples))
    return np.concatenate([[-1], -1 + np.cumsum(steps)]).astype(np.int64)


def packed_and_apart(labels, noise):
    together, seen = counts(labels, noise)
    return pack_labels(labels, np.arange(len(labels)), noise), seen - together, seen


def some_items(data, n_items):
    order = data.draw(st.permutations(range(n_items)))
    return np.array(order[: data.draw(st.integers(0, n_items))], dtype=np.intp)


@given(label_matrices(), NOISE_RULES, st.data())
def test_items_are_grouped_if_all_are_in_conflict(labels, noise, data):
    """First fit into the latest groups; a new group takes the place of the oldest."""
    packed, apart, seen = packed_and_apart(labels, noise)
    table = data.draw(tables(labels.shape[1]))
    conflicts = apart > table[seen]
    queue = some_items(data, len(labels))
    n_open, largest = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    groups, sizes = np.full((n_open, largest), -1, np.int32), np.zeros(n_open, np.int64)
    n_before = data.draw(st.integers(0, 5))
    n = packed.group_conflicting(table, queue, groups, sizes, n_before)

    places = [[] for _ in range(n_open)]
    n_expected = n_before
    for item in queue.tolist():
        fitting = [
            group
            for group in places
            if 0 < len(group) < largest and all(conflicts[item, other] for other in group)
        ]
        if fitting:
            fitting[0].append(item)
        else:
            places[n_expected % n_open] = [item]
            n_expected += 1
    assert n == n_expected
    assert [groups[k, : sizes[k]].tolist() for k in range(n_open)] == places


@given(label_matrices(), NOISE_RULES, st.data())
def test_pairs_between_two_tables_are_counted_once(labels, noise, data):
    packed, apart, seen = packed_and_apart(labels, noise)
    above, up_to = data.draw(tables(labels.shape[1])), data.draw(tables(labels.shape[1]))
    rows, others = some_items(data, len(labels)), some_items(data, len(labels))
    is_row = np.isin(np.arange(len(labels)), rows)
    expected = np.zeros(len(labels), dtype=int)
    for row in rows:
        for other in others:
            once = other != row and not (is_row[other] and other > row)
            if once and above[seen[row, other]] < apart[row, other] <= up_to[seen[row, other]]:
                expected[[row, other]] += 1
    found = packed.count_apart_pairs(above, up_to, rows, others, is_row)
    np.testing.assert_array_equal(found, expected)


@given(label_matrices(), NOISE_RULES, st.data())
def test_a_set_without_conflicts_is_extended(labels, noise, data):
    packed, apart, seen = packed_and_apart(labels, noise)
    table = data.draw(tables(labels.shape[1]))
    queue = some_items(data, len(labels))
    known = some_items(data, len(labels))[:2]
    chosen = np.concatenate([known, np.full(len(labels), -1)]).astype(np.intp)
    n_chosen = packed.extend_conflict_free(table, chosen, known.size, queue)
    expected = known.tolist()
    for item in queue:
        if all(apart[item, other] <= table[seen[item, other]] for other in expected):
            expected.append(item)
    assert chosen[:n_chosen].tolist() == expected


@given(label_matrices(max_items=6, max_samples=70))
def test_items_are_sorted_by_how_often_they_leave_the_majority(labels):
    """With two labels, an item that is in the minority deviates."""
    labels = np.where(labels == ABSENT, ABSENT, labels % 2)
    for column in labels.T:
        if (column == 1).sum() >= (column == 0).sum():
            column[column == 1] = 0
    packed = pack_labels(labels, np.arange(len(labels)), "apart")
    expected = np.argsort((labels == 1).sum(axis=1), kind="stable")
    np.testing.assert_array_equal(packed.by_deviation(), expected)


def test_steady_items_of_a_table():
    """One time apart in ten is allowed from 20 resamples on; items deviate 0 to 9 times."""
    labels = np.zeros((10, 100), dtype=int)
    for item in range(10):
        labels[item, 10 * item : 10 * item + item] = 1
    packed = pack_labels(labels, np.arange(10), "apart")
    table = np.arange(101) // 10
    table[:20] = -1
    assert packed.steady_items(table).tolist() == [True] * 6 + [False] * 4
    assert not packed.steady_items(np.full(101, -1)).any()
    labels[0, :41] = ABSENT  # seen in 59: twice that is less than 100 and 20 more
    seldom = pack_labels(labels, np.arange(10), "apart").steady_items(table)
    assert not seldom[0]
