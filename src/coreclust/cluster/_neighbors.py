"""Graphs of nearest neighbors: one search for the data, from which resamples take their part."""

from __future__ import annotations

import importlib.util
import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from coreclust._utils.jit import kernel

# Exact up to here: 50,000 items of 50 features take 8 s of one core. NN-descent takes 2 s, but also
# compiles for 17 s in each process.
_MOST_EXACT = 100_000
_FEW_FEATURES = 15  # up to which a tree is faster than comparing all items

_STEPS = 64  # of Newton's method
_TOLERANCE = 1e-5
_LEAST_SCALE = 1e-3  # of the bandwidth, relative to the mean distance


class Edges(NamedTuple):
    """The edges of an undirected graph, each once."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    weight: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NeighborLists:
    """The nearest neighbors of each item, in the order of their distance; ties by number.

    Attributes
    ----------
    items : ndarray of shape (n_items, n_features)
    neighbors : ndarray of int of shape (n_items, n_listed)
    distances : ndarray of shape (n_items, n_listed)
    """

    items: NDArray[Any]
    neighbors: NDArray[np.int32]
    distances: NDArray[np.float64]

    def edges_within(self, drawn: NDArray[np.int64], n_neighbors: int) -> Edges:
        """Return the weighted graph of the nearest neighbors among some items, in sorted order.

        Items with too few neighbors in their list are searched for again.
        """
        n_neighbors = min(n_neighbors, drawn.size - 1)
        place = np.full(len(self.items), -1, dtype=np.int32)
        place[drawn] = np.arange(drawn.size, dtype=np.int32)
        near, distances, n_found = first_present(
            self.neighbors, self.distances, drawn, place, n_neighbors
        )
        short = np.flatnonzero(n_found < n_neighbors)
        if short.size:
            near[short], distances[short] = _nearest(self.items[drawn], n_neighbors, short)
        return Edges(*symmetric_edges(near, fuzzy_weights(near, distances)))


def neighbor_lists(X: NDArray[Any], n_neighbors: int) -> NeighborLists:
    """Return at least `n_neighbors` neighbors of each item, if there are as many.

    Lists of the same data that are still in use are returned again.
    """
    n_neighbors = min(n_neighbors, len(X) - 1)
    key = joblib.hash(X) if _IN_USE else ""  # hashing takes a while
    known = _IN_USE.get(key)
    if known is not None and known.neighbors.shape[1] >= n_neighbors:
        return known
    return NeighborLists(X, *_nearest(X, n_neighbors))


def keep_in_use(lists: NeighborLists) -> NeighborLists:
    """Let `neighbor_lists` find these lists as long as somebody holds them."""
    _IN_USE[joblib.hash(lists.items)] = lists
    return lists


# By the hash of the data. A fit holds the lists for its resamples, and its reference clustering
# finds them here, so that the neighbors are searched for once.
_IN_USE: weakref.WeakValueDictionary[str, NeighborLists] = weakref.WeakValueDictionary()


def _nearest(
    X: NDArray[Any], n_neighbors: int, rows: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the neighbors of some rows, without the rows themselves, and their distances."""
    rows = np.arange(len(X)) if rows is None else rows
    n_asked = min(n_neighbors + 1, len(X))
    if len(X) > _MOST_EXACT and rows.size == len(X) and importlib.util.find_spec("pynndescent"):
        from pynndescent import NNDescent

        index = NNDescent(X, n_neighbors=max(n_asked, 30), n_jobs=1, random_state=0)
        found = index.neighbor_graph[0][:, :n_asked]
    else:
        method = "kd_tree" if X.shape[1] <= _FEW_FEATURES else "brute"
        index = NearestNeighbors(n_neighbors=n_asked, algorithm=method).fit(X)
        found = index.kneighbors(X[rows], return_distance=False)
    return sorted_neighbors(X, rows, found.astype(np.int32), n_neighbors)


@kernel
def sorted_neighbors(X, rows, found, n_neighbors):
    """Return the first neighbors of each row among those found, without itself, by distance.

    The distances are computed again, because the searches round them in different ways.
    """
    near = np.empty((rows.size, n_neighbors), dtype=np.int32)
    distances = np.empty((rows.size, n_neighbors), dtype=np.float64)
    for r in range(rows.size):
        n_kept = 0
        for c in range(found.shape[1]):
            other = found[r, c]
            if other == rows[r] or other < 0:
                continue
            total = 0.0
            for f in range(X.shape[1]):
                difference = np.float64(X[rows[r], f]) - np.float64(X[other, f])
                total += difference * difference
            distance = np.sqrt(total)
            spot = n_kept
            while spot > 0 and (
                distances[r, spot - 1] > distance
                or (distances[r, spot - 1] == distance and near[r, spot - 1] > other)
            ):
                if spot < n_neighbors:
                    distances[r, spot] = distances[r, spot - 1]
                    near[r, spot] = near[r, spot - 1]
                spot -= 1
            if spot < n_neighbors:
                distances[r, spot] = distance
                near[r, spot] = other
                n_kept = min(n_kept + 1, n_neighbors)
    return near, distances


