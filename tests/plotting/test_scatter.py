import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.cluster import DBSCAN, KMeans

from coreclust import CoreClustering
from coreclust.plotting import CoreClusterDisplay


@pytest.fixture(scope="module")
def fitted(blobs):
    return CoreClustering(KMeans(3), n_resamples=60, random_state=0).fit(blobs)


def drawn_points(display):
    return {
        collection.get_label(): len(collection.get_offsets())
        for collection in display.ax_.collections
    }


def test_core_is_filled_and_weak_is_open(fitted, blobs):
    display = CoreClusterDisplay.from_estimator(fitted, blobs)
    assert sum(drawn_points(display).values()) == 60
    for collection in display.ax_.collections:
        label, face = collection.get_label(), collection.get_facecolors()[0]
        assert str(len(collection.get_offsets())) in label
        is_white = (face[:3] == 1).all()
        assert is_white == label.endswith("weak")
    assert display.ax_.get_xlabel() == "feature 1"
    assert display.figure_ is display.ax_.figure


def test_trimmed_items_are_stars(blobs):
    X = np.vstack([blobs, [[50.0, 50.0]]])
    cc = CoreClustering(DBSCAN(eps=1.5), n_resamples=60, random_state=0).fit(X)
    display = CoreClusterDisplay.from_estimator(cc, X)
    n_trimmed = cc.trimmed_sample_indices_.size
    assert drawn_points(display)[f"{n_trimmed} trimmed"] == n_trimmed


def test_more_features_are_projected(fitted, blobs):
    wide = np.hstack([blobs, blobs**2])
    display = CoreClusterDisplay.from_estimator(fitted, wide)
    assert "principal component 1" in display.ax_.get_xlabel()
    assert display.positions.shape == (60, 2)


def test_own_positions_and_axes(fitted, blobs):
    axes = Figure().add_subplot()
    display = CoreClusterDisplay.from_estimator(fitted, positions=-blobs, ax=axes)
    assert display.ax_ is axes
    np.testing.assert_array_equal(display.positions, -blobs)


def test_the_legend_does_not_cover_the_data(fitted, blobs):
    display = CoreClusterDisplay.from_estimator(fitted, blobs)
    FigureCanvasAgg(display.figure_).draw()
    legend = display.ax_.get_legend().get_window_extent()
    assert not legend.overlaps(display.ax_.get_window_extent())
    assert legend.x1 <= display.figure_.bbox.x1


def test_nothing_of_the_users_style_is_changed(fitted, blobs):
    # All but the backend, which matplotlib itself chooses on first use.
    names = [name for name in mpl.rcParams if name != "backend"]
    before = [mpl.rcParams[name] for name in names]
    CoreClusterDisplay.from_estimator(fitted, blobs)
    assert [mpl.rcParams[name] for name in names] == before


def test_bad_arguments(fitted, blobs):
    with pytest.raises(ValueError, match="Pass either X, the data, or positions"):
        CoreClusterDisplay.from_estimator(fitted)
    with pytest.raises(ValueError, match="Pass either X, the data, or positions"):
        CoreClusterDisplay.from_estimator(fitted, blobs, positions=blobs)
    with pytest.raises(ValueError, match="X must have a row for each of 60 items"):
        CoreClusterDisplay.from_estimator(fitted, blobs[:5])
    with pytest.raises(ValueError, match="positions must have 2 columns, got 1"):
        CoreClusterDisplay.from_estimator(fitted, positions=blobs[:, :1])


def test_the_legend_has_one_row_per_cluster(fitted, blobs):
    texts = CoreClusterDisplay.from_estimator(fitted, blobs).ax_.get_legend().get_texts()
    expected = []
    for core in fitted.cores_:
        weak = f", {core.n_weak} weak" if core.n_weak else ""
        expected.append(f"{core.label}: {core.n_core} core{weak}")
    assert [text.get_text() for text in texts] == expected


def test_markers_shrink_when_there_are_many_items():
    def area(n_items):
        labels = np.zeros(n_items, dtype=int)
        positions = np.zeros((n_items, 2))
        display = CoreClusterDisplay(positions, labels, labels, np.array(["a"]), ("", ""))
        return display.plot().ax_.collections[0].get_sizes()[0]

    assert area(60) == area(500) == 26
    assert 26 > area(1000) > area(10_000) >= 5
