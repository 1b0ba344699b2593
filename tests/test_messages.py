"""Messages for wrong input in Python: each names the argument, what was wrong and what to do."""

import re
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array
from sklearn.cluster import AffinityPropagation, AgglomerativeClustering
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from coreclust import CoreClustering, LabelEnsemble, core_clusters, maximum_clique
from coreclust.cluster import HierarchicalClustering, KMeans, TClust, TrimmedKMeans

X = np.random.default_rng(0).normal(size=(30, 3))


def fit(data, y=None, estimator=None):
    estimator = KMeans(3, n_init=1) if estimator is None else estimator
    return CoreClustering(estimator, n_resamples=20, random_state=0).fit(data, y)


def message(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_predict_without_models():
    expected = "predict needs the models of the resamples; set keep_models=True and call fit again."
    for cc in (fit(X), CoreClustering(KMeans(3))):
        assert message(AttributeError, lambda cc=cc: cc.predict(X)) == expected
        assert not hasattr(cc, "predict")
    assert callable(CoreClustering.predict)
    assert hasattr(CoreClustering(KMeans(3), keep_models=True), "predict")


class TestPrecomputed:
    DISTANCES = np.abs(X[:, 0][:, None] - X[:, 0])

    @pytest.mark.parametrize(
        "estimator",
        [
            HierarchicalClustering(3, metric="precomputed"),
            AgglomerativeClustering(3, metric="precomputed", linkage="average"),
        ],
    )
    def test_an_asymmetric_matrix_of_distances(self, estimator):
        wrong = self.DISTANCES.copy()
        wrong[4, 7] = 9
        assert message(ValueError, lambda: fit(wrong, estimator=estimator)) == (
            "X must be symmetric, because estimator takes precomputed distances; from item 4 to 7 "
            f"it has 9, and back {wrong[7, 4]:.6g}; pass, for instance, (X + X.T) / 2."
        )

    def test_in_any_chunk(self, monkeypatch):
        monkeypatch.setattr("coreclust._sampling.values._CHUNK", 1000)
        wrong = self.DISTANCES.copy()
        wrong[29, 28] = 9
        estimator = AgglomerativeClustering(3, metric="precomputed", linkage="average")
        assert "from item 28 to 29" in message(ValueError, lambda: fit(wrong, estimator=estimator))

    def test_rounding_is_allowed(self):
        close = self.DISTANCES * (1 + 1e-12 * np.random.default_rng(1).random((30, 30)))
        fit(close, estimator=AgglomerativeClustering(3, metric="precomputed", linkage="average"))

    @pytest.mark.filterwarnings("ignore")
    def test_affinities_may_be_asymmetric(self):
        affinity = -self.DISTANCES
        affinity[4, 7] = -9
        fit(affinity, estimator=AffinityPropagation(affinity="precomputed", random_state=0))


@pytest.mark.parametrize(
    "estimator",
    [KMeans(3), make_pipeline(StandardScaler(), KMeans(3)), lambda Z: np.zeros(len(Z), int)],
)
def test_no_data(estimator):
    text = "X must hold the items to cluster, as an array, a frame or a list, got None."
    assert message(TypeError, lambda: fit(None, estimator=estimator)) == text


@pytest.mark.parametrize("estimator", [KMeans(3), lambda Z: np.zeros(len(Z), int)])
@pytest.mark.parametrize(
    ("X", "end"),
    [
        ("data.csv", "got 'data.csv'; read a file first, for instance with pandas.read_csv."),
        (Path("data.csv"), "read a file first, for instance with pandas.read_csv."),
        (5, "got an object of type int."),
        ({"x": [1, 2]}, "got an object of type dict."),
        (iter([[1, 2]]), "got an object of type list_iterator."),
    ],
)
def test_what_holds_no_items(X, end, estimator):
    text = message(TypeError, lambda: fit(X, estimator=estimator))
    assert text.startswith("X must hold the items to cluster, as an array, a frame or a list, got")
    assert text.endswith(end)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("classes", [["a", "b"], [0, 1]])
def test_items_without_a_class(missing, classes):
    y = np.array(classes * 15, dtype=object)
    y[[3, 8]] = missing
    assert message(ValueError, lambda: fit(X, y, SVC())) == (
        f"y must hold a class for each item, got {missing!s} for item 3, and 1 more; leave out the "
        "items without a class."
    )


def test_a_list_of_words_with_a_hole_has_no_class_nan():
    y = ["a", "b"] * 15
    y[3] = np.nan
    assert message(ValueError, lambda: fit(X, y, SVC())).startswith(
        "y must hold a class for each item, got nan for item 3;"
    )


def test_masked_classes():
    y = np.ma.masked_array([0, 1] * 15, [0] * 28 + [1, 1])
    assert message(ValueError, lambda: fit(X, y, SVC())).startswith(
        "y must hold a class for each item, got a mask for item 28, and 1 more; leave out"
    )
    fit(X, np.ma.masked_array([0, 1] * 15), SVC())  # nothing is masked


def test_a_report_to_a_folder(tmp_path):
    cc = fit(X)
    assert message(ValueError, lambda: cc.to_html(tmp_path)) == (
        f"path must be a file, such as {str(tmp_path / 'report.html')!r}, got the folder "
        f"{str(tmp_path)!r}."
    )
    assert message(TypeError, lambda: cc.to_html(None)) == (
        "path must be the name of a file, such as 'report.html', got None."
    )
    assert f"create {str(tmp_path / 'new')!r} first." in message(
        ValueError, lambda: cc.to_html(tmp_path / "new" / "report.html")
    )


class TestValues:
    @pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (-np.inf, "infinity")])
    def test_where_a_value_is_not_finite(self, value, name):
        wrong = X.copy()
        wrong[4, 2] = value
        hint = "fill in what is missing (see sklearn.impute), or leave out the items."
        assert message(ValueError, lambda: fit(wrong)) == (
            f"Input X contains {name} at item 4, feature 2; {hint}"
        )
        wrong[9, 0] = value
        frame = pd.DataFrame(wrong, columns=["a", "b", "c"])
        for data in (frame, pl.from_pandas(frame)):
            assert message(ValueError, lambda data=data: fit(data)).startswith(
                f"Input X contains {name} at item 4, feature 2 ('c'), and 1 more;"
            )

    def test_masked_arrays(self):
        masked = np.ma.masked_array(X, X > 1)
        n_masked = int((X > 1).sum())
        for estimator in (None, make_pipeline(StandardScaler(), KMeans(3, n_init=1))):
            assert message(ValueError, lambda e=estimator: fit(masked, estimator=e)) == (
                f"X must be an array without a mask, got {n_masked} masked values; fill or leave "
                "out what is masked, for instance with X.filled."
            )
        fit(np.ma.masked_array(X))  # nothing is masked

    def test_dates(self):
        days = np.datetime64("2020-01-01") + np.arange(30)
        array = np.column_stack([days, days])
        assert message(TypeError, lambda: fit(array)) == (
            "X must hold numbers, and X holds dates or durations (datetime64[D]); turn them into "
            "numbers first, such as days since a date."
        )
        assert "timedelta64[D]" in message(TypeError, lambda: fit(array - array[0]))
        frame = pd.DataFrame({"x": X[:, 0], "when": days})
        for data in (frame, pl.from_pandas(frame)):
            text = message(TypeError, lambda data=data: fit(data))
            assert "column 'when' holds dates or durations" in text

    def test_where_a_value_of_a_sparse_matrix_is_not_finite(self):
        wrong = np.where(X > 0, X, 0)
        wrong[[9, 4], [0, 2]] = np.nan, np.inf
        for kind in (csr_array, csc_array, coo_array):
            text = message(ValueError, lambda k=kind: fit(k(wrong), estimator=SklearnKMeans(3)))
            assert text.startswith("Input X contains infinity at item 4, feature 2, and 1 more;")

    @pytest.mark.parametrize("as_frame", [False, True])
    def test_where_a_pipeline_met_a_hole(self, as_frame):
        wrong = X.copy()
        wrong[4, 2] = np.nan
        data = pd.DataFrame(wrong, columns=["a", "b", "c"]) if as_frame else wrong
        steps = StandardScaler(), KMeans(3, n_init=1)
        text = message(ValueError, lambda: fit(data, estimator=make_pipeline(*steps)))
        name = " ('c')" * as_frame
        assert text.startswith(f"Input X contains NaN at item 4, feature 2{name}; fill in")
        fit(data, estimator=make_pipeline(SimpleImputer(), *steps))  # which fills it in

    def test_other_errors_of_a_pipeline_are_its_own(self):
        frame = pd.DataFrame({"a": X[:, 0], "b": ["x"] * 30})
        pipeline = make_pipeline(StandardScaler(), KMeans(3, n_init=1))
        assert "could not convert string" in message(
            ValueError, lambda: fit(frame, estimator=pipeline)
        )
        holes = pd.DataFrame({"a": [np.nan] * 30, "b": ["x"] * 30})
        encoded = make_pipeline(
            make_column_transformer((OneHotEncoder(), ["b"]), remainder="passthrough"), KMeans(3)
        )
        assert "NaN" in message(ValueError, lambda: fit(holes, estimator=encoded))

    def test_where_a_new_item_is_not_finite(self):
        cc = CoreClustering(KMeans(3), n_resamples=20, keep_models=True, random_state=0).fit(X)
        wrong = X.copy()
        wrong[7, 1] = np.nan
        assert message(ValueError, lambda: cc.predict(wrong)).startswith(
            "Input X contains NaN at item 7, feature 1; fill in"
        )


