"""Places the nodes and edges of a tree of cores so that few edges cross."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import NOISE

if TYPE_CHECKING:
    from coreclust.model_selection import CoreTree

_GAP = 0.04  # space between two nodes, as a share of all items
_MOST_GAPS = 0.5  # the space of all gaps of a column, at most
_MAX_SWEEPS = 8
_MAX_SWAPPED = 1500  # nodes; in larger trees the order is not refined by swaps


@dataclass(frozen=True)
class Box:
    """A node: a cluster at a level."""

    column: int
    cluster: int  # -1 for items in no core
    top: float  # y grows downward, in shares of all items
    bottom: float
    n_items: int
    strength: float  # NaN if it is not known


@dataclass(frozen=True)
class Band:
    """An edge: the items that two clusters of neighboring columns have in common."""

    start: Box
    end: Box
    start_top: float
    end_top: float
    height: float
    n_items: int
    strength: float

    @property
    def is_weak(self) -> bool:
        """Whether the items are in no core at one of the two levels."""
        return NOISE in (self.start.cluster, self.end.cluster)


@dataclass(frozen=True)
class TreeLayout:
    """The boxes and bands of a tree; columns are at x = 0, 1, 2, ..."""

    levels: list[Any]
    boxes: list[Box]
    bands: list[Band]
    height: float


def lay_out_tree(tree: CoreTree) -> TreeLayout:
    """Return where the nodes and edges of a tree are drawn.

    Cores are ordered by the barycenters of their neighbors, then by swaps of two neighbors as long
    as fewer lines cross. Items in no core come last in each column.
    """
    levels = tree.levels
    columns = [tree.nodes[tree.nodes["level"] == level].to_dict("records") for level in levels]
    n_items = sum(node["n_items"] for node in columns[0])
    cores = [[node["cluster"] for node in column if node["cluster"] >= 0] for column in columns]
    steps = [
        tree.edges[tree.edges["from_level"] == level].to_dict("records") for level in levels[:-1]
    ]
    flows = [
        _flow(step, before, after)
        for step, before, after in zip(steps, cores[:-1], cores[1:], strict=True)
    ]
    orders = order_nodes(flows) if flows else [np.arange(len(cores[0]))]
    gap = min(_GAP, _MOST_GAPS / max(map(len, columns)))
    height = 1 + gap * (max(map(len, columns)) - 1)
    placed: list[dict[int, Box]] = []
    for place, (column, order) in enumerate(zip(columns, orders, strict=True)):
        nodes = {node["cluster"]: node for node in column}
        clusters = [cores[place][core] for core in order.tolist()] + [NOISE] * (NOISE in nodes)
        top = (height - 1 - gap * (len(column) - 1)) / 2
        boxes = {}
        for cluster in clusters:
            node = nodes[cluster]
            bottom = top + node["n_items"] / n_items
            boxes[cluster] = Box(place, cluster, top, bottom, node["n_items"], node["strength"])
            top = bottom + gap
        placed.append(boxes)
    bands = [
        band
        for step, before, after in zip(steps, placed[:-1], placed[1:], strict=True)
        for band in _bands(step, before, after, n_items)
    ]
    return TreeLayout(levels, [box for boxes in placed for box in boxes.values()], bands, height)


def order_nodes(flows: list[NDArray[Any]]) -> list[NDArray[np.intp]]:
    """Return an order of the nodes of each column in which few items cross.

    `flows[t][i, j]` is the number of items that go from node i of column t to node j of the next
    column.
    """
    sizes = [len(flow) for flow in flows] + [flows[-1].shape[1]]
    orders = [np.arange(size) for size in sizes]
    best, fewest = list(orders), math.inf
    for sweep in range(_MAX_SWEEPS):
        forward = sweep % 2 == 0
        for place in range(1, len(sizes)) if forward else range(len(sizes) - 2, -1, -1):
            neighbor = place - 1 if forward else place + 1
            weights = flows[place - 1] if forward else flows[place].T
            orders[place] = _by_barycenter(weights, orders[neighbor], orders[place])
        crossings = total_crossings(flows, orders)
        if crossings < fewest:
            best, fewest = list(orders), crossings
    return _swapped(flows, best) if sum(sizes) <= _MAX_SWAPPED else best


def total_crossings(flows: list[NDArray[Any]], orders: list[NDArray[np.intp]]) -> float:
    """Return the number of pairs of items whose lines cross, in all columns."""
    return sum(
        _crossings(flow, orders[place], orders[place + 1]) for place, flow in enumerate(flows)
    )


def _crossings(flow: NDArray[Any], rows: NDArray[np.intp], columns: NDArray[np.intp]) -> float:
    ordered = flow[np.ix_(rows, columns)].astype(np.float64)
    below = ordered[::-1].cumsum(axis=0)[::-1] - ordered
    return float((ordered * (below.cumsum(axis=1) - below)).sum())


def _by_barycenter(
    weights: NDArray[Any], neighbors: NDArray[np.intp], order: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Order nodes by the mean place of their neighbors; a node without any stays at its place."""
    places = np.empty(neighbors.size)
    places[neighbors] = (np.arange(neighbors.size) + 0.5) / max(neighbors.size, 1)
    own = np.empty(order.size)
    own[order] = (np.arange(order.size) + 0.5) / max(order.size, 1)
    sums = weights.sum(axis=0)
    middle = np.where(sums > 0, places @ weights / np.maximum(sums, 1), own)
    return order[np.argsort(middle[order], kind="stable")]


