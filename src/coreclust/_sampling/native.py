"""Labeling many resamples at once, for estimators that have compiled code for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering
from sklearn.cluster import KMeans as SklearnKMeans

from coreclust.cluster import HierarchicalClustering, KMeans


class BatchLabeler(Protocol):
    """Labels resamples of one dataset, given by how often each item is in them.

    An estimator offers one by a method ``_batch_labeler(X)``, which may return None
    where it cannot. What is the same for all resamples is computed there, once. For each
    resample the labels must be those of ``fit_predict(X[items], sample_weight=counts)``
    with ``random_state=seed``, so that both paths give the same answer. A method
    ``_batch_predictor(X)`` offers one that gives every item the label that ``predict`` has
    for it. A labeler may also have a method ``label_and_keep``, which returns the centers of
    the clusters in each resample as a third array. On its other path, an estimator with such a method
    and a parameter `n_clusters` is given distinct items with multiplicities.
    """

    @property
    def seeded(self) -> bool:
        """Whether the labels depend on the seeds at all."""

    def __call__(
        self, counts: NDArray[np.int32], seeds: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Label some resamples; called from several threads at once.

        Parameters
        ----------
        counts : ndarray of shape (n_resamples, n_items)
            How often each item is in each resample.
        seeds : ndarray of shape (n_resamples,)
            The random_state of each resample.

        Returns
        -------
        labels : ndarray of shape (n_resamples, n_items)
            From 0 on, NOISE, or ABSENT where the count is 0.
        failed : ndarray of bool of shape (n_resamples,)
            Resamples that could not be clustered.
        """


class DatasetLabeler(Protocol):
    """Labels the first items of many datasets of one size, each clustered by itself.

    An estimator offers one by a method ``_dataset_labeler(n_features)``, which may return
    None where it cannot. The labels must be those of ``fit_predict(dataset)[:n_wanted]``
    with ``random_state=seed``.
    """

    def __call__(
        self, datasets: NDArray[np.float64], n_wanted: int, seeds: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Label some datasets; called from several threads at once.

        Parameters
        ----------
        datasets : ndarray of shape (n_datasets, n_items, n_features)
        n_wanted : int
            How many items to return the labels of.
        seeds : ndarray of shape (n_datasets,)
            The random_state of each dataset.

        Returns
        -------
        labels : ndarray of shape (n_datasets, n_wanted)
            From 0 on, or NOISE.
        failed : ndarray of bool of shape (n_datasets,)
            Datasets that could not be clustered.
        """


def _twin_of_kmeans(estimator: SklearnKMeans) -> KMeans | None:
    given_centers = not isinstance(estimator.init, str)
    usual = (
        estimator.algorithm == "lloyd"
        and not estimator.verbose
        and not callable(estimator.init)
        and (given_centers or estimator.init == "k-means++")
    )
    if not usual:
        return None
    return KMeans(
        estimator.n_clusters,
        init=estimator.init,
        n_init=1 if estimator.n_init == "auto" or given_centers else estimator.n_init,
        max_iter=estimator.max_iter,
        tol=estimator.tol,
    )


def _twin_of_agglomerative(estimator: AgglomerativeClustering) -> HierarchicalClustering | None:
    usual = (
        estimator.connectivity is None
        and estimator.n_clusters is not None
        and estimator.distance_threshold is None
        and estimator.metric in ("euclidean", "precomputed")
    )
    if not usual:
        return None
    return HierarchicalClustering(
        estimator.n_clusters, linkage=estimator.linkage, metric=estimator.metric
    )


# Estimators of other packages, by exact type (a subclass may do anything), with a function
# that returns the native estimator that does the same, or None where a parameter asks for
# something else.
_NATIVE_TWINS: dict[type, Callable[[Any], Any]] = {
    SklearnKMeans: _twin_of_kmeans,
    AgglomerativeClustering: _twin_of_agglomerative,
}


def batch_labeler(estimator: Any, X: Any, *, everyone: bool = False) -> BatchLabeler | None:
    """Return what labels many resamples of X at once like `estimator` would, if anything does.

    With `everyone`, the items that are not in a resample get a label by its `predict`, too.
    """
    native = _native(estimator)
    offer = own_method(native, "_batch_predictor" if everyone else "_batch_labeler")
    if offer is None or not isinstance(X, np.ndarray):
        return None
    try:
        return offer(X)
    except ValueError:
        if native is estimator:
            raise
        return None  # such as distances that are not symmetric: let the original decide


def dataset_labeler(estimator: Any, X: Any) -> DatasetLabeler | None:
    """Return what labels many datasets like X at once like `estimator` would, if anything does."""
    offer = own_method(_native(estimator), "_dataset_labeler")
    if offer is None or not isinstance(X, np.ndarray):
        return None
    return offer(X.shape[1])


def own_method(estimator: Any, name: str) -> Any:
    """Return a method that does what `fit` does, or `fit` and `predict`; or None.

    None also if a subclass has changed one of these, but not that method.
    """
    public = ["fit", "fit_predict", *(["predict"] if name == "_batch_predictor" else [])]
    classes = type(estimator).__mro__

    def depth(name: str) -> int:
        return next((k for k, cls in enumerate(classes) if name in vars(cls)), len(classes))

    return getattr(estimator, name, None) if depth(name) <= min(map(depth, public)) else None


def _native(estimator: Any) -> Any:
    """Return the native estimator that does the same, or what was given."""
    twin = _NATIVE_TWINS.get(type(estimator))
    return estimator if twin is None else twin(estimator)
