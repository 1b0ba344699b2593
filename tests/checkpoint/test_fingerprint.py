import functools
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis.extra import numpy as npst
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coreclust._checkpoint.fingerprint import describe, differences, settings_of
from coreclust.resampling import Bootstrap, ParametricBootstrap, SmoothedBootstrap, Subsample

X = np.arange(12.0).reshape(6, 2)


@given(npst.arrays(np.float64, npst.array_shapes(max_dims=3, max_side=4)))
def test_an_array_is_its_values_whatever_their_order_in_memory(array):
    expected = describe(array)
    assert describe(np.asfortranarray(array)) == expected
    assert describe(np.repeat(array, 2, axis=0)[::2]) == expected
    other = array.copy()
    other.flat[-1] = 1.5 if other.flat[-1] != 1.5 else 2.5
    assert describe(other) != expected


def test_a_memory_map_is_an_array(tmp_path):
    np.save(tmp_path / "X.npy", X)
    assert describe(np.load(tmp_path / "X.npy", mmap_mode="r")) == describe(X)


def first(Z):
    return Z


def second(Z):
    return Z + 0


class Weird:
    def __getstate__(self):
        raise TypeError("no")

    def method(self, Z):
        return Z


class Weird2(Weird):
    pass


class Node:
    def __init__(self, value):
        self.value = value
        self.self = self


DIFFERENT = [
    None,
    0,
    False,
    0.0,
    -1,
    "0",
    "nan",
    b"0",
    float("inf"),
    [],
    [0],
    [0, 0],
    [[0], 0],
    (0, 0),
    {0, 1},
    {"a": 0},
    {"a": 1},
    ["ab", "c"],
    ["a", "bc"],
    X,
    X.T,
    X[:-1],
    X.ravel(),
    X.astype(np.float32),
    X.astype(object),
    X.astype(str),
    X.astype("datetime64[s]"),
    np.array(0.0),
    np.empty((0, 2)),
    np.array(["a", None], object),
    sp.csr_matrix(X),
    sp.csr_matrix(X * 2),
    pd.DataFrame(X),
    pd.DataFrame(X, columns=["a", "b"]),
    pd.DataFrame({"a": ["x", None], "b": [1, 2]}),
    pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}),
    pl.DataFrame({"c": ["x", "z"], "b": [1, 2]}),
    first,
    second,
    lambda Z: Z,
    lambda Z: Z + 1,
    functools.partial(first, 1),
    functools.partial(first, 2),
    len,
    np.sort,
    Weird(),
    Weird2(),
    Weird().method,
    Weird2().method,
    Node(1),
    Node(2),
    KMeans,
    KMeans(3),
    KMeans(4),
    KernelDensity().fit(X),
    KernelDensity().fit(X + 1),
    np.random.RandomState(0),
    np.random.RandomState(1),
]


def test_different_things_have_different_descriptions():
    found = [(type(value).__name__, describe(value)) for value in DIFFERENT]
    told = [(type(text), text) for _, text in found]
    for place, text in enumerate(told):
        assert text not in told[:place], found[place]


@pytest.mark.parametrize("place", range(len(DIFFERENT)))
def test_a_description_stays_the_same_and_fits_into_json(place):
    text = describe(DIFFERENT[place])
    assert describe(DIFFERENT[place]) == text
    assert json.loads(json.dumps(text)) == text
    assert type(json.loads(json.dumps(text))) is type(text)


def test_sparse_matrices_are_their_content_not_their_flags():
    one, other = sp.csr_matrix(X), sp.csr_matrix(X)
    assert other.has_sorted_indices  # leaves a note in the object
    assert describe(one) == describe(other)


def test_a_function_without_source_is_its_code():
    scope = [{}, {}, {}]
    for names, text in zip(scope, ("lambda Z: Z", "lambda Z: Z", "lambda Z: Z * 3"), strict=True):
        names["f"] = eval(text)  # noqa: S307 - what a user types in has no source file
    assert describe(scope[0]["f"]) == describe(scope[1]["f"])
    assert describe(scope[0]["f"]) != describe(scope[2]["f"])


def settings(estimator=None, scheme=None, **others):
    estimator = KMeans(3) if estimator is None else estimator
    return settings_of(estimator, X, None, scheme or Bootstrap(), None, **others)


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        ({}, {}, []),
        (
            {},
            {"estimator": KMeans(4)},
            ["n_clusters=3, this estimator has n_clusters=4"],
        ),
        (
            {"estimator": make_pipeline(StandardScaler(), KMeans(3))},
            {"estimator": make_pipeline(StandardScaler(), KMeans(3, tol=1))},
            ["kmeans__tol=0.0001, this estimator has kmeans__tol=1"],
        ),
        (
            {"estimator": make_pipeline(StandardScaler(), KMeans(3))},
            {"estimator": make_pipeline(StandardScaler(copy=False), KMeans(3))},
            ["standardscaler__copy=True, this estimator has standardscaler__copy=False"],
        ),
        (
            {"scheme": Subsample(0.5)},
            {"scheme": Subsample(0.25)},
            ["fraction=0.5, this resampling has fraction=0.25"],
        ),
        (
            {"scheme": SmoothedBootstrap(0.5)},
            {"scheme": SmoothedBootstrap(0.1)},
            ["scale=0.5, this resampling has scale=0.1"],
        ),
        ({"seed": 1}, {"seed": True}, ["seed=1, this call has seed=True"]),
        ({"seed": 1}, {}, ["seed=1, this call has no seed"]),
        ({}, {"seed": 1}, ["no seed, this call has seed=1"]),
    ],
)
def test_what_differs_is_said_in_full(then, now, told):
    then = json.loads(json.dumps(settings(**then)))
    assert differences(then, settings(**now)) == told


def test_a_fitted_model_to_draw_from_is_part_of_the_scheme():
    models = [GaussianMixture(1, random_state=0).fit(X * scale) for scale in (1, 1, 2)]
    one, same, other = (settings(scheme=ParametricBootstrap(model)) for model in models)
    assert differences(one, same) == []
    assert [line[:6] for line in differences(one, other)] == ["model="]


def test_an_object_that_is_called_is_also_its_text():
    def made(factor):
        class Cut:
            def __call__(self, X):
                return factor * 2 < X if factor else X < 1

        return Cut

    def other():
        class Cut:
            def __call__(self, X):
                return X < 3

        return Cut

    one, two = made(0)(), other()()
    type(two).__qualname__ = type(one).__qualname__
    assert describe(one) == describe(one)
    assert describe(one) != describe(two)
