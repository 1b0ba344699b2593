"""Tests of the tree of cores across numbers of clusters."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from coreclust import CoreClustering
from coreclust.cluster import KMeans
from coreclust.model_selection import core_tree, select_n_clusters


@st.composite
def leveled_labels(draw, weak=True):
    """Return levels and labels of a few items at each level."""
    shape = draw(st.integers(1, 5)), draw(st.integers(1, 25))
    labels = draw(arrays(np.int64, shape, elements=st.integers(-1 if weak else 0, 6)))
    levels = draw(st.lists(st.integers(0, 99), min_size=shape[0], max_size=shape[0], unique=True))
    return levels, labels


@given(leveled_labels())
def test_the_tables_follow_the_definition(given_labels):
    levels, labels = given_labels
    tree = core_tree(levels, labels)
    sizes = {
        (level, cluster): count
        for level, row in zip(levels, labels.tolist(), strict=True)
        for cluster, count in Counter(row).items()
    }
    found = zip(tree.nodes["level"], tree.nodes["cluster"], tree.nodes["n_items"], strict=True)
    assert {(level, cluster): count for level, cluster, count in found} == sizes
    assert len(tree.nodes) == len(sizes)
    common = {
        (levels[place], a, levels[place + 1], b): count
        for place in range(len(levels) - 1)
        for (a, b), count in Counter(zip(*labels[place : place + 2].tolist(), strict=True)).items()
    }
    assert len(tree.edges) == len(common)
    for edge in tree.edges.to_dict("records"):
        start = edge["from_level"], edge["from_cluster"]
        end = edge["to_level"], edge["to_cluster"]
        assert edge["n_items"] == common[*start, *end]
        assert edge["share"] == edge["n_items"] / sizes[start]
        assert edge["to_share"] == edge["n_items"] / sizes[end]
        assert np.isnan(edge["strength"])


@given(leveled_labels(), st.randoms(use_true_random=False))
def test_the_order_of_items_and_the_numbers_of_clusters_do_not_matter(given_labels, random):
    levels, labels = given_labels
    order = random.sample(range(labels.shape[1]), labels.shape[1])
    tree = core_tree(levels, labels)
    assert core_tree(levels, labels[:, order]).edges.equals(tree.edges)
    other = core_tree(levels, np.where(labels >= 0, 10 - labels, -1))
    assert sorted(other.edges["n_items"]) == sorted(tree.edges["n_items"])
    assert len(other.changes()) == len(tree.changes())


@given(leveled_labels(), st.data())
def test_strengths_are_means_of_the_known_ones(given_labels, data):
    levels, labels = given_labels
    known = data.draw(
        arrays(float, labels.shape, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, np.nan]))
    )
    tree = core_tree(levels, labels, strengths=known)

    def mean_of(values):
        values = [value for value in values.tolist() if value == value]
        return sum(values) / len(values) if values else np.nan

    for node in tree.nodes.to_dict("records"):
        row = levels.index(node["level"])
        expected = mean_of(known[row, labels[row] == node["cluster"]])
        np.testing.assert_allclose(node["strength"], expected)
    for edge in tree.edges.to_dict("records"):
        row = levels.index(edge["to_level"])
        both = (labels[row - 1] == edge["from_cluster"]) & (labels[row] == edge["to_cluster"])
        np.testing.assert_allclose(edge["strength"], mean_of(known[row, both]))


@given(leveled_labels(), st.sampled_from([0.1, 0.3, 0.5]))
def test_the_changes_follow_the_definition(given_labels, least):
    levels, labels = given_labels
    expected = []
    for place in range(len(levels) - 1):
        step = levels[place], levels[place + 1]
        before, after = labels[place], labels[place + 1]
        for one, other, several, none in (
            (before, after, "split", "dissolve"),
            (after, before, "merge", "emerge"),
        ):
            for cluster in np.unique(one[one >= 0]).tolist():
                members = other[one == cluster]
                parts = [
                    part
                    for part in np.unique(members[members >= 0]).tolist()
                    if (members == part).sum() / members.size >= least
                ]
                ends = ([cluster], parts) if several == "split" else (parts, [cluster])
                if len(parts) != 1:
                    n_items = int(np.isin(members, parts).sum()) if parts else members.size
                    expected.append([*step, several if parts else none, *ends, n_items])
    assert core_tree(levels, labels).changes(min_share=least).values.tolist() == expected


def test_the_changes_are_told_in_words():
    labels = [
        [0, 0, 0, 0, 1, 1, 2, 2, -1, -1],
        [0, 0, 3, 3, 1, 1, 1, 1, 4, 4],
        [0, 0, 3, 3, 1, 1, 1, 1, -1, -1],
    ]
    assert core_tree([2, 3, 4.5], labels).sentences() == [
        "From 2 to 3, core 0 splits into cores 0 and 3.",
        "From 2 to 3, cores 1 and 2 merge into core 1.",
        "From 2 to 3, core 4 is new.",
        "From 3 to 4.5, core 4 dissolves.",
    ]


def test_several_new_and_lost_cores_are_told_in_one_sentence():
    labels = [[0, 1, 2, -1, -1], [-1, -1, -1, 0, 1]]
    assert core_tree([2, 3], labels).sentences() == [
        "From 2 to 3, cores 0, 1 and 2 dissolve.",
        "From 2 to 3, cores 0 and 1 are new.",
    ]


def test_a_small_part_is_no_change():
    before, after = [0] * 20 + [1] * 20, [0] * 19 + [1] * 21
    assert len(core_tree([2, 3], [before, after]).changes()) == 0
    assert len(core_tree([2, 3], [before, after]).edges) == 3
    changes = core_tree([2, 3], [before, after]).changes(min_share=0.05)
    assert changes["change"].tolist() == ["split"]  # the part is 5 % of one, 4.8 % of the other


@pytest.mark.parametrize(("levels", "labels"), [([2], [[0, 1]]), ([2], [[-1, -1]])])
def test_a_single_level_has_no_edges(levels, labels):
    tree = core_tree(levels, labels)
    assert len(tree.edges) == len(tree.changes()) == len(tree.sentences()) == 0
    assert tree.levels == levels
    assert "1 level, " in repr(tree)


@pytest.mark.parametrize(
    ("levels", "labels", "options", "error", "words"),
    [
        (3, [[0]], {}, TypeError, "levels must be a list of numbers, got 3"),
        ([], [], {}, ValueError, "levels must be one or more finite numbers"),
        ([2, np.nan], [[0], [0]], {}, ValueError, "levels must be one or more finite numbers"),
        (["2"], [[0]], {}, ValueError, "levels must be one or more finite numbers"),
        ([2, 2.0], [[0], [0]], {}, ValueError, "levels must be different from each other"),
        ([2, 3], [[0]], {}, ValueError, "one array for each of the 2 levels, got 1"),
        ([2, 3], [[0], [0, 1]], {}, ValueError, r"got arrays of the shapes \(1,\), \(2,\)"),
        ([2], [[]], {}, ValueError, r"got arrays of the shapes \(0,\)"),
        ([2], [[0.5]], {}, TypeError, "labels must be whole numbers.* got dtype float64"),
        ([2], [["a"]], {}, TypeError, "labels must be whole numbers"),
        ([2], [[0, -2]], {}, ValueError, r"labels must be -1 \(in no core\) or more, got -2"),
        ([2], [[0, 1]], {"strengths": [[1.0]]}, ValueError, "strengths must have the shape of"),
        ([2], [[0, 1]], {"strengths": []}, ValueError, "1 arrays of 2 numbers, got 0"),
    ],
)
def test_wrong_arguments_are_named(levels, labels, options, error, words):
    with pytest.raises(error, match=words):
        core_tree(levels, labels, **options)


@pytest.mark.parametrize("least", [0, -1, 0.6, "a", None, True])
def test_a_part_has_a_share(least):
    with pytest.raises(ValueError, match=r"min_share must be a number above 0 and at most 0\.5"):
        core_tree([2], [[0]]).changes(min_share=least)


def test_the_selection_keeps_the_cores_of_every_k(blobs):
    number = select_n_clusters(None, blobs, [2, 4], n_nulls=3, n_resamples=30, random_state=0)
    assert number.labels_.shape == number.strengths_.shape == (2, 60)
    np.testing.assert_array_equal(number.items_, np.arange(60))
    np.testing.assert_allclose((number.labels_ < 0).mean(axis=1), number.measured["weak_fraction"])
    tree = number.tree()
    assert tree.levels == [2, 4]
    assert tree.edges["n_items"].sum() == 60
    assert tree.nodes["strength"].between(0, 1).all()


def test_the_selection_names_the_items_that_it_used(blobs):
    settings = {"n_nulls": 3, "n_resamples": 30, "random_state": 0}
    number = select_n_clusters(None, blobs, [3], max_items=40, **settings)
    assert number.items_.shape == (40,)
    assert (np.diff(number.items_) > 0).all()
    assert number.labels_.shape == (1, 40)
    again = select_n_clusters(None, blobs[number.items_], [3], **settings)
    np.testing.assert_array_equal(again.labels_, number.labels_)


def test_the_cores_of_the_selection_are_those_of_a_fit():
    X = np.repeat([[0.0], [9.0], [99.0]], 10, axis=0) + np.random.default_rng(0).random((30, 1))
    best = KMeans(n_init=10)
    number = select_n_clusters(best, X, [2, 3], n_nulls=3, n_resamples=80, random_state=0)
    fits = [CoreClustering(KMeans(k), n_resamples=80, random_state=0).fit(X) for k in (2, 3)]
    expected = core_tree([2, 3], [cc.labels_ for cc in fits])
    assert sorted(number.tree().edges["n_items"]) == sorted(expected.edges["n_items"]) == [10] * 3
    assert len(number.tree().sentences()) == 1
