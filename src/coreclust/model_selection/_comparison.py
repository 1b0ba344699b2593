"""Compares the core clusterings of several algorithms on the same data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from coreclust.algorithms import ALGORITHMS
from coreclust.core_clustering import CoreClustering
from coreclust.metrics import cluster_agreement, purity_score
from coreclust.model_selection._measures import Measures, measure
from coreclust.resampling import check_resampling


@dataclass(frozen=True, eq=False)
class AlgorithmComparison:
    """Core clusterings of one dataset by several algorithms.

    Attributes
    ----------
    names : list of str
        The names of the algorithms.
    fitted : list of CoreClustering
        The fitted estimators.
    measures : list of Measures
        The measures of stability of each algorithm.
    agreement : ndarray of shape (n_algorithms, n_algorithms)
        Share of the items that are core for both algorithms or for neither.
    core_rand : ndarray of shape (n_algorithms, n_algorithms)
        Adjusted Rand index of the cores over the items that are core for both algorithms; NaN if
        there are none.
    purity : ndarray of shape (n_algorithms, 2) or None
        Purity of the clusters and of the cores, if classes were given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.model_selection import compare_algorithms
    >>> X = load_iris().data
    >>> comparison = compare_algorithms(X, ("kmeans", "hclust"), n_clusters=3, n_resamples=50)
    >>> comparison.names, comparison.agreement.shape
    (['kmeans', 'hclust'], (2, 2))
    """

    names: list[str]
    fitted: list[CoreClustering]
    measures: list[Measures]
    agreement: NDArray[np.float64]
    core_rand: NDArray[np.float64]
    purity: NDArray[np.float64] | None

    def table(self) -> Any:
        """Return a data frame with one row per algorithm.

        Returns
        -------
        table : pandas.DataFrame
            The columns are `algorithm`, `clusters`, `weak_fraction`, `mean_jaccard`,
            `ambiguous_pairs`, `sizes` and `cores` (the numbers of items and of core items of each
            cluster, largest cluster first), and the purities if classes were given.
        """
        import pandas as pd

        rows = []
        for position, (name, cc, found) in enumerate(
            zip(self.names, self.fitted, self.measures, strict=True)
        ):
            order = sorted(cc.cores_, key=lambda core: -core.n_items)
            row = {
                "algorithm": name,
                "clusters": len(cc.cores_),
                "weak_fraction": found.weak_fraction,
                "mean_jaccard": found.mean_jaccard,
                "ambiguous_pairs": found.ambiguous_pairs,
                "sizes": [core.n_items for core in order],
                "cores": [core.n_core for core in order],
            }
            if self.purity is not None:
                row["cluster_purity"], row["core_purity"] = self.purity[position].tolist()
            rows.append(row)
        return pd.DataFrame(rows)


def compare_algorithms(
    X: Any,
    algorithms: Iterable[str] | Mapping[str, Any] = ("kmeans", "hclust", "tkmeans", "tclust"),
    *,
    n_clusters: int | None = None,
    y: Any = None,
    alpha: float = 0.1,
    n_resamples: int = 1000,
    resampling: Any = "bootstrap",
    confidence: float | None = None,
    guarantee: str = "simultaneous",
    n_jobs: int | None = None,
    random_state: int | None = None,
    verbose: int = 0,
) -> AlgorithmComparison:
    """Find the core clusters of the same data with several algorithms, on the same resamples.

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The data.
    algorithms : iterable of str or mapping of str to estimator
        Names from :data:`coreclust.algorithms.ALGORITHMS`, which need `n_clusters`; or a mapping
        of names to estimators.
    n_clusters : int, default=None
        Number of clusters for algorithms given by name.
    y : array-like of shape (n_items,), default=None
        Classes, used for classifiers and for the purity of clusters and cores.
    alpha, n_resamples, resampling, confidence, guarantee, n_jobs, verbose
        As for :class:`~coreclust.CoreClustering`. `resampling` must not be a
        `KnownDistribution`.
    random_state : int, default=None
        The seed of all fits, so that every algorithm gets the same resamples.

    Returns
    -------
    comparison : AlgorithmComparison

    Notes
    -----
    Compare weak fractions only between algorithms whose clusters have similar sizes. One large
    cluster with a few outliers is stable but not informative. The column `sizes` shows this.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.model_selection import compare_algorithms
    >>> X = load_iris().data
    >>> found = compare_algorithms(X, ["kmeans", "hclust"], n_clusters=3, n_resamples=100)
    >>> found.table()[["algorithm", "clusters"]].values.tolist()
    [['kmeans', 3], ['hclust', 3]]
    """
    estimators = _estimators(algorithms, n_clusters)
    if check_resampling(resampling).draws == "pairs":
        raise ValueError(
            f"resampling={resampling!r} draws separate resamples for every pair, and the measures "
            "of stability need common ones; use a Bootstrap or a Subsample."
        )
    if random_state is None:
        random_state = int(np.random.SeedSequence().generate_state(1)[0] >> 1)
    fitted = [
        CoreClustering(
            estimator,
            alpha=alpha,
            n_resamples=n_resamples,
            resampling=resampling,
            confidence=confidence,
            guarantee=guarantee,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        ).fit(X, y)
        for estimator in estimators.values()
    ]
    purity = None
    if y is not None:
        purity = np.array(
            [[purity_score(y, cc.reference_labels_), purity_score(y, cc.labels_)] for cc in fitted]
        )
    n = len(fitted)
    agreement, core_rand = np.eye(n), np.full((n, n), np.nan)
    for i in range(n):
        for j in range(n):
            first, second = fitted[i].labels_, fitted[j].labels_
            agreement[i, j] = np.trace(cluster_agreement(first, second)) / first.size
            both = (first >= 0) & (second >= 0)
            if both.any():
                core_rand[i, j] = adjusted_rand_score(first[both], second[both])
    return AlgorithmComparison(
        list(estimators), fitted, [measure(cc) for cc in fitted], agreement, core_rand, purity
    )


def _estimators(algorithms: Any, n_clusters: int | None) -> dict[str, Any]:
    if isinstance(algorithms, str):
        algorithms = [algorithms]
    if isinstance(algorithms, Mapping):
        chosen = dict(algorithms)
    else:
        names = list(algorithms)
        unknown = [name for name in names if name not in ALGORITHMS]
        if unknown:
            raise ValueError(
                f"algorithms must be names from {', '.join(ALGORITHMS)}, or a mapping of names to "
                f"estimators, got {unknown[0]!r}."
            )
        if n_clusters is None and any(not ALGORITHMS[name].is_classifier for name in names):
            raise ValueError("n_clusters is needed for algorithms given by name.")
        chosen = {name: ALGORITHMS[name].make(n_clusters or 0) for name in names}
    if not chosen:
        raise ValueError("algorithms must name at least one algorithm, got none.")
    return chosen
