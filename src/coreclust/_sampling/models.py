"""Checks the labels of fitted estimators, and keeps the models of resamples to label new items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.compat import number_of_items
from coreclust._utils.constants import NOISE

LABELS = "the labels returned by estimator"


def one_per_item(labels: Any, n_items: int) -> NDArray[Any]:
    """Return labels as an array; raise unless there is one for each item."""
    if labels is None:
        raise TypeError(f"{LABELS} must be one label per item, got None.")
    # A list goes through objects: numpy would turn a NaN among strings into a string.
    array = np.asarray(labels) if hasattr(labels, "dtype") else np.asarray(labels, dtype=object)
    if array.ndim != 1:
        raise ValueError(
            f"{LABELS} must be one label per item, got an array of shape {array.shape}."
        )
    if array.size != n_items:
        raise ValueError(f"{LABELS} must be one per item: expected {n_items}, got {array.size}.")
    return array


def predict_each(estimator: Any, X: Any) -> NDArray[Any]:
    """Return the label of each item by a fitted estimator."""
    return one_per_item(np.asarray(estimator.predict(X)), number_of_items(X))


@dataclass(frozen=True, eq=False)
class EstimatorModel:
    """A fitted estimator, and the labels that the codes of its resample stand for."""

    estimator: Any
    names: NDArray[Any]  # sorted; the code of a label is its position
    negative_is_noise: bool

    def label(self, X: Any) -> NDArray[np.int64]:
        """Return the code of each item; labels that were not in the resample get a new code."""
        labels = predict_each(self.estimator, X)
        place = np.searchsorted(self.names, labels)
        known = place < self.names.size
        known[known] = self.names[place[known]] == labels[known]
        codes = np.where(known, place, self.names.size)
        if self.negative_is_noise and labels.dtype.kind == "i":
            codes[labels < 0] = NOISE
        return codes
