"""Fitted models of the resamples, kept to label items that were not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.compat import number_of_items
from coreclust._utils.constants import NOISE
from coreclust.cluster._lloyd import nearest_centers


@dataclass(frozen=True, eq=False)
class CenterModel:
    """The centers of a k-means clustering; all that is needed to label an item.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        In the order of the labels; NaN for a cluster without items.
    """

    centers: NDArray[np.float64]

    def label(self, X: Any) -> NDArray[np.int64]:
        """Return the label of each item."""
        points = np.ascontiguousarray(X, dtype=np.float64)
        return nearest_centers(points, self.centers).astype(np.int64)


@dataclass(frozen=True, eq=False)
class EstimatorModel:
    """A fitted estimator, and the labels that stand behind the codes of its resample.

    Attributes
    ----------
    estimator : estimator with predict
    names : ndarray
        Sorted; the code of a label is its place.
    negative_is_noise : bool
    """

    estimator: Any
    names: NDArray[Any]
    negative_is_noise: bool

    def label(self, X: Any) -> NDArray[np.int64]:
        """Return the code of each item; one that no item of the resample had is a code beyond."""
        labels = np.asarray(self.estimator.predict(X))
        place = np.searchsorted(self.names, labels)
        known = place < self.names.size
        known[known] = self.names[place[known]] == labels[known]
        codes = np.where(known, place, self.names.size)
        if self.negative_is_noise and labels.dtype.kind == "i":
            codes[labels < 0] = NOISE
        return codes


Model = CenterModel | EstimatorModel


def label_new(models: list[Model], X: Any) -> NDArray[np.int64]:
    """Return the label of each item by each model: (n_items, n_models)."""
    labels = np.empty((number_of_items(X), len(models)), dtype=np.int64)
    for b, model in enumerate(models):
        labels[:, b] = model.label(X)
    return labels
