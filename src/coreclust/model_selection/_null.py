"""Draws null data: data without structure, to compare stability with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Draw = Callable[[NDArray[np.float64], np.random.Generator], NDArray[np.float64]]


def uniform_null(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw items uniformly from the box around X along its principal components."""
    center = X.mean(axis=0)
    _, _, axes = np.linalg.svd(X - center, full_matrices=False)
    scores = (X - center) @ axes.T
    drawn = rng.uniform(scores.min(axis=0), scores.max(axis=0), size=scores.shape)
    return np.ascontiguousarray(drawn @ axes + center)


def permuted_null(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Permute each column of X independently."""
    return rng.permuted(X, axis=0)


def gaussian_null(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw items from the Gaussian with the mean and the covariance of X."""
    center = X.mean(axis=0)
    _, sizes, axes = np.linalg.svd(X - center, full_matrices=False)
    scores = rng.standard_normal((len(X), sizes.size)) * sizes / np.sqrt(max(len(X) - 1, 1))
    return np.ascontiguousarray(scores @ axes + center)


#: The kinds of null data, by name.
NULLS: dict[str, Draw] = {"uniform": uniform_null, "permuted": permuted_null}
