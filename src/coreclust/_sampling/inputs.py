"""Checks the data, the estimator and the scheme before any work is done."""

from __future__ import annotations

import numbers
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import validate_data

from coreclust._sampling.function import ClusteringFunction
from coreclust._sampling.values import (
    refuse_asymmetric,
    refuse_dates,
    refuse_masked,
    refuse_missing_classes,
)
from coreclust._utils.blocks import BlockedItems, check_blocked, is_dask_array
from coreclust._utils.compat import number_of_items
from coreclust._utils.frames import is_pandas_frame, is_polars_frame
from coreclust._utils.normal import stretch
from coreclust._utils.text import shorten
from coreclust._utils.validation import encode_labels, refuse_not_finite
from coreclust.evidence._bounds import least_estimated
from coreclust.resampling import Scheme


def _check_kind(X: Any) -> None:
    """Raise for what holds no items, such as None or the name of a file."""
    if isinstance(X, (str, bytes, os.PathLike)):
        raise TypeError(
            "X must hold the items to cluster, as an array, a frame or a list, got "
            f"{shorten(X)!r}; read a file first, for instance with pandas.read_csv."
        )
    # A sparse matrix of keys is a mapping.
    if X is None or (isinstance(X, (numbers.Number, Mapping, Iterator)) and not issparse(X)):
        got = "None" if X is None else f"an object of type {type(X).__name__}"
        raise TypeError(
            f"X must hold the items to cluster, as an array, a frame or a list, got {got}."
        )


def check_items(meta: Any, X: Any, function: ClusteringFunction) -> Any:
    """Return X in a form that can be indexed by item; set the feature names on `meta`.

    The data for a single estimator is checked according to its tags. A callable or a composed
    estimator, such as a Pipeline, gets frames and lists unchanged and does its own checks in the
    reference clustering. A dask array is not fetched.
    """
    _check_kind(X)
    if is_dask_array(X):
        if function.kind == "classifier":
            raise ValueError(
                "X must be in memory for a classifier, got a dask array; pass X.compute()."
            )
        blocked = check_blocked(X)
        meta.n_features_in_ = blocked.shape[1]
        return blocked
    if function.kind != "callable":
        refuse_masked(X)
    if function.kind == "callable":
        X = _check_free_form(meta, X)
    elif _is_composed(function.estimator):
        X = X if hasattr(X, "shape") else np.asarray(X)
        X = X.tocsr() if issparse(X) else X  # other sparse formats cannot be indexed
        _check_two_items(meta, X)
        validate_data(meta, X, skip_check_array=True)
    else:
        X = _check_numbers(meta, X, function.estimator)
    if function.pairwise and X.shape[0] != X.shape[1]:
        raise ValueError(
            "X must be a square matrix with one row and one column per item, because estimator "
            f"takes precomputed distances or affinities; got shape {X.shape}."
        )
    if function.pairwise:
        refuse_asymmetric(X, function.estimator)
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
    refuse_missing_classes(y)
    y = column_or_1d(y, warn=True)
    if len(y) != number_of_items(X):
        raise ValueError(
            f"y must hold a class for each of the {number_of_items(X)} items of X, got {len(y)}."
        )
    return y


def check_groups(groups: Any, X: Any, scheme: Scheme) -> NDArray[np.intp] | None:
    """Return the group of each item as a number from 0 on, or None."""
    if groups is None:
        return None
    if scheme.draws != "rows":
        raise ValueError(
            f"groups has no meaning for resampling={scheme!r}, which draws new items; use a "
            "Bootstrap or a Subsample."
        )
    codes, names = encode_labels(groups, "groups", floats=True)
    if codes.size != number_of_items(X):
        raise ValueError(
            f"groups must hold a group for each of the {number_of_items(X)} items of X, got "
            f"{codes.size}."
        )
    if names.size < 2:
        raise ValueError("groups must hold at least 2 groups, because whole groups are drawn.")
    return codes.astype(np.intp)


