"""Hierarchical clustering, compiled."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from coreclust._utils.compat import Interval, StrOptions, check_sample_weight, fit_context
from coreclust.cluster import _agglomerate
from coreclust.cluster._agglomerate import LINKAGES
from coreclust.cluster._native import Batch, BatchLabeler, DatasetLabeler, NativeOffer


class HierarchicalClustering(ClusterMixin, BaseEstimator):
    """Agglomerative clustering, cut into a number of clusters.

    Inside :class:`~coreclust.CoreClustering`, the distances are computed once for all
    resamples, and all resamples are clustered in one compiled loop.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    linkage : {"complete", "average", "single", "ward"}, default="complete"
        The distance of two clusters: that of their farthest items ("complete"), the mean over
        all pairs of items ("average"), that of their nearest items ("single"), or the increase in
        variance if they merge ("ward").
    metric : str or callable, default="euclidean"
        A metric of :func:`scipy.spatial.distance.pdist`, or "precomputed" if X is a square
        matrix of distances. Ward's linkage needs Euclidean distances.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n_items,)
        Clusters are numbered by their first item.
    children_ : ndarray of int of shape (n_items - 1, 2)
        The two nodes of each merge, lowest merge first. Items are nodes 0 to n - 1; merge i
        creates node n + i.
    distances_ : ndarray of float of shape (n_items - 1,)
        The heights of the merges, as in scipy.
    n_features_in_ : int

    Notes
    -----
    With `sample_weight`, an item of weight w stands for w copies that have merged at height 0.
    This matters for "average" and "ward", whose distances depend on the sizes of clusters. Items of
    weight 0 are left out: the tree joins the other items, numbered from 0 on. Ties between
    distances are broken by the order of the items.

    The n × n matrix of distances is kept in memory.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.cluster import HierarchicalClustering
    >>> X = load_iris().data
    >>> labels = HierarchicalClustering(3, linkage="average").fit_predict(X)
    >>> [int((labels == label).sum()) for label in range(3)]
    [50, 64, 36]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "linkage": [StrOptions(set(LINKAGES))],
        "metric": [str, callable],
    }

    def __init__(
        self, n_clusters: int = 2, *, linkage: str = "complete", metric: Any = "euclidean"
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.metric = metric

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> HierarchicalClustering:
        """Build the tree and cut it.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features) or (n_items, n_items)
            Items, or their distances if `metric` is "precomputed".
        y : Ignored
        sample_weight : array-like of shape (n_items,), default=None
            A weight of 2 is equivalent to two copies of the item. Items of weight 0 do not affect
            the tree, but get the label of the nearest cluster, by the linkage.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        weights = check_sample_weight(sample_weight, X)
        counted = weights > 0
        if counted.sum() < self.n_clusters:
            raise ValueError(
                f"n_clusters={self.n_clusters} must not exceed the number of items with a positive "
                f"weight, n_samples={counted.sum()}."
            )
        distances = self._distances(X)
        between = distances if counted.all() else distances[np.ix_(counted, counted)]
        linkage = LINKAGES[self.linkage]
        pairs, heights = _agglomerate.merge_all(between, weights[counted], linkage)
        self.labels_ = _agglomerate.cut(pairs, heights, int(self.n_clusters))
        self.children_, self.distances_ = _agglomerate.tree(pairs, heights)
        if not counted.all():
            self.labels_ = _label_left_out(distances, weights, self.labels_, self.linkage)
        return self

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.int32]:
        """Build the tree, cut it and return the labels of the items."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def to_linkage(self) -> NDArray[np.float64]:
        """Return the tree in the format of scipy, for ``scipy.cluster.hierarchy.dendrogram``.

        Returns
        -------
        linkage : ndarray of shape (n_items - 1, 4)
            Two nodes, height and number of items for each merge.
        """
        check_is_fitted(self)
        n_items = len(self.children_) + 1
        sizes = np.ones(2 * n_items - 1)
        for merge, (left, right) in enumerate(self.children_):
            sizes[n_items + merge] = sizes[left] + sizes[right]
        return np.column_stack([self.children_, self.distances_, sizes[n_items:]])

    def _distances(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.linkage == "ward" and self.metric not in ("euclidean", "precomputed"):
            raise ValueError(
                f"linkage='ward' needs metric='euclidean' or 'precomputed', got {self.metric!r}."
            )
        if not (isinstance(self.metric, str) and self.metric == "precomputed"):
            distances = pdist(X, metric=self.metric)
            if np.isnan(distances).any():
                raise ValueError(
                    f"X has rows without a distance for metric={self.metric!r}, such as rows of "
                    "zeros for 'cosine' or constant rows for 'correlation'; remove them or use "
                    "another metric."
                )
            return squareform(distances)
        slack = 1e-10 * X.max()  # rounding errors of other programs
        if X.shape[0] != X.shape[1] or not np.allclose(X, X.T, rtol=0, atol=slack):
            raise ValueError(
                "X must be a symmetric square matrix of distances for metric='precomputed', "
                f"got an array of shape {X.shape}."
            )
        if X.min() < -slack or np.diagonal(X).max() > 1e4 * slack:
            raise ValueError(
                "X must hold distances for metric='precomputed': none negative, and 0 on the "
                "diagonal."
            )
        distances = np.maximum(X / 2 + X.T / 2, 0)
        np.fill_diagonal(distances, 0)
        return distances

    def __coreclust_native__(self) -> NativeOffer:
        return NativeOffer(
            owner=HierarchicalClustering,
            label_drawn=self._labeler,
            label_datasets=self._dataset_labeler,
            seeded=False,
            weights_from=int(self.n_clusters),
        )

    def _labeler(self, X: NDArray[Any]) -> BatchLabeler:
        distances = self._distances(np.ascontiguousarray(X, dtype=np.float64))
        return partial(_label_resamples, distances, int(self.n_clusters), LINKAGES[self.linkage])

    def _dataset_labeler(self, _n_features: int) -> DatasetLabeler | None:
        if self.metric != "euclidean":
            return None
        return partial(_label_datasets, int(self.n_clusters), LINKAGES[self.linkage])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _label_left_out(
    distances: NDArray[np.float64],
    weights: NDArray[np.float64],
    labels: NDArray[np.int32],
    linkage: str,
) -> NDArray[np.int32]:
    """Return the labels of all items: of weight 0, that of the nearest cluster by the linkage."""
    counted = np.flatnonzero(weights)
    left_out = np.flatnonzero(weights == 0)
    nearest = np.empty((left_out.size, labels.max() + 1))
    for label in range(nearest.shape[1]):
        members = counted[labels == label]
        share = weights[members] / weights[members].sum()
        to_members = distances[np.ix_(left_out, members)]
        if linkage == "single":
            nearest[:, label] = to_members.min(axis=1)
        elif linkage == "complete":
            nearest[:, label] = to_members.max(axis=1)
        elif linkage == "average":
            nearest[:, label] = to_members @ share
        else:  # Ward: the squared distance to the mean, from the squared distances of items
            within = distances[np.ix_(members, members)] ** 2
            nearest[:, label] = to_members**2 @ share - share @ within @ share / 2
    found = np.empty(weights.size, dtype=np.int32)
    found[counted], found[left_out] = labels, nearest.argmin(axis=1)
    return found


def _label_resamples(
    distances: Any, n_clusters: int, linkage: int, counts: Any, seeds: Any
) -> Batch:
    labels = _agglomerate.label_resamples(distances, counts, n_clusters, linkage)
    return Batch(labels, counts.sum(axis=1) < n_clusters)


def _label_datasets(
    n_clusters: int, linkage: int, datasets: Any, n_wanted: int, seeds: Any
) -> Batch:
    labels = _agglomerate.label_datasets(datasets, n_wanted, n_clusters, linkage)
    return Batch(labels, np.zeros(len(seeds), dtype=bool))
