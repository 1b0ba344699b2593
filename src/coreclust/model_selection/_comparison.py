"""Which algorithm suits the data: how much of each clustering is stable, and where they agree."""

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
from coreclust.resampling import KnownDistribution, check_resampling


@dataclass(frozen=True, eq=False)
class AlgorithmComparison:
    """Core clusterings of one dataset by several algorithms.

    Attributes
    ----------
    names : list of str
    fitted : list of CoreClustering
    measures : list of Measures
    agreement : ndarray of shape (n_algorithms, n_algorithms)
        Share of the items that two algorithms judge alike: both core, or both not.
    core_rand : ndarray of shape (n_algorithms, n_algorithms)
        Adjusted Rand index of the cores, over the items that are core for both; NaN if there
        are none.
    purity : ndarray of shape (n_algorithms, 2) or None
        Of the clusters and of the cores, if classes were given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.model_selection import compare_algorithms
    >>> comparison = compare_algorithms(
    ...     load_iris().data, ("kmeans", "hclust"), n_clusters=3, n_resamples=50, random_state=0
    ... )
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
        """Return a data frame with a row an algorithm.

        Returns
        -------
        table : pandas.DataFrame
            With columns `algorithm`, `clusters`, `weak_fraction`, `mean_jaccard`,
            `ambiguous_pairs`, `sizes` and `cores` (a number a cluster, the largest cluster
            first), and the purities if classes were given.
        """
        import pandas as pd

        rows = []
        for position, (name, cc, found) in enumerate(
            zip(self.names, self.fitted, self.measures, strict=True)
        ):
            order = sorted(cc.cores_, key=lambda core: -core.size)
            row = {
                "algorithm": name,
                "clusters": len(cc.cores_),
                "weak_fraction": found.weak_fraction,
                "mean_jaccard": found.mean_jaccard,
                "ambiguous_pairs": found.ambiguous_pairs,
                "sizes": [core.size for core in order],
                "cores": [core.core.size for core in order],
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
    n_jobs: int | None = None,
    random_state: int | None = None,
    verbose: int = 0,
) -> AlgorithmComparison:
    """Core cluster the same data by several algorithms, on the same resamples.

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
    algorithms : names or a mapping of names to estimators
        Names of :data:`coreclust.algorithms.ALGORITHMS`, for which `n_clusters` is needed; or
        estimators under names of your own.
    n_clusters : int, default=None
        Number of clusters for algorithms by name.
    y : array-like of shape (n_items,), default=None
        Classes: for the purity of clusters and cores, and for classifiers.
    alpha, n_resamples, resampling, confidence, n_jobs, verbose
        As for :class:`~coreclust.CoreClustering`; not a `KnownDistribution`.
    random_state : int, default=None
        One seed for all, so that every algorithm sees the same resamples.

    Returns
    -------
    comparison : AlgorithmComparison

    Notes
    -----
    A small weak fraction speaks for an algorithm only among those with comparable clusters:
    one large cluster with a few outliers beside it is stable and says little. Look at `sizes`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coreclust.model_selection import compare_algorithms
    >>> X = load_iris().data
    >>> found = compare_algorithms(
    ...     X, ["kmeans", "hclust"], n_clusters=3, n_resamples=100, random_state=0
    ... )
    >>> found.table()[["algorithm", "clusters"]].values.tolist()
    [['kmeans', 3], ['hclust', 3]]
    """
    estimators = _estimators(algorithms, n_clusters)
    if isinstance(check_resampling(resampling), KnownDistribution):
        raise ValueError(
            f"resampling={resampling!r} has resamples of its own for every pair, which the measures "
            "of stability cannot use; use a Bootstrap or a Subsample."
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
                f"algorithms must be of {', '.join(ALGORITHMS)}, or a mapping of names to "
                f"estimators, got {unknown[0]!r}."
            )
        if n_clusters is None and any(not ALGORITHMS[name].is_classifier for name in names):
            raise ValueError("n_clusters is needed for algorithms by name.")
        chosen = {name: ALGORITHMS[name].make(n_clusters or 0) for name in names}
    if not chosen:
        raise ValueError("algorithms must name at least one algorithm, got none.")
    return chosen
