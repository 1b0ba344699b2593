from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.cluster import DBSCAN, KMeans

from coreclust import CoreClustering, LabelEnsemble
from coreclust._inspection.closest import closest_clusters
from coreclust._utils.constants import ABSENT
from coreclust.report import _content as content
from coreclust.resampling import KnownDistribution


@pytest.fixture(scope="module")
def fitted(blobs):
    return CoreClustering(KMeans(3), n_resamples=60, random_state=0).fit(blobs)


def slow_closest(cc, item):
    """The definition, pair by pair."""
    shares = []
    for code, core in enumerate(cc.cores_):
        if code == cc.reference_labels_[item]:
            shares.append(0.0)
            continue
        counts = [
            cc.ensemble_.cooccurrence_counts(item, int(other), noise=cc.noise)
            for other in core.members
        ]
        together, seen = np.sum(counts, axis=0)
        shares.append(together / seen if seen else 0.0)
    best = int(np.argmax(shares))
    return (best if shares[best] > 0 else -1), shares[best]


@pytest.mark.parametrize("noise", ["apart", "together", "absent"])
def test_the_closest_cluster_follows_the_definition(fitted, noise):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=(60, 40))
    labels[rng.random(labels.shape) < 0.2] = -1
    labels[rng.random(labels.shape) < 0.3] = ABSENT
    cc = fitted.recut()
    cc.ensemble_, cc.noise = LabelEnsemble(labels), noise
    cc.reference_labels_ = fitted.reference_labels_.copy()
    cc.reference_labels_[:4] = -1
    cc = cc.recut()
    items = np.array([0, 3, 5, 17, 30, 41, 59])
    clusters, shares = closest_clusters(cc, items)
    expected = [slow_closest(cc, int(item)) for item in items]
    np.testing.assert_array_equal(clusters, [cluster for cluster, _ in expected])
    np.testing.assert_allclose(shares, [share for _, share in expected])


def test_no_closest_cluster_where_there_is_none(blobs):
    one = CoreClustering(lambda Z: [0] * len(Z), n_resamples=40, random_state=0).fit(blobs)
    assert closest_clusters(one, np.arange(5))[0].tolist() == [-1] * 5
    none = CoreClustering(lambda Z: [-1] * len(Z), n_resamples=40, random_state=0).fit(blobs)
    assert closest_clusters(none, np.arange(5))[0].tolist() == [-1] * 5
    scheme = KnownDistribution(lambda n, rng: rng.normal(size=(n, 2)))
    pairs = CoreClustering(
        lambda Z: Z[:, 0] > 1, n_resamples=20, resampling=scheme, random_state=0
    ).fit(blobs[10:30])
    assert closest_clusters(pairs, np.arange(5))[0].tolist() == [-1] * 5


@given(npst.arrays(bool, st.tuples(st.integers(1, 8), st.integers(1, 8))))
def test_switches_say_when_an_item_is_core(inside):
    for item, switches in enumerate(content.core_switches(inside)):
        at = switches if isinstance(switches, list) else [switches]
        line, core = [], False
        for place in range(len(inside)):
            core ^= place in at
            line.append(core)
        assert line == inside[:, item].tolist()
        assert isinstance(switches, int) or len(switches) > 1


def test_the_path_has_the_sizes_of_recut_and_the_fitted_cores(fitted):
    odd = fitted.recut(alpha=0.123)
    path = content.report_path(odd)
    assert 0.123 in path.values
    assert path.values.size == fitted.alpha_path().values.size + 1
    for alpha, cores in zip(path.values.tolist(), path.cores, strict=True):
        cut = fitted.recut(alpha=alpha)
        assert [core.n_core for core in cores] == [core.n_core for core in cut.cores_]
    place = path.values.tolist().index(0.123)
    np.testing.assert_array_equal(path.labels[place], odd.labels_)
    np.testing.assert_array_equal(path.core_sizes[place], [core.n_core for core in odd.cores_])


def test_a_path_that_takes_too_long_is_cut_and_says_so(fitted, monkeypatch):
    monkeypatch.setattr("coreclust._inspection.path.PATH_SECONDS", 0.0)
    hard = fitted.recut()
    labels = np.random.default_rng(0).integers(2, size=(60, 60))
    hard.ensemble_ = LabelEnsemble(labels)
    hard = hard.recut()
    path = content.report_path(hard)
    layout = content.lay_out(hard, None, None)
    data = content.chart_data(hard, path, layout, list(range(60)), np.arange(60))
    assert not all(data["proven"])
    assert data["proven"] == [all(core.optimal for core in cores) for cores in path.cores]
    assert data["proven"][data["fitted"]]  # the fit had time enough
    made = dict(content.how_made(hard, path))
    n_unproven = data["proven"].count(False)
    proof = made["Proven to be largest possible"]
    assert proof.endswith(f"at {n_unproven} of the {len(data['proven'])} alphas of the slider")
    assert (hard.time_limit, hard.rule_.time_limit) == ("auto", 30.0)  # as before
    assert made["Time limit of the search"] == "30 s"


def test_data_is_that_of_the_items(fitted, blobs):
    path = content.report_path(fitted)
    layout = content.lay_out(fitted, blobs, None)
    items = np.array([3, 8, 40])
    data = content.chart_data(fitted, path, layout, [f"i{i}" for i in range(60)], items)
    assert data["items"]["id"] == ["i3", "i8", "i40"]
    np.testing.assert_allclose(data["items"]["x"], blobs[items, 0], rtol=1e-4)
    assert data["items"]["cluster"] == fitted.reference_labels_[items].tolist()
    table = fitted.item_table().iloc[items]
    np.testing.assert_allclose(data["items"]["strength"], table["strength"], rtol=1e-4)
    assert data["alphas"][data["fitted"]] == fitted.alpha
    assert [c["cores"][data["fitted"]] for c in data["clusters"]] == [
        core.n_core for core in fitted.cores_
    ]


