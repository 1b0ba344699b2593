"""Checks arguments; the messages name the argument and say what to do."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from coreclust._utils.constants import NOISE, NOISE_RULES

TOO_LARGE = (
    "X has values whose squares are too large to compute with; scale it, for instance with "
    "sklearn.preprocessing.StandardScaler."
)

_WHOLE = (numbers.Integral, np.bool_)


def check_noise(noise: Any) -> None:
    """Raise unless noise is one of the rules."""
    if not isinstance(noise, str) or noise not in NOISE_RULES:
        raise ValueError(
            f"noise must be one of {', '.join(map(repr, NOISE_RULES))}, got {noise!r}."
        )


def check_share(value: Any, name: str) -> None:
    """Raise unless a value is a number in [0, 1]."""
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number between 0 and 1, got {value!r}.")


def check_count(value: Any, name: str, least: int = 1) -> None:
    """Raise unless a value is a whole number of at least `least`."""
    if not is_whole(value) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more, got {value!r}.")


def check_seed(random_state: Any) -> None:
    """Raise unless random_state is None, a RandomState or a non-negative int."""
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return
    if not is_whole(random_state) or random_state < 0:
        raise ValueError(
            f"random_state must be None, a RandomState or an int, 0 or more, got {random_state!r}."
        )


def refuse_not_finite(X: Any, array: Any) -> None:
    """Raise if an array or sparse matrix holds NaN or infinity; X is what the user passed."""
    if array.ndim != 2 or array.dtype.kind != "f":
        return
    if issparse(array):
        array = array.tocsr()
        entries = array.tocoo()
        wrong = np.column_stack([entries.row, entries.col])[~np.isfinite(entries.data)]
        wrong = wrong[np.lexsort((wrong[:, 1], wrong[:, 0]))]
    else:
        wrong = np.argwhere(~np.isfinite(array))
    if not len(wrong):
        return
    item, feature = wrong[0]
    name = f" ({X.columns[feature]!r})" if hasattr(X, "columns") else ""
    what = "NaN" if np.isnan(array[item, feature]) else "infinity"
    more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    raise ValueError(
        f"Input X contains {what} at item {item}, feature {feature}{name}{more}; fill in what is "
        "missing (see sklearn.impute), or leave out the items."
    )


def encode_labels(
    labels: ArrayLike,
    name: str,
    *,
    negative_is_noise: bool = False,
    floats: bool = False,
    whole_floats: bool = False,
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return codes from 0 on for labels of any kind, NOISE for noise, and the sorted labels.

    Labels are integers, booleans or strings; with `floats` also finite floats, with `whole_floats`
    floats without a fraction. With `negative_is_noise` a negative integer means noise, as for
    scikit-learn's clusterers. `name` is what an error calls the labels.
    """
    # A list goes through objects: numpy would turn a NaN among strings into a string.
    array = np.asarray(labels) if hasattr(labels, "dtype") else np.asarray(labels, dtype=object)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one label per item, got an array of shape {array.shape}.")
    if array.dtype.kind == "O":
        array = _plain_labels(array, name)
    if whole_floats and array.dtype.kind == "f" and (array == np.round(array)).all():
        if not (np.abs(array) < 2**63).all():
            raise ValueError(f"{name} must be finite and below 2**63.")
        array = array.astype(np.int64)
    if array.dtype.kind not in ("biufUS" if floats else "biuUS"):
        raise TypeError(f"{name} must be integers or strings, got dtype {array.dtype}.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    codes = np.full(array.size, NOISE, dtype=np.int64)
    named = (
        array >= 0 if negative_is_noise and array.dtype.kind == "i" else np.ones_like(codes, bool)
    )
    names, codes[named] = np.unique(array[named], return_inverse=True)
    return codes, names


def encode_reference(
    reference_labels: ArrayLike, n_items: int
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the code of each item of an ensemble, NOISE for none, and the labels.

    As in `LabelEnsemble.from_labels`, floats may be whole numbers; an item without a label is in no
    cluster.
    """
    labels = reference_labels
    array = np.asarray(labels) if hasattr(labels, "dtype") else np.asarray(labels, dtype=object)
    missing = missing_labels(array)
    if isinstance(labels, np.ma.MaskedArray):
        missing |= np.ma.getmaskarray(labels)
    if array.ndim == 1 and missing.any():  # such items are in no cluster
        codes = np.full(array.size, NOISE, dtype=np.int64)
        codes[~missing], names = _encode_clusters(array[~missing])
    else:
        codes, names = _encode_clusters(array)
    if codes.size != n_items:
        raise ValueError(
            f"reference_labels must have a label for each of the {n_items} items of the ensemble, "
            f"got {codes.size}."
        )
    return codes, names


def _encode_clusters(labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    return encode_labels(labels, "reference_labels", negative_is_noise=True, whole_floats=True)


def missing_labels(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the labels that are None, NaN or NA."""
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind == "O":
        return np.vectorize(_is_missing, otypes=[bool])(labels)
    return np.zeros(labels.shape, dtype=bool)


def as_index(items: ArrayLike) -> NDArray[Any]:
    """Return items as an array that can be used as an index, even if it is empty."""
    index = np.asarray(items)
    return index if index.size else index.astype(np.intp)


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number and no boolean."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Tell whether a value is a real number and no boolean."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)  # only NaN differs from itself
    except TypeError:  # pandas' NA has no truth value
        return True


def _plain_labels(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Turn an object array of labels into one of integers or strings."""
    if all(isinstance(label, str) for label in array):
        return array.astype(str)
    if all(isinstance(label, _WHOLE) for label in array):
        return array.astype(np.int64)
    if all(isinstance(label, numbers.Real) for label in array):
        return array.astype(np.float64)
    odd = [label for label in array if not isinstance(label, (str, *_WHOLE))]
    found = repr(odd[0]) if odd else "a mix of integers and strings"
    raise TypeError(f"{name} must be all integers or all strings, got {found}.")
