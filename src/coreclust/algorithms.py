"""Provides the algorithms of the paper at its settings, by name.

scikit-learn is imported only when an estimator is made, so that the command line can list the names
quickly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier

    from coreclust.cluster import HierarchicalClustering, KMeans, TClust, TrimmedKMeans

__all__ = ["ALGORITHMS", "Algorithm", "make_algorithm"]


@dataclass(frozen=True)
class Algorithm:
    """An algorithm with a name.

    Attributes
    ----------
    name : str
        The name on the command line.
    title : str
        The name in tables.
    make : callable
        Takes the number of clusters and returns an estimator. Classifiers ignore the number.
    is_classifier : bool
        Whether it needs the classes of the items.

    Examples
    --------
    >>> from coreclust.algorithms import ALGORITHMS
    >>> ALGORITHMS["svm"].title, ALGORITHMS["svm"].is_classifier
    ('SVM', True)
    """

    name: str
    title: str
    make: Callable[[int], Any]
    is_classifier: bool = False


def _kmeans(n_clusters: int) -> KMeans:
    """Return k-means++ as published, with ten runs and one candidate per center."""
    from coreclust.cluster import KMeans

    return KMeans(n_clusters, n_local_trials=1, n_init=10)


def _hclust(n_clusters: int) -> HierarchicalClustering:
    from coreclust.cluster import HierarchicalClustering

    return HierarchicalClustering(n_clusters, linkage="complete")


def _tkmeans(n_clusters: int) -> TrimmedKMeans:
    from coreclust.cluster import TrimmedKMeans

    return TrimmedKMeans(n_clusters, trim=0.05, init="subsets", n_init=50, n_refine=50, max_iter=20)


def _tclust(n_clusters: int) -> TClust:
    from coreclust.cluster import TClust

    return TClust(
        n_clusters,
        trim=0.05,
        restr_factor=50,
        init="subsets",
        n_init=50,
        n_refine=50,
        max_iter=20,
    )


def _random_forest(_n_clusters: int) -> RandomForestClassifier:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(500)


def _svm(_n_clusters: int) -> Any:
    """Return an SVM with the defaults of R's e1071: scaled features, C = 1, gamma = 1 / d."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return make_pipeline(StandardScaler(), SVC(C=1.0, gamma="auto"))


#: The algorithms of the paper's experiments: the clusterers, then the classifiers.
ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("kmeans", "k-means++", _kmeans),
        Algorithm("hclust", "hclust", _hclust),
        Algorithm("tkmeans", "tkmeans", _tkmeans),
        Algorithm("tclust", "tclust", _tclust),
        Algorithm("rf", "random forest", _random_forest, is_classifier=True),
        Algorithm("svm", "SVM", _svm, is_classifier=True),
    )
}


def make_algorithm(name: str, n_clusters: int) -> Any:
    """Return the estimator with the given name, at the settings of the paper.

    Parameters
    ----------
    name : {"kmeans", "hclust", "tkmeans", "tclust", "rf", "svm"}
        k-means++ (ten runs), complete linkage, trimmed k-means and tclust (both trim 5 %),
        random forest, support vector machine.
    n_clusters : int
        Number of clusters; classifiers ignore it.

    Returns
    -------
    estimator : estimator

    Examples
    --------
    >>> from coreclust.algorithms import make_algorithm
    >>> make_algorithm("hclust", 3)
    HierarchicalClustering(n_clusters=3)
    """
    if name not in ALGORITHMS:
        raise ValueError(f"name must be one of {', '.join(ALGORITHMS)}, got {name!r}.")
    return ALGORITHMS[name].make(n_clusters)
