"""Assigns new items to cores, by the models of the resamples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from coreclust._utils.compat import number_of_items
from coreclust._utils.validation import refuse_not_finite
from coreclust.evidence._counting import agreement_with
from coreclust.evidence._ensemble import LabelEnsemble

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


def has_models(fitted: CoreClustering) -> bool:
    """Return True if new items can be labeled; otherwise raise an error with the reason."""
    if not fitted.keep_models or not getattr(fitted, "_models", True):
        raise AttributeError(
            "predict needs the models of the resamples; set keep_models=True and call fit again."
        )
    return True


def predict(self: CoreClustering, X: Any) -> NDArray[np.int64]:
    """Return the core that each new item belongs to, -1 for none.

    The model of each resample labels the new items. An item belongs to a core if it forms an edge
    with *every* member of the core, by the same rule as the items of the core. If there are
    several such cores, it belongs to the one with which it is together most often.

    Parameters
    ----------
    X : array-like of shape (n_new, n_features)
        The new items.

    Returns
    -------
    labels : ndarray of int of shape (n_new,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> X = load_iris().data
    >>> cc = CoreClustering(n_resamples=50, keep_models=True, random_state=0).fit(X[::2])
    >>> cc.predict(X[1::2]).shape
    (75,)
    """
    check_is_fitted(self)
    if self.rule_.nested:
        raise ValueError(
            f"predict cannot be used with guarantee={self.rule_.guarantee!r}; fit with another "
            "guarantee."
        )
    new = _label_new(self, X)
    labels = np.full(len(new), -1, dtype=np.int64)
    highest = np.full(len(new), -1.0)
    ensemble = cast(LabelEnsemble, self.ensemble_)  # models are kept only with a LabelEnsemble
    sizes = np.array([core.n_items for core in self.cores_], dtype=np.int64)
    table = self.rule_.table(ensemble, sizes)
    for core in self.cores_:
        members = ensemble.labels[core.core]
        fits, together, seen = agreement_with(new, members, table, self.noise)
        share = together / np.maximum(seen, 1)
        better = fits & (share > highest)
        labels[better], highest[better] = core.label, share[better]
    return labels


def _label_new(fitted: CoreClustering, X: Any) -> NDArray[np.int64]:
    """Return the label of each new item by each model, of shape (n_items, n_models)."""
    if fitted.engine_ == "generic":
        items = validate_data(fitted, X, reset=False, skip_check_array=True)
    else:
        items = validate_data(fitted, X, reset=False, dtype=np.float64, ensure_all_finite=False)
        refuse_not_finite(X, items)
    labels = np.empty((number_of_items(items), len(fitted._models)), dtype=np.int64)
    for b, model in enumerate(fitted._models):
        labels[:, b] = model.label(items)
    return labels
