"""Describes the task of a fit, checked as a whole before any work is done."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust._sampling.function import ClusteringFunction, warn_of_density
from coreclust._sampling.inputs import (
    check_classes,
    check_distribution,
    check_groups,
    check_items,
    check_keeps_models,
    check_scheme,
)
from coreclust._utils.blocks import BlockedItems
from coreclust._utils.compat import number_of_items
from coreclust._utils.constants import DRAWS_PER_RESAMPLE, RESAMPLES_PER_DRAW
from coreclust._utils.seeds import ROWS, seeds_of
from coreclust.evidence._guarantees import GUARANTEES
from coreclust.resampling import Scheme, check_resampling
from coreclust.resampling._nested import Nested

_REFERENCE = 0  # the seed key of the reference clustering; resamples have keys of two numbers


@dataclass(frozen=True)
class Problem:
    """Items, the function that clusters them, and the scheme that resamples them."""

    function: ClusteringFunction
    items: Any  # array, frame, list or BlockedItems
    classes: Any  # of the items, for a classifier
    scheme: Scheme
    groups: NDArray[np.intp] | None = None  # of the items, from 0 on, if whole groups are drawn

    @property
    def n_items(self) -> int:
        """Number of items."""
        return number_of_items(self.items)

    @property
    def n_units(self) -> int:
        """Number of items, or of groups, that resamples are drawn from."""
        return self.n_items if self.groups is None else int(self.groups.max()) + 1

    @property
    def spread(self) -> float:
        """How much the clusterings of resamples vary, relative to those of the bootstrap."""
        return self.scheme.spread(self.n_units)

    @property
    def in_blocks(self) -> bool:
        """Whether the items are fetched and labeled block by block."""
        return isinstance(self.items, BlockedItems)

    def reference(self, entropy: int) -> tuple[NDArray[np.int64], NDArray[Any], Any]:
        """Cluster the items as given, or fit to some of them and label all by `predict`.

        Returns codes, names and fitted estimator, as `ClusteringFunction.label_all` does.
        """
        seeds = seeds_of(entropy, _REFERENCE)
        if not (self.in_blocks or self.scheme.fits_reference):
            return self.function.label_all(self.items, self.classes, seeds)
        rows = self.scheme.draw(self.n_units, seeds_of(entropy, _REFERENCE, ROWS, 0))
        if self.groups is not None:
            rows = np.flatnonzero(np.isin(self.groups, rows))
        return self.function.label_all_by_resample(self.items, self.classes, np.unique(rows), seeds)

    def draw_rows(self, seeds: np.random.SeedSequence) -> NDArray[np.int64]:
        """Draw the rows of a resample, by whole groups if there are groups."""
        units = self.scheme.draw(self.n_units, seeds)
        if self.groups is None:
            return units
        return np.concatenate([self._members[unit] for unit in units])

    def draw_counts(
        self, resamples: list[np.random.SeedSequence], n_items: int
    ) -> NDArray[np.int32]:
        """Draw resamples, and return how often each item is in each of them."""
        if self.groups is None:
            return self.scheme.counts(n_items, resamples)
        return self.scheme.counts(self.n_units, resamples)[:, self.groups]

    @cached_property
    def _members(self) -> list[NDArray[np.intp]]:
        """The items of each group."""
        groups = np.asarray(self.groups)
        return np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])


def is_nested(meta: Any) -> bool:
    """Tell whether the guarantee of a CoreClustering is about new data."""
    guarantee = GUARANTEES.get(meta.guarantee) if isinstance(meta.guarantee, str) else None
    return guarantee is not None and guarantee.nested


def most_resamples(meta: Any) -> int:
    """Return the number of resamples of a fit, or with "auto" the largest number."""
    if meta.n_resamples == "auto":
        return int(meta.max_resamples)
    if is_nested(meta):
        return RESAMPLES_PER_DRAW * max(round(DRAWS_PER_RESAMPLE * meta.n_resamples), 1)
    return int(meta.n_resamples)


def nested_scheme(meta: Any, scheme: Scheme) -> Nested:
    """Return the scheme that resamples draws of the data; raise if there is none."""
    if meta.confidence is None:
        raise ValueError(f"guarantee={meta.guarantee!r} needs a confidence, such as 0.95.")
    if isinstance(meta.n_resamples, str):
        raise ValueError(
            f"n_resamples must be a number with guarantee={meta.guarantee!r}, got "
            f"{meta.n_resamples!r}."
        )
    if scheme.makes_items:
        raise ValueError(
            f"guarantee={meta.guarantee!r} cannot be used with resampling={scheme!r}, which makes "
            "new items; use 'bootstrap' or a Subsample."
        )
    return Nested(scheme)


def check_problem(meta: Any, estimator: Any, X: Any, y: Any, groups: Any) -> Problem:
    """Return the problem of a fit, or raise if it cannot be solved.

    `meta` is a CoreClustering; its attributes for the names of features are set.
    """
    function = ClusteringFunction.of(estimator)
    scheme = check_resampling(meta.resampling)
    if is_nested(meta):
        scheme = nested_scheme(meta, scheme)
    items = check_items(meta, X, function)
    classes = check_classes(y, items, function)
    codes = check_groups(groups, items, scheme)
    if scheme.repeats:
        warn_of_density(function.estimator)
    if meta.keep_models:
        check_keeps_models(function, scheme)
    problem = Problem(function, items, classes, scheme, codes)
    if scheme.draws == "pairs":
        check_distribution(function, items, classes, scheme, meta.n_resamples)
    else:
        check_scheme(scheme, function, items, problem.n_units, most_resamples(meta), meta.alpha)
    return problem
