"""scikit-learn's MiniBatchKMeans for many resamples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust._utils.constants import ABSENT
from coreclust.cluster import _minibatch
from coreclust.cluster._kmeans import CenterModel
from coreclust.cluster._native import Batch, BatchLabeler, NativeOffer


@dataclass(frozen=True, eq=False)
class MiniBatchTwin:
    """k-means by mini-batches in the place of scikit-learn's, with other random numbers."""

    n_clusters: int
    init: Any  # "k-means++", "random" or centers
    n_init: int
    max_iter: int
    batch_size: int
    tol: float
    max_no_improvement: int | None
    init_size: int | None
    reassignment_ratio: float

    def __coreclust_native__(self) -> NativeOffer:
        return NativeOffer(
            owner=MiniBatchTwin,
            label_drawn=partial(_labeler, self, False),
            label_all=partial(_labeler, self, True),
            label_datasets=lambda _n_features: partial(_label_datasets, self),
            make_model=CenterModel,
        )

    def centers_of(self, X: NDArray[Any], rows: NDArray[np.int64], seed: int) -> Any:
        """Return the centers of some rows of X; None if there are too few."""
        if rows.size < self.n_clusters:
            return None
        given = self._settings(rows.size, X.shape[1])
        return _minibatch.cluster_rows(X, rows, given, int(seed))

    def _settings(self, n_rows: int, n_features: int) -> _minibatch.Settings:
        """Return the settings for a number of rows, as scikit-learn derives them."""
        batch_size = min(self.batch_size, n_rows)
        init_size = 3 * batch_size if self.init_size is None else self.init_size
        if init_size < self.n_clusters:
            init_size = 3 * self.n_clusters
        is_name = isinstance(self.init, str)
        init = np.empty((0, n_features)) if is_name else np.array(self.init, dtype=np.float64)
        if init.shape[1] != n_features or len(init) not in (0, self.n_clusters):
            raise ValueError(f"init must have the shape ({self.n_clusters}, {n_features}).")
        patience = -1 if self.max_no_improvement is None else int(self.max_no_improvement)
        return _minibatch.Settings(
            n_clusters=int(self.n_clusters),
            init=init,
            from_random=bool(is_name and self.init == "random"),
            n_init=int(self.n_init),
            init_size=int(min(init_size, n_rows)),
            batch_size=int(batch_size),
            n_steps=int(self.max_iter * n_rows // batch_size),
            tol=float(self.tol),
            patience=patience,
            reassignment_ratio=float(self.reassignment_ratio),
        )


_LARGEST = 1e150  # its square is a number


def _labeler(twin: MiniBatchTwin, label_all: bool, X: NDArray[Any]) -> BatchLabeler | None:
    if not -_LARGEST < float(X.min(initial=0)) <= float(X.max(initial=0)) < _LARGEST:
        return None
    X = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
    twin._settings(X.shape[0], X.shape[1])  # raises if the centers do not fit
    return partial(_label_resamples, twin, X, label_all)


def _label_resamples(
    twin: MiniBatchTwin, X: NDArray[Any], label_all: bool, counts: Any, seeds: Any
) -> Batch:
    labels = np.full(counts.shape, ABSENT, dtype=np.int32)
    failed = np.zeros(len(counts), dtype=bool)
    kept = np.full((len(counts), twin.n_clusters, X.shape[1]), np.nan)
    everyone = np.arange(len(X))
    for resample, (drawn, seed) in enumerate(zip(counts, seeds, strict=True)):
        centers = twin.centers_of(X, np.repeat(everyone, drawn), seed)
        if centers is None:
            failed[resample] = True
            continue
        items = everyone if label_all else np.flatnonzero(drawn)
        labels[resample, items] = _minibatch.label_rows(X, items, centers)
        kept[resample] = centers
    return Batch(labels, failed, kept)


def _label_datasets(twin: MiniBatchTwin, datasets: Any, n_wanted: int, seeds: Any) -> Batch:
    once = np.ones((1, datasets.shape[1]), dtype=np.int32)
    batches = [
        _label_resamples(twin, np.ascontiguousarray(dataset), False, once, [seed])
        for dataset, seed in zip(datasets, seeds, strict=True)
    ]
    labels = np.concatenate([batch.labels[:, :n_wanted] for batch in batches])
    return Batch(labels, np.concatenate([batch.failed for batch in batches]))
