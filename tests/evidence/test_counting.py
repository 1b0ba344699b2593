import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreclust._utils.constants import NOISE_RULES
from coreclust.evidence._counting import (
    group_counts,
    joint_counts,
    pack_labels,
)
from twins import ABSENT, NOISE, counts, label_matrices

noise_rules = st.sampled_from(sorted(NOISE_RULES))


@given(labels=label_matrices(), noise=noise_rules)
def test_matrix_counts_follow_the_definition(labels, noise):
    together, seen = counts(labels, noise)
    packed = pack_labels(labels, np.arange(len(labels)), noise)
    found_together, found_seen = packed.matrix_counts()
    np.testing.assert_array_equal(found_together, together)
    np.testing.assert_array_equal(found_seen, seen)


@given(labels=label_matrices(max_samples=200), noise=noise_rules, data=st.data())
def test_pair_counts_of_a_subset_in_any_order(labels, noise, data):
    items = np.array(data.draw(st.permutations(range(len(labels)))))
    items = items[: data.draw(st.integers(1, len(items)))]
    first, second = np.indices((items.size, items.size)).reshape(2, -1)
    found = pack_labels(labels, items, noise).pair_counts(first, second)
    for got, expected in zip(found, counts(labels, noise), strict=True):
        np.testing.assert_array_equal(got, expected[items[first], items[second]])


@given(labels=label_matrices(), noise=noise_rules)
def test_group_counts_sum_the_pair_counts_over_partners(labels, noise):
    items = np.arange(len(labels))
    others = ~np.eye(len(labels), dtype=bool)
    expected = [count.sum(1, where=others) for count in counts(labels, noise)]
    for got, sums in zip(group_counts(labels, items, noise), expected, strict=True):
        np.testing.assert_array_equal(got, sums)


@given(labels=label_matrices(max_items=4), noise=noise_rules)
def test_joint_counts_follow_the_definition(labels, noise):
    together = seen = 0
    for column in labels.T:
        present = [label for label in column if label != ABSENT]
        if noise == "absent":
            present = [label for label in present if label != NOISE]
        if len(present) > 1:
            seen += 1
            together += len(set(present)) == 1 and not (noise == "apart" and NOISE in present)
    assert joint_counts(labels, np.arange(len(labels)), noise) == (together, seen)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_integer_type_and_memory_order(dtype, order):
    labels = np.array([[0, 1, -2, 3], [0, 2, 1, 3], [-1, -1, 1, 3]], dtype=dtype, order=order)
    labels.flags.writeable = False
    together, _ = pack_labels(labels, np.arange(3), "apart").matrix_counts()
    np.testing.assert_array_equal(together, counts(labels.astype(int))[0])


def test_hundreds_of_labels_in_a_resample():
    labels = np.random.default_rng(0).integers(0, 300, size=(400, 70))
    together, _ = pack_labels(labels, np.arange(400), "apart").matrix_counts()
    np.testing.assert_array_equal(together, counts(labels)[0])
