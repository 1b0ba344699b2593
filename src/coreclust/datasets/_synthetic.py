"""Draws from the synthetic mixture of the paper."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from coreclust._utils.seeds import draw_entropy
from coreclust._utils.validation import check_count, check_seed

_A = 1.5
CENTERS = np.array(
    [
        [np.nan, np.nan],  # the classes count from 1
        [0.0, _A],
        [_A * sqrt(3) / 2, -_A / 2],
        [-_A * sqrt(3) / 2, -_A / 2],
    ]
)


def synthetic_sampler(
    n_items: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw items from the mixture of the paper.

    The classes 1, 2 and 3 have equal probability. The items of a class are normally distributed
    with unit variance around its center: (0, a), (a√3/2, -a/2) or (-a√3/2, -a/2) with a = 1.5.

    Parameters
    ----------
    n_items : int
        Number of items to draw.
    rng : numpy.random.Generator
        The random number generator.

    Returns
    -------
    X : ndarray of shape (n_items, 2)
    y : ndarray of shape (n_items,)
        The class of each item.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.datasets import synthetic_sampler
    >>> X, y = synthetic_sampler(5, np.random.default_rng(0))
    >>> X.shape, sorted(set(y.tolist()) | {1, 2, 3})
    ((5, 2), [1, 2, 3])
    """
    y = rng.integers(1, 4, size=n_items, dtype=np.int8).astype(np.int64)  # int8 is faster to draw
    X = rng.standard_normal((n_items, 2))
    X += np.take(CENTERS, y, axis=0)
    return X, y


def load_synthetic(
    n_items: int = 150, *, random_state: int | np.random.RandomState | None = None
) -> Bunch:
    """Draw a synthetic dataset like the one of the paper.

    Parameters
    ----------
    n_items : int, default=150
        Number of items to draw.
    random_state : int, RandomState or None, default=None
        Pass an int to get the same dataset every time.

    Returns
    -------
    dataset : sklearn.utils.Bunch
        With `data` of shape (n_items, 2), `target` (the classes 1, 2 and 3),
        `feature_names`, `target_names` (the distinct classes) and `DESCR`.

    Examples
    --------
    >>> from coreclust.datasets import load_synthetic
    >>> dataset = load_synthetic(60, random_state=0)
    >>> dataset.data.shape, dataset.target_names.tolist()
    ((60, 2), [1, 2, 3])
    """
    check_count(n_items, "n_items")
    check_seed(random_state)
    rng = np.random.default_rng(draw_entropy(random_state))
    X, y = synthetic_sampler(int(n_items), rng)
    return Bunch(
        data=X,
        target=y,
        feature_names=["x1", "x2"],
        target_names=np.array([1, 2, 3]),
        DESCR=f"Three normal distributions in the plane: {len(X)} items, 2 features, 3 classes; "
        "drawn at random.",
    )
