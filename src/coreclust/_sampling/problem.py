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
from coreclust._utils.seeds import ROWS, seeds_of
from coreclust.resampling import Scheme, check_resampling

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


def check_problem(meta: Any, estimator: Any, X: Any, y: Any, groups: Any) -> Problem:
    """Return the problem of a fit, or raise if it cannot be solved.

    `meta` is a CoreClustering; its attributes for the names of features are set.
    """
    function = ClusteringFunction.of(estimator)
    scheme = check_resampling(meta.resampling)
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
        check_scheme(scheme, function, items, problem.n_units, meta._most_resamples(), meta.alpha)
    return problem
