"""Tests of the plot of a tree of cores."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.patches import PathPatch, Rectangle

from coreclust.model_selection import core_tree, select_n_clusters, select_resolution
from coreclust.plotting import CoreTreeDisplay
from coreclust.plotting._tree import StrengthColors
from coreclust.plotting._tree_layout import lay_out_tree, order_nodes, total_crossings


@st.composite
def trees(draw, least=-1):
    shape = draw(st.integers(1, 5)), draw(st.integers(1, 25))
    labels = draw(arrays(np.int64, shape, elements=st.integers(least, 6)))
    return core_tree(range(2, 2 + shape[0]), labels)


@st.composite
def flow_lists(draw):
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=4))
    return [
        draw(arrays(np.int64, pair, elements=st.integers(0, 9)))
        for pair in itertools.pairwise(sizes)
    ]


def slow_crossings(flow, rows, columns):
    """Count the pairs of items whose lines cross, one pair of edges at a time."""
    return sum(
        int(flow[rows[i], columns[j]] * flow[rows[k], columns[m]])
        for i, k in itertools.combinations(range(len(rows)), 2)
        for m, j in itertools.combinations(range(len(columns)), 2)
    )


@given(flow_lists(), st.randoms(use_true_random=False))
def test_crossings_are_counted_as_defined(flows, random):
    sizes = [len(flow) for flow in flows] + [flows[-1].shape[1]]
    orders = [np.array(random.sample(range(size), size)) for size in sizes]
    expected = sum(slow_crossings(flow, orders[t], orders[t + 1]) for t, flow in enumerate(flows))
    assert total_crossings(flows, orders) == expected


@given(flow_lists())
def test_the_order_has_no_more_crossings_than_the_given_one(flows):
    sizes = [len(flow) for flow in flows] + [flows[-1].shape[1]]
    orders = order_nodes(flows)
    assert [sorted(order.tolist()) for order in orders] == [list(range(size)) for size in sizes]
    given_orders = [np.arange(size) for size in sizes]
    assert total_crossings(flows, orders) <= total_crossings(flows, given_orders)


@given(st.integers(0, 2**32 - 1))
def test_nothing_crosses_if_cores_only_split(seed):
    rng = np.random.default_rng(seed)
    labels = [np.zeros(40, dtype=int)]
    for _ in range(4):  # split some clusters, and give all of them other numbers
        finer = 2 * labels[-1] + rng.integers(0, 2, size=40)
        labels.append(rng.permutation(200)[finer])
        labels[-1] = np.unique(labels[-1], return_inverse=True)[1]
    layout = lay_out_tree(core_tree(range(5), labels))
    for one, other in itertools.combinations(layout.bands, 2):
        if one.start.column == other.start.column:
            starts, ends = one.start_top - other.start_top, one.end_top - other.end_top
            assert starts * ends > 0


@given(trees())
def test_boxes_and_bands_are_as_high_as_their_items(tree):
    layout = lay_out_tree(tree)
    n_items = int(tree.nodes["n_items"].sum() / len(layout.levels))
    assert len(layout.boxes) == len(tree.nodes)
    assert len(layout.bands) == len(tree.edges)
    for box in layout.boxes:
        assert box.bottom - box.top == pytest.approx(box.n_items / n_items)
        assert box.top >= -1e-9
        assert box.bottom <= layout.height + 1e-9
        for is_end in (False, True):  # the bands of a box fill it, without gaps or overlaps
            tops = sorted(
                (band.end_top if is_end else band.start_top, band.height)
                for band in layout.bands
                if (band.end if is_end else band.start) is box
            )
            place = box.top
            for top, height in tops:
                assert top == pytest.approx(place)
                place += height
            assert not tops or place == pytest.approx(box.bottom)
    for column in range(len(layout.levels)):
        boxes = [box for box in layout.boxes if box.column == column]
        for above, below in itertools.pairwise(boxes):
            assert above.bottom < below.top
            assert above.cluster >= 0  # items in no core are last


def test_large_trees_are_laid_out():
    rng = np.random.default_rng(0)
    layout = lay_out_tree(core_tree(range(30), rng.integers(-1, 60, size=(30, 500))))
    assert len(layout.boxes) > 1500


def a_tree(**options):
    labels = [[0] * 6 + [1] * 4 + [-1] * 2, [0] * 3 + [2] * 3 + [1] * 4 + [0] * 2]
    return core_tree([2, 3], labels, **options)


def test_each_core_is_a_box_and_each_edge_a_band():
    display = CoreTreeDisplay.from_tree(a_tree(), level_name="resolution")
    boxes = [patch for patch in display.ax_.patches if isinstance(patch, Rectangle)]
    bands = [patch for patch in display.ax_.patches if isinstance(patch, PathPatch)]
    assert sorted(round(12 * box.get_height()) for box in boxes) == [2, 3, 4, 4, 5, 6]
    assert len(bands) == len(display.tree.edges) == 4
    assert sorted(text.get_text() for text in display.ax_.texts) == ["0", "0", "1", "1", "2"]
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["2", "3"]
    assert display.ax_.get_xlabel() == "resolution"
    assert display.ax_.get_legend().get_texts()[0].get_text() == "in no core"
    assert len(display.figure_.axes) == 1  # no scale, as no strengths are given


def test_the_stronger_the_darker():
    strengths = np.array([[1.0] * 6 + [0.5] * 6, [0.9] * 12])
    tree = a_tree(strengths=strengths)
    colors = StrengthColors(lay_out_tree(tree))
    assert colors.are_known
    assert colors.lowest == 0.5
    brightness = [sum(bytes.fromhex(colors.of(share)[1:])) for share in (0.5, 0.7, 0.9, 1.0)]
    assert brightness == sorted(brightness, reverse=True)
    display = CoreTreeDisplay.from_tree(tree)
    assert len(display.figure_.axes) == 2
    assert display.figure_.axes[1].get_ylabel() == "mean strength of the items"
    faces = {
        tuple(np.round(patch.get_facecolor(), 6))
        for patch in display.ax_.patches
        if isinstance(patch, Rectangle)
    }
    assert len(faces) == 4  # strengths 1, 0.5 and 0.9, and gray for items in no core


def test_the_selection_is_drawn(blobs):
    number = select_n_clusters(None, blobs, [2, 3], n_nulls=3, n_resamples=30, random_state=0)
    display = CoreTreeDisplay.from_selection(number)
    assert display.ax_.get_xlabel() == "number of clusters"
    assert display.tree.edges.equals(number.tree().edges)


def test_the_selection_of_a_resolution_is_drawn(blobs):
    pytest.importorskip("igraph", reason="igraph, which runs Leiden, is not installed")
    found = select_resolution(blobs, [0.1, 1.0], n_nulls=0, n_resamples=50, random_state=0)
    display = CoreTreeDisplay.from_selection(found)
    assert display.ax_.get_xlabel() == "resolution"
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["0.1", "1"]
    assert display.tree.edges.equals(found.tree().edges)


@pytest.mark.parametrize("labels", [[[0, 0, 1]], [[-1, -1, -1]], [[-1] * 3, [0] * 3]])
def test_small_trees_are_drawn(labels):
    display = CoreTreeDisplay.from_tree(core_tree(range(len(labels)), labels))
    display.figure_.draw_without_rendering()
    assert len(display.ax_.texts) == len(
        {(i, c) for i, row in enumerate(labels) for c in row if c >= 0}
    )


def test_cores_of_any_size_are_labeled_and_labels_do_not_overlap():
    """From k = 2 to k = 12, with cores of few items, as unstable clusterings have them."""
    rng = np.random.default_rng(0)
    labels = [
        np.where(rng.random(400) < 0.07 * k, -1, rng.integers(k, size=400)) for k in range(2, 13)
    ]
    labels[-1][:395] = -1
    labels[-1][395:] = range(5)
    tree = core_tree(range(2, 13), labels)
    display = CoreTreeDisplay.from_tree(tree)
    cores = tree.nodes[tree.nodes["cluster"] >= 0]
    texts = display.ax_.texts
    assert sorted(text.get_text() for text in texts) == sorted(map(str, cores["cluster"]))
    display.figure_.draw_without_rendering()
    boxes = [text.get_window_extent() for text in texts]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
