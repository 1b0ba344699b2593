"""Defines the interface of a resampling scheme, with defaults for all but `draw`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LABELS = ("drawn", "all", "oob")

_TRIAL_UNITS = 1_000_000  # at most, to estimate how often a pair is seen


class Scheme:
    """Base class of the resampling schemes.

    Other schemes need not inherit from it. Any object with a method `draw` can be passed as
    `resampling`; attributes and methods that it does not define are taken from this class.

    Attributes
    ----------
    label : {"drawn", "all", "oob"}, default="drawn"
        The items that are labeled in a resample: those drawn, all, or only those not drawn.
    draws : {"rows", "items", "pairs"}, default="rows"
        What a resample consists of: rows of the data (`draw`), new items (`draw_items`), or a pair
        of items among new items, as in Algorithm 2 of the paper.
    repeats : bool, default=True
        Whether a resample can contain an item more than once.
    moves_items : bool, default=False
        Whether the drawn items are changed by `move` before they are clustered.
    fits_reference : bool, default=False
        Whether the reference clustering is also fitted to a subset of the items.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.resampling import check_resampling
    >>> class FirstHalf:
    ...     def draw(self, n_units, seeds):
    ...         return np.random.default_rng(seeds).permutation(n_units)[: n_units // 2]
    >>> scheme = check_resampling(FirstHalf())
    >>> scheme.counts(10, [np.random.SeedSequence(0)]).sum(), scheme.label
    (np.int64(5), 'drawn')
    """

    label = "drawn"
    draws = "rows"
    repeats = True
    moves_items = False
    fits_reference = False

    def draw(self, n_units: int, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        """Return the rows (or groups) of one resample. A row may occur more than once."""
        raise NotImplementedError(f"{type(self).__name__} has no method draw.")

    def counts(self, n_units: int, resamples: list[np.random.SeedSequence]) -> NDArray[np.int32]:
        """Return how often each row occurs in each of some resamples; by default from `draw`."""
        drawn = [self.draw(n_units, seeds) for seeds in resamples]
        return np.array([np.bincount(rows, minlength=n_units) for rows in drawn], dtype=np.int32)

    def pair_share(self, n_units: int) -> float:
        """Return the mean share of resamples in which a pair is labeled; by default estimated."""
        if self.label == "all" or n_units < 2:
            return float(self.label == "all")
        n = min(n_units, _TRIAL_UNITS)
        n_trials = max(2, min(200, 2 * _TRIAL_UNITS // n))
        trials = self.counts(n, [np.random.SeedSequence(trial) for trial in range(n_trials)])
        labeled = ((trials > 0) == (self.label == "drawn")).sum(axis=1)
        return float((labeled * (labeled - 1)).mean() / (n * (n - 1)))

    def spread(self, n_units: int) -> float:
        """Return how much the clusterings of resamples vary, relative to those of the bootstrap.

        It is a ratio of standard deviations. Shares of resamples are compared with the threshold
        that corresponds to ``1 - alpha`` at this spread, so that alpha has the same meaning for
        all schemes. By default 1: the shares are compared with ``1 - alpha`` itself.
        """
        return 1.0

    def check(self, n_units: int) -> None:
        """Raise an error if resamples of `n_units` rows or groups cannot be drawn."""

    def move(
        self, X: NDArray[Any], rows: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return the drawn rows of X, changed; for schemes with `moves_items`."""
        raise NotImplementedError(f"{type(self).__name__} has no method move.")

    def draw_items(self, n_items: int, seed: int) -> Any:
        """Return new items; for schemes that draw "items"."""
        raise NotImplementedError(f"{type(self).__name__} has no method draw_items.")

    @property
    def makes_items(self) -> bool:
        """Whether a resample contains items that are not in the data."""
        return self.draws != "rows" or self.moves_items

    def _draws_like(self, cls: type[Scheme]) -> bool:
        """Return whether `draw` is that of `cls`; otherwise its counts and shares do not apply."""
        return getattr(self.draw, "__func__", None) is cls.draw

    def _repr(self, name: str, *arguments: str) -> str:
        """Return the representation, with `label` unless it is the default."""
        label = [] if self.label == Scheme.label else [f"label={self.label!r}"]
        return f"{name}({', '.join([*arguments, *label])})"


class PlainScheme(Scheme):
    """Wraps an object that has a method `draw`, and adds the defaults for all else."""

    def __init__(self, plain: Any) -> None:
        self.plain = plain
        self.label = check_label(getattr(plain, "label", Scheme.label))
        for name in ("draws", "repeats", "moves_items", "fits_reference"):
            setattr(self, name, getattr(plain, name, getattr(Scheme, name)))
        for name in ("pair_share", "spread", "move", "draw_items"):
            if callable(getattr(plain, name, None)):
                setattr(self, name, getattr(plain, name))

    def draw(self, n_units: int, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        rows = np.asarray(self.plain.draw(n_units, seeds))
        fits = rows.ndim == 1 and rows.size > 0 and rows.dtype.kind in "iu"
        if not fits or rows.min() < 0 or rows.max() >= n_units:
            raise ValueError(
                f"resampling={self!r} must draw positions from 0 to {n_units - 1} in an array of "
                f"integers, got {rows!r}."
            )
        return rows.astype(np.int64)

    def counts(self, n_units: int, resamples: list[np.random.SeedSequence]) -> NDArray[np.int32]:
        if callable(getattr(self.plain, "counts", None)):
            counts = np.asarray(self.plain.counts(n_units, resamples))
            if counts.shape != (len(resamples), n_units) or counts.min() < 0:
                shape = f"({len(resamples)}, {n_units})"
                raise ValueError(
                    f"resampling={self!r} must return counts, 0 or more, of shape {shape}."
                )
            return counts.astype(np.int32)
        return super().counts(n_units, resamples)

    def check(self, n_units: int) -> None:
        if callable(getattr(self.plain, "check", None)):
            self.plain.check(n_units)
        if self.draws == "rows":
            self.draw(n_units, np.random.SeedSequence(0))

    def __repr__(self) -> str:
        return repr(self.plain)


def check_label(label: Any) -> str:
    """Return `label`; raise an error unless it is one of `LABELS`."""
    if not isinstance(label, str) or label not in LABELS:
        raise ValueError(f"label must be one of {', '.join(map(repr, LABELS))}, got {label!r}.")
    return label
