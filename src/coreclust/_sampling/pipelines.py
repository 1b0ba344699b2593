"""Pipelines of usual transformers before a clusterer with compiled code.

Transformers are fitted to the copies of a resample, and the clusterer to its distinct items with
their counts as weights. The compiled code and scikit-learn's steps agree up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from coreclust._classify.parameters import others_are_default
from coreclust._utils.compat import number_of_items, take_items
from coreclust._utils.constants import ABSENT
from coreclust._utils.seeds import draw_random_states
from coreclust._utils.validation import is_number, is_whole
from coreclust.cluster._native import Batch, BatchLabeler, DatasetLabeler, NativeOffer

_FITTED = (StandardScaler, PCA, MinMaxScaler, MaxAbsScaler, RobustScaler)
_ROW_WISE = (Normalizer, Binarizer, PolynomialFeatures)

Transform = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]  # of items and their counts


def usual_steps(pipeline: Pipeline) -> list[Any] | None:
    """Return the steps if all transformers are known to act on each row by itself, else None.

    They may be fitted to the whole data before. Types are compared exactly.
    """
    parameters = pipeline.get_params(deep=False)
    steps = [step for _, step in parameters.pop("steps")]
    if any(parameters.values()):
        return None
    steps = [step for step in steps[:-1] if step not in (None, "passthrough")] + steps[-1:]
    return (
        steps if all(type(step) in _FITTED or _is_row_wise(step) for step in steps[:-1]) else None
    )


def _is_row_wise(step: Any) -> bool:
    """Tell whether a transformer learns nothing from the data."""
    if type(step) is FunctionTransformer:  # any other function may use all rows
        return isinstance(step.func, np.ufunc) and others_are_default(
            step, {"func", "inverse_func"}
        )
    return type(step) in _ROW_WISE


def fit_transformers(estimator: Any, X: Any, counts: NDArray[np.int64]) -> tuple[Any, Any]:
    """Fit the transformers of a Pipeline to items with counts.

    Returns the last step, which is not fitted, and the items that it gets. Without transformers
    these are the estimator and the items themselves.
    """
    if not isinstance(estimator, Pipeline):
        return estimator, X
    rows = np.repeat(np.arange(number_of_items(X)), counts)
    for _, step in estimator.steps[:-1]:
        if step not in (None, "passthrough"):
            X = step.fit(take_items(X, rows)).transform(X)
    return estimator.steps[-1][1], X


def seed_place(estimator: Any) -> int:
    """Return the place of the clusterer's random_state among all of them, sorted by name."""
    if not isinstance(estimator, Pipeline):
        return 0
    states = sorted(name for name in estimator.get_params() if name.endswith("__random_state"))
    own = f"{estimator.steps[-1][0]}__random_state"
    return states.index(own) if own in states else 0


@dataclass(frozen=True)
class PipelineTwin:
    """Compiled code for a Pipeline: the transformers in numpy, then that of the clusterer."""

    steps: list[Any]  # the transformers
    offer: NativeOffer  # of the clusterer
    predicts: bool  # whether `offer.label_all` labels as the clusterer's `predict` does
    seed_place: int

    def __coreclust_native__(self) -> NativeOffer:
        return NativeOffer(
            owner=PipelineTwin,
            label_drawn=self._labeler if self.offer.label_drawn else None,
            label_all=partial(self._labeler, label_all=True) if self.predicts else None,
            label_datasets=self._dataset_labeler if self.offer.label_datasets else None,
            seeded=self.offer.seeded,
            most_per_call=self.offer.most_per_call,
            failure=self.offer.failure,
        )

    def _labeler(self, X: Any, *, label_all: bool = False) -> BatchLabeler | None:
        X = _as_floats(X)
        steps = list(self.steps)
        while steps and _is_row_wise(steps[0]):  # the same in every resample
            X = _refit(steps.pop(0), X, np.ones(len(X), np.int64))
        transforms = _transforms(steps, len(X), X.shape[1], X.dtype)
        make = self.offer.label_all if label_all else self.offer.label_drawn
        if transforms is None or make is None:
            return None
        # Wrong parameters are found here, and not as a failure of each resample.
        if make(_apply(transforms, X, np.ones(len(X), np.int64))) is None:
            return None
        return partial(_label_resamples, X, transforms, make, label_all)

    def _dataset_labeler(self, n_features: int) -> DatasetLabeler | None:
        if any(type(step) is PCA and step.svd_solver == "auto" for step in self.steps):
            return None  # depends on the number of items, which is not known here
        transforms = _transforms(self.steps, 2, n_features, np.dtype(np.float64))
        if transforms is None or self.offer.label_datasets is None:
            return None
        return partial(_label_datasets, transforms, self.offer.label_datasets, self.seed_place)


def twin_of_steps(pipeline: Pipeline, offers: list[NativeOffer | None]) -> PipelineTwin | None:
    """Return compiled code for a Pipeline, or None.

    `offers` are those of the last step for `fit` alone, and for `predict` also.
    """
    steps, offer = usual_steps(pipeline), offers[0]
    if steps is None or offer is None or offer.in_share is not None or offer.holds_lock:
        return None
    predicts = offers[1] is not None and offer.label_all is not None
    return PipelineTwin(steps[:-1], offer, predicts, seed_place(pipeline))


def _as_floats(X: Any) -> NDArray[Any]:
    """Return items as scikit-learn's transformers convert them."""
    return np.ascontiguousarray(X, dtype=X.dtype if X.dtype == np.float32 else np.float64)