def check_keeps_models(function: ClusteringFunction, scheme: Scheme) -> None:
    """Raise unless the models of resamples can label new items."""
    if not function.predicts:
        raise ValueError(
            f"keep_models=True is for predict, which {_name(function)} does not have; use "
            "keep_models=False or another estimator."
        )
    if function.pairwise:
        raise ValueError(
            "keep_models=True cannot be used with precomputed distances or affinities, which new "
            "items do not have; use keep_models=False."
        )
    if getattr(scheme, "features", None) is not None:
        raise ValueError(
            f"keep_models=True cannot be used with resampling={scheme!r}, whose models know only "
            "some features; use keep_models=False."
        )
    if scheme.draws == "pairs":
        raise ValueError(
            f"keep_models=True has no meaning for resampling={scheme!r}; use keep_models=False."
        )


def check_scheme(
    scheme: Scheme,
    function: ClusteringFunction,
    X: Any,
    n_units: int,
    n_resamples: int,
    alpha: float,
) -> None:
    """Raise unless the scheme can draw resamples of X and the function can label them."""
    if isinstance(X, BlockedItems) and (scheme.label != "all" or scheme.makes_items):
        raise ValueError(
            f"resampling={scheme!r} does not work with a dask array, because it does not label all "
            "items by predict; use, for example, Subsample(size=50_000, label='all'), or pass "
            "X.compute() if that fits into memory."
        )
    if scheme.label != "drawn" and not function.predicts:
        raise ValueError(
            f"resampling={scheme!r} labels items by the predict of the estimator, and "
            f"{_name(function)} has none; use label='drawn' or another estimator."
        )
    scheme.check(n_units)
    if scheme.makes_items:
        _check_makes_items(scheme, function, X)
    if scheme.label == "oob" and 0 < alpha < 1 and n_units == number_of_items(X):
        share = scheme.pair_share(n_units)
        if share == 0:
            raise ValueError(
                f"resampling={scheme!r} never leaves two of {n_units} items out of bag together; "
                "use smaller resamples."
            )
        seen = share * n_resamples
        needed = least_estimated(stretch(alpha, 1 / scheme.spread(n_units)), number_of_items(X))
        if seen < needed:
            raise ValueError(
                f"n_resamples={n_resamples} is too few for label='oob', where a pair is out of bag "
                f"in about {seen:.0f} resamples and takes {needed} to reach 1 - alpha; use "
                f"{np.ceil(needed / share):.0f} or more."
            )


def check_distribution(
    function: ClusteringFunction, X: Any, y: Any, scheme: Any, n_resamples: int | str
) -> None:
    """Raise unless a distribution draws items that can be clustered together with those of X."""
    if isinstance(n_resamples, str):
        raise ValueError(
            f"n_resamples must be a number with resampling=KnownDistribution, where each pair has "
            f"its own resamples, got {n_resamples!r}."
        )
    if isinstance(X, BlockedItems):
        raise ValueError(
            "X must be in memory with resampling=KnownDistribution, got a dask array; pass "
            "X.compute()."
        )
    if function.pairwise:
        raise ValueError(
            "resampling=KnownDistribution draws new items, which have no distances or affinities "
            "in X; pass an estimator that takes the items themselves."
        )
    if not isinstance(X, (np.ndarray, list)):
        raise TypeError(
            "resampling=KnownDistribution needs X as an array or, for a callable, a list, "
            f"got {type(X).__name__}."
        )
    if not callable(scheme.source):
        n_population = number_of_items(scheme.source)
        if n_population == 0:
            raise ValueError("resampling=KnownDistribution needs a population of at least 1 item.")
        if scheme.y is not None and len(scheme.y) != n_population:
            raise ValueError(
                f"resampling=KnownDistribution needs one class in y for each of the {n_population} "
                f"items of the population, got {len(scheme.y)}."
            )
    drawn, classes = scheme.draw_items(3, np.random.default_rng(0))
    if isinstance(X, np.ndarray):
        shape = np.shape(drawn)
        if shape != (3, *X.shape[1:]):
            raise ValueError(
                "resampling=KnownDistribution must draw items like those of X: 3 items gave shape "
                f"{shape}, expected {(3, *X.shape[1:])}."
            )
        if X.dtype.kind in "iuf" and not _is_finite(scheme.source, drawn):
            raise ValueError(
                "resampling=KnownDistribution must draw finite numbers, got NaN, infinity or other "
                "types."
            )
    elif len(drawn) != 3:
        raise ValueError(
            f"resampling=KnownDistribution must draw as many items as asked for: expected 3, got "
            f"{len(drawn)}."
        )
    if function.kind == "classifier" and (classes is None or len(classes) != 3):
        raise ValueError(
            "resampling=KnownDistribution needs a class for each item that it draws, because "
            f"{_name(function)} is a classifier; pass y with a population, or return a tuple of "
            "items and classes."
        )
    if function.kind == "classifier":
        known = np.unique(np.asarray(y))
        found = np.unique(np.asarray(classes if callable(scheme.source) else scheme.y))
        texts = [array.dtype.kind in "USO" for array in (known, found)]
        if texts[0] != texts[1] or not np.isin(found, known).any():
            raise ValueError(
                "resampling=KnownDistribution must have the classes of y: none of "
                f"{found[:3].tolist()} is among {known[:3].tolist()}."
            )


