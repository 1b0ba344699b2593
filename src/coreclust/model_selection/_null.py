"""Data without structure, to measure stability against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Draw = Callable[[NDArray[np.float64], np.random.Generator], NDArray[np.float64]]


def uniform_reference(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw as many items evenly from the box around X along its principal components.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.model_selection._null import uniform_reference
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    >>> Z = uniform_reference(X, np.random.default_rng(0))
    >>> Z.shape, bool(np.allclose(Z[:, 0], Z[:, 1]))  # on the same line
    ((3, 2), True)
    """
    center = X.mean(axis=0)
    _, _, axes = np.linalg.svd(X - center, full_matrices=False)
    scores = (X - center) @ axes.T
    drawn = rng.uniform(scores.min(axis=0), scores.max(axis=0), size=scores.shape)
    return np.ascontiguousarray(drawn @ axes + center)


def permuted_reference(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Shuffle every column of X by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.model_selection._null import permuted_reference
    >>> X = np.array([[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]])
    >>> sorted(permuted_reference(X, np.random.default_rng(0))[:, 1].tolist())
    [10.0, 11.0, 12.0]
    """
    return rng.permuted(X, axis=0)


#: The ways to draw data without structure, by name.
REFERENCES: dict[str, Draw] = {"uniform": uniform_reference, "permuted": permuted_reference}
