"""The clustering functions of the paper at its settings, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from coreclust.cluster import HierarchicalClustering, KMeans, TClust, TrimmedKMeans


@dataclass(frozen=True)
class Algorithm:
    """A clustering function that goes by a name.

    Attributes
    ----------
    name : str
        As on the command line.
    title : str
        As in a table.
    make : callable
        Takes the number of clusters, returns an estimator. Classifiers ignore the number.
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
    """Ten runs of k-means++ as published, without the greedy choice of later software."""
    return KMeans(n_clusters, n_local_trials=1, n_init=10)


def _hclust(n_clusters: int) -> HierarchicalClustering:
    return HierarchicalClustering(n_clusters, linkage="complete")


def _tkmeans(n_clusters: int) -> TrimmedKMeans:
    return TrimmedKMeans(n_clusters, trim=0.05, init="subsets", n_init=50, n_refine=50, max_iter=20)


def _tclust(n_clusters: int) -> TClust:
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
    return RandomForestClassifier(500)


def _svm(_n_clusters: int) -> Any:
    """Scaled features, radial kernel, C = 1 and gamma = 1 / d, the defaults of R's e1071."""
    return make_pipeline(StandardScaler(), SVC(C=1.0, gamma="auto"))


#: The algorithms of the paper's experiments.
ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("hclust", "hclust", _hclust),
        Algorithm("kmeans", "k-means++", _kmeans),
        Algorithm("rf", "random forest", _random_forest, is_classifier=True),
        Algorithm("svm", "SVM", _svm, is_classifier=True),
        Algorithm("tclust", "tclust", _tclust),
        Algorithm("tkmeans", "tkmeans", _tkmeans),
    )
}


def make_algorithm(name: str, n_clusters: int) -> Any:
    """Return the estimator that goes by a name, at the settings of the paper.

    Parameters
    ----------
    name : {"hclust", "kmeans", "rf", "svm", "tclust", "tkmeans"}
        Complete linkage, k-means++ (ten runs), random forest, support vector machine,
        tclust and trimmed k-means (both trim 5 %).
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