class TestLayout:
    def test_two_features_as_they_are(self, fitted, blobs):
        layout = content.lay_out(fitted, blobs, None)
        np.testing.assert_array_equal(layout.positions, blobs)
        assert "as they are" in layout.note

    def test_own_positions(self, fitted, blobs):
        layout = content.lay_out(fitted, None, -blobs)
        np.testing.assert_array_equal(layout.positions, -blobs)

    def test_the_frame_that_was_fitted(self, blobs):
        frame = pd.DataFrame(np.hstack([blobs, blobs]), columns=list("abcd"))
        cc = CoreClustering(KMeans(3), n_resamples=60, random_state=0).fit(frame)
        layout = content.lay_out(cc, None, None)
        assert "principal component 1" in layout.axis_names[0]
        assert "4 features" in layout.note

    def test_without_data_by_cluster_and_strength(self, fitted):
        layout = content.lay_out(fitted, None, None)
        assert np.isfinite(layout.positions).all()
        np.testing.assert_array_equal(layout.positions[:, 0].round(), fitted.reference_labels_)
        assert "not available" in layout.note


class TestIds:
    def test_positions_by_default(self, fitted):
        assert content.check_ids(fitted, None) == list(range(60))

    def test_the_index_of_a_frame(self, blobs):
        frame = pd.DataFrame(blobs, columns=["a", "b"], index=[f"row {i}" for i in range(60)])
        cc = CoreClustering(KMeans(3), n_resamples=60, random_state=0).fit(frame)
        assert content.check_ids(cc, None)[7] == "row 7"

    def test_numbers_stay_numbers_and_all_else_is_text(self, fitted):
        odd = [1, np.int64(-2), 2.5, np.nan, None, True, b"x", 2**60, "\ud800", (1, 2)]
        names = content.check_ids(fitted, [*odd, *range(50)])
        assert names[:10] == [
            1, -2, 2.5, "nan", "None", "True", "b'x'", str(2**60), "?", "(1, 2)",
        ]  # fmt: skip

    def test_bad_ids(self, fitted):
        with pytest.raises(ValueError, match="ids must have one name for each of 60 items, got 2"):
            content.check_ids(fitted, ["a", "b"])
        with pytest.raises(TypeError, match="ids must be a list or array of one name per item"):
            content.check_ids(fitted, "a" * 60)
        with pytest.raises(TypeError, match="ids must be a list or array of one name per item"):
            content.check_ids(fitted, 3)


def test_how_it_was_made_names_everything(blobs):
    cc = CoreClustering(KMeans(3), n_resamples=60, random_state=7, alpha=0.2).fit(blobs)
    made = dict(content.how_made(cc, content.report_path(cc)))
    assert "n_clusters=3" in made["Estimator"]
    assert "n_init='auto'" in made["Estimator"]  # defaults are listed, too
    assert made["Resamples"] == "60"
    assert made["Failed resamples"] == "0"
    assert made["Seed"] == "7"
    assert made["Alpha"] == "0.2"
    assert made["Resampling"] == "bootstrap"
    assert made["Proven to be largest possible"] == "all cores"
    assert "scikit-learn" in made["Versions"]


def test_functions_are_named(blobs):
    def my_function(Z):
        return Z[:, 0] > 1

    cc = CoreClustering(my_function, n_resamples=60, random_state=0).fit(blobs)
    made = dict(content.how_made(cc, content.report_path(cc)))
    assert made["Estimator"].endswith("my_function")


def test_above_the_limit_some_items_are_left_out(fitted, monkeypatch):
    assert content.shown_items(fitted).tolist() == list(range(60))
    monkeypatch.setattr(content, "MAX_ITEMS", 20)
    shown = content.shown_items(fitted)
    assert 15 <= shown.size <= 20
    assert (np.diff(shown) > 0).all()


def test_trimmed_items_have_data_too(blobs):
    X = np.vstack([blobs, [[50.0, 50.0]]])
    cc = CoreClustering(DBSCAN(eps=1.5), n_resamples=60, random_state=0).fit(X)
    path, layout = content.report_path(cc), content.lay_out(cc, X, None)
    data = content.chart_data(cc, path, layout, list(range(61)), np.arange(61))
    assert data["items"]["cluster"][60] == -1
    assert data["items"]["strength"][60] is None
    assert data["items"]["core"][60] == -1
    assert data["nTrimmed"] == cc.trimmed_sample_indices_.size


def test_pairs_that_tell_nothing_are_left_out():
    def rows(*lines):
        columns = ["cluster_1", "cluster_2", "together", "p_value", "shown_two"]
        return content.pair_rows(SimpleNamespace(pairs=pd.DataFrame(lines, columns=columns)))

    apart, tested = (0, 1, 0.0, np.nan, True), (0, 2, 0.0, 0.03, True)
    close, one = (1, 2, 0.25, np.nan, True), (1, 3, 0.0, np.nan, False)
    names = [row["names"] for row in rows(apart, tested, close, one)]
    assert names == [["1", "3"], ["1", "2"], ["0", "2"]]
    assert [row["names"] for row in rows(apart)] == [["0", "1"]]  # there are no others
