"""Checks the values of the data, and says where a wrong one is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from coreclust._utils.validation import missing_labels, refuse_not_finite

_CHUNK = 1 << 24  # bytes of distances that are compared at once
_TOLERANCE = 1e-6  # relative difference of two distances that is rounding


def refuse_masked(X: Any) -> None:
    """Raise for a masked array, whose masked values estimators would use like the others."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        n_masked = int(np.ma.getmaskarray(X).sum())
        raise ValueError(
            f"X must be an array without a mask, got {n_masked} masked value"
            f"{'s' * (n_masked > 1)}; fill or leave out what is masked, for instance with X.filled."
        )


def refuse_dates(X: Any) -> None:
    """Raise for dates and durations, which have no natural unit to cluster by."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is not None and hasattr(X, "columns"):
        named = zip(X.columns, dtypes, strict=True)
        dated = [(f"column {name!r}", dtype) for name, dtype in named if _is_date(dtype)]
    else:
        dtype = getattr(X, "dtype", None)
        dated = [("X", dtype)] if _is_date(dtype) else []
    if dated:
        where, dtype = dated[0]
        raise TypeError(
            f"X must hold numbers, and {where} holds dates or durations ({dtype}); turn them into "
            "numbers first, such as days since a date."
        )


def refuse_missing_classes(y: Any) -> None:
    """Raise if an item has no class; y is what the user passed."""
    # A list goes through objects: numpy would turn a NaN among strings into a string.
    classes = np.asarray(y) if hasattr(y, "dtype") else np.asarray(y, dtype=object)
    missing = missing_labels(classes)
    if isinstance(y, np.ma.MaskedArray):
        missing |= np.ma.getmaskarray(y)
    where = np.flatnonzero(missing)
    if where.size:
        more = f", and {where.size - 1} more" if where.size > 1 else ""
        found = "a mask" if isinstance(y, np.ma.MaskedArray) else classes.flat[where[0]]
        raise ValueError(
            f"y must hold a class for each item, got {found!s} for item {where[0]}{more}; leave "
            "out the items without a class."
        )


def refuse_asymmetric(X: Any, estimator: Any) -> None:
    """Raise if a matrix of distances is not symmetric; affinities need not be."""
    steps = getattr(estimator, "steps", None)
    first = steps[0][1] if steps else estimator
    if issparse(X) or getattr(first, "metric", None) != "precomputed":
        return
    distances = np.asarray(X)
    n_rows = max(1, _CHUNK // max(1, distances[:1].nbytes))
    for begin in range(0, len(distances), n_rows):
        there, back = distances[begin : begin + n_rows], distances.T[begin : begin + n_rows]
        wrong = np.abs(there - back) > _TOLERANCE * np.maximum(np.abs(there), np.abs(back))
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise ValueError(
                "X must be symmetric, because estimator takes precomputed distances; from item "
                f"{begin + i} to {j} it has {there[i, j]:.6g}, and back {back[i, j]:.6g}; pass, "
                "for instance, (X + X.T) / 2."
            )


def place_not_finite(items: Any, error: ValueError) -> None:
    """Raise with the place of NaN or infinity if a composed estimator refused the items for it.

    Such an estimator, for instance a Pipeline, may also accept them, so that they are not refused
    before.
    """
    if not any(word in str(error) for word in ("NaN", "infinity")):
        return
    try:
        array = items if issparse(items) else np.asarray(items, dtype=np.float64)
    except (ValueError, TypeError):  # not all are numbers
        return
    refuse_not_finite(items, array)


def _is_date(dtype: Any) -> bool:
    is_temporal = getattr(dtype, "is_temporal", None)  # polars
    return bool(is_temporal()) if is_temporal else getattr(dtype, "kind", "") in ("m", "M")
