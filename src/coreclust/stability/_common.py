"""Shared by the measures of stability: argument checks and lists of pairs in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._utils.seeds import draw_entropy
from coreclust._utils.validation import check_seed, encode_reference
from coreclust.evidence import LabelEnsemble

BLOCK = 2**20  # pairs per block: at most about 64 MB of indices, counts and shares


def highest_label(ensemble: LabelEnsemble) -> int:
    """Return the highest label, or -1 if there is none."""
    return int(ensemble.labels.max(initial=-1))


def grouped(codes: NDArray[np.int64], n_groups: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the clustered items, sorted by code, and the position where each code starts."""
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(n_groups + 1))
    return order[bounds[0] :], bounds - bounds[0]


def ratio(sums: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return sums / counts, NaN where the count is 0."""
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)


def n_pairs_of(n: int) -> int:
    """Return the number of pairs of n things."""
    return n * (n - 1) // 2


def pairs_of(
    n: int, at_most: int | None, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield blocks of all pairs of n things, or of `at_most` distinct pairs chosen at random."""
    n_all = n_pairs_of(n)
    chosen = None if at_most is None or n_all <= at_most else _distinct(n_all, at_most, rng)
    n_chosen = n_all if chosen is None else chosen.size
    for start in range(0, n_chosen, BLOCK):
        stop = min(start + BLOCK, n_chosen)
        number = np.arange(start, stop) if chosen is None else chosen[start:stop]
        # Each step up to n/2 gives n pairs (first, first + step); the last of an even n gives n/2.
        step, first = np.divmod(number, n)
        yield first, (first + step + 1) % n


def _distinct(n: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `size` distinct numbers below n, using memory that grows only with `size`."""
    if 2 * size > n:
        return np.sort(rng.choice(n, size, replace=False))
    drawn = np.empty(0, dtype=np.int64)
    while drawn.size < size:
        drawn = np.union1d(drawn, rng.integers(n, size=size - drawn.size))
    return drawn


def check_ensemble(ensemble: Any) -> None:
    """Raise unless the argument is a LabelEnsemble."""
    if not isinstance(ensemble, LabelEnsemble):
        raise TypeError(
            f"ensemble must be a LabelEnsemble, got {type(ensemble).__name__}; "
            "build one with LabelEnsemble.from_labels."
        )


def check_reference(
    ensemble: LabelEnsemble, reference_labels: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the code of each item, -1 for noise, and the label of each code."""
    check_ensemble(ensemble)
    return encode_reference(reference_labels, ensemble.n_items)


def generator(random_state: Any) -> np.random.Generator:
    """Return a random number generator for a scikit-learn random_state."""
    check_seed(random_state)
    return np.random.default_rng(draw_entropy(random_state))
