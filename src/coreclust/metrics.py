"""Scores of core clusterings: purity, weak fraction and agreement."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._utils.validation import encode_labels

__all__ = ["cluster_agreement", "purity_score", "weak_fraction"]


def purity_score(classes: ArrayLike, labels: ArrayLike) -> float:
    """Return the share of items that have the most common class of their cluster.

    Items with a negative label (weak or trimmed items) are left out.

    Parameters
    ----------
    classes : array-like of shape (n_items,)
        The true classes, integers or strings.
    labels : array-like of shape (n_items,)
        The cluster or core of each item; negative if it is in none.

    Returns
    -------
    purity : float
        Above 0 and at most 1; NaN if all items are left out.

    Examples
    --------
    >>> from coreclust.metrics import purity_score
    >>> purity_score(["a", "a", "b", "b"], [0, 0, 0, -1])
    0.6666666666666666
    """
    class_codes, class_names = encode_labels(classes, "classes", floats=True)
    codes, names = encode_labels(labels, "labels", negative_is_noise=True)
    _check_same_length(class_codes, codes, "classes", "labels")
    kept = codes >= 0
    if not kept.any():
        return float("nan")
    table = np.zeros((names.size, class_names.size), dtype=np.int64)
    np.add.at(table, (codes[kept], class_codes[kept]), 1)
    return float(table.max(axis=1).sum() / kept.sum())


def weak_fraction(labels: ArrayLike) -> float:
    """Return the share of items that are in no core.

    Trimmed items are counted, as in the paper.

    Parameters
    ----------
    labels : array-like of shape (n_items,)
        The core of each item; negative if it is in none.

    Returns
    -------
    fraction : float

    Examples
    --------
    >>> from coreclust.metrics import weak_fraction
    >>> weak_fraction([0, 0, 1, -1])
    0.25
    """
    codes, _ = encode_labels(labels, "labels", negative_is_noise=True)
    if codes.size == 0:
        raise ValueError("labels must hold at least one item, got none.")
    return float((codes < 0).mean())


def cluster_agreement(
    first: ArrayLike, second: ArrayLike, *, trimmed: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Count how two core clusterings agree on which items are core and which are weak.

    Parameters
    ----------
    first, second : array-like of shape (n_items,)
        The core of each item; negative if it is in none.
    trimmed : array-like of bool of shape (n_items,), default=None
        Items to leave out.

    Returns
    -------
    table : ndarray of shape (2, 2)
        The rows are those of the first clustering, the columns those of the second: core, then
        weak.

    Examples
    --------
    >>> from coreclust.metrics import cluster_agreement
    >>> cluster_agreement([0, 0, 1, -1], [0, -1, 1, -1])
    array([[2, 1],
           [0, 1]])
    """
    rows, _ = encode_labels(first, "first", negative_is_noise=True)
    columns, _ = encode_labels(second, "second", negative_is_noise=True)
    _check_same_length(rows, columns, "first", "second")
    counted = np.ones(rows.size, dtype=bool)
    if trimmed is not None:
        mask = np.asarray(trimmed)
        if mask.dtype != bool:
            raise TypeError(f"trimmed must be booleans, got dtype {mask.dtype}.")
        _check_same_length(rows, mask, "first", "trimmed")
        counted = ~mask
    table = np.zeros((2, 2), dtype=np.int64)
    np.add.at(table, ((rows[counted] < 0).astype(int), (columns[counted] < 0).astype(int)), 1)
    return table


def _check_same_length(
    left: NDArray[Any], right: NDArray[Any], left_name: str, right_name: str
) -> None:
    if left.shape != right.shape:
        raise ValueError(
            f"{left_name} and {right_name} must have one entry per item, got shapes "
            f"{left.shape} and {right.shape}."
        )
