"""Gaussian mixtures as scikit-learn's GaussianMixture fits them, for many resamples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import ABSENT
from coreclust.cluster import _em
from coreclust.cluster._kmeans import KMeans
from coreclust.cluster._native import Batch, BatchLabeler, DatasetLabeler, NativeOffer

_FORMS = {"full": _em.FULL, "tied": _em.TIED, "diag": _em.DIAG, "spherical": _em.SPHERICAL}


@dataclass(frozen=True)
class MixtureTwin:
    """A Gaussian mixture in the place of scikit-learn's, with k-means as its start.

    From the same start both have the same log-likelihood, up to rounding.
    """

    n_components: int
    covariance_type: str = "full"
    tol: float = 1e-3
    reg_covar: float = 1e-6
    max_iter: int = 100
    n_init: int = 1

    def __coreclust_native__(self) -> NativeOffer:
        return NativeOffer(
            owner=MixtureTwin,
            label_drawn=self._labeler,
            label_all=partial(self._labeler, label_all=True),
            label_datasets=self._dataset_labeler,
            most_per_call=25,
            failure="ValueError: too few items for the components asked for, or a covariance is "
            "not positive definite; increase reg_covar.",
        )

    def fit_items(
        self, X: NDArray[np.float64], counts: NDArray[Any], seed: int
    ) -> tuple[Any, ...] | None:
        """Return what `_em.best_of_starts` returns for the items with a count; None if it failed.

        A resample starts from k-means of the distinct items with their counts as weights, which is
        k-means of the copies.
        """
        items = np.flatnonzero(counts)
        label = KMeans(self.n_components, n_init=1, tol=1e-4)._labeler(X)
        starts = np.empty((self.n_init, items.size), dtype=np.int32)
        seeds = np.random.SeedSequence(int(seed)).generate_state(self.n_init)
        for start, start_seed in zip(starts, seeds.astype(np.int64), strict=True):
            batch = label(counts[None], np.array([start_seed]))
            if batch.failed[0]:
                return None
            start[:] = batch.labels[0, items]
        columns = np.ascontiguousarray(X[items].T)
        weights = counts[items].astype(np.float64)
        found = _em.best_of_starts(columns, weights, starts, self._settings())
        return None if found[-1] else found

    def _settings(self) -> _em.Settings:
        return _em.Settings(
            n_components=int(self.n_components),
            form=_FORMS[self.covariance_type],
            tol=float(self.tol),
            reg_covar=float(self.reg_covar),
            max_iter=int(self.max_iter),
        )

    def _labeler(self, X: NDArray[Any], *, label_all: bool = False) -> BatchLabeler | None:
        if X.dtype == np.float32:  # scikit-learn computes in single precision
            return None
        X = np.ascontiguousarray(X, dtype=np.float64)
        return partial(_label_resamples, self, X, label_all)

    def _dataset_labeler(self, _n_features: int) -> DatasetLabeler:
        return partial(_label_datasets, self)


def _label_resamples(
    mixture: MixtureTwin, X: NDArray[np.float64], label_all: bool, counts: Any, seeds: Any
) -> Batch:
    labels = np.full(counts.shape, ABSENT, dtype=np.int32)
    failed = np.zeros(len(counts), dtype=bool)
    for resample, (drawn, seed) in enumerate(zip(counts, seeds, strict=True)):
        drawn = np.ascontiguousarray(drawn)
        found = mixture.fit_items(X, drawn, seed)
        if found is None:
            failed[resample] = True
            continue
        items = np.arange(len(X)) if label_all else np.flatnonzero(drawn)
        columns = np.ascontiguousarray(X[items].T)
        labels[resample, items] = _em.label_items(columns, *found[:3])
    return Batch(labels, failed)


def _label_datasets(mixture: MixtureTwin, datasets: Any, n_wanted: int, seeds: Any) -> Batch:
    once = np.ones((1, datasets.shape[1]), dtype=np.int32)
    batches = [
        _label_resamples(mixture, np.ascontiguousarray(dataset), False, once, [seed])
        for dataset, seed in zip(datasets, seeds, strict=True)
    ]
    labels = np.concatenate([batch.labels[:, :n_wanted] for batch in batches])
    return Batch(labels, np.concatenate([batch.failed for batch in batches]))
