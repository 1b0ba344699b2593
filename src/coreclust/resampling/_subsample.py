"""Defines the subsample, which draws some of the items without replacement."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust.resampling._draws import count_distinct, draw_distinct, seed_word, seed_words
from coreclust.resampling._protocol import Scheme, check_label

# Clusterings of less than a fifth of the items also differ for other reasons than the noise of
# drawing, so the threshold is not lowered any further.
MOST_SPREAD = 2.0


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
    features : float, default=None
        Share of the features that each resample is clustered by, above 0 and below 1, drawn at
        random; None uses all. It needs ``label="drawn"`` and data as an array of numbers.
    rescale : bool, default=True
        Whether to correct the threshold for the share of the items that is drawn; see Notes. False
        compares the share of resamples in which a pair is together with ``1 - alpha`` itself.

    Notes
    -----
    The more items are drawn, the more similar are the resamples. The border between two clusters
    varies ``sqrt((1 - f) / f)`` times as much in subsamples of a share f as in bootstrap resamples:
    just as much with f = 0.5, and half as much with f = 0.8. If its position is normal, a
    probability of ``1 - alpha`` in bootstrap resamples corresponds to
    ``Phi(Phi^-1(1 - alpha) sqrt(f / (1 - f)))`` in subsamples, where Phi is the normal distribution
    function. For alpha = 0.1 this is 0.74 with f = 0.2, 0.9 with f = 0.5 and 0.995 with f = 0.8.
    Pairs are compared with this threshold, so that alpha has the same meaning for every f and for
    the bootstrap. The threshold below f = 0.2 is that of 0.2.

    With `features`, the clusterings also vary because of the features that are left out. This is
    not corrected: the cores are those of items that stay together without them, too.

    The closer f is to 1, the more resamples are needed. For alpha = 0.1, a pair that is never apart
    must be seen in 9 resamples with f = 0.5, in 192 with f = 0.8 and in 16,000 with f = 0.9.
    :func:`required_resamples` takes this into account.

    The correction is for the noise of drawing. A clusterer that finds different solutions of the
    same data, such as k-means with a single start, varies as much at every f. For such a clusterer
    the corrected threshold is too low below f = 0.5, and too high above. Use f = 0.5, where nothing
    is corrected.

    With a `size` and ``label="all"``, the reference clustering is also fitted to `size` items, and
    the probability is that of fits to `size` new items. The factor is then ``sqrt(1 - f)``, which
    is close to 1 for large data.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.resampling import Subsample
    >>> rows = Subsample(0.25).draw(100, np.random.SeedSequence(0))
    >>> rows.size, np.unique(rows).size
    (25, 25)
    >>> Subsample(0.5).spread(100), Subsample(0.8).spread(100)
    (1.0, 0.5)
    """

    repeats = False
    rescale = True
    features: float | None = None

    def __init__(
        self,
        fraction: float | None = None,
        *,
        size: int | None = None,
        label: str = "drawn",
        features: float | None = None,
        rescale: bool = True,
    ) -> None:
        if fraction is not None and size is not None:
            raise ValueError("Pass either fraction or size, not both.")
        if fraction is not None and not (isinstance(fraction, Real) and 0 < fraction < 1):
            raise ValueError(f"fraction must be a number above 0 and below 1, got {fraction!r}.")
        if size is not None and not (isinstance(size, Integral) and size >= 2):
            raise ValueError(f"size must be a whole number of items, 2 or more, got {size!r}.")
        if features is not None:
            if not (isinstance(features, Real) and 0 < features < 1):
                raise ValueError(
                    f"features must be a number above 0 and below 1, got {features!r}."
                )
            if label != "drawn":
                raise ValueError(
                    f"features needs label='drawn', got {label!r}; a model of some features cannot "
                    "label other items."
                )
        if not isinstance(rescale, bool):
            raise ValueError(f"rescale must be True or False, got {rescale!r}.")
        self.fraction = fraction
        self.size = size
        self.label = check_label(label)
        # Not set by default, so that checkpoints of earlier versions stay valid.
        if features is not None:
            self.features = float(features)
        if not rescale:
            self.rescale = False

    @property
    def fits_reference(self) -> bool:  # type: ignore[override]
        """Whether the reference clustering is also fitted to a subset of the items."""
        return self.size is not None and self.label == "all"

    @property
    def moves_items(self) -> bool:  # type: ignore[override]
        """Whether the drawn items are changed before they are clustered."""
        return self.features is not None

    def move(
        self, X: NDArray[Any], rows: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return the drawn rows of X with some of its columns, in their order."""
        n_features = X.shape[1]
        n_drawn = max(1, round((self.features or 1.0) * n_features))
        columns = np.sort(rng.choice(n_features, n_drawn, replace=False))
        return X[rows][:, columns].astype(np.float64)

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

    def spread(self, n_units: int) -> float:
        if not (self.rescale and self._draws_like(Subsample)):
            return super().spread(n_units)
        n_drawn = self.n_drawn(n_units)
        n_fitted = n_drawn if not self.fits_reference else n_units
        return min(math.sqrt((n_units - n_drawn) / n_fitted), MOST_SPREAD)

    def __repr__(self) -> str:
        size = f"{self.fraction or 0.5:g}" if self.size is None else f"size={self.size}"
        features = [] if self.features is None else [f"features={self.features:g}"]
        text = self._repr("Subsample", size, *features)
        return text if self.rescale else f"{text[:-1]}, rescale=False)"
