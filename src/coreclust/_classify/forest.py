"""Random forests as scikit-learn grows them, for many resamples per call."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.fixes import parse_version

from coreclust._classify import trees
from coreclust._classify.parameters import others_are_default
from coreclust._utils.constants import ABSENT
from coreclust._utils.validation import is_number, is_whole
from coreclust.cluster._native import Batch, BatchLabeler, DatasetLabeler, NativeOffer

_NO_LIMIT = 2**31 - 1
_MOST_PER_CALL = 10_000_000  # items times features times trees, which take less than a second
_LARGEST = np.finfo(np.float32).max  # trees compare values in single precision
_SUPPORTED = {
    "n_estimators",
    "criterion",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "max_features",
    "bootstrap",
    "class_weight",
    "max_samples",
    "n_jobs",
    "random_state",
}


class Progress(NamedTuple):
    """What is known about the resamples after some trees."""

    votes: NDArray[np.float64]  # (n_resamples, n_items, n_classes)
    n_open: NDArray[np.int32]  # of each item, the trees that are left with an unknown vote
    pending: NDArray[np.bool_]  # the items that need a label and are not settled
    states: NDArray[np.uint64]  # (n_resamples, 2): of the generators for draws and for features


@dataclass(frozen=True)
class Forest:
    """A random forest in the place of scikit-learn's.

    The labels have the same distribution as those of scikit-learn, but not the same random numbers.
    """

    settings: trees.Settings  # with n_tried = 0, which depends on the number of features
    max_features: Any

    def __coreclust_native__(self) -> NativeOffer:
        return NativeOffer(
            owner=Forest,
            label_drawn=self._labeler,
            label_all=partial(self._labeler, label_all=True),
            label_datasets=self._dataset_labeler,
            most_per_call=8,
        )

    def _labeler(
        self, X: NDArray[Any], classes: NDArray[np.int64], *, label_all: bool = False
    ) -> BatchLabeler | None:
        if X.dtype.kind not in "biuf" or not _fits_single_precision(X):
            return None
        ranks = np.empty(X.shape[::-1], dtype=np.int32)
        values = np.empty(X.shape[::-1], dtype=np.float32)
        for f in range(X.shape[1]):
            trees.rank_values(X[:, f].astype(np.float64), ranks[f], values[f])
        settings = self._for(X.shape[1])
        sure = trees.sure_items(ranks, values, classes, settings)
        return partial(_label_resamples, ranks, values, classes, sure, label_all, settings)

    def _dataset_labeler(self, n_features: int) -> DatasetLabeler:
        return partial(_label_datasets, self._for(n_features))

    def _for(self, n_features: int) -> trees.Settings:
        """Return the settings for a number of features."""
        tried: Any = self.max_features
        if tried is None:
            tried = n_features
        elif tried in ("sqrt", "log2"):
            tried = int(math.sqrt(n_features) if tried == "sqrt" else math.log2(n_features))
        elif not is_whole(tried):
            tried = int(tried * n_features)
        return self.settings._replace(n_tried=max(1, int(tried)))


def twin_of_forest(estimator: RandomForestClassifier) -> Forest | None:
    """Return the forest with the parameters of scikit-learn's, or None if one is not supported."""
    depth, drawn, tried = estimator.max_depth, estimator.max_samples, estimator.max_features
    usual = (
        others_are_default(estimator, _SUPPORTED)
        and _is_count(estimator.n_estimators)
        and estimator.criterion in ("gini", "entropy", "log_loss")
        and (depth is None or _is_count(depth))
        and _is_count(estimator.min_samples_split)
        and _is_count(estimator.min_samples_leaf)
        and (tried in ("sqrt", "log2", None) if not is_number(tried) else tried > 0)
        and isinstance(estimator.bootstrap, bool)
        and (estimator.class_weight is None or _is_balanced(estimator))
        and (drawn is None or (estimator.bootstrap and is_number(drawn) and drawn > 0))
    )
    if not usual:
        return None
    settings = trees.Settings(
        n_trees=int(estimator.n_estimators),
        entropy=estimator.criterion != "gini",
        max_depth=_NO_LIMIT if depth is None else int(depth),
        min_split=int(estimator.min_samples_split),
        min_leaf=int(estimator.min_samples_leaf),
        n_tried=0,
        bootstrap=estimator.bootstrap,
        n_drawn=int(drawn) if is_whole(drawn) else 0,
        share_drawn=1.0 if drawn is None or is_whole(drawn) else float(drawn),
        truncated=_is_recent(),
        balanced=estimator.class_weight is not None,
    )
    return Forest(settings, tried)


def _is_balanced(estimator: RandomForestClassifier) -> bool:
    """Tell whether classes are balanced in a way that is supported.

    With a bootstrap, it has to be by the draws of rows: before scikit-learn 1.9, it was by weights
    after the draws. Without one it is by weights, of which no entropies are computed.
    """
    if estimator.class_weight != "balanced":
        return False
    if estimator.bootstrap:
        return _is_recent()
    return bool(estimator.criterion == "gini")


def _is_recent() -> bool:
    """Tell whether forests draw rows as from scikit-learn 1.9 on."""
    return bool(parse_version(sklearn.__version__) >= parse_version("1.9"))


def _is_count(value: Any) -> bool:
    return is_whole(value) and value >= 1


def _fits_single_precision(X: NDArray[Any]) -> bool:
    """Tell whether X has no missing values, and none that is too large."""
    return bool((np.abs(X) <= _LARGEST).all())


def _label_resamples(
    ranks: Any,
    values: Any,
    classes: Any,
    sure: Any,
    label_all: bool,
    settings: trees.Settings,
    counts: Any,
    seeds: Any,
) -> Batch:
    counts = np.ascontiguousarray(counts)  # with groups they are not: that would compile again
    data = (ranks, values, classes, counts, sure, settings)
    wanted = (counts > 0) | label_all
    labels = _grow(partial(trees.grow_resamples, *data), wanted, classes, settings, seeds)
    return Batch(labels, np.zeros(len(seeds), dtype=bool))


def _label_datasets(
    settings: trees.Settings, datasets: Any, n_wanted: int, seeds: Any, classes: Any
) -> Batch:
    wanted = np.zeros(classes.shape, dtype=bool)
    wanted[:, :n_wanted] = True
    grow = partial(trees.grow_datasets, datasets, classes, settings)
    labels = _grow(grow, wanted, classes, settings, seeds)
    return Batch(labels[:, :n_wanted], ~(np.abs(datasets) <= _LARGEST).all(axis=(1, 2)))


def _grow(
    grow: Callable[..., None],
    wanted: NDArray[np.bool_],
    classes: NDArray[np.int64],
    settings: trees.Settings,
    seeds: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Grow the forests of some resamples and return the labels, ABSENT for items not wanted.

    A call of compiled code grows some of the trees, because Ctrl-C waits until it ends.
    """
    progress = Progress(
        votes=np.zeros((*wanted.shape, int(classes.max()) + 1)),
        n_open=np.full(wanted.shape, settings.n_trees, dtype=np.int32),
        pending=wanted.copy(),
        states=np.column_stack([seeds, seeds]).astype(np.uint64),
    )
    n_per_call = max(1, _MOST_PER_CALL // (wanted.size * settings.n_tried))
    for first in range(0, settings.n_trees, n_per_call):
        grow((first, min(first + n_per_call, settings.n_trees)), progress)
        if not progress.pending.any():
            break
    labels = np.argmax(progress.votes, axis=2).astype(np.int32)
    labels[~wanted] = ABSENT
    return labels
