"""Leiden communities of a graph of nearest neighbors, or of a graph that is given."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, triu
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from coreclust._utils.compat import Interval, StrOptions, check_sample_weight, fit_context
from coreclust._utils.constants import ABSENT
from coreclust._utils.seeds import draw_seed
from coreclust.cluster._native import Batch, BatchLabeler, NativeOffer
from coreclust.cluster._neighbors import (
    Edges,
    NeighborLists,
    edges_between,
    keep_in_use,
    neighbor_lists,
)

_LISTED = 3  # times the neighbors that are needed, so that few resamples search again
_FEWEST_NEIGHBORS = 3  # of an item in a resample, without itself
IGRAPH_LOCK = threading.Lock()  # igraph has one random number generator per process


class Leiden(ClusterMixin, BaseEstimator):
    """Leiden communities of the graph of nearest neighbors, as in scanpy.

    The graph joins every item with its nearest neighbors, with the weights of UMAP, as
    ``scanpy.pp.neighbors`` does. igraph finds the communities, as in ``scanpy.tl.leiden`` with
    ``flavor="igraph"``. Requires the extra `graph`.

    Inside :class:`~coreclust.CoreClustering`, the neighbors are searched for only once. Each
    resample takes the nearest that it contains.

    Parameters
    ----------
    n_neighbors : int, default=15
        Number of nearest neighbors of each item, including itself. In a resample with a share f
        of the items, it is multiplied by f; see Notes. Not used for a graph that is given.
    resolution : float, default=1.0
        Higher values give more and smaller clusters.
    objective : {"modularity", "CPM"}, default="modularity"
        The function that is optimized.
    n_iterations : int, default=2
        Number of iterations of the algorithm; a negative number iterates until nothing changes.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        "precomputed" takes a graph instead of vectors: a square matrix of weights, sparse or
        dense, such as ``adata.obsp["connectivities"]``. The graph of a resample is the part
        between its items.
    random_state : int, RandomState or None, default=None
        Seed of the algorithm.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n_items,)
        The community of each item. The largest one is 0.
    n_features_in_ : int

    Notes
    -----
    With as many neighbors in a part of the data as in all of it, the graph would be coarser, and
    there would be fewer communities. On 700 blood cells and 200 subsamples of 80 %, `n_neighbors`
    multiplied by f finds the number of communities of the reference, and the mean Jaccard
    similarity with its clusters is larger; see the guide on single cells.

    The copies of an item in a bootstrap resample are one vertex. If it has `c` copies, the weights
    of its edges are multiplied by `c`, and for CPM it counts as `c` vertices. Copies would
    otherwise be nearest neighbors of each other.

    The neighbors are exact up to 100,000 items. Above, they are approximated by pynndescent if it
    is installed. Both directions of an edge are added up, as in scanpy; this matters for
    the resolution of CPM. A graph that is given is used without its diagonal.

    References
    ----------
    .. [1] V. A. Traag, L. Waltman, N. J. van Eck (2019). From Louvain to Leiden: guaranteeing
       well-connected communities. Scientific Reports 9, 5233.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.cluster import Leiden
    >>> Leiden(resolution=0.5, random_state=0).fit_predict(load_iris().data).shape
    (150,)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 2, None, closed="left")],
        "resolution": [Interval(Real, 0, None, closed="left")],
        "objective": [StrOptions({"modularity", "CPM"})],
        "n_iterations": [Integral],
        "metric": [StrOptions({"euclidean", "precomputed"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_neighbors: int = 15,
        *,
        resolution: float = 1.0,
        objective: str = "modularity",
        n_iterations: int = 2,
        metric: str = "euclidean",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.resolution = resolution
        self.objective = objective
        self.n_iterations = n_iterations
        self.metric = metric
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self.metric == "precomputed"
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Leiden:
        """Find the communities.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features), or graph of shape (n_items, n_items)
        y : Ignored
        sample_weight : array-like of shape (n_items,), default=None
            How many copies of an item there are; see Notes. Must be positive.
        """
        given = self.metric == "precomputed"
        X = validate_data(
            self,
            X,
            accept_sparse="csr" if given else False,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
        )
        weights = None
        if sample_weight is not None:
            weights = check_sample_weight(sample_weight, X)
            if not (weights > 0).all():
                raise ValueError(
                    "sample_weight must be positive for Leiden; leave out other items."
                )
        if given:
            edges = edges_of(X)
        else:
            lists = neighbor_lists(np.ascontiguousarray(X), self.n_neighbors - 1)
            edges = lists.edges_within(np.arange(len(X)), self.n_neighbors - 1)
        seed = draw_seed(self.random_state)
        self.labels_ = _communities(edges, X.shape[0], weights, self._settings(), seed)
        return self

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.int64]:
        """Find the communities and return the labels of the items."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def _settings(self) -> dict[str, Any]:
        return {
            "objective_function": self.objective,
            "resolution": float(self.resolution),
            "n_iterations": int(self.n_iterations),
        }

    def __coreclust_native__(self) -> NativeOffer:
        return NativeOffer(
            owner=Leiden,
            label_drawn=self._labeler,
            weights_from=1,
            in_share=self._parameters_for,
            takes_sparse=self.metric == "precomputed",
            holds_lock=True,
        )

    def _parameters_for(self, share: float) -> dict[str, Any]:
        """Return the parameters of a fit to a share of the items."""
        fewest = min(_FEWEST_NEIGHBORS, self.n_neighbors - 1)
        return {"n_neighbors": 1 + max(fewest, round(share * (self.n_neighbors - 1)))}

    def _labeler(self, X: Any) -> BatchLabeler:
        import_igraph()
        if self.metric == "precomputed":
            return _Labeler(_PartOfGraph(edges_of(X)), self._settings())
        if X.dtype not in (np.float64, np.float32):
            X = X.astype(np.float64)
        lists = hold_neighbors(self, np.ascontiguousarray(X))
        return _Labeler(_Nearest(lists, self._parameters_for), self._settings())


def hold_neighbors(leiden: Leiden, X: NDArray[Any]) -> NeighborLists:
    """Search for the neighbors; fits to the same data find them as long as they are held."""
    return keep_in_use(neighbor_lists(X, _LISTED * (leiden.n_neighbors - 1)))


@dataclass(frozen=True, eq=False)
class _Nearest:
    """Makes the graph of a resample from the neighbors of all items."""

    lists: NeighborLists
    parameters_for: Callable[[float], dict[str, Any]]

    def __call__(self, drawn: NDArray[np.int64], n_items: int) -> Edges:
        n_neighbors = self.parameters_for(drawn.size / n_items)["n_neighbors"]
        return self.lists.edges_within(drawn, n_neighbors - 1)


@dataclass(frozen=True, eq=False)
class _PartOfGraph:
    """Makes the graph of a resample from the graph of all items."""

    edges: Edges

    def __call__(self, drawn: NDArray[np.int64], n_items: int) -> Edges:
        place = np.full(n_items, -1, dtype=np.int32)
        place[drawn] = np.arange(drawn.size, dtype=np.int32)
        return Edges(*edges_between(*self.edges, place))


@dataclass(frozen=True, eq=False)
class _Labeler:
    graph_of: Callable[[NDArray[np.int64], int], Edges]
    settings: dict[str, Any]

    def __call__(self, counts: NDArray[np.int32], seeds: NDArray[np.int64]) -> Batch:
        labels = np.full(counts.shape, ABSENT, dtype=np.int32)
        failed = np.zeros(len(counts), dtype=bool)
        for b, count in enumerate(counts):
            drawn = np.flatnonzero(count)
            failed[b] = drawn.size < 2
            if not failed[b]:
                edges = self.graph_of(drawn, count.size)
                weights = count[drawn].astype(np.float64)
                found = _communities(edges, drawn.size, weights, self.settings, int(seeds[b]))
                labels[b, drawn] = found
        return Batch(labels, failed)


def edges_of(X: Any) -> Edges:
    """Return the edges of a square matrix; raise if it has negative weights."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            "X must be a square matrix of weights with metric='precomputed', one row and one "
            f"column per item; got shape {X.shape}."
        )
    graph = csr_matrix(X)
    if graph.nnz and graph.data.min() < 0:
        raise ValueError(
            "X must have no negative weights with metric='precomputed'; pass similarities, not "
            "differences."
        )
    upper = triu(graph + graph.T, 1, format="csr").tocoo()
    kept = upper.data > 0
    return Edges(
        upper.row[kept].astype(np.int32),
        upper.col[kept].astype(np.int32),
        upper.data[kept].astype(np.float64),
    )


def _communities(
    edges: Edges,
    n_items: int,
    counts: NDArray[np.float64] | None,
    settings: dict[str, Any],
    seed: int,
) -> NDArray[np.int64]:
    """Return the community of each vertex, the largest first."""
    igraph = import_igraph()
    # igraph takes an iterator of pairs six times as fast as an array.
    pairs = zip(edges.source.tolist(), edges.target.tolist(), strict=True)
    graph = igraph.Graph(n=n_items, edges=pairs)
    weight, node_weights = edges.weight, None
    if counts is not None:
        weight = weight * counts[edges.source] * counts[edges.target]
        if settings["objective_function"] == "CPM":
            node_weights = counts.tolist()
    with IGRAPH_LOCK:
        igraph.set_random_number_generator(random.Random(seed))  # noqa: S311
        try:
            found = graph.community_leiden(
                weights=weight.tolist(), node_weights=node_weights, **settings
            )
        finally:
            igraph.set_random_number_generator(random)  # igraph's default
    labels = np.array(found.membership, dtype=np.int64)
    by_size = np.argsort(-np.bincount(labels), kind="stable")
    number = np.empty(by_size.size, dtype=np.int64)
    number[by_size] = np.arange(by_size.size)
    return number[labels]


def import_igraph() -> Any:
    """Return the package igraph, or raise an error that says how to install it."""
    try:
        import igraph
    except ImportError as error:
        raise ImportError(
            "Leiden needs the package igraph: install it with pip install 'coreclust[graph]', or "
            "pass another estimator."
        ) from error
    return igraph
