"""Support vector machines as scikit-learn's SVC fits them, for many resamples per call."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from coreclust._classify import smo
from coreclust._classify.parameters import is_finite, others_are_default
from coreclust._utils.validation import is_number, is_whole
from coreclust.cluster._native import Batch, BatchLabeler, DatasetLabeler, NativeOffer

_MOST_ITEMS = 4000  # the matrix of kernel values of a resample takes up to 80 MB
_FORMS = {"linear": smo.LINEAR, "poly": smo.POLY, "rbf": smo.RBF}
_SUPPORTED = {
    "C",
    "kernel",
    "degree",
    "gamma",
    "coef0",
    "tol",
    "class_weight",
    # without an effect on the labels:
    "shrinking",
    "cache_size",
    "decision_function_shape",
    "random_state",
}


@dataclass(frozen=True)
class SupportVectorMachine:
    """A support vector machine in the place of scikit-learn's, which may follow a StandardScaler.

    The decisions agree with scikit-learn's up to `tol`.
    """

    settings: smo.Settings
    auto_gamma: bool  # whether gamma is the inverse of the number of features

    def __coreclust_native__(self) -> NativeOffer:
        return NativeOffer(
            owner=SupportVectorMachine,
            label_drawn=self._labeler,
            label_all=partial(self._labeler, label_all=True),
            label_datasets=self._dataset_labeler,
            seeded=False,
            most_per_call=25,
            failure="ValueError: The number of classes has to be greater than one, or the values "
            "are too large.",
        )

    def _labeler(
        self, X: NDArray[Any], classes: NDArray[np.int64], *, label_all: bool = False
    ) -> BatchLabeler | None:
        if X.dtype.kind not in "biuf" or len(X) > _MOST_ITEMS or not np.isfinite(X).all():
            return None
        X = np.ascontiguousarray(X, dtype=np.float64)
        return partial(_label_resamples, X, classes, label_all, self._for(X.shape[1]))

    def _dataset_labeler(self, n_features: int) -> DatasetLabeler:
        return partial(_label_datasets, self._for(n_features))

    def _for(self, n_features: int) -> smo.Settings:
        """Return the settings for a number of features."""
        if self.auto_gamma:
            return self.settings._replace(gamma=1.0 / n_features)
        return self.settings


def twin_of_svc(
    estimator: SVC, *, center: bool = False, scale: bool = False
) -> SupportVectorMachine | None:
    """Return the machine with the parameters of scikit-learn's, or None if one is not supported."""
    gamma, weight = estimator.gamma, estimator.class_weight
    usual = (
        others_are_default(estimator, _SUPPORTED)
        and isinstance(estimator.kernel, str)
        and estimator.kernel in _FORMS
        and (gamma >= 0 and is_finite(gamma) if is_number(gamma) else gamma in ("scale", "auto"))
        and is_whole(estimator.degree)
        and estimator.degree >= 0
        and is_finite(estimator.coef0)
        # With a negative one the problem may not be convex, so that there are several optima.
        and (estimator.coef0 >= 0 or estimator.kernel != "poly")
        and all(is_finite(value) and value > 0 for value in (estimator.C, estimator.tol))
        and (weight is None or (isinstance(weight, str) and weight == "balanced"))
    )
    if not usual:
        return None
    settings = smo.Settings(
        form=_FORMS[estimator.kernel],
        gamma=float(gamma) if is_number(gamma) else smo.BY_VARIANCE,
        degree=int(estimator.degree),
        coef0=float(estimator.coef0),
        bound=float(estimator.C),
        tolerance=float(estimator.tol),
        balanced=weight is not None,
        center=center,
        scale=scale,
    )
    return SupportVectorMachine(settings, auto_gamma=gamma == "auto")


def _label_resamples(
    X: Any, classes: Any, label_all: bool, settings: smo.Settings, counts: Any, _seeds: Any
) -> Batch:
    counts = np.ascontiguousarray(counts)  # with groups they are not: that would compile again
    n_classes = int(classes.max()) + 1
    return Batch(*smo.label_resamples(X, classes, n_classes, counts, label_all, settings))


def _label_datasets(
    settings: smo.Settings, datasets: Any, n_wanted: int, _seeds: Any, classes: Any
) -> Batch:
    n_classes = int(classes.max()) + 1
    return Batch(*smo.label_datasets(datasets, classes, n_classes, n_wanted, settings))
