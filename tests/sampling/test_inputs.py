"""Bad input: a clear error that names the argument, before any work is done."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from coreclust import CoreClustering
from coreclust._sampling.function import ClusteringFunction

X = np.random.default_rng(0).normal(size=(30, 2))


@pytest.fixture(autouse=True)
def _no_work(monkeypatch):
    """Fail if any resample is clustered."""

    def label_resample(self, *args):
        pytest.fail("a resample was clustered")

    monkeypatch.setattr(ClusteringFunction, "label_resample", label_resample)


def refused(error, message, *args, X=X, y=None, **kwargs):
    with pytest.raises(error, match=message):
        CoreClustering(*args, **kwargs).fit(X, y)


@pytest.mark.parametrize("alpha", [-0.01, 1.01, np.nan, np.inf, "0.1", None, [0.1]])
def test_alpha(alpha):
    refused(ValueError, "'alpha' parameter of CoreClustering must be", KMeans(2), alpha=alpha)


@pytest.mark.parametrize("n_resamples", [0, -5, 2.5, "many", None])
def test_n_resamples(n_resamples):
    message = "'n_resamples' parameter of CoreClustering must be"
    refused(ValueError, message, KMeans(2), n_resamples=n_resamples)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("noise", "loud"),
        ("noise", None),
        ("time_limit", -1),
        ("time_limit", "soon"),
        ("random_state", "seed"),
        ("random_state", -1),
        ("n_jobs", 1.5),
        ("n_jobs", 0),
        ("verbose", "very"),
    ],
)
def test_other_parameters(name, value):
    refused(ValueError, f"'{name}' parameter of CoreClustering must be", KMeans(2), **{name: value})


@pytest.mark.parametrize("resampling", ["jackknife", None, 3, KMeans(2)])
def test_resampling(resampling):
    refused(ValueError, "resampling must be 'bootstrap'", KMeans(2), resampling=resampling)


@pytest.mark.parametrize(
    "estimator", [3, "KMeans", LinearRegression(), StandardScaler(), [KMeans()]]
)
def test_estimator(estimator):
    refused(TypeError, "estimator must be a clusterer", estimator)


def test_fewer_than_two_items():
    refused(ValueError, "1 sample.*minimum of 2", KMeans(2), X=X[:1])
    refused(ValueError, "X must hold at least 2 items, got 1", lambda Z: [0] * len(Z), X=["one"])
    refused(ValueError, "X must hold at least 2 items, got 0", lambda Z: [0] * len(Z), X=[])
    refused(ValueError, "X must hold at least 2 items", make_pipeline(KMeans(2)), X=X[:1])


def test_a_classifier_needs_y():
    refused(ValueError, "requires y to be passed.*SVC is a classifier", SVC())
    refused(ValueError, "requires y to be passed", make_pipeline(StandardScaler(), SVC()))
    refused(ValueError, "y must hold a class for each of the 30 items of X, got 2", SVC(), y=[0, 1])
    refused(ValueError, "y should be a 1d array", SVC(), y=X)


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        ([0, 1], ValueError, "must be one per item: expected 30, got 2"),
        (np.zeros(30), TypeError, "must be integers or strings, got dtype float64"),
        (np.full(30, np.nan), TypeError, "must be integers or strings, got dtype float64"),
        (None, TypeError, "got None"),
        ([None] * 30, TypeError, "must be all integers or all strings, got None"),
        (["a"] * 29 + [float("nan")], TypeError, "all integers or all strings"),
        (np.array(["a"] * 29 + [3], dtype=object), TypeError, "a mix of integers and strings"),
        (np.zeros((30, 2), int), ValueError, re.escape("got an array of shape (30, 2)")),
        (7, ValueError, "must be one label per item"),
        (np.zeros(30, complex), TypeError, "got dtype complex128"),
    ],
)
def test_what_a_callable_must_return(returned, error, message):
    refused(error, f"the labels returned by estimator .*{message}", lambda Z: returned)


def test_nan_and_infinity():
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        bad = X.copy()
        bad[3, 1] = value
        refused(ValueError, f"Input X contains {word}", KMeans(2), X=bad)
        refused(ValueError, f"^Input X contains {word}", KMeans(2), X=bad.tolist())
        refused(ValueError, f"Input X contains {word}", KMeans(2), X=pd.DataFrame(bad))
        refused(ValueError, f"Input X contains {word}", KMeans(2), X=csr_matrix(bad))
        refused(ValueError, f"Input X contains {word}", make_pipeline(KMeans(2)), X=bad)


@pytest.mark.parametrize(
    "mixed",
    [
        np.array([[1, "a"], [2.5, "b"], [3, None]], dtype=object),
        [[1, "a"], [2, "b"], [3, "c"]],
        np.array([["a", "b"], ["c", "d"]]),
        pd.DataFrame({"x": [1, 2, 3], "y": ["a", "b", "c"]}),
        pl.DataFrame({"x": [1, 2, 3], "y": ["a", "b", "c"]}),
    ],
    ids=["object", "list", "str", "pandas", "polars"],
)
def test_mixed_types(mixed):
    refused(
        ValueError,
        "X must hold numbers for KMeans, but it also holds other types",
        KMeans(2),
        X=mixed,
    )


def test_objects_that_are_no_numbers():
    bad = X.astype(object)
    bad[0, 0] = {"a": 1}
    refused(TypeError, "X must hold numbers for KMeans", KMeans(2), X=bad)


def test_shapes():
    refused(ValueError, "Expected 2D array", KMeans(2), X=X[:, 0])
    refused(ValueError, r"0 feature\(s\)", KMeans(2), X=X[:, :0])
    refused(TypeError, "X must hold the items .* got 'abc'; read a file first", len, X="abc")
    refused(TypeError, "X must hold the items .* got an object of type int", len, X=5)
    refused(TypeError, "X must be an array, a frame, a list of items .* got set", len, X={1, 2})
    refused(TypeError, "got an object of type dict", len, X={"a": 1, "b": 2})


def test_a_connectivity_matrix_does_not_fit_resamples():
    estimator = AgglomerativeClustering(2, connectivity=np.ones((30, 30)))
    refused(ValueError, "estimator has a matrix as connectivity", estimator)
    refused(ValueError, "agglomerativeclustering__connectivity", make_pipeline(estimator))


def test_sparse_data_for_an_estimator_without():
    refused(TypeError, "[Ss]parse", AgglomerativeClustering(2), X=csr_matrix(X))


def test_numbers_in_an_object_array_are_numbers(monkeypatch):
    monkeypatch.undo()
    as_objects = CoreClustering(KMeans(2), n_resamples=30, random_state=0).fit(X.astype(object))
    as_numbers = CoreClustering(KMeans(2), n_resamples=30, random_state=0).fit(X)
    np.testing.assert_array_equal(as_objects.labels_, as_numbers.labels_)


@pytest.mark.filterwarnings("ignore:.*copies of rows")
def test_an_estimator_that_accepts_nan_gets_it(monkeypatch):
    monkeypatch.undo()
    bad = X.copy()
    bad[3, 1] = np.nan
    estimator = HDBSCAN(min_cluster_size=4, copy=True, allow_single_cluster=True)
    cc = CoreClustering(estimator, n_resamples=30, random_state=0).fit(bad)
    assert 3 in cc.trimmed_sample_indices_
