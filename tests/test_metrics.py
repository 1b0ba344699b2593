import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.cluster import contingency_matrix

from coreclust.metrics import cluster_agreement, purity_score, weak_fraction

PAIRS = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
        st.lists(st.integers(-1, 3), min_size=n, max_size=n),
    )
)


@given(PAIRS)
def test_purity_is_that_of_the_contingency_table_of_labeled_items(pair):
    classes, labels = map(np.array, pair)
    kept = labels >= 0
    if not kept.any():
        assert np.isnan(purity_score(classes, labels))
    else:
        table = contingency_matrix(classes[kept], labels[kept])
        assert purity_score(classes, labels) == pytest.approx(table.max(axis=0).sum() / kept.sum())


def test_purity_of_the_textbook_example():
    """Three clusters with majorities of 5 of 6, 4 of 6 and 3 of 5: Manning et al. 2009, 16.3."""
    clusters = [0] * 6 + [1] * 6 + [2] * 5
    classes = list("xxxxxo") + list("xoooo◇") + list("xx◇◇◇")
    assert purity_score(classes, clusters) == pytest.approx(12 / 17)


def test_purity_takes_classes_of_any_kind():
    assert purity_score([1.5, 1.5, 2.5], [0, 0, 0]) == pytest.approx(2 / 3)
    assert purity_score(np.array(["a", "b"], dtype=object), [0, 1]) == 1


@given(PAIRS)
def test_agreement_counts_every_item_once(pair):
    first, second = map(np.array, pair)
    expected = [
        [np.sum((first >= 0) & (second >= 0)), np.sum((first >= 0) & (second < 0))],
        [np.sum((first < 0) & (second >= 0)), np.sum((first < 0) & (second < 0))],
    ]
    np.testing.assert_array_equal(cluster_agreement(first, second), expected)


def test_agreement_leaves_trimmed_items_out():
    table = cluster_agreement([0, -1, -1], [0, -1, 0], trimmed=[False, True, False])
    np.testing.assert_array_equal(table, [[1, 0], [1, 0]])


def test_weak_fraction():
    assert weak_fraction([0, -1, -1, 2]) == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: purity_score([1, 2], [0]), "classes and labels must have one entry per item"),
        (lambda: purity_score([1, None], [0, 0]), "classes must be"),
        (lambda: weak_fraction([]), "labels must hold at least one item"),
        (lambda: cluster_agreement([0], [0, 1]), "first and second must have one entry"),
        (lambda: cluster_agreement([0], [0], trimmed=[1]), "trimmed must be booleans"),
        (lambda: cluster_agreement([0], [0], trimmed=[True, False]), "first and trimmed"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
