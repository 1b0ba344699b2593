"""Tests the parts of the figures that displays draw."""

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs

from coreclust import CoreClustering
from coreclust.plotting import (
    AlphaPathDisplay,
    ClusterSizesDisplay,
    CooccurrenceDisplay,
    CoreClusterDisplay,
    StrengthDisplay,
)
from coreclust.plotting._items import ordered_items
from coreclust.plotting._style import look_of
from coreclust.resampling import KnownDistribution

DISPLAYS = [AlphaPathDisplay, ClusterSizesDisplay, CooccurrenceDisplay, StrengthDisplay]
LONG_NAME = "$ a name of which nobody would see the end if it was not cut somewhere"


@pytest.fixture(scope="module")
def fitted(blobs):
    return CoreClustering(KMeans(3), n_resamples=60, random_state=0).fit(blobs)


@pytest.fixture(scope="module")
def trimmed(blobs):
    X = np.vstack([blobs, [[50.0, 50.0], [-50.0, 50.0]]])
    return CoreClustering(DBSCAN(eps=1.5), n_resamples=60, random_state=0).fit(X)


@pytest.fixture(scope="module")
def many():
    """Forty clusters with long names."""
    X, _ = make_blobs(400, centers=40, random_state=0)
    cc = CoreClustering(KMeans(40, n_init=1), n_resamples=40, random_state=0).fit(X)
    cc.cluster_names_ = np.array([f"{LONG_NAME} {code}" for code in range(40)])
    cc.positions = X
    return cc


@pytest.mark.parametrize("display", DISPLAYS)
def test_displays_follow_the_convention(fitted, display):
    drawn = display.from_estimator(fitted)
    assert isinstance(drawn, display)
    assert drawn.figure_ is drawn.ax_.figure
    axes = Figure().add_subplot()
    assert display.from_estimator(fitted, ax=axes).ax_ is axes
    assert drawn.plot(ax=axes) is drawn


@pytest.mark.parametrize("display", DISPLAYS)
def test_nothing_of_the_users_style_is_changed(fitted, display):
    names = [name for name in mpl.rcParams if name != "backend"]
    before = [mpl.rcParams[name] for name in names]
    display.from_estimator(fitted)
    assert [mpl.rcParams[name] for name in names] == before


def visible_tick_labels(ax):
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            if low <= tick.get_loc() <= high and tick.label1.get_text():
                yield tick.label1


@pytest.mark.slow
@pytest.mark.parametrize("display", [*DISPLAYS, CoreClusterDisplay])
@pytest.mark.parametrize("which", ["fitted", "trimmed", "many"])
def test_nothing_overlaps_the_data_or_leaves_the_figure(display, which, request, blobs):
    cc = request.getfixturevalue(which)
    arguments = {}
    if display is CoreClusterDisplay:
        arguments["positions"] = np.random.default_rng(0).normal(size=(cc.labels_.size, 2))
    drawn = display.from_estimator(cc, **arguments)
    canvas = FigureCanvasAgg(drawn.figure_)
    canvas.draw()
    page, inside = drawn.figure_.bbox, drawn.ax_.get_window_extent()
    assert inside.width > 0.35 * page.width
    title = drawn.ax_.title
    around = [*visible_tick_labels(drawn.ax_), *([title] if title.get_text() else [])]
    legend = drawn.ax_.get_legend()
    around += [legend] if legend else []
    for artist in around:
        extent = artist.get_window_extent(canvas.get_renderer())
        assert not extent.overlaps(inside.shrunk(0.999, 0.999).translated(0.5, 0.5))
        assert extent.x0 >= page.x0 - 1
        assert extent.x1 <= page.x1 + 1
        assert extent.y0 >= page.y0 - 1
        assert extent.y1 <= page.y1 + 1


@pytest.mark.slow
def test_the_names_of_clusters_do_not_overlap(many):
    for display in (CooccurrenceDisplay, ClusterSizesDisplay, StrengthDisplay):
        drawn = display.from_estimator(many)
        canvas = FigureCanvasAgg(drawn.figure_)
        canvas.draw()
        texts = [label for label in drawn.ax_.get_yticklabels() if label.get_text()]
        assert len(texts) > 10
        extents = sorted(
            (text.get_window_extent(canvas.get_renderer()) for text in texts), key=lambda e: e.y0
        )
        for lower, upper in pairwise(extents):
            assert lower.y1 <= upper.y0 + 1


def test_looks_differ_even_in_gray():
    looks = [look_of(cluster) for cluster in range(70)]
    assert len({(look.color, look.marker) for look in looks}) == 70
    grays = [(look.marker, str(look.dashes)) for look in looks[:10]]
    assert len(set(grays)) == 10


def test_a_long_legend_says_what_it_leaves_out(many):
    texts = AlphaPathDisplay.from_estimator(many).ax_.get_legend().get_texts()
    assert len(texts) == 29
    assert texts[-1].get_text() == "… and 14 more"  # 40 clusters, all items, alpha