def test_a_list_of_edges_is_not_a_matrix():
    for edges in ([(0, 1), (1, 2)], [(0, 1), (1, 0)], [(0, 1), (1, 2), (0, 2)], {(0, 1)}):
        text = message(TypeError, lambda edges=edges: maximum_clique(edges))
        assert "must be a square matrix, got a list of pairs; for a list of edges" in text
    text = message(ValueError, lambda: maximum_clique(np.array([[0, 1], [1, 2], [0, 2]])))
    assert "got an array of shape (3, 2); for a list of edges" in text
    for two in ([[0, 1], [1, 2]], np.array([[3, 1], [1, 2]]), pd.DataFrame([[0, 2], [2, 1]])):
        text = message(ValueError, lambda two=two: maximum_clique(two))
        assert "got what looks like two edges; for a list of edges" in text
    assert maximum_clique([[0, 1], [1, 0]]).tolist() == [0, 1]
    assert maximum_clique([[1.0, 0.2], [0.2, 1.0]]).tolist() == [0, 1]
    assert maximum_clique(pd.DataFrame([[1, 1], [1, 1]])).tolist() == [0, 1]
    assert maximum_clique(csr_array(np.ones((2, 2)))).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (nx.path_graph(3), "got Graph; pass networkx.to_numpy_array of it."),
        ({0: [1], 1: [0]}, "got dict."),
        (None, "got NoneType."),
        ("01", "got str."),
        ((edge for edge in [(0, 1)]), "got generator."),
    ],
)
def test_a_graph_of_another_kind_is_named(graph, words):
    text = message(TypeError, lambda: maximum_clique(graph))
    assert text == f"adjacency must be a square matrix, {words}"


