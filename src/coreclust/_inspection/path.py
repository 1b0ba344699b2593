"""Finds the cores at many values of alpha or of the confidence, from the same resamples."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from coreclust.cores import Core, core_labels, core_path
from coreclust.evidence._rule import CoreRule

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

_ALPHAS = np.arange(1, 51) / 100
PATH_SECONDS = 60.0  # time limit of the search for a plot or a report


@dataclass(frozen=True, eq=False)
class CorePath:
    """The cores at many values of one parameter.

    Attributes
    ----------
    parameter : {"alpha", "confidence"}
        The parameter that varies.
    values : ndarray of float of shape (n_values,)
        The values of the parameter, ascending.
    cores : list of list of Core
        For each value, the cores, one per cluster.
    labels : ndarray of int of shape (n_values, n_items)
        For each value, the core of each item, -1 for none.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> cc = CoreClustering(KMeans(3), n_resamples=200, random_state=0).fit(load_iris().data)
    >>> path = cc.alpha_path([0.05, 0.1, 0.2])
    >>> path
    CorePath(alpha from 0.05 to 0.2, 3 values)
    >>> path.core_sizes.shape, path.first_core().shape
    ((3, 3), (150,))
    """

    parameter: str
    values: NDArray[np.float64]
    cores: list[list[Core]]
    labels: NDArray[np.int64]

    @property
    def weak_fraction(self) -> NDArray[np.float64]:
        """The share of items that are in no core, for each value; this includes trimmed items."""
        return (self.labels < 0).mean(axis=1)

    @property
    def core_sizes(self) -> NDArray[np.int64]:
        """The size of each core, of shape (n_values, n_clusters)."""
        return np.array([[core.n_core for core in cores] for cores in self.cores], np.int64)

    def first_core(self) -> NDArray[np.float64]:
        """Return, for each item, the smallest value at which it is in a core; NaN if there is none.

        Cores need not be nested: an item may be in no core at a larger value.
        """
        inside = self.labels >= 0
        first = self.values[inside.argmax(axis=0)]
        return np.where(inside.any(axis=0), first, np.nan)

    def to_frame(self) -> Any:
        """Return a data frame with one row per value and cluster. Clusters are numbered from 0."""
        import pandas as pd

        rows = [
            {
                self.parameter: value,
                "cluster": core.label,
                "n_items": core.n_items,
                "n_core": core.n_core,
                "n_weak": core.n_weak,
                "weak_fraction": core.weak_fraction,
                "optimal": core.optimal,
            }
            for value, cores in zip(self.values.tolist(), self.cores, strict=True)
            for core in cores
        ]
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        ends = f"{self.values[0]:g} to {self.values[-1]:g}"
        return f"CorePath({self.parameter} from {ends}, {self.values.size} values)"


def check_values(values: ArrayLike, name: str, *, open_ends: bool) -> NDArray[np.float64]:
    """Return the distinct values, ascending; raise an error unless they lie between 0 and 1."""
    try:
        array = np.unique(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numbers, got {values!r}.") from error
    inside = (array > 0) & (array < 1) if open_ends else (array >= 0) & (array <= 1)
    if array.size == 0 or not inside.all():
        between = "above 0 and below 1" if open_ends else "between 0 and 1"
        raise ValueError(f"{name} must be one or more numbers {between}, got {values!r}.")
    return array


def alpha_path(self: CoreClustering, alphas: ArrayLike | None = None) -> CorePath:
    """Find the cores at many values of alpha, from the same resamples.

    Pairs are counted only once, and each search starts from the core at the previous alpha.

    Parameters
    ----------
    alphas : array-like of float, default=None
        None uses 0.01 to 0.5 in steps of 0.01, without those at which hardly any pair can pass.

    Returns
    -------
    path : CorePath
        The cores and the weak fraction at each alpha, ascending. If several largest cores exist,
        the choice may differ from that of :meth:`recut`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> cc = CoreClustering(n_resamples=50, random_state=0).fit(load_iris().data)
    >>> cc.alpha_path([0.1, 0.2, 0.4])
    CorePath(alpha from 0.1 to 0.4, 3 values)
    """
    check_is_fitted(self)
    given = reachable_alphas(self) if alphas is None else alphas
    values = check_values(given, "alphas", open_ends=False)
    rules = [self.rule_.changed(alpha=alpha) for alpha in values.tolist()]
    return _path(self, "alpha", values, rules)


def confidence_path(self: CoreClustering, confidences: ArrayLike) -> CorePath:
    """Find the cores at many values of confidence, from the same resamples.

    Parameters
    ----------
    confidences : array-like of float
        The values, above 0 and below 1.

    Returns
    -------
    path : CorePath
        The cores and the weak fraction at each confidence, ascending.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust import CoreClustering
    >>> cc = CoreClustering(n_resamples=50, random_state=0).fit(load_iris().data)
    >>> cc.confidence_path([0.5, 0.9, 0.99])
    CorePath(confidence from 0.5 to 0.99, 3 values)
    """
    check_is_fitted(self)
    if self.rule_.nested:
        raise ValueError(
            f"confidence_path cannot be used with guarantee={self.rule_.guarantee!r}; use "
            "recut(confidence=...) for each confidence."
        )
    values = check_values(confidences, "confidences", open_ends=True)
    # The search starts with the strictest rule, which has the highest confidence.
    rules = [self.rule_.changed(confidence=level) for level in values[::-1].tolist()]
    return _path(self, "confidence", values, rules, backwards=True)


def reachable_alphas(fitted: CoreClustering) -> NDArray[np.float64]:
    """Return the default alphas, without those at which hardly any pair can be an edge."""
    evidence, rule = fitted.ensemble_, fitted.rule_
    sizes = np.array([core.n_items for core in fitted.cores_], dtype=np.int64)
    seen = int(0.8 * evidence.pair_share * evidence.n_resamples)
    tables = [rule.changed(alpha=alpha).table(evidence, sizes) for alpha in _ALPHAS.tolist()]
    reachable = [table[min(seen, table.size - 1)] >= 0 for table in tables]
    return _ALPHAS[reachable] if any(reachable) else _ALPHAS[-1:]


def path_to_draw(fitted: CoreClustering, alphas: ArrayLike | None = None) -> CorePath:
    """Return the cores at many values of alpha, for a plot or a report.

    At a small alpha, the search can take much longer than at the fitted one. If the fit had no
    time limit, `PATH_SECONDS` applies. `CorePath.cores` then states which cores are not proven.
    """
    if fitted.time_limit in (None, "auto"):
        fitted = copy.copy(fitted)
        fitted.rule_ = fitted.rule_.changed(time_limit=PATH_SECONDS)
    return alpha_path(fitted, alphas)


def _path(
    fitted: CoreClustering,
    parameter: str,
    values: NDArray[np.float64],
    rules: Sequence[CoreRule],
    *,
    backwards: bool = False,
) -> CorePath:
    evidence = fitted.ensemble_
    cores = core_path(evidence, fitted.reference_labels_, rules, n_jobs=fitted.n_jobs)
    cores = cores[::-1] if backwards else cores
    labels = np.array([core_labels(found, evidence.n_items) for found in cores])
    return CorePath(parameter, values, cores, labels)
