"""k-means clustering, compiled."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from coreclust._utils.compat import Interval, StrOptions, check_sample_weight, fit_context
from coreclust._utils.seeds import draw_seed
from coreclust._utils.validation import TOO_LARGE
from coreclust.cluster import _lloyd, _lloyd_sparse, _lloyd_wide
from coreclust.cluster._frame import frame_of
from coreclust.cluster._lloyd import Settings, nearest_centers
from coreclust.cluster._native import Batch, BatchLabeler, DatasetLabeler, NativeOffer
from coreclust.cluster._starts import (
    ResampleLabeler,
    Run,
    Runner,
    rows_of,
    run_from_random_items,
    sparse_runner,
)


class KMeans(ClusterMixin, BaseEstimator):
    """k-means clustering by greedy k-means++ seeding and Lloyd's algorithm.

    The method is that of scikit-learn, optimized for many fits of small data: inside
    :class:`~coreclust.CoreClustering`, all resamples are clustered in one compiled loop.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {"k-means++", "random"} or array-like of shape (n_clusters, n_features), \
            default="k-means++"
        Method to find the first centers, or the centers themselves. "random" takes items at
        random.
    n_local_trials : int, default=None
        Number of candidates that k-means++ draws for each center; the best one is used. None
        means ``2 + int(log(n_clusters))``, as in scikit-learn; 1 is the plain k-means++ of [1]_.
    n_init : int, default=10
        Number of runs; the run with the lowest inertia is used. If `init` gives the centers,
        there is one run.
    max_iter : int, default=300
        Maximum number of iterations of a run.
    tol : float, default=0.0
        A run stops when the sum of the squared movements of the centers is at most `tol` times
        the mean variance of the features. By default, it stops when no item changes its
        cluster.
    random_state : int, RandomState or None, default=None
        Seed of the draws of the first centers.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of int of shape (n_items,)
    inertia_ : float
        Weighted sum of squared distances of the items to their centers.
    n_iter_ : int
        Number of iterations of the best run.
    n_features_in_ : int

    Notes
    -----
    A cluster that loses all its items gets the item farthest from its center. If the data has
    fewer distinct rows than clusters, each distinct row is a cluster. Clusters without items are
    removed, with a warning. Sparse data is not made dense, and large data in single precision is
    not copied.

    References
    ----------
    .. [1] D. Arthur and S. Vassilvitskii (2007). k-means++: the advantages of careful
       seeding. Proceedings of the 18th ACM-SIAM Symposium on Discrete Algorithms.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.cluster import KMeans
    >>> kmeans = KMeans(3, random_state=0).fit(load_iris().data)
    >>> round(kmeans.inertia_, 2)
    78.85
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
        "n_local_trials": [None, Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | ArrayLike = "k-means++",
        n_local_trials: int | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_local_trials = n_local_trials
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> KMeans:
        """Compute the centers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_items, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_items,), default=None
            A weight of 2 is equivalent to two copies of the item. Items of weight 0 do not
            affect the centers, but get a label.
        """
        X = _validated(self, X)
        weights = check_sample_weight(sample_weight, X)
        items = np.flatnonzero(weights > 0)
        if items.size < self.n_clusters:
            raise ValueError(
                f"n_clusters={self.n_clusters} must not exceed the number of items with a "
                f"positive weight, n_samples={items.size}."
            )
        settings, seed = self._settings(X.shape[1]), draw_seed(self.random_state)
        run = _runner(X)
        if self._from_random_items():
            found = run_from_random_items(run, X, items, weights[items], settings, seed)
        else:
            found = run(items, weights[items], settings, seed)
        labels, self.cluster_centers_, self.inertia_, self.n_iter_ = found
        if not np.isfinite(self.inertia_):
            raise ValueError(TOO_LARGE)
        everyone = items.size == X.shape[0]
        self.labels_ = labels if everyone else _nearest(X, self.cluster_centers_)
        self._drop_empty_clusters()
        return self

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.int32]:
        """Compute the centers and return the labels of the items."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the label of the nearest center for each item."""
        check_is_fitted(self)
        return _nearest(_validated(self, X, reset=False), self.cluster_centers_)

    def _from_random_items(self) -> bool:
        return isinstance(self.init, str) and self.init == "random"

    def _settings(self, n_features: int) -> Settings:
        """Return the settings of the kernels."""
        n_init = int(self.n_init)
        if isinstance(self.init, str):
            init = np.empty((0, n_features))
        else:
            init, n_init = np.asarray(self.init, dtype=np.float64), 1
            if init.shape != (self.n_clusters, n_features):
                raise ValueError(
                    f"init must be 'k-means++', 'random' or centers of shape "
                    f"({self.n_clusters}, {n_features}), got shape {init.shape}."
                )
        return Settings(
            n_clusters=int(self.n_clusters),
            init=init,
            n_candidates=int(self.n_local_trials or 2 + np.log(self.n_clusters)),
            n_init=n_init,
            max_iter=int(self.max_iter),
            tol=float(self.tol),
        )

    def _drop_empty_clusters(self) -> None:
        used, labels = np.unique(self.labels_, return_inverse=True)
        if used.size < self.n_clusters:
            warnings.warn(
                f"Only {used.size} of n_clusters={self.n_clusters} clusters have items: there are "
                "fewer distinct rows than clusters, or max_iter is too small.",
                ConvergenceWarning,
                stacklevel=3,
            )
            self.labels_ = labels.astype(np.int32)
            self.cluster_centers_ = self.cluster_centers_[used]

    def __coreclust_native__(self) -> NativeOffer:
        return NativeOffer(
            owner=KMeans,
            label_drawn=self._labeler,
            label_all=partial(self._labeler, label_all=True),
            label_datasets=self._dataset_labeler,
            weights_from=int(self.n_clusters),
            takes_sparse=True,
            make_model=CenterModel,
        )

    def _labeler(self, X: Any, *, label_all: bool = False) -> BatchLabeler:
        settings, from_items = self._settings(X.shape[1]), self._from_random_items()
        X = X if issparse(X) else _contiguous(X)
        if issparse(X) or from_items:
            nearest = partial(_nearest, X) if label_all else None
            return ResampleLabeler(X, _runner(X), nearest, settings, from_items, not issparse(X))
        frame = _wide_frame(X)
        if frame is not None:
            return partial(_label_wide, X, frame, label_all, settings)
        return partial(_label_resamples, X, label_all, settings)

    def _dataset_labeler(self, n_features: int) -> DatasetLabeler | None:
        if self._from_random_items():
            return None
        return partial(_label_datasets, self._settings(n_features))


