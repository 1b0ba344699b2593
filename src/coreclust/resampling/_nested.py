"""Defines the nested bootstrap: resamples of draws of the data."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import RESAMPLES_PER_DRAW
from coreclust.resampling._bootstrap import Bootstrap
from coreclust.resampling._protocol import Scheme
from coreclust.resampling._subsample import MOST_SPREAD, Subsample

_OUTER = 1 << 30  # the purpose of the seeds of a draw; those of resamples are small numbers
_HALVES = Subsample(0.5)


def draws_of_data(scheme: Scheme) -> Scheme:
    """Return the scheme whose draws imitate new data, for data that is resampled by a scheme.

    If the scheme draws no copies, copies may do harm, and a draw is half of the items, which varies
    as much. Estimators that are fitted to small parts of large data hardly meet copies.
    """
    return Bootstrap() if scheme.repeats or scheme.fits_reference else Subsample(0.5)


class Nested(Scheme):
    """Draw new data from the data, and resample each draw 64 times.

    A draw imitates new data of the same kind, so that the variation between draws shows what would
    be different with new data, see :func:`draws_of_data`. Resamples 0 to 63 belong to the first
    draw, the next 64 to the second one, and so on.

    Parameters
    ----------
    scheme : scheme
        How each draw is resampled.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.resampling import Bootstrap
    >>> from coreclust.resampling._nested import Nested
    >>> seeds = [np.random.SeedSequence(0, spawn_key=(resample, 0)) for resample in range(64)]
    >>> counts = Nested(Bootstrap()).counts(100, seeds)
    >>> int((counts.sum(axis=0) > 0).sum())  # only the items of the first draw
    64
    """

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self.label = scheme.label
        self.fits_reference = scheme.fits_reference
        self.draws_of_data = draws_of_data(scheme)
        self.repeats = self.draws_of_data.repeats

    def draw(self, n_units: int, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        outer = self._outer(n_units, seeds)
        return outer[self.scheme.draw(outer.size, seeds)]

    def spread(self, n_units: int) -> float:
        if self.repeats:
            return self.scheme.spread(n_units)
        spread = self.scheme.spread(_HALVES.n_drawn(n_units))
        if not getattr(self.scheme, "rescale", True):
            return spread
        return min(math.sqrt(2) * spread, MOST_SPREAD)  # clusterings of half the items vary more

    def check(self, n_units: int) -> None:
        self.scheme.check(n_units if self.repeats else _HALVES.n_drawn(n_units))

    def _outer(self, n_units: int, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        """Return the items of the draw that a resample belongs to."""
        resample = seeds.spawn_key[0] if seeds.spawn_key else 0
        key = (resample // RESAMPLES_PER_DRAW, _OUTER)
        seeds = np.random.SeedSequence(seeds.entropy, spawn_key=key)
        return self.draws_of_data.draw(n_units, seeds)

    def __repr__(self) -> str:
        return f"Nested({self.scheme!r})"