def _is_finite(source: Any, drawn: Any) -> bool:
    values = np.asarray(drawn if callable(source) else source)
    return values.dtype.kind in "biuf" and bool(np.isfinite(values).all())


def _check_makes_items(scheme: Scheme, function: ClusteringFunction, X: Any) -> None:
    """Raise unless new items can be clustered instead of those of X."""
    if function.pairwise:
        raise ValueError(
            f"resampling={scheme!r} makes new items, which have no distances or affinities in X; "
            "use a Bootstrap."
        )
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "iuf":
        kind = f"dtype {X.dtype}" if isinstance(X, np.ndarray) else type(X).__name__
        raise ValueError(
            f"resampling={scheme!r} needs X as an array of numbers, not of categories, got {kind}; "
            "encode it or use a Bootstrap."
        )
    if not np.isfinite(X).all():
        raise ValueError(f"resampling={scheme!r} needs X without NaN and infinity; replace them.")
    if scheme.draws == "rows":
        return
    if function.kind == "classifier":
        raise ValueError(
            f"resampling={scheme!r} draws items without classes, and {_name(function)} is a "
            "classifier; use a Bootstrap."
        )
    shape = np.shape(scheme.draw_items(3, 0))
    if shape != (3, X.shape[1]):
        raise ValueError(
            f"resampling={scheme!r} must draw items like those of X: 3 items gave shape {shape}, "
            f"expected {(3, X.shape[1])}."
        )


def _name(function: ClusteringFunction) -> str:
    estimator = function.estimator
    return getattr(estimator, "__name__", None) or type(estimator).__name__


def _is_composed(estimator: Any) -> bool:
    """Tell whether a parameter of an estimator is, or holds, another estimator."""
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
            f"X must hold at least 2 items, got {n_items} sample(s), because "
            f"{type(meta).__name__} compares items with each other."
        )


def _check_numbers(meta: Any, X: Any, estimator: Any) -> Any:
    tags = get_tags(estimator).input_tags
    numeric = not (tags.string or tags.categorical)
    if numeric:
        refuse_dates(X)
    try:
        checked = validate_data(
            meta,
            X,
            accept_sparse=["csr"] if tags.sparse else False,
            dtype="numeric" if numeric else None,
            ensure_all_finite=False if numeric else not tags.allow_nan,
            ensure_min_samples=2,
        )
        # scikit-learn lets the object array of a polars frame pass as numeric.
        checked = checked.astype(np.float64) if numeric and checked.dtype.kind == "O" else checked
    except (ValueError, TypeError) as error:
        if issparse(X) or not _holds_objects(X):
            raise
        raise type(error)(
            f"X must hold numbers for {type(estimator).__name__}, but it also holds other types "
            f"({error}); convert or encode them, or pass a callable as estimator."
        ) from error
    if numeric and not tags.allow_nan:
        refuse_not_finite(X, checked)
    return checked


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