@kernel
def first_present(neighbors, distances, drawn, place, n_neighbors):
    """Return the first listed neighbors of each drawn item that were drawn, and how many there are.

    `place` is the position of each item among those drawn, or -1.
    """
    near = np.empty((drawn.size, n_neighbors), dtype=np.int32)
    length = np.empty((drawn.size, n_neighbors), dtype=np.float64)
    n_found = np.zeros(drawn.size, dtype=np.int32)
    for d in range(drawn.size):
        item = drawn[d]
        found = 0
        for c in range(neighbors.shape[1]):
            if found == n_neighbors:
                break
            other = place[neighbors[item, c]]
            if other >= 0:
                near[d, found] = other
                length[d, found] = distances[item, c]
                found += 1
        n_found[d] = found
    return near, length, n_found


@kernel
def fuzzy_weights(near, distances):
    """Return the weights of UMAP: 1 for the nearest neighbor, then decreasing exponentially.

    The bandwidth of an item is such that its weights add up to log2 of the number of its
    neighbors and itself. The sum is convex in the inverse bandwidth and decreases from left to
    right, so Newton's method from zero does not pass the solution.
    """
    n_items, n_neighbors = near.shape
    target = np.log2(n_neighbors + 1.0)
    mean = 0.0
    for i in range(n_items):
        for c in range(n_neighbors):
            mean += distances[i, c]
    mean /= max(n_items * (n_neighbors + 1), 1)
    weights = np.empty((n_items, n_neighbors), dtype=np.float64)
    beyond = np.empty(n_neighbors, dtype=np.float64)
    for i in range(n_items):
        nearest = 0.0
        own_mean = 0.0
        for c in range(n_neighbors - 1, -1, -1):
            own_mean += distances[i, c] / (n_neighbors + 1)
            if distances[i, c] > 0:
                nearest = distances[i, c]
        for c in range(n_neighbors):
            beyond[c] = max(distances[i, c] - nearest, 0.0)
        inverse = 0.0
        for _ in range(_STEPS):
            total = 0.0
            slope = 0.0
            for c in range(n_neighbors):
                value = np.exp(-beyond[c] * inverse)
                total += value
                slope += beyond[c] * value
            if total - target < _TOLERANCE or slope <= 0:
                break
            inverse += (total - target) / slope
        least = _LEAST_SCALE * (own_mean if nearest > 0 else mean)
        if least > 0:
            inverse = min(inverse, 1 / least)
        for c in range(n_neighbors):
            weights[i, c] = np.exp(-beyond[c] * inverse)
    return weights


@kernel
def symmetric_edges(near, weights):
    """Return each edge once; its weight is the probabilistic union of both directions, twice.

    It is twice the union because scanpy, too, counts both directions.
    """
    n_items, n_neighbors = near.shape
    source = np.empty(near.size, dtype=np.int32)
    target = np.empty(near.size, dtype=np.int32)
    weight = np.empty(near.size, dtype=np.float64)
    n_edges = 0
    for i in range(n_items):
        for c in range(n_neighbors):
            j = near[i, c]
            back = 0.0
            mutual = False
            for other in range(n_neighbors):
                if near[j, other] == i:
                    back = weights[j, other]
                    mutual = True
                    break
            if mutual and j < i:
                continue  # this edge was found from the other side
            source[n_edges] = i
            target[n_edges] = j
            weight[n_edges] = 2 * (weights[i, c] + back - weights[i, c] * back)
            n_edges += 1
    return source[:n_edges].copy(), target[:n_edges].copy(), weight[:n_edges].copy()


@kernel
def edges_between(source, target, weight, place):
    """Return the edges between drawn items, which `place` numbers from 0 on; -1 for the others."""
    n_edges = 0
    for e in range(source.size):
        if place[source[e]] >= 0 and place[target[e]] >= 0:
            n_edges += 1
    kept_source = np.empty(n_edges, dtype=np.int32)
    kept_target = np.empty(n_edges, dtype=np.int32)
    kept_weight = np.empty(n_edges, dtype=np.float64)
    spot = 0
    for e in range(source.size):
        i = place[source[e]]
        j = place[target[e]]
        if i >= 0 and j >= 0:
            kept_source[spot] = i
            kept_target[spot] = j
            kept_weight[spot] = weight[e]
            spot += 1
    return kept_source, kept_target, kept_weight