def _validated(kmeans: KMeans, X: Any, *, reset: bool = True) -> Any:
    """Return data that was checked, in the precision in which it is given."""
    dtype = [np.float64, np.float32]
    return validate_data(kmeans, X, accept_sparse="csr", dtype=dtype, order="C", reset=reset)


def _contiguous(X: NDArray[Any]) -> NDArray[Any]:
    """Return an array for the kernels, in single precision if it is so already.

    All kernels compute in double precision, and need no copy.
    """
    return np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)


def _nearest(X: Any, centers: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the label of the nearest center for each item."""
    if issparse(X):
        rows = rows_of(X)
        return _lloyd_sparse.nearest_centers(rows, np.arange(X.shape[0]), centers)
    return nearest_centers(X, centers)


def _runner(X: Any) -> Runner:
    """Return a function that clusters some of the items, given their weights."""
    if issparse(X):
        return sparse_runner(rows_of(X))
    frame = _wide_frame(X)

    def run(
        items: NDArray[np.int64], weights: NDArray[np.float64], settings: Settings, seed: int
    ) -> Run:
        found: Run
        if frame is None:
            chosen = X if items.size == len(X) else X[items]
            columns = np.ascontiguousarray(chosen.T, dtype=np.float64)
            found = _lloyd.best_of_runs(columns, weights, settings, seed)
        else:
            found = _lloyd_wide.best_of_runs(X, items, frame, weights, settings, seed)
        return found

    return run


_WIDE_FROM = 40  # features from which on matrix products are faster, see benchmarks/kmeans_grid.py


def _wide_frame(X: NDArray[Any]) -> _lloyd_wide.Frame | None:
    """Return the frame for the kernels for many features, None if the others are to be used.

    Both give the same labels. The others also handle values near the limits of double precision.
    """
    if X.shape[1] < _WIDE_FROM:
        return None
    frame = frame_of(X)
    return frame if frame.scale > 0 else None


def _label_resamples(X: Any, label_all: bool, settings: Settings, counts: Any, seeds: Any) -> Batch:
    return Batch(*_lloyd.label_resamples(X, counts, label_all, settings, seeds))


def _label_wide(
    X: Any, frame: Any, label_all: bool, settings: Settings, counts: Any, seeds: Any
) -> Batch:
    counts = np.ascontiguousarray(counts)  # with groups they are not: that would compile again
    labels, failed, centers = _lloyd_wide.label_resamples(X, frame, counts, settings, seeds)
    if label_all:
        for resample in np.flatnonzero(~failed):
            labels[resample] = nearest_centers(X, centers[resample])
    return Batch(labels, failed, centers)


def _label_datasets(settings: Settings, datasets: Any, n_wanted: int, seeds: Any) -> Batch:
    if datasets.shape[2] < _WIDE_FROM:
        labels = _lloyd.label_datasets(datasets, n_wanted, settings, seeds)
    else:
        weights, every = np.ones(datasets.shape[1]), np.arange(datasets.shape[1])
        labels = np.empty((len(datasets), n_wanted), dtype=np.int32)
        for dataset, seed, row in zip(datasets, seeds, labels, strict=True):
            row[:] = _runner(dataset)(every, weights, settings, seed)[0][:n_wanted]
    return Batch(labels, np.zeros(len(seeds), dtype=bool))


@dataclass(frozen=True, eq=False)
class CenterModel:
    """Labels items by their nearest center."""

    centers: NDArray[np.float64]  # (n_clusters, n_features), NaN for a cluster without items

    def label(self, X: Any) -> NDArray[np.int64]:
        """Return the label of each item."""
        points = np.ascontiguousarray(X, dtype=np.float64)
        return nearest_centers(points, self.centers).astype(np.int64)
