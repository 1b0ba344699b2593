"""What a fit is asked to do, checked as a whole before any work is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from coreclust._sampling.function import ClusteringFunction, warn_of_density
from coreclust._sampling.inputs import (
    check_classes,
    check_groups,
    check_items,
    check_keeps_models,
    check_scheme,
)
from coreclust._sampling.pairs import check_distribution
from coreclust._utils.blocks import BlockedItems
from coreclust._utils.compat import number_of_items
from coreclust._utils.seeds import ROWS, seeds_of
from coreclust.resampling._schemes import (
    Bootstrap,
    IndexScheme,
    KnownDistribution,
    Scheme,
    Subsample,
    check_resampling,
)

_REFERENCE = 0  # the seed key of the reference clustering; resamples have keys of two numbers


@dataclass(frozen=True)
class Problem:
    """Items, what clusters them, and how resamples of them are drawn.

    Attributes
    ----------
    function : ClusteringFunction
    items : array, frame, list or BlockedItems
    classes : array or None
        Of the items, for a classifier.
    scheme : Scheme or KnownDistribution
    groups : ndarray of int or None
        The group of each item, where whole groups are drawn.
    """

    function: ClusteringFunction
    items: Any
    classes: Any
    scheme: Scheme | KnownDistribution
    groups: NDArray[np.intp] | None

    def reference(self, entropy: int) -> tuple[NDArray[np.int64], NDArray[Any], Any]:
        """Cluster the items as given; or a resample of them, and let that label the others.

        Returns
        -------
        codes, names, fitted
            As of `ClusteringFunction.label_all`.
        """
        seeds = seeds_of(entropy, _REFERENCE)
        if not self._is_known_by_resamples:
            return self.function.label_all(self.items, self.classes, seeds)
        scheme = cast(IndexScheme, self.scheme)  # check_scheme refuses others for a dask array
        rows = scheme.draw(self.n_units, seeds_of(entropy, _REFERENCE, ROWS, 0))
        if self.groups is not None:
            rows = np.flatnonzero(np.isin(self.groups, rows))
        return self.function.label_all_by_resample(self.items, self.classes, np.unique(rows), seeds)

    @property
    def n_units(self) -> int:
        """The number of items, or of groups of them, that resamples are drawn from."""
        return number_of_items(self.items) if self.groups is None else int(self.groups.max()) + 1

    @property
    def _is_known_by_resamples(self) -> bool:
        """Whether nothing is fitted to all items: they are not here, or a fit is not to grow."""
        if isinstance(self.items, BlockedItems):
            return True
        scheme = self.scheme
        return isinstance(scheme, Subsample) and scheme.size is not None and scheme.label == "all"


def check_problem(meta: Any, estimator: Any, X: Any, y: Any, groups: Any) -> Problem:
    """Return the problem, or raise a sentence about what is wrong with it.

    The parameters of `meta`, a CoreClustering, say how it is to be solved; it gets the names of
    the features.
    """
    function = ClusteringFunction.of(estimator)
    scheme = check_resampling(meta.resampling)
    items = check_items(meta, X, function)
    classes = check_classes(y, items, function)
    codes = check_groups(groups, items, scheme)
    if type(scheme) is Bootstrap:
        warn_of_density(function.estimator)
    if meta.keep_models:
        check_keeps_models(function, scheme)
    problem = Problem(function, items, classes, scheme, codes)
    if isinstance(scheme, KnownDistribution):
        check_distribution(function, items, classes, scheme, meta.n_resamples)
    else:
        check_scheme(
            scheme,
            function,
            items,
            n_units=problem.n_units,
            n_resamples=meta._most_resamples(),
            alpha=meta.alpha,
        )
    return problem
