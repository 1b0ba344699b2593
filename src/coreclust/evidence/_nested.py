"""Holds the labels of the resamples of several draws of the data."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import ABSENT, RESAMPLES_PER_DRAW
from coreclust.evidence._ensemble import LabelEnsemble

_TRIED_PAIRS = 200
LEAST_SEEN = 10  # resamples of a draw in which a pair is seen, to be judged in this draw


class NestedEnsemble(LabelEnsemble):
    """Labels of items in the resamples of draws of the data, 64 resamples per draw.

    Failed resamples are kept as resamples without items, so that all draws have the same number.

    Parameters
    ----------
    labels : ndarray of int of shape (n_items, 64 * n_draws)

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.evidence._nested import NestedEnsemble
    >>> NestedEnsemble(np.zeros((3, 128), dtype=int)).n_draws
    2
    """

    @property
    def n_draws(self) -> int:
        """Number of draws of the data."""
        return self.n_resamples // RESAMPLES_PER_DRAW

    @functools.cached_property
    def judged_share(self) -> float:
        """The mean share of draws in which a pair is seen often enough, from some pairs."""
        if self.n_items < 2:
            return 1.0
        rng = np.random.default_rng(0)
        first = rng.integers(0, self.n_items, _TRIED_PAIRS)
        second = (first + rng.integers(1, self.n_items, _TRIED_PAIRS)) % self.n_items
        both = (self.labels[first] != ABSENT) & (self.labels[second] != ABSENT)
        seen = both.reshape(_TRIED_PAIRS, self.n_draws, RESAMPLES_PER_DRAW).sum(axis=2)
        return float((seen >= LEAST_SEEN).mean())

    @classmethod
    def with_failed(cls, ensemble: LabelEnsemble, failed: tuple[int, ...]) -> NestedEnsemble:
        """Return the labels of an ensemble, with those of failed resamples at their places."""
        labels: NDArray[np.signedinteger] = ensemble.labels
        if failed:
            n_tried = ensemble.n_resamples + len(failed)
            labeled = np.setdiff1d(np.arange(n_tried), np.array(failed))
            whole = np.full((n_tried, ensemble.n_items), ABSENT, dtype=labels.dtype)
            whole[labeled] = labels.T
            labels = whole.T
        nested = cls.__new__(cls)
        nested._own(labels)
        return nested

    def draw_table(self, alpha: float) -> NDArray[np.int64]:
        """Return how often a pair may be apart in the resamples of a draw, by how often seen.

        It is -1 where the pair was seen too rarely to be judged.
        """
        seen = np.arange(RESAMPLES_PER_DRAW + 1)
        table = np.floor(alpha * seen + 1e-9).astype(np.int64)
        table[:LEAST_SEEN] = -1
        return table

    def __repr__(self) -> str:
        return (
            f"NestedEnsemble(n_items={self.n_items}, n_draws={self.n_draws}, "
            f"n_resamples={self.n_resamples}, dtype={self.labels.dtype})"
        )
