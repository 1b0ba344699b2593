"""Kernels of hierarchical clustering: the nearest-neighbor chain, and cutting the tree."""

from __future__ import annotations

import numpy as np

from coreclust._utils.jit import kernel

# Codes of the linkages for the kernels.
LINKAGES = {"single": 0, "complete": 1, "average": 2, "ward": 3}


@kernel
def label_resamples(distances, counts, n_clusters, linkage):
    """Label resamples given by the multiplicities of the items; -2 marks absent items."""
    n_resamples, n_items = counts.shape
    labels = np.full((n_resamples, n_items), -2, dtype=np.int32)
    workspace = np.empty((n_items, n_items))
    for resample in range(n_resamples):
        items = np.flatnonzero(counts[resample])
        n = items.size
        if n <= n_clusters:
            labels[resample][items] = np.arange(n)
            continue
        between = workspace[:n, :n]
        for a in range(n):
            source, target = distances[items[a]], between[a]
            for b in range(n):
                target[b] = source[items[b]]
        sizes = counts[resample][items].astype(np.float64)
        pairs, heights = merge_all(between, sizes, linkage)
        found = cut(pairs, heights, n_clusters)
        labels[resample][items] = found
    return labels


@kernel
def label_datasets(datasets, n_wanted, n_clusters, linkage):
    """Label the first items of datasets of one size, each clustered by itself."""
    n_datasets, n, d = datasets.shape
    labels = np.empty((n_datasets, n_wanted), dtype=np.int32)
    between = np.empty((n, n))
    columns = np.empty((d, n))
    for b in range(n_datasets):
        for f in range(d):
            for i in range(n):
                columns[f, i] = datasets[b, i, f]
        for i in range(n):
            row = between[i]
            row[:] = 0.0
            for f in range(d):
                x, column = columns[f, i], columns[f]
                for j in range(n):
                    row[j] += (x - column[j]) ** 2
            if linkage > 1:  # single and complete linkage need no square roots
                for j in range(n):
                    row[j] = np.sqrt(row[j])
        pairs, heights = merge_all(between, np.ones(n), linkage)
        labels[b] = cut(pairs, heights, n_clusters)[:n_wanted]
    return labels


@kernel
def merge_all(distances, sizes, linkage):
    """Merge clusters until one is left, with the nearest-neighbor chain algorithm.

    See Murtagh (1983) and Müllner (2011). `distances` (symmetric) and `sizes`, the multiplicities
    of the items, are overwritten. An item of multiplicity w stands for w copies that have merged at
    height 0. A cluster is identified by one of its items. Returns the two clusters of each merge,
    of which the second identifies the union, and its height. Merges are not sorted by height.
    """
    n = sizes.size
    ward = linkage == 3
    if ward:  # squared distances with the factor of Ward's heights
        for i in range(n):
            for j in range(n):
                share = 2 * sizes[i] * sizes[j] / (sizes[i] + sizes[j])
                distances[i, j] *= share * distances[i, j]
    pairs = np.empty((n - 1, 2), dtype=np.int64)
    heights = np.empty(n - 1)
    for i in range(n):
        distances[i, i] = np.inf  # no cluster is its own neighbor
    alive = np.arange(n)
    place = np.arange(n)  # of each cluster in `alive`
    n_alive = n
    chain = np.empty(n, dtype=np.int64)
    length = 0
    for step in range(n - 1):
        if length == 0:
            chain[0] = alive[0]
            length = 1
        while True:
            x = chain[length - 1]
            # In a tie, prefer the previous cluster, so that the chain cannot cycle.
            y = chain[length - 2] if length > 1 else -1
            least = distances[x, y] if length > 1 else np.inf
            row = distances[x]
            for k in range(n_alive):
                i = alive[k]
                if row[i] < least:
                    least = row[i]
                    y = i
            if length > 1 and y == chain[length - 2]:
                break
            if y < 0:  # all the others are infinitely far away
                y = alive[0] if alive[0] != x else alive[1]
            chain[length] = y
            length += 1
        length -= 2
        if x > y:
            x, y = y, x
        pairs[step, 0] = x
        pairs[step, 1] = y
        heights[step] = np.sqrt(least) if ward else least
        n_alive -= 1
        alive[place[x]] = alive[n_alive]
        place[alive[n_alive]] = place[x]
        size_x, size_y = sizes[x], sizes[y]
        row_x, row_y = distances[x], distances[y]
        for k in range(n_alive):
            i = alive[k]
            if i == y:
                continue
            to_x, to_y = row_x[i], row_y[i]
            if linkage == 0:
                new = min(to_x, to_y)
            elif linkage == 1:
                new = max(to_x, to_y)
            elif linkage == 2:
                new = (size_x * to_x + size_y * to_y) / (size_x + size_y)
            else:
                size_i = sizes[i]
                new = ((size_x + size_i) * to_x + (size_y + size_i) * to_y - size_i * least) / (
                    size_x + size_y + size_i
                )
            row_y[i] = new
            distances[i, y] = new
        sizes[y] = size_x + size_y
    return pairs, heights


@kernel
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def cut(pairs, heights, n_clusters):
    """Cut the tree into `n_clusters`; number the clusters by their first items."""
    n = heights.size + 1
    parent = np.arange(n)
    order = np.argsort(heights, kind="mergesort")
    for step in order[: n - n_clusters]:
        a = _root(parent, pairs[step, 0])
        b = _root(parent, pairs[step, 1])
        parent[a] = b
    names = np.full(n, -1, dtype=np.int32)
    labels = np.empty(n, dtype=np.int32)
    n_named = 0
    for i in range(n):
        root = _root(parent, i)
        if names[root] < 0:
            names[root] = n_named
            n_named += 1
        labels[i] = names[root]
    return labels


@kernel
def tree(pairs, heights):
    """Sort the merges by height and number new clusters from n on, as scipy does."""
    n = heights.size + 1
    parent = np.arange(n)
    node = np.arange(n)
    order = np.argsort(heights, kind="mergesort")
    children = np.empty((n - 1, 2), dtype=np.int64)
    for rank in range(n - 1):
        a = _root(parent, pairs[order[rank], 0])
        b = _root(parent, pairs[order[rank], 1])
        children[rank, 0] = min(node[a], node[b])
        children[rank, 1] = max(node[a], node[b])
        parent[a] = b
        node[b] = n + rank
    return children, heights[order]
