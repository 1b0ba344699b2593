"""Checking X and y before any work is done."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import validate_data

from coreclust._compat import number_of_items
from coreclust.frames import is_pandas_frame, is_polars_frame
from coreclust.functions import ClusteringFunction


def check_items(meta: Any, X: Any, function: ClusteringFunction) -> Any:
    """Return X in a form that can be indexed by item; set the feature names on `meta`.

    A single estimator gets what its tags promise it accepts. A callable, or an estimator
    made of others (a Pipeline), judges the data itself when it makes the reference
    clustering: a frame stays a frame, a list a list.
    """
    if function.kind == "callable":
        X = _check_free_form(meta, X)
    elif _is_composed(function.estimator):
        X = X if hasattr(X, "shape") else np.asarray(X)
        _check_two_items(meta, X)
        validate_data(meta, X, skip_check_array=True)
    else:
        X = _check_numbers(meta, X, function.estimator)
    if function.pairwise and X.shape[0] != X.shape[1]:
        raise ValueError(
            "X must be a square matrix, a row and a column an item, because estimator takes "
            f"precomputed distances or affinities; got shape {X.shape}."
        )
    return X


def check_classes(y: Any, X: Any, function: ClusteringFunction) -> Any:
    """Return y for a classifier, None for anything else."""
    if function.kind != "classifier":
        return None
    if y is None:
        raise ValueError(
            "CoreClustering requires y to be passed, but the target y is None: "
            f"{type(function.estimator).__name__} is a classifier."
        )
    y = column_or_1d(y, warn=True)
    if len(y) != number_of_items(X):
        raise ValueError(
            f"y must hold a class for each of the {number_of_items(X)} items of X, got {len(y)}."
        )
    return y


def _is_composed(estimator: Any) -> bool:
    """Tell whether some parameter of an estimator is, or holds, another estimator."""
    return any("__" in name for name in estimator.get_params(deep=True))


def _check_free_form(meta: Any, X: Any) -> Any:
    known = isinstance(X, (list, tuple, range)) or hasattr(X, "shape")
    if not known or not hasattr(X, "__getitem__"):
        raise TypeError(
            "X must be an array, a frame, a list of items or a sparse matrix that can be indexed "
            f"(csr), got {type(X).__name__}."
        )
    if isinstance(X, (tuple, range)):
        X = list(X)
    _check_two_items(meta, X)
    if hasattr(X, "shape") and len(X.shape) == 2:
        validate_data(meta, X, skip_check_array=True)
    return X


def _check_two_items(meta: Any, X: Any) -> None:
    n_items = number_of_items(X)
    if n_items < 2:
        raise ValueError(
            f"X must hold at least 2 items, got {n_items} sample(s): "
            f"{type(meta).__name__} compares items with each other."
        )


def _check_numbers(meta: Any, X: Any, estimator: Any) -> Any:
    tags = get_tags(estimator).input_tags
    numeric = not (tags.string or tags.categorical)
    try:
        checked = validate_data(
            meta,
            X,
            accept_sparse=["csr"] if tags.sparse else False,
            dtype="numeric" if numeric else None,
            ensure_all_finite=not tags.allow_nan,
            ensure_min_samples=2,
        )
        # scikit-learn lets the object array of a polars frame pass as numeric.
        return checked.astype(np.float64) if numeric and checked.dtype.kind == "O" else checked
    except (ValueError, TypeError) as error:
        if issparse(X) or not _holds_objects(X):
            raise
        raise type(error)(
            f"X must hold numbers for {type(estimator).__name__}, but it holds other types, too "
            f"({error}). Convert or encode them, or pass a callable as estimator."
        ) from error


def _holds_objects(X: Any) -> bool:
    if is_pandas_frame(X) or is_polars_frame(X):
        return any(not _is_numeric(dtype) for dtype in X.dtypes)
    if hasattr(X, "dtype"):
        return X.dtype.kind in "OUS"
    values = np.asarray(X, dtype=object)
    return values.ndim == 2 and not all(isinstance(value, numbers.Number) for value in values.flat)


def _is_numeric(dtype: Any) -> bool:
    is_numeric = getattr(dtype, "is_numeric", None)  # polars
    return bool(is_numeric()) if is_numeric else getattr(dtype, "kind", "O") in "biuf"
