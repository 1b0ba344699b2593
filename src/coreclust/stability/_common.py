"""What the measures of stability share: checks, and pairs of things in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coreclust._utils.seeds import draw_entropy
from coreclust._utils.validation import encode_reference, is_whole
from coreclust.evidence._ensemble import LabelEnsemble

BLOCK = 2**20  # pairs at a time: at most about 64 MB of indices, counts and shares


def highest_label(ensemble: LabelEnsemble) -> int:
    """Return the highest label, -1 if there is none."""
    return int(ensemble.labels.max(initial=-1))


def grouped(codes: NDArray[np.int64], n_groups: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the items in the order of their code, and where each code starts; no noise."""
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(n_groups + 1))
    return order[bounds[0] :], bounds - bounds[0]


def ratio(sums: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.float64]:
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)


def n_pairs_of(n: int) -> int:
    return n * (n - 1) // 2


def pairs_of(
    n: int, at_most: int | None, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield all pairs of n things, or `at_most` different ones at random, block by block."""
    n_all = n_pairs_of(n)
    chosen = None if at_most is None or n_all <= at_most else _distinct(n_all, at_most, rng)
    n_chosen = n_all if chosen is None else chosen.size
    for start in range(0, n_chosen, BLOCK):
        stop = min(start + BLOCK, n_chosen)
        number = np.arange(start, stop) if chosen is None else chosen[start:stop]
        # A round of n pairs for each step from 1 to n/2; for an even n the last is half a one.
        step, first = np.divmod(number, n)
        yield first, (first + step + 1) % n


def _distinct(n: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `size` different numbers below n, in memory that grows with `size` alone."""
    if 2 * size > n:
        return np.sort(rng.choice(n, size, replace=False))
    drawn = np.empty(0, dtype=np.int64)
    while drawn.size < size:
        drawn = np.union1d(drawn, rng.integers(n, size=size - drawn.size))
    return drawn


def check_ensemble(ensemble: Any) -> None:
    if not isinstance(ensemble, LabelEnsemble):
        raise TypeError(
            f"ensemble must be a LabelEnsemble, got {type(ensemble).__name__}; "
            "build one with LabelEnsemble.from_labels."
        )


def check_reference(
    ensemble: LabelEnsemble, reference_labels: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the code of each item, -1 for none, and the label each code stands for."""
    check_ensemble(ensemble)
    return encode_reference(reference_labels, ensemble.n_items)


def check_share(value: Any, name: str) -> None:
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number between 0 and 1, got {value!r}.")


def check_count(value: Any, name: str) -> None:
    if not is_whole(value) or value < 1:
        raise ValueError(f"{name} must be a whole number, 1 or more, got {value!r}.")


def generator(random_state: Any) -> np.random.Generator:
    if not (random_state is None or isinstance(random_state, np.random.RandomState)) and (
        not is_whole(random_state) or random_state < 0
    ):
        raise ValueError(
            f"random_state must be None, a RandomState or an int, 0 or more, got {random_state!r}."
        )
    return np.random.default_rng(draw_entropy(random_state))