def _swapped(flows: list[NDArray[Any]], orders: list[NDArray[np.intp]]) -> list[NDArray[np.intp]]:
    """Swap neighbors as long as fewer lines cross."""
    orders = [order.copy() for order in orders]

    def around(place: int) -> float:
        return sum(
            _crossings(flows[step], orders[step], orders[step + 1])
            for step in (place - 1, place)
            if 0 <= step < len(flows)
        )

    improved = True
    while improved:
        improved = False
        for place, order in enumerate(orders):
            for node in range(order.size - 1):
                before = around(place)
                order[[node, node + 1]] = order[[node + 1, node]]
                if around(place) < before:
                    improved = True
                else:
                    order[[node, node + 1]] = order[[node + 1, node]]
    return orders


def _flow(step: list[dict[str, Any]], before: list[int], after: list[int]) -> NDArray[np.int64]:
    """Return the items in common of the cores of two levels, as a matrix."""
    flow = np.zeros((len(before), len(after)), dtype=np.int64)
    rows = {cluster: place for place, cluster in enumerate(before)}
    columns = {cluster: place for place, cluster in enumerate(after)}
    for edge in step:
        if edge["from_cluster"] >= 0 and edge["to_cluster"] >= 0:
            flow[rows[edge["from_cluster"]], columns[edge["to_cluster"]]] = edge["n_items"]
    return flow


def _bands(
    step: list[dict[str, Any]], before: dict[int, Box], after: dict[int, Box], n_items: int
) -> list[Band]:
    """Place the edges of a step: at both ends, in the order of the nodes at the other end."""
    pairs = [(before[edge["from_cluster"]], after[edge["to_cluster"]], edge) for edge in step]
    used = {box: box.top for box in before.values()}
    tops = {}
    for start, end, edge in sorted(pairs, key=lambda pair: (pair[0].top, pair[1].top)):
        tops[start, end] = used[start]
        used[start] += edge["n_items"] / n_items
    used = {box: box.top for box in after.values()}
    bands = []
    for start, end, edge in sorted(pairs, key=lambda pair: (pair[1].top, pair[0].top)):
        height = edge["n_items"] / n_items
        ends = tops[start, end], used[end]
        bands.append(Band(start, end, *ends, height, edge["n_items"], edge["strength"]))
        used[end] += height
    return bands
