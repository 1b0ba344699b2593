"""Trimmed k-means, and the base class that it shares with tclust."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from coreclust._utils.compat import Interval, StrOptions, check_sample_weight, fit_context
from coreclust._utils.seeds import draw_seed
from coreclust._utils.validation import TOO_LARGE
from coreclust.cluster import _concentration
from coreclust.cluster._concentration import Settings
from coreclust.cluster._native import Batch, BatchLabeler, DatasetLabeler, NativeOffer

_STARTS = 500  # with n_init="auto", of a fit by itself
_STARTS_IN_RESAMPLES = 50  # and of a fit to a resample


class TrimmedClusterer(ClusterMixin, BaseEstimator):
    """Base class of clusterers that use concentration steps."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "trim": [Interval(Real, 0, 1, closed="left")],
        "init": [StrOptions({"items", "subsets", "both"})],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "n_refine": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        trim: float = 0.05,
        init: str = "items",
        n_init: int | str = "auto",
        n_refine: int = 25,
        max_iter: int = 20,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.trim = trim
        self.init = init
        self.n_init = n_init
        self.n_refine = n_refine
        self.max_iter = max_iter
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters and the items to trim.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_items,), default=None
            A weight of 2 is equivalent to two copies of the item. Items of weight 0 do not
            affect the clusters; they get the label that `predict` gives them.
        """
        settings = self._settings()
        X = validate_data(self, X, dtype=np.float64, order="C")
        weights = check_sample_weight(sample_weight, X)
        counted = weights > 0
        distinct, group = distinct_rows(X[counted])
        weight = np.bincount(group, weights=weights[counted], minlength=len(distinct))
        whole = bool((weights == np.floor(weights)).all())
        to_trim = float(_concentration.weight_to_trim(self.trim, weight.sum(), whole))
        self._check_enough(len(distinct), weight.sum() - to_trim if whole else np.inf, len(X))
        found = _concentration.fit_items(
            distinct, weight, to_trim, settings, draw_seed(self.random_state)
        )
        work, models, slot, rank, objective, self.n_iter_, self.converged_ = found
        if not np.isfinite(objective):
            raise ValueError(TOO_LARGE)
        order = np.argsort(rank)
        *model, shares = (parameter[slot][order] for parameter in models)
        label = work.label
        self._model = tuple(model)
        self._lowest = float(work.value[label >= 0].min(initial=np.inf)) if to_trim else -np.inf
        self.cluster_centers_ = model[0]
        self.objective_ = float(objective)
        self.weights_ = work.size[order] / work.size.sum() if settings.spherical else shares
        self._describe()
        if counted.all():
            self.labels_ = label[group].astype(np.int32)
        else:
            self.labels_ = self._label(X)
            self.labels_[counted] = label[group]
        return self

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.int32]:
        """Find the clusters and return the labels of the items, -1 for the trimmed ones."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Assign items to the fitted clusters.

        Items that fit worse than every item that `fit` kept are labeled -1. The items of `fit`
        therefore get the same labels again, unless they tie at the trimming threshold. If `fit`
        trimmed nothing, no item is labeled -1.
        """
        check_is_fitted(self)
        return self._label(validate_data(self, X, dtype=np.float64, reset=False))

    def _label(self, X: NDArray[np.float64]) -> NDArray[np.int32]:
        columns, spherical = np.ascontiguousarray(X.T), self._settings().spherical
        model: list[Any] = [*self._model, self._lowest]
        return _concentration.label_items(columns, spherical, *model)

    def _settings(self, *, in_resample: bool = False) -> Settings:
        """Return the settings of balls of the same size, with the types that the kernels expect."""
        n_init = self.n_init
        if n_init == "auto":
            n_init = _STARTS_IN_RESAMPLES if in_resample else _STARTS
        return Settings(
            n_clusters=int(self.n_clusters),
            trim=float(self.trim),
            spherical=True,
            equal_weights=True,
            restr_factor=1.0,
            n_init=int(n_init),
            item_starts=self.init != "subsets",
            subset_starts=self.init != "items",
            n_refine=min(int(self.n_refine), int(n_init)),
            max_iter=int(self.max_iter),
        )

    def _describe(self) -> None:
        """Set the attributes that are specific to the subclass."""
        raise NotImplementedError

    def _check_enough(self, n_distinct: int, kept: float, n_items: int) -> None:
        if n_distinct < self.n_clusters:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the {n_distinct} distinct items of "
                f"positive weight in X (n_samples={n_items}); ask for fewer clusters."
            )
        if kept < self.n_clusters:
            raise ValueError(
                f"trim={self.trim} keeps {kept:g} of n_samples={n_items}, fewer than "
                f"n_clusters={self.n_clusters}; trim less or ask for fewer clusters."
            )

    def __coreclust_native__(self) -> NativeOffer:
        return NativeOffer(
            owner=TrimmedClusterer,
            label_drawn=self._labeler,
            label_datasets=self._dataset_labeler,
            weights_from=int(self.n_clusters),
            in_resamples={"n_init": _STARTS_IN_RESAMPLES} if self.n_init == "auto" else {},
        )

    def _labeler(self, X: NDArray[Any]) -> BatchLabeler:
        self._validate_params()
        distinct, group = distinct_rows(check_array(X, dtype=np.float64, order="C"))
        self._check_enough(len(distinct), np.inf, len(X))
        return partial(_label_resamples, distinct, group, self._settings(in_resample=True))

    def _dataset_labeler(self, _n_features: int) -> DatasetLabeler:
        self._validate_params()
        return partial(_label_datasets, self._settings(in_resample=True))


def _label_resamples(
    distinct: Any, group: Any, settings: Settings, counts: Any, seeds: Any
) -> Batch:
    return Batch(*_concentration.label_resamples(distinct, group, counts, settings, seeds))


def _label_datasets(settings: Settings, datasets: Any, n_wanted: int, seeds: Any) -> Batch:
    return Batch(*_concentration.label_datasets(datasets, n_wanted, settings, seeds))


def distinct_rows(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the distinct rows of X in lexicographic order, and the place of each row in them.

    Merging equal rows makes copies equivalent to weights, and sorting makes the result
    independent of the order of the items.
    """
    order = np.lexsort(X.T[::-1])
    ordered = X[order]
    is_new = np.ones(len(X), dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    group = np.empty(len(X), dtype=np.intp)
    group[order] = np.cumsum(is_new) - 1
    return ordered[is_new], group


class TrimmedKMeans(TrimmedClusterer):
    """Trimmed k-means: k-means that leaves out the items that fit worst.

    The centers minimize the sum of squared distances over the items that are kept; the choice
    of the trimmed items is part of the minimization. Outliers, which shift the centers of
    k-means, are trimmed. Clusters are balls of about the same size; see :class:`TClust` for
    clusters of different shapes.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    trim : float, default=0.05
        Share of the items to trim, at least 0 and below 1: ``ceil(trim * n)`` items.
    init : {"items", "subsets", "both"}, default="items"
        The centers of a start: distinct random items ("items"), the means of n_features + 1
        random items each ("subsets"), or both in turn ("both").
    n_init : int or "auto", default="auto"
        Number of random starts. "auto" is 500, and 50 for a resample inside
        :class:`~coreclust.CoreClustering`.
    n_refine : int, default=25
        Number of starts, the best ones after two steps, that continue until nothing changes.
    max_iter : int, default=20
        Maximum number of steps of a start. Each step assigns the items, trims and moves the
        centers.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        In decreasing order of cluster size.
    labels_ : ndarray of int of shape (n_items,)
        The cluster of each item; -1 for trimmed items.
    weights_ : ndarray of shape (n_clusters,)
        Share of each cluster in the items that are kept.
    inertia_ : float
        Sum of squared distances to the nearest center, over the items that are kept.
    objective_ : float
        The maximized objective: minus `inertia_`.
    n_iter_ : int
        Number of steps of the best start.
    converged_ : bool
        Whether the last step changed nothing. If False, increase `max_iter`; there is no
        warning.
    n_features_in_ : int

    See Also
    --------
    TClust : Robust clustering with covariances and weights.

    Notes
    -----
    Equal rows are merged into one item with the sum of their weights. If only part of the
    weight of an item is trimmed, the rest still counts in the centers; the label is -1 if more
    than half of the weight is trimmed. Of items at exactly the same distance, the
    lexicographically first are trimmed. With `sample_weight`, n is the sum of the weights; if
    they are not whole numbers, exactly ``trim * n`` is trimmed.

    A cluster that loses all its items gets the kept item farthest from its center. The result
    does not depend on the order of the items.

    References
    ----------
    J. A. Cuesta-Albertos, A. Gordaliza and C. Matrán (1997). Trimmed k-means: an attempt
    to robustify quantizers. The Annals of Statistics 25(2), 553-576.

    H. Fritz, L. A. García-Escudero and A. Mayo-Iscar (2013). A fast algorithm for robust
    constrained clustering. Computational Statistics & Data Analysis 61, 124-136.

    Examples
    --------
    >>> from coreclust.cluster import TrimmedKMeans
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [500.0]]
    >>> clusterer = TrimmedKMeans(2, trim=0.1, random_state=0).fit(X)
    >>> clusterer.labels_
    array([ 0,  0,  0,  1,  1, -1], dtype=int32)
    >>> clusterer.cluster_centers_
    array([[ 1. ],
           [10.5]])
    >>> clusterer.predict([[9.9], [5.0]])
    array([ 1, -1], dtype=int32)
    """

    def _describe(self) -> None:
        self.inertia_ = -self.objective_
