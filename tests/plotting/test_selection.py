"""Tests the plots for choosing the number of clusters and the algorithm."""

import numpy as np
import pytest

from coreclust.model_selection import compare_algorithms, select_n_clusters, select_resolution
from coreclust.plotting import ClusterNumberDisplay, ComparisonDisplay, ResolutionDisplay


def display_of(n_clusters, k=(2, 3, 4)):
    k = np.array(k)
    measured = np.linspace(0.1, 0.9, k.size)
    null = np.random.default_rng(0).uniform(0.3, 0.8, size=(6, k.size))
    return ClusterNumberDisplay(k, measured, null, n_clusters, "share of weak items").plot()


def test_the_data_the_chance_and_the_recommendation_are_drawn():
    display = display_of(3)
    chance, data, ring = display.ax_.lines[:1] + display.ax_.lines[-2:]
    np.testing.assert_array_equal(data.get_ydata(), display.measured)
    np.testing.assert_allclose(chance.get_ydata(), display.null_measures.mean(axis=0))
    assert (ring.get_xdata().tolist(), ring.get_ydata().tolist()) == ([3], [display.measured[1]])
    (bars,) = display.ax_.collections
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends[:, 0], display.null_measures.min(axis=0))
    np.testing.assert_allclose(ends[:, 1], display.null_measures.max(axis=0))
    assert display.ax_.get_legend().get_texts()[-1].get_text() == "recommended: 3"


@pytest.mark.parametrize("n_clusters", [1, None])
def test_nothing_recommended_nothing_ringed(n_clusters):
    texts = [text.get_text() for text in display_of(n_clusters).ax_.get_legend().get_texts()]
    assert len(texts) == 2
    assert len(display_of(n_clusters).ax_.lines) == len(display_of(3).ax_.lines) - 1


def test_a_single_number_and_many():
    assert display_of(2, k=(2,)).ax_.get_xlim() == (1.5, 2.5)
    assert len(display_of(2, k=range(2, 60)).ax_.get_xticks()) < 20


def test_the_legend_lies_beside_the_axes():
    display = display_of(3)
    display.figure_.draw_without_rendering()
    legend = display.ax_.get_legend().get_window_extent()
    assert legend.x0 >= display.ax_.get_window_extent().x1
    assert legend.x1 <= display.figure_.bbox.x1


@pytest.mark.parametrize("criterion", ["weak_fraction", "mean_jaccard", "ambiguous_pairs"])
def test_it_draws_what_decided(criterion, blobs):
    number = select_n_clusters(
        None, blobs, [2, 3], criterion=criterion, n_nulls=3, n_resamples=30, random_state=0
    )
    display = ClusterNumberDisplay.from_selection(number)
    np.testing.assert_array_equal(display.measured, number.measured[criterion])
    assert display.ax_.get_ylabel() in ("share of weak items", "mean Jaccard similarity") or (
        criterion == "ambiguous_pairs"
    )


def test_algorithms_side_by_side(blobs):
    found = compare_algorithms(
        blobs, ["kmeans", "hclust"], n_clusters=3, n_resamples=40, random_state=0
    )
    display = ComparisonDisplay.from_comparison(found)
    bars, table = display.axes_
    widths = [bar.get_width() for bar in bars.patches]
    np.testing.assert_allclose(widths, found.table()["weak_fraction"])
    assert [label.get_text() for label in bars.get_yticklabels()] == ["kmeans", "hclust"]
    np.testing.assert_array_equal(table.images[0].get_array(), found.agreement)
    assert table.texts[0].get_text() == "1.00"


def test_hostile_names_are_drawn_as_they_are():
    display = ComparisonDisplay(["$x_", "b" * 200], np.array([0.0, 1.0]), np.eye(2)).plot()
    display.figure_.draw_without_rendering()
    assert len(display.axes_[0].get_yticklabels()[1].get_text()) < 40


def resolutions_drawn(**changes):
    given = {
        "resolutions": np.array([0.1, 0.5, 2.0]),
        "n_clusters": np.array([1, 4, 9]),
        "measured": np.array([1.0, 0.1, 0.6]),
        "null_measures": np.random.default_rng(0).uniform(0.6, 1.0, size=(5, 3)),
        "stable": np.array([False, True, False]),
        "resolution": 0.5,
        "title": "share of weak items",
    } | changes
    return ResolutionDisplay(**given).plot()


def test_resolutions_with_their_numbers_of_clusters():
    display = resolutions_drawn()
    chance, data, ring, hollow = display.ax_.lines[:1] + display.ax_.lines[-3:]
    np.testing.assert_array_equal(data.get_ydata(), display.measured)
    np.testing.assert_allclose(chance.get_ydata(), display.null_measures.mean(axis=0))
    assert ring.get_xdata().tolist() == [1]
    assert hollow.get_xdata().tolist() == [0, 2]
    assert [text.get_text() for text in display.ax_.texts] == ["1", "4", "9"]
    ticks = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert ticks == ["0.1", "0.5", "2"]
    assert display.ax_.get_legend().get_texts()[-1].get_text() == "recommended: 0.5"


def test_resolutions_without_null_data_or_recommendation():
    display = resolutions_drawn(null_measures=np.empty((0, 3)), resolution=None)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["data"]


def test_resolutions_drawn_from_a_selection():
    pytest.importorskip("igraph", reason="the extra graph is not installed")
    X = np.random.default_rng(0).random((60, 2))
    found = select_resolution(X, [0.5, 1.0], n_nulls=3, criterion="mean_jaccard", random_state=0)
    display = ResolutionDisplay.from_selection(found)
    np.testing.assert_array_equal(display.measured, found.measured["mean_jaccard"])
    assert display.ax_.get_ylabel() == "mean Jaccard similarity"