class TestHeatmap:
    @pytest.mark.slow
    def test_rows_are_in_order(self, fitted):
        display = CooccurrenceDisplay.from_estimator(fitted)
        items = ordered_items(fitted, 1500)
        expected = [[fitted.cooccurrence(i, j) for j in items] for i in items]
        np.testing.assert_allclose(display.ax_.images[0].get_array(), expected)
        assert display.ax_.get_title().startswith("60 items")
        assert len(display.ax_.lines) == 2 * 2  # borders of three clusters

    def test_the_title_says_that_items_are_left_out(self, fitted):
        display = CooccurrenceDisplay.from_estimator(fitted, max_items=20)
        n_drawn = len(display.matrix)
        assert 15 <= n_drawn <= 20
        assert display.ax_.get_title().startswith(f"{n_drawn} of 60 items")
        again = CooccurrenceDisplay.from_estimator(fitted, max_items=20)
        np.testing.assert_array_equal(display.matrix, again.matrix)

    def test_at_most_1500_items_are_drawn(self):
        X = np.repeat([[0.0, 0.0], [5.0, 5.0]], 800, axis=0)
        X += np.random.default_rng(0).normal(size=X.shape)
        cc = CoreClustering(KMeans(2, n_init=1), n_resamples=40, random_state=0).fit(X)
        display = CooccurrenceDisplay.from_estimator(cc)
        assert 1490 <= len(display.matrix) <= 1500
        assert "of 1,600 items" in display.ax_.get_title()

    def test_trimmed_items_come_last(self, trimmed):
        display = CooccurrenceDisplay.from_estimator(trimmed)
        assert display.ax_.get_yticklabels()[-1].get_text() == "trimmed"
        assert display.clusters[-1] == len(trimmed.cores_)

    def test_pairs_that_were_not_sampled_are_left_open(self, blobs):
        scheme = KnownDistribution(lambda n, rng: rng.normal(size=(n, 2)))
        cc = CoreClustering(
            lambda Z: Z[:, 0] > 1, n_resamples=20, resampling=scheme, random_state=0
        ).fit(blobs[10:30])
        display = CooccurrenceDisplay.from_estimator(cc)
        apart = display.clusters[:, None] != display.clusters[None]
        np.testing.assert_array_equal(np.isnan(display.matrix), apart)

    def test_bad_arguments(self, fitted):
        with pytest.raises(ValueError, match="max_items must be 1 or more, got 0"):
            CooccurrenceDisplay.from_estimator(fitted, max_items=0)


class TestAlphaPath:
    def test_lines_are_the_path(self, fitted):
        path = fitted.alpha_path([0.05, 0.1, 0.3])
        display = AlphaPathDisplay.from_estimator(fitted, path=path)
        *lines, overall, mark = display.ax_.lines
        for cluster, line in enumerate(lines):
            expected = [cores[cluster].n_weak / cores[cluster].n_items for cores in path.cores]
            np.testing.assert_array_equal(line.get_xdata(), [0.05, 0.1, 0.3])
            np.testing.assert_allclose(line.get_ydata(), expected)
        np.testing.assert_array_equal(overall.get_ydata(), path.weak_fraction)
        assert set(mark.get_xdata()) == {0.1}

    def test_the_path_is_found_if_not_given(self, fitted):
        display = AlphaPathDisplay.from_estimator(fitted)
        np.testing.assert_array_equal(display.alphas, fitted.alpha_path().values)

    def test_bad_arguments(self, fitted):
        with pytest.raises(
            ValueError, match=r"path must come from alpha_path\(\), got a path of confidence"
        ):
            AlphaPathDisplay.from_estimator(fitted, path=fitted.confidence_path([0.5]))


def test_bars_are_the_counts(trimmed):
    display = ClusterSizesDisplay.from_estimator(trimmed)
    core, weak, stars = display.ax_.containers
    assert [bar.get_width() for bar in core] == [core.n_core for core in trimmed.cores_]
    assert [bar.get_width() for bar in weak] == [core.weak.size for core in trimmed.cores_]
    assert [bar.get_x() for bar in weak] == [core.n_core for core in trimmed.cores_]
    assert [bar.get_width() for bar in stars] == [trimmed.trimmed_sample_indices_.size]
    assert all(bar.get_hatch() for bar in weak)
    assert not any(bar.get_hatch() for bar in core)
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["core", "weak", "trimmed"]


def test_without_trimmed_items_there_is_no_bar_for_them(fitted):
    display = ClusterSizesDisplay.from_estimator(fitted)
    assert len(display.ax_.containers) == 2
    assert len(display.ax_.get_legend().get_texts()) == 2


def test_strengths_are_those_of_the_items(fitted):
    display = StrengthDisplay.from_estimator(fitted)
    np.testing.assert_array_equal(display.strengths, fitted.strengths_)
    for cluster, core in enumerate(fitted.cores_):
        filled, hollow = display.ax_.containers[2 * cluster : 2 * cluster + 2]
        heights = [-bar.get_height() for bar in (*filled, *hollow)]
        tallest = max(core.n_items * height / sum(heights) for height in heights)
        # Bars of one row share a scale, on which they add up to the number of items.
        counts = np.array(heights) * core.n_items / sum(heights)
        np.testing.assert_allclose(counts, counts.round(), atol=1e-9)
        np.testing.assert_allclose(counts[: len(filled)].sum(), core.n_core)
        assert tallest >= 1


def test_an_item_without_strength_is_not_drawn():
    display = StrengthDisplay(
        np.array([1.0, np.nan]), np.array([0, 1]), np.array([0, 1]), np.array(["a", "b"])
    ).plot()
    assert [len(container) for container in display.ax_.containers] == [1, 0, 0, 0]


def test_no_clusters_at_all():
    cc = CoreClustering(lambda Z: [-1] * len(Z), n_resamples=30, random_state=0).fit([[1], [2]])
    for display in DISPLAYS:
        FigureCanvasAgg(display.from_estimator(cc).figure_).draw()
