"""Defines the subsample, which draws some of the items without replacement."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from coreclust.resampling._draws import count_distinct, draw_distinct, seed_word, seed_words
from coreclust.resampling._protocol import Scheme, check_label


class Subsample(Scheme):
    """Draw some of the items without replacement.

    Parameters
    ----------
    fraction : float, default=None
        Share of the items to draw, above 0 and below 1; 0.5 if neither this nor `size` is given.
    size : int, default=None
        Number of items to draw, instead of a share. With ``label="all"``, the reference clustering
        is also fitted to that many items and labels the others by `predict`, so that the size of
        every fit is bounded.
    label : {"drawn", "all", "oob"}, default="drawn"
        As for :class:`Bootstrap`.

    Notes
    -----
    A clustering of fewer items varies more, so with half of the items or fewer, cores are smaller
    than with the bootstrap. With 80 %, the resamples are more similar, and cores are larger.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.resampling import Subsample
    >>> rows = Subsample(0.25).draw(100, np.random.SeedSequence(0))
    >>> rows.size, np.unique(rows).size
    (25, 25)
    """

    repeats = False

    def __init__(
        self, fraction: float | None = None, *, size: int | None = None, label: str = "drawn"
    ) -> None:
        if fraction is not None and size is not None:
            raise ValueError("Pass either fraction or size, not both.")
        if fraction is not None and not (isinstance(fraction, Real) and 0 < fraction < 1):
            raise ValueError(f"fraction must be a number above 0 and below 1, got {fraction!r}.")
        if size is not None and not (isinstance(size, Integral) and size >= 2):
            raise ValueError(f"size must be a whole number of items, 2 or more, got {size!r}.")
        self.fraction = fraction
        self.size = size
        self.label = check_label(label)

    @property
    def fits_reference(self) -> bool:  # type: ignore[override]
        """Whether the reference clustering is also fitted to a subset of the items."""
        return self.size is not None and self.label == "all"

    def check(self, n_units: int) -> None:
        self.n_drawn(n_units)

    def n_drawn(self, n_units: int) -> int:
        """Return the number of items drawn; raise an error if there are too few items."""
        fraction = 0.5 if self.fraction is None else self.fraction
        n_drawn = math.floor(fraction * n_units + 1e-9) if self.size is None else int(self.size)
        if not 2 <= n_drawn < n_units:
            raise ValueError(
                f"resampling={self!r} draws {n_drawn} of {n_units} items (or groups); it must draw "
                "at least 2, and fewer than all."
            )
        return n_drawn

    def draw(self, n_units: int, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        return draw_distinct(n_units, self.n_drawn(n_units), seed_word(seeds))

    def counts(self, n_units: int, resamples: list[np.random.SeedSequence]) -> NDArray[np.int32]:
        if not self._draws_like(Subsample):
            return super().counts(n_units, resamples)
        return count_distinct(n_units, self.n_drawn(n_units), seed_words(resamples))

    def pair_share(self, n_units: int) -> float:
        if not self._draws_like(Subsample):
            return super().pair_share(n_units)
        n_drawn = self.n_drawn(n_units)
        if self.label == "all":
            return 1.0
        size = n_drawn if self.label == "drawn" else n_units - n_drawn
        return size * (size - 1) / (n_units * (n_units - 1))

    def __repr__(self) -> str:
        size = f"{self.fraction or 0.5:g}" if self.size is None else f"size={self.size}"
        return self._repr("Subsample", size)
