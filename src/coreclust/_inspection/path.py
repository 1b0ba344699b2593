"""The cores along a range of rules, from one ensemble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust.cores import Core


@dataclass(frozen=True, eq=False)
class CorePath:
    """Core clusterings under one rule after the other.

    Attributes
    ----------
    parameter : {"alpha", "confidence"}
        What changes along the path.
    values : ndarray of float of shape (n_values,)
        Its values, ascending.
    cores : list of list of Core
        For each value the cores, one a cluster.
    labels : ndarray of int of shape (n_values, n_items)
        For each value the core that each item is in, -1 for none.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> cc = CoreClustering(KMeans(3), n_resamples=200, random_state=0).fit(load_iris().data)
    >>> path = cc.alpha_path([0.05, 0.1, 0.2])
    >>> path
    CorePath(alpha from 0.05 to 0.2, 3 values)
    >>> path.core_sizes.shape, path.first_core().shape
    ((3, 3), (150,))
    """

    parameter: str
    values: NDArray[np.float64]
    cores: list[list[Core]]
    labels: NDArray[np.int64]

    @property
    def weak_fraction(self) -> NDArray[np.float64]:
        """The share of items that are in no core, for each value; trimmed items count."""
        return (self.labels < 0).mean(axis=1)

    @property
    def core_sizes(self) -> NDArray[np.int64]:
        """The size of each core, of shape (n_values, n_clusters)."""
        return np.array([[core.core.size for core in cores] for cores in self.cores], np.int64)

    def first_core(self) -> NDArray[np.float64]:
        """Return, for each item, the smallest value at which it is in a core; NaN if at none.

        Cores need not be nested: an item may drop out again at a larger value.
        """
        inside = self.labels >= 0
        first = self.values[inside.argmax(axis=0)]
        return np.where(inside.any(axis=0), first, np.nan)

    def to_frame(self) -> Any:
        """Return a data frame with a row for each value and cluster, which goes by its number."""
        import pandas as pd

        rows = [
            {
                self.parameter: value,
                "cluster": core.label,
                "size": core.size,
                "core": core.core.size,
                "weak": core.size - core.core.size,
                "weak_fraction": 1 - core.core.size / core.size,
                "optimal": core.optimal,
            }
            for value, cores in zip(self.values.tolist(), self.cores, strict=True)
            for core in cores
        ]
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        ends = f"{self.values[0]:g} to {self.values[-1]:g}"
        return f"CorePath({self.parameter} from {ends}, {self.values.size} values)"


def check_values(values: ArrayLike, name: str, *, open_ends: bool) -> NDArray[np.float64]:
    """Return the different values of a path, ascending; raise unless they lie in [0, 1]."""
    try:
        array = np.unique(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numbers, got {values!r}.") from error
    inside = (array > 0) & (array < 1) if open_ends else (array >= 0) & (array <= 1)
    if array.size == 0 or not inside.all():
        between = "above 0 and below 1" if open_ends else "between 0 and 1"
        raise ValueError(f"{name} must be one or more numbers {between}, got {values!r}.")
    return array
