"""Kernels that prepare the items of a resample.

Kernels of other files call them. numba's cache does not see edits here: delete it after one.
"""

from __future__ import annotations

import numpy as np

from coreclust._utils.jit import kernel


@kernel
def drawn_items(counts):
    """Return the items with a count, their counts as weights, and the sum of the counts."""
    items, weights = np.empty(counts.size, dtype=np.int64), np.empty(counts.size)
    n_drawn = 0
    total = 0
    for i in range(counts.size):
        items[n_drawn] = i
        weights[n_drawn] = counts[i]
        n_drawn += counts[i] > 0
        total += counts[i]
    return items[:n_drawn], weights[:n_drawn], total


@kernel
def columns_of(X, items):
    """Return items as columns."""
    columns = np.empty((X.shape[1], items.size))
    for i in range(items.size):
        for f in range(X.shape[1]):
            columns[f, i] = X[items[i], f]
    return columns
