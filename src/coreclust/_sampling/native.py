"""Finds compiled code that labels many resamples at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.cluster import AgglomerativeClustering, MiniBatchKMeans
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils import check_array

from coreclust._classify.forest import twin_of_forest
from coreclust._classify.logistic import twin_of_logistic
from coreclust._classify.parameters import others_are_default
from coreclust._classify.scaled import twin_of_pipeline
from coreclust._classify.svm import twin_of_svc
from coreclust._sampling.pipelines import seed_place, twin_of_steps, usual_steps
from coreclust._utils.frames import is_pandas_frame, is_polars_frame
from coreclust._utils.validation import encode_labels, is_number, is_whole
from coreclust.cluster import HierarchicalClustering, KMeans
from coreclust.cluster._minibatch_twin import MiniBatchTwin
from coreclust.cluster._mixture import MixtureTwin
from coreclust.cluster._native import BatchLabeler, DatasetLabeler, NativeOffer


@dataclass(frozen=True)
class BatchEngine:
    """Compiled code for the resamples of one dataset, and the offer of its clusterer."""

    label: BatchLabeler
    offer: NativeOffer
    seed_place: int = 0  # of the clusterer's random_state among those of a Pipeline


def batch_engine(estimator: Any, X: Any, label: str = "drawn", y: Any = None) -> BatchEngine | None:
    """Return compiled code that labels resamples of X as `estimator` does, or None.

    `label` says which items get a label, see :class:`~coreclust.resampling.Scheme`. `y` holds the
    classes for a classifier.
    """
    native = _twin(estimator)
    methods = ("fit", "fit_predict") if label == "drawn" else ("fit", "fit_predict", "predict")
    offer = offer_of(native, methods)
    if isinstance(estimator, Pipeline) and (is_pandas_frame(X) or is_polars_frame(X)):
        X = _numbers_of(X)
    if offer is None or not (isinstance(X, np.ndarray) or (offer.takes_sparse and issparse(X))):
        return None
    make = offer.label_drawn if label == "drawn" else offer.label_all
    if make is None:
        return None
    try:
        labeler = make(X) if y is None else make(X, encode_labels(y, "y", floats=True)[0])
    except (ValueError, TypeError):
        if native is estimator:
            raise
        return None  # such as asymmetric distances, which the original may accept
    return None if labeler is None else BatchEngine(labeler, offer, seed_place(estimator))


def _numbers_of(frame: Any) -> Any:
    """Return a frame as an array, as scikit-learn's transformers do, or None."""
    try:
        return check_array(frame)
    except (ValueError, TypeError):
        return None


def dataset_labeler(estimator: Any, X: Any) -> DatasetLabeler | None:
    """Return compiled code that labels datasets like X as `estimator` does, or None."""
    offer = offer_of(_twin(estimator), ("fit", "fit_predict"))
    if offer is None or offer.label_datasets is None or not isinstance(X, np.ndarray):
        return None
    return offer.label_datasets(X.shape[1])


def takes_weights(estimator: Any, n_distinct: int) -> bool:
    """Tell whether fitting distinct items with their counts as weights equals fitting the copies.

    This is true only of estimators for which it was tested, and not of their subclasses.
    """
    if type(estimator) is SklearnKMeans:
        # A random init draws different rows; from copies it could draw the same item twice.
        init = estimator.init
        equivalent = init == "k-means++" if isinstance(init, str) else not callable(init)
        return bool(equivalent and n_distinct >= estimator.n_clusters)
    if type(estimator) is Pipeline:
        steps = usual_steps(estimator)
        if steps is None or getattr(offer_of(steps[-1], ()), "in_share", None) is not None:
            return False
        return takes_weights(steps[-1], n_distinct)
    # Not of DBSCAN, where the cluster of a border item depends on the order of rows.
    offer = offer_of(estimator, ("fit", "fit_predict"))
    return offer is not None and offer.weights_from is not None and n_distinct >= offer.weights_from


def offer_of(estimator: Any, methods: tuple[str, ...]) -> NativeOffer | None:
    """Return the offer of an estimator, or None if a subclass overrides one of the methods."""
    declare = getattr(estimator, "__coreclust_native__", None)
    if declare is None:
        return None
    offer: NativeOffer = declare()
    same = all(
        getattr(type(estimator), name, None) is getattr(offer.owner, name, None) for name in methods
    )
    return offer if same else None


