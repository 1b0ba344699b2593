"""Logistic regression as scikit-learn fits it, for many resamples per call."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coreclust._classify import softmax
from coreclust._classify.parameters import is_finite, others_are_default
from coreclust.cluster._native import Batch, BatchLabeler, DatasetLabeler, NativeOffer

_MOST_COEFS = 400  # the matrix of second derivatives has a row and a column for each
_MOST_FEATURES = 40  # of datasets, whose number of classes is not known
_MOST_PRODUCTS = 2e9  # in that matrix, which takes about a second
_SUPPORTED = {
    "C",
    "fit_intercept",
    "class_weight",
    "tol",
    "penalty",
    "max_iter",
    # without an effect on the labels:
    "n_jobs",
    "random_state",
}


@dataclass(frozen=True)
class LogisticClassifier:
    """A logistic regression in the place of scikit-learn's, which may follow a StandardScaler.

    The decisions agree with scikit-learn's up to `tol` if that reaches the optimum within
    `max_iter` steps. If it does not for all items, there is no compiled code.
    """

    settings: softmax.Settings
    original: LogisticRegression

    def __coreclust_native__(self) -> NativeOffer:
        return NativeOffer(
            owner=LogisticClassifier,
            label_drawn=self._labeler,
            label_all=partial(self._labeler, label_all=True),
            # Without a scaler, scikit-learn often stops early, and here that cannot be checked.
            label_datasets=self._dataset_labeler if self.settings.scale else None,
            seeded=False,
            most_per_call=25,
            failure="ValueError: Fewer than two classes, or the values are too large.",
        )

    def _labeler(
        self, X: NDArray[Any], classes: NDArray[np.int64], *, label_all: bool = False
    ) -> BatchLabeler | None:
        if X.dtype.kind not in "biuf" or not (np.abs(X) <= softmax.LARGEST).all():
            return None
        n_classes = int(classes.max()) + 1
        n_coefs = n_classes * (X.shape[1] + 1)
        if n_coefs > _MOST_COEFS or len(X) * n_coefs**2 > _MOST_PRODUCTS:
            return None
        if not self._converges(X, classes):
            return None
        X = np.ascontiguousarray(X, dtype=np.float64)
        start = softmax.solve_all(X, classes, n_classes, self.settings)
        return partial(_label_resamples, X, classes, n_classes, label_all, start, self.settings)

    def _dataset_labeler(self, n_features: int) -> DatasetLabeler | None:
        return partial(_label_datasets, self.settings) if n_features <= _MOST_FEATURES else None

    def _converges(self, X: NDArray[Any], classes: NDArray[np.int64]) -> bool:
        """Tell whether scikit-learn reaches the optimum for all items."""
        estimator = clone(self.original)
        how = self.settings
        scaler = StandardScaler(with_mean=how.center, with_std=how.scale)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make_pipeline(scaler, estimator).fit(X, classes)
        return bool(np.max(estimator.n_iter_) < estimator.max_iter)


def twin_of_logistic(
    estimator: LogisticRegression, *, center: bool = False, scale: bool = False
) -> LogisticClassifier | None:
    """Return the classifier with scikit-learn's parameters, or None if one is not supported."""
    weight = estimator.class_weight
    usual = (
        others_are_default(estimator, _SUPPORTED)
        and estimator.penalty in ("l2", "deprecated")
        and isinstance(estimator.fit_intercept, bool)
        and all(is_finite(value) and value > 0 for value in (estimator.C, estimator.tol))
        and (weight is None or (isinstance(weight, str) and weight == "balanced"))
    )
    if not usual:
        return None
    settings = softmax.Settings(
        strength=float(estimator.C),
        tolerance=float(estimator.tol),
        intercept=estimator.fit_intercept,
        balanced=weight is not None,
        center=center,
        scale=scale,
    )
    return LogisticClassifier(settings, estimator)


def _label_resamples(
    X: Any,
    classes: Any,
    n_classes: int,
    label_all: bool,
    start: softmax.Start,
    settings: softmax.Settings,
    counts: Any,
    _seeds: Any,
) -> Batch:
    counts = np.ascontiguousarray(counts)  # with groups they are not: that would compile again
    data = (X, classes, n_classes, counts, label_all)
    return Batch(*softmax.label_resamples(*data, start, settings))


def _label_datasets(
    settings: softmax.Settings, datasets: Any, n_wanted: int, _seeds: Any, classes: Any
) -> Batch:
    n_classes = int(classes.max()) + 1
    return Batch(*softmax.label_datasets(datasets, classes, n_classes, n_wanted, settings))