@pytest.mark.parametrize("clusterer", [KMeans, HierarchicalClustering, TrimmedKMeans, TClust])
@pytest.mark.parametrize("value", [True, np.True_])
def test_true_is_no_number_of_clusters(clusterer, value):
    text = message(ValueError, lambda: clusterer(value).fit(X))
    assert re.search(r"'n_clusters' parameter .* must be an int .* Got (np.)?True", text)


class TestReferenceLabels:
    ENSEMBLE = LabelEnsemble.from_labels(np.random.default_rng(0).integers(0, 2, (6, 40)))

    def cores(self, labels):
        return [core.core.tolist() for core in core_clusters(self.ENSEMBLE, labels, alpha=0.9)]

    def test_floats_that_are_whole_numbers(self):
        expected = self.cores([0, 0, 0, 1, 1, -1])
        assert self.cores([0.0, 0, 0, 1, 1, -1]) == expected
        assert self.cores(np.array([0.0, 0, 0, 1, 1, -1])) == expected

    @pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
    def test_items_without_a_label_are_in_no_cluster(self, missing):
        expected = self.cores([0, 0, 0, 1, 1, -1])
        assert self.cores([0, 0, 0, 1, 1, missing]) == expected
        assert self.cores(["a", "a", "a", "b", "b", missing]) == expected

    def test_a_mask(self):
        masked = np.ma.masked_array([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1])
        assert self.cores(masked) == self.cores([0, 0, 0, 1, 1, -1])

    def test_fractions_are_refused(self):
        text = message(TypeError, lambda: self.cores([0.5, 0, 0, 1, 1, 1]))
        assert text == "reference_labels must be integers or strings, got dtype float64."

    @given(st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=6, max_size=6))
    def test_the_same_labels_as_floats(self, labels):
        assert self.cores(np.array(labels, dtype=float)) == self.cores(labels)
