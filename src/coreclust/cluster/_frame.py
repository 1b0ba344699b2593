"""Maps data to single precision, for the products of `_lloyd_wide`."""

from __future__ import annotations

import numpy as np

from coreclust._utils.jit import kernel
from coreclust.cluster._lloyd_wide import Frame

_LARGEST = 1e150  # largest difference of values that can be squared and summed
_SMALLEST = 1e-130


@kernel
def frame_of(X):
    """Return the frame of the data; its scale is 0 if the values are too large or too small."""
    n, d = X.shape
    origin = np.zeros(d)
    for i in range(n):
        for f in range(d):
            origin[f] += X[i, f]
    origin /= n
    largest = 0.0
    for i in range(n):
        for f in range(d):
            largest = max(largest, abs(X[i, f] - origin[f]))
    if not _SMALLEST < largest < _LARGEST:
        return Frame(origin, 0.0)
    return Frame(origin, 2.0 ** -np.ceil(np.log2(largest)))