def has_native(estimator: Any) -> bool:
    """Tell whether an estimator, or its twin, has compiled code."""
    return offer_of(_twin(estimator), ("fit", "fit_predict")) is not None


def _twin_of_kmeans(estimator: SklearnKMeans) -> KMeans | None:
    given_centers = not isinstance(estimator.init, str)
    usual = (
        estimator.algorithm == "lloyd"
        and not estimator.verbose
        and not callable(estimator.init)
        and (given_centers or estimator.init in ("k-means++", "random"))
    )
    if not usual:
        return None
    one = 10 if isinstance(estimator.init, str) and estimator.init == "random" else 1
    return KMeans(
        estimator.n_clusters,
        init=estimator.init,
        n_init=1 if given_centers else one if estimator.n_init == "auto" else estimator.n_init,
        max_iter=estimator.max_iter,
        tol=estimator.tol,
    )


def _twin_of_mini_batches(estimator: MiniBatchKMeans) -> MiniBatchTwin | None:
    names = ("max_iter", "batch_size", "tol", "max_no_improvement", "init_size")
    given_centers = not isinstance(estimator.init, str)
    usual = (
        others_are_default(
            estimator,
            {*names, "n_clusters", "init", "n_init", "reassignment_ratio", "random_state"},
        )
        and not callable(estimator.init)
        and (given_centers or estimator.init in ("k-means++", "random"))
        and 0 <= estimator.reassignment_ratio < 1
        and estimator.max_iter >= 1
    )
    if not usual:
        return None
    n_init = estimator.n_init
    if n_init == "auto" or given_centers:
        n_init = 3 if isinstance(estimator.init, str) and estimator.init == "random" else 1
    return MiniBatchTwin(
        estimator.n_clusters,
        init=estimator.init,
        n_init=n_init,
        reassignment_ratio=estimator.reassignment_ratio,
        **{name: getattr(estimator, name) for name in names},
    )


def _twin_of_agglomerative(estimator: AgglomerativeClustering) -> HierarchicalClustering | None:
    usual = (
        estimator.connectivity is None
        and estimator.n_clusters is not None
        and estimator.distance_threshold is None
        and estimator.metric in ("euclidean", "precomputed")
    )
    if not usual:
        return None
    return HierarchicalClustering(
        estimator.n_clusters, linkage=estimator.linkage, metric=estimator.metric
    )


def _twin_of_mixture(estimator: GaussianMixture) -> MixtureTwin | None:
    numbers = (estimator.n_components, estimator.max_iter, estimator.n_init)
    names = ("n_components", "covariance_type", "tol", "reg_covar", "max_iter", "n_init")
    usual = (
        others_are_default(estimator, {*names, "random_state", "verbose_interval"})
        and all(is_whole(number) and number >= 1 for number in numbers)
        and all(is_number(value) and value >= 0 for value in (estimator.tol, estimator.reg_covar))
        and estimator.covariance_type in ("full", "tied", "diag", "spherical")
    )
    return MixtureTwin(*(getattr(estimator, name) for name in names)) if usual else None


def _twin_of_pipeline(estimator: Pipeline) -> Any:
    last = _twin(estimator.steps[-1][1])
    offers = [offer_of(last, ("fit", "fit_predict")), offer_of(last, ("predict",))]
    return twin_of_pipeline(estimator) or twin_of_steps(estimator, offers)


# Estimators of other packages, by exact type (a subclass may differ), with a function that returns
# the equivalent native estimator, or None if a parameter rules it out.
_TWINS: dict[type, Callable[[Any], Any]] = {
    SklearnKMeans: _twin_of_kmeans,
    MiniBatchKMeans: _twin_of_mini_batches,
    AgglomerativeClustering: _twin_of_agglomerative,
    GaussianMixture: _twin_of_mixture,
    LogisticRegression: twin_of_logistic,
    RandomForestClassifier: twin_of_forest,
    SVC: twin_of_svc,
    Pipeline: _twin_of_pipeline,
}


def _twin(estimator: Any) -> Any:
    """Return the equivalent native estimator, None if there is none, or a native one itself."""
    twin = _TWINS.get(type(estimator))
    return estimator if twin is None else twin(estimator)
