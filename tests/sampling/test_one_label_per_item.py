"""An estimator that returns too many or too few labels is found out, however it is used."""

import re

import dask.array as da
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.metrics import pairwise_distances
from sklearn.mixture import GaussianMixture

from coreclust import CoreClustering
from coreclust._sampling.function import ClusteringFunction
from coreclust._sampling.models import EstimatorModel
from coreclust._utils.blocks import BlockedItems
from coreclust._utils.seeds import seeds_of
from coreclust.resampling import (
    Bootstrap,
    KnownDistribution,
    ParametricBootstrap,
    SmoothedBootstrap,
    Subsample,
)

MESSAGE = r"the labels returned by estimator must be one per item: expected (\d+), got (\d+)"
GROUPS = np.repeat(np.arange(20), 3)
CLASSES = np.arange(60) % 2


class Miscounting(BaseEstimator):
    """Returns a wrong number of labels unless it is fitted to the original data."""

    def __init__(self, original=None, by=1, metric=None):
        self.original = original
        self.by = by
        self.metric = metric

    def fit(self, X, y=None):
        self.classes_ = np.array([0, 1])
        is_original = np.shape(X) == np.shape(self.original) and np.array_equal(X, self.original)
        self.by_ = 0 if is_original else self.by
        return self

    def predict(self, X):
        return np.arange(len(X) + self.by_) % 2


class Clusterer(ClusterMixin, Miscounting):
    def fit_predict(self, X, y=None):
        return self.fit(X).predict(X)


class Classifier(ClassifierMixin, Miscounting):
    pass


def draw(n_items, rng):
    return rng.normal(size=(n_items, 2))


def cases(X, by):
    """Return an estimator, the settings of CoreClustering and the arguments of fit."""
    distances = pairwise_distances(X)
    clusterer, classifier = Clusterer(X, by), Classifier(X, by)
    model = GaussianMixture(2, random_state=0).fit(X)

    def function(Z):
        return Clusterer(X, by).fit_predict(Z)

    return {
        "clusterer": (clusterer, {}, {}),
        "callable": (function, {}, {}),
        "classifier": (classifier, {}, {"y": CLASSES}),
        "groups": (clusterer, {}, {"groups": GROUPS}),
        "groups, callable": (function, {}, {"groups": GROUPS}),
        "groups, classifier": (classifier, {}, {"groups": GROUPS, "y": CLASSES}),
        "distances": (Clusterer(distances, by, "precomputed"), {}, {"X": distances}),
        "kernel": (Classifier(distances, by, "precomputed"), {}, {"X": distances, "y": CLASSES}),
        "subsample": (clusterer, {"resampling": Subsample(0.5)}, {}),
        "all": (clusterer, {"resampling": Bootstrap("all")}, {}),
        "all, classifier": (classifier, {"resampling": Bootstrap("all")}, {"y": CLASSES}),
        "all, groups": (clusterer, {"resampling": Bootstrap("all")}, {"groups": GROUPS}),
        "all, distances": (
            Clusterer(distances, by, "precomputed"),
            {"resampling": Bootstrap("all")},
            {"X": distances},
        ),
        "out of bag": (clusterer, {"resampling": Bootstrap("oob"), "n_resamples": 200}, {}),
        "smoothed": (clusterer, {"resampling": SmoothedBootstrap(0.2)}, {}),
        "smoothed, all": (clusterer, {"resampling": SmoothedBootstrap(0.2, "all")}, {}),
        "parametric": (clusterer, {"resampling": ParametricBootstrap(model)}, {}),
        "known distribution": (
            Clusterer(X[:6], by),
            {"resampling": KnownDistribution(draw)},
            {"X": X[:6]},
        ),
    }


@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize("name", cases(np.eye(60), 1))
def test_a_wrong_number_of_labels_in_resamples_is_an_error(blobs, name, by):
    estimator, how, data = cases(blobs, by)[name]
    cc = CoreClustering(estimator, **({"n_resamples": 20, "alpha": 0.4, "random_state": 0} | how))
    with pytest.raises(RuntimeError, match=MESSAGE) as caught:
        cc.fit(**({"X": blobs} | data))
    expected, found = re.search(MESSAGE, str(caught.value)).groups()
    assert int(found) - int(expected) == by


class ByBlock(Clusterer):
    """Moves a label from one block of items to the other."""

    def predict(self, X):
        return np.zeros(len(X) + (1 if X[0, 0] == self.original[0, 0] else -1), int)


def test_blocks_cannot_make_up_for_each_other(blobs):
    items = BlockedItems(da.from_array(blobs, chunks=(30, 2)))
    function = ClusteringFunction.of(ByBlock(blobs))
    with pytest.raises(ValueError, match=r"expected 30, got (31|29)"):
        function.label_others(items, None, np.arange(40), np.arange(60), seeds_of(0, 0, 1))


def test_a_kept_model_labels_every_new_item(blobs):
    model = EstimatorModel(Clusterer(by=1 - len(blobs)).fit(blobs), np.arange(2), True)
    with pytest.raises(ValueError, match="expected 60, got 1"):
        model.label(blobs)


@pytest.mark.parametrize(("labels", "error"), [(None, TypeError), (np.zeros((60, 1)), ValueError)])
def test_labels_of_another_form_are_refused(blobs, labels, error):
    class Odd(Clusterer):
        def fit_predict(self, X, y=None):
            return labels

    with pytest.raises(error, match="the labels returned by estimator must be one label per item"):
        ClusteringFunction.of(Odd()).label_resample(blobs, None, np.arange(60), seeds_of(0, 0, 1))