def _transforms(steps: list[Any], n: int, d: int, dtype: Any) -> list[Transform] | None:
    """Return a function for each step, None if one of them cannot be computed here."""
    transforms: list[Transform] = []
    for step in steps:
        if type(step) is StandardScaler:
            transforms.append(partial(_standardize, bool(step.with_mean), bool(step.with_std)))
        elif type(step) is PCA:
            if not _is_usual(step, n, d) or dtype == np.float32:
                return None
            transforms.append(partial(_rotate, step.n_components))
        else:
            transforms.append(partial(_refit, step))
    return transforms


def _apply(transforms: list[Transform], Z: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[Any]:
    for transform in transforms:
        Z = transform(Z, counts)
    return Z


def _refit(step: Any, Z: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[Any]:
    """Fit a transformer of scikit-learn to the copies of the items, and transform the items."""
    fresh = clone(step).set_output(transform="default")
    if "copy" in fresh.get_params():
        fresh.set_params(copy=True)
    copies = Z if _is_row_wise(step) else np.repeat(Z, counts, axis=0)
    return np.asarray(fresh.fit(copies).transform(Z))


def _standardize(
    center: bool, scale: bool, Z: NDArray[Any], counts: NDArray[np.int64]
) -> NDArray[Any]:
    """Center and scale as StandardScaler does: a feature that is constant is not scaled."""
    n = counts.sum()
    weights = counts.astype(np.float64)
    mean = weights @ Z / n
    out = Z.copy()  # in-place operations round to the type of the data, as in scikit-learn
    if center:
        out -= mean
    if scale:
        variance = weights @ (Z - mean) ** 2 / n
        eps = np.finfo(np.float64).eps
        constant = variance <= n * eps * variance + (n * mean * eps) ** 2
        out /= np.where(constant, 1.0, np.sqrt(variance))
    return out


def _is_usual(pca: PCA, n: int, d: int) -> bool:
    """Tell whether a PCA of n items with d features is exact and has usual parameters."""
    wanted = pca.n_components
    known = wanted is None or (is_whole(wanted) and 1 <= wanted <= d)
    known = known or (is_number(wanted) and not is_whole(wanted) and 0 < wanted < 1)
    usual = others_are_default(
        pca, {"n_components", "copy", "svd_solver", "random_state", "tol", "iterated_power"}
    )
    if not (known and usual and pca.svd_solver in ("auto", "full", "covariance_eigh")):
        return False
    # What "auto" means in scikit-learn. Smaller resamples may be approximated there.
    exact = (d <= 1000 and n >= 10 * d) or max(n, d) <= 500 or not is_whole(wanted)
    return bool(pca.svd_solver != "auto" or exact or wanted >= 0.8 * min(n, d))


def _rotate(
    n_components: Any, Z: NDArray[np.float64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the principal components of the items, with the signs that scikit-learn gives them."""
    n, d = counts.sum(), Z.shape[1]
    if is_whole(n_components) and n_components > min(n, d):
        raise ValueError("PCA has more components than items.")
    weights = counts.astype(np.float64)
    centered = Z - weights @ Z / n
    rooted = centered * np.sqrt(weights)[:, None]
    if len(Z) < d:
        _, singular, axes = np.linalg.svd(rooted, full_matrices=False)
        variances = singular**2
    else:
        variances, columns = np.linalg.eigh(rooted.T @ rooted)
        variances, axes = np.maximum(variances[::-1], 0.0), columns.T[::-1]
    n_kept = min(n, d) if n_components is None else n_components
    if not is_whole(n_kept):
        shares = np.cumsum(variances) / variances.sum()
        n_kept = int(np.searchsorted(shares, n_components, side="right")) + 1
    axes = axes[:n_kept]
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]
    return np.ascontiguousarray(centered @ axes.T)


def _label_resamples(
    X: NDArray[Any],
    transforms: list[Transform],
    make: Callable[..., BatchLabeler | None],
    label_all: bool,
    counts: NDArray[np.int32],
    seeds: NDArray[np.int64],
) -> Batch:
    labels = np.full(counts.shape, ABSENT, dtype=np.int32)
    failed = np.zeros(len(counts), dtype=bool)
    for resample, drawn in enumerate(counts):
        items = slice(None) if label_all else np.flatnonzero(drawn)
        own = np.ascontiguousarray(drawn[items])
        try:
            label = make(_apply(transforms, X[items], own.astype(np.int64)))
        except ValueError:  # too few items for a transformer
            label = None
        if label is None:
            failed[resample] = True
            continue
        batch = label(own[None], seeds[resample : resample + 1])
        labels[resample, items], failed[resample] = batch.labels[0], batch.failed[0]
    return Batch(labels, failed)


def _label_datasets(
    transforms: list[Transform],
    make: Callable[[int], DatasetLabeler | None],
    place: int,
    datasets: NDArray[np.float64],
    n_wanted: int,
    seeds: NDArray[np.int64],
) -> Batch:
    once = np.ones(datasets.shape[1], dtype=np.int64)
    moved = np.stack([_apply(transforms, dataset, once) for dataset in datasets])
    label = make(moved.shape[2])
    if label is None:
        raise TypeError("The clusterer labels no datasets with this number of features.")
    states = [draw_random_states(int(seed), place + 1)[place] for seed in seeds]
    return label(moved, n_wanted, np.array(states, dtype=np.int64))
