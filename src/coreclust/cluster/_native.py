"""What compiled clusterers and classifiers offer beyond the methods of scikit-learn.

An estimator declares it by a method ``__coreclust_native__`` that returns a `NativeOffer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

TOO_FEW_ITEMS = "ValueError: too few distinct items for the clusters asked for."


class Batch(NamedTuple):
    """The labels of some resamples.

    Attributes
    ----------
    labels : ndarray of int of shape (n_resamples, n_items)
        From 0 on, NOISE, or ABSENT for an item that gets no label.
    failed : ndarray of bool of shape (n_resamples,)
        Resamples that could not be clustered.
    models : ndarray of shape (n_resamples, ...) or None, default=None
        What is needed to label new items, for clusterers that offer `make_model`.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.cluster import Batch
    >>> Batch(np.zeros((2, 5), np.int32), np.zeros(2, bool)).models is None
    True
    """

    labels: NDArray[np.int32]
    failed: NDArray[np.bool_]
    models: NDArray[np.float64] | None = None


class BatchLabeler(Protocol):
    """Labels many resamples of one dataset. It is called from several threads at once."""

    def __call__(self, counts: NDArray[np.int32], seeds: NDArray[np.int64]) -> Batch:
        """Label resamples, given how often each holds each item, and the random_state of each.

        `counts` has the shape (n_resamples, n_items), and `seeds` (n_resamples,). The labels of a
        classifier are codes of classes, and need not be numbered without gaps.
        """


class DatasetLabeler(Protocol):
    """Labels the first items of many datasets of one size. Called from several threads at once."""

    def __call__(
        self,
        datasets: NDArray[np.float64],
        n_wanted: int,
        seeds: NDArray[np.int64],
        *classes: NDArray[np.int64],
    ) -> Batch:
        """Cluster each dataset by itself, with its random_state, and label `n_wanted` items.

        `datasets` has the shape (n_datasets, n_items, n_features), and `seeds` (n_datasets,). The
        labeler of a classifier also gets the classes, of shape (n_datasets, n_items), from 0 on.
        """


class Model(Protocol):
    """Labels items that a resample did not hold."""

    def label(self, X: Any) -> NDArray[np.int64]:
        """Return the label of each item."""


@dataclass(frozen=True)
class NativeOffer:
    """What a clusterer with compiled code offers. Everything but `owner` may be left out.

    Attributes
    ----------
    owner : type
        The class whose `fit`, `fit_predict` and `predict` give the same labels. A subclass that
        overrides one of them, without an offer of its own, is fitted by its own methods.
    label_drawn : callable, default=None
        ``label_drawn(X)`` returns a `BatchLabeler` for the items that were drawn, or None. For
        each resample the labels are those of ``fit_predict(X[items], sample_weight=counts)``
        with ``random_state=seed``, `in_resamples` and `in_share`. What all resamples share is
        computed here, once. For a classifier it is ``label_drawn(X, classes)``, with classes from
        0 on, and the labels are those of ``fit(X[rows], classes[rows]).predict(X[items])``.
    label_all : callable, default=None
        ``label_all(X)``, or ``label_all(X, classes)``, returns a `BatchLabeler` that gives every
        item of X the label that `predict` gives it, or None.
    label_datasets : callable, default=None
        ``label_datasets(n_features)`` returns a `DatasetLabeler`, or None. The labels are those of
        ``fit_predict(dataset)[:n_wanted]`` with ``random_state=seed``.
    seeded : bool, default=True
        Whether the labels depend on the seeds.
    weights_from : int, default=None
        The number of distinct items from which on fitting them with their multiplicities as
        `sample_weight` gives the labels of fitting the copies. None if that never holds.
    in_resamples : dict, default={}
        Parameters that have another value in a fit to a resample, such as fewer starts.
    most_per_call : int, default=125
        The largest number of resamples per call. A call should take less than a second, because
        Ctrl-C waits for it, and threads share the work by calls.
    in_share : callable, default=None
        ``in_share(share)`` returns parameters that depend on the share of the items that a fit to
        a resample gets, such as the number of neighbors.
    takes_sparse : bool, default=False
        Whether `label_drawn` and `label_all` also take a sparse matrix. No models are kept then.
    holds_lock : bool, default=False
        Whether the labelers hold Python's global lock. Resamples then run in processes instead of
        threads, and by default one at a time.
    make_model : callable, default=None
        ``make_model(array)`` returns the `Model` that stands for one entry of `Batch.models`.
    failure : str
        Why a resample fails.

    Examples
    --------
    >>> from coreclust.cluster import KMeans
    >>> KMeans(3).__coreclust_native__().weights_from
    3
    """

    owner: type
    label_drawn: Callable[..., BatchLabeler | None] | None = None
    label_all: Callable[..., BatchLabeler | None] | None = None
    label_datasets: Callable[[int], DatasetLabeler | None] | None = None
    seeded: bool = True
    weights_from: int | None = None
    in_resamples: Mapping[str, Any] = field(default_factory=dict)
    most_per_call: int = 125
    in_share: Callable[[float], Mapping[str, Any]] | None = None
    takes_sparse: bool = False
    holds_lock: bool = False
    make_model: Callable[[NDArray[np.float64]], Model] | None = None
    failure: str = TOO_FEW_ITEMS
