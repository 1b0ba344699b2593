"""Compares the features of the core of a cluster with its weak items and with all other items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from coreclust._inspection.diagnosis import takes_distances
from coreclust._utils.compat import number_of_items
from coreclust._utils.frames import is_pandas_frame, is_polars_frame

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

_VALUES = 10**6  # per block of items
_MOST_VALUES = 10  # of a column that is not numeric; others are identifiers or free text


@dataclass(frozen=True)
class Profile:
    """One feature of one cluster.

    The rest are all items outside of the cluster. `difference` is that of core and rest in units
    of their pooled standard deviation; infinite if both are constant.
    """

    cluster: int
    feature: str
    is_share: bool  # of the items that have a value, such as "color = red"
    core: float
    weak: float  # NaN without weak items
    rest: float
    core_spread: float  # standard deviations
    rest_spread: float
    difference: float


def find_profiles(fitted: CoreClustering, X: Any, at_most: int) -> list[Profile]:
    """Return the features that distinguish each core from the rest, the most distinguishing first.

    Columns of a frame that are not numeric count as one feature per value. At most `at_most`
    features of each cluster are returned; none if X is not a table or if all items are in one
    cluster. Missing values are left out.
    """
    if X is None or fitted.n_clusters_ < 2 or number_of_items(X) != fitted.labels_.size:
        return []
    if takes_distances(fitted._estimator()):
        return []
    data, names, is_share = _features(fitted, X)
    if not names:
        return []
    count, mean, spread = _moments(fitted, data)
    profiles = []
    for cluster in range(fitted.n_clusters_):
        core, weak, rest = 3 * cluster, 3 * cluster + 1, 3 * cluster + 2
        gap = mean[core] - mean[rest]
        pooled = np.sqrt((spread[core] ** 2 + spread[rest] ** 2) / 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            difference = np.where(gap == 0, 0.0, gap / pooled)
        order = np.argsort(-np.nan_to_num(np.abs(difference), nan=-1.0), kind="stable")
        profiles += [
            Profile(
                cluster,
                names[feature],
                is_share[feature],
                float(mean[core, feature]),
                float(mean[weak, feature]) if count[weak, feature] else float("nan"),
                float(mean[rest, feature]),
                float(spread[core, feature]),
                float(spread[rest, feature]),
                float(difference[feature]),
            )
            for feature in order[:at_most].tolist()
            if not np.isnan(difference[feature])
        ]
    return profiles


def _features(fitted: CoreClustering, X: Any) -> tuple[Any, list[str], list[bool]]:
    """Return the features as numbers, their names, and which are shares of a value."""
    if is_polars_frame(X):
        X = X.to_pandas()
    if is_pandas_frame(X):
        return _columns(X)
    data = csr_array(X) if issparse(X) else _numbers(X)
    if data is None:
        return None, [], []
    known = [str(name) for name in getattr(fitted, "feature_names_in_", ())]
    n_features = data.shape[1]
    names = known if len(known) == n_features else [f"feature {i + 1}" for i in range(n_features)]
    return data, names, [False] * n_features


def _numbers(X: Any) -> NDArray[np.float64] | None:
    try:
        data = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):  # a list of objects
        return None
    return data if data.ndim == 2 and data.shape[1] else None


def _columns(frame: Any) -> tuple[Any, list[str], list[bool]]:
    """Return the columns of a frame; a column that is not numeric becomes one for each value."""
    import pandas as pd

    columns: list[NDArray[np.float64]] = []
    names: list[str] = []
    is_share: list[bool] = []
    for place, name in enumerate(frame.columns):
        values = frame.iloc[:, place]
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_complex_dtype(values):
            columns.append(values.to_numpy(dtype=np.float64, na_value=np.nan))
            names.append(str(name))
            is_share.append(pd.api.types.is_bool_dtype(values))
            continue
        try:
            codes, found = pd.factorize(values, sort=False)
        except TypeError:  # for instance lists, which have no hash
            continue
        if len(found) > _MOST_VALUES:
            continue
        for code, value in enumerate(found):
            columns.append(np.where(codes < 0, np.nan, codes == code).astype(np.float64))
            names.append(f"{name} = {value}")
            is_share.append(True)
    return (np.column_stack(columns) if columns else None), names, is_share


def _moments(
    fitted: CoreClustering, data: Any
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the count, mean and standard deviation of each feature in each group of items.

    The groups of a cluster are its core, its weak items, and all other items. All arrays are of
    shape (3 * n_clusters, n_features).
    """
    n_items, n_features = data.shape
    n_clusters = fitted.n_clusters_
    # Trimmed items are in a group of their own, the last one.
    group = np.where(
        fitted.reference_labels_ < 0,
        2 * n_clusters,
        2 * fitted.reference_labels_ + (fitted.labels_ < 0),
    )
    sums = np.zeros((3, 2 * n_clusters + 1, n_features))  # of ones, values and squares
    center = _first_values(data)  # so that squares lose few digits
    step = max(1, _VALUES // n_features)
    for begin in range(0, n_items, step):
        block = data[begin : begin + step]
        values = (block.toarray() if issparse(block) else block) - center
        known = np.isfinite(values)
        values = np.where(known, values, 0.0)
        size = len(values)
        groups = (group[begin : begin + step], np.arange(size))
        of = csr_array((np.ones(size), groups), shape=(2 * n_clusters + 1, size))
        sums += [of @ known.astype(np.float64), of @ values, of @ values**2]
    whole = sums[:, :-1].reshape(3, n_clusters, 2, n_features)
    rest = sums.sum(axis=1)[:, None] - whole.sum(axis=2)
    parts = np.concatenate([whole, rest[:, :, None]], axis=2).reshape(3, -1, n_features)
    n = np.maximum(parts[0], 1)
    mean = parts[1] / n
    variance = np.maximum(parts[2] / n - mean**2, 0.0)
    # Below this, the variance is round-off.
    variance[variance < 1e-12 * (parts[2] / n)] = 0.0
    count = parts[0].astype(np.int64)
    mean = np.where(count > 0, mean + center, np.nan)
    return count, mean, np.where(count > 0, np.sqrt(variance), np.nan)


def _first_values(data: Any) -> NDArray[np.float64]:
    """Return a finite value of each feature, near its middle; 0 for sparse data."""
    if issparse(data):
        return np.zeros(data.shape[1])
    some = data[:: max(1, len(data) // 1000)]
    finite = np.isfinite(some)
    total = np.where(finite, some, 0.0).sum(axis=0)
    return np.asarray(total / np.maximum(finite.sum(axis=0), 1), dtype=np.float64)
