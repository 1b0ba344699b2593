"""Makes one clustering function out of a clusterer, a classifier or any callable."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier

from coreclust._sampling.models import LABELS, EstimatorModel, one_per_item, predict_each
from coreclust._sampling.native import takes_weights
from coreclust._sampling.pipelines import fit_transformers
from coreclust._utils.blocks import BlockedItems
from coreclust._utils.compat import is_pairwise, number_of_items, take_items
from coreclust._utils.seeds import draw_random_states
from coreclust._utils.validation import encode_labels

_ITEMS_PER_BLOCK = 2**17  # that a model labels in one call


@dataclass(frozen=True)
class ClusteringFunction:
    """A function that gives each item of a dataset a label."""

    estimator: Any  # is cloned and never fitted itself
    kind: str  # "clusterer", "classifier" or "callable"
    pairwise: bool = False  # whether the data is a square matrix, to be indexed on both axes
    takes_seed: bool = False  # whether a callable has a parameter random_state

    @classmethod
    def of(cls, estimator: Any) -> ClusteringFunction:
        """Return the function for what a user passed as `estimator`."""
        if isinstance(estimator, type):
            raise TypeError(
                f"estimator must be an instance, got the class {estimator.__name__}; "
                f"pass {estimator.__name__}(...)."
            )
        if hasattr(estimator, "get_params") and hasattr(estimator, "fit"):
            pairwise = is_pairwise(estimator)
            _check_tied_to_items(estimator)
            if is_classifier(estimator):
                return cls(estimator, "classifier", pairwise)
            if hasattr(estimator, "fit_predict"):
                return cls(estimator, "clusterer", pairwise)
        elif callable(estimator):
            return cls(estimator, "callable", takes_seed=_wants_random_state(estimator))
        raise TypeError(
            "estimator must be a clusterer (with fit_predict), a classifier, a Pipeline ending in "
            f"one, or a callable labels = f(X); got {estimator!r}."
        )

    def label_all(
        self, X: Any, y: Any, seeds: np.random.SeedSequence
    ) -> tuple[NDArray[np.int64], NDArray[Any], Any]:
        """Make the reference clustering, with every unset random_state seeded from `seeds`.

        Returns the code of each item (NOISE for noise), the label that each code stands for, and
        the fitted estimator. The function gets a copy of X, because it may write into it.
        """
        Z = _copy(X)
        if self.kind == "callable":
            labels, fitted = self._call(Z, seeds), self.estimator
        else:
            fitted = self._seeded_clone(seeds, only_unset=True)
            if self.kind == "classifier":
                labels = fitted.fit(Z, y).predict(Z)
            else:
                labels = fitted.fit_predict(Z)
        return *self._encode(labels, number_of_items(X)), fitted

    def label_all_by_resample(
        self, X: Any, y: Any, rows: NDArray[np.int64], seeds: np.random.SeedSequence
    ) -> tuple[NDArray[np.int64], NDArray[Any], Any]:
        """Return the same as `label_all`, by a fit to some of the items."""
        fitted = self._fit(self._seeded_clone(seeds, only_unset=True), X, y, rows)
        n_items = number_of_items(X)
        labels = self._predict(fitted, X, np.arange(n_items), rows)
        return *self._encode(labels, n_items), fitted

    def label_resample(
        self,
        X: Any,
        y: Any,
        rows: NDArray[np.int64],
        seeds: np.random.SeedSequence,
        moved: NDArray[np.float64] | None = None,
        keep: list[Any] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the distinct items of one resample and their labels.

        Every random_state is seeded from `seeds`. If copies of an item get different labels, the
        first counts. If there are `moved` items, these are clustered instead of the drawn ones. The
        fitted model is added to `keep`.
        """
        items, first, counts = np.unique(rows, return_index=True, return_counts=True)
        if self.kind == "callable":
            labels = self._call(self._take(X, rows) if moved is None else moved, seeds)
            return items, self._encode(labels, rows.size)[0][first]
        weighted = moved is None and self._takes_weights(items.size)
        n_fitted = items.size if weighted else rows.size
        estimator = self._seeded_clone(seeds, share=n_fitted / number_of_items(X))
        if self.kind == "classifier":
            if moved is None:
                estimator.fit(self._take(X, rows), take_items(y, rows))
                labels = estimator.predict(self._take(X, items, rows))
            else:
                labels = estimator.fit(moved, take_items(y, rows)).predict(moved[first])
        elif weighted:
            last, Z = fit_transformers(estimator, self._take(X, items), counts)
            labels = last.fit_predict(Z, sample_weight=counts)
        else:
            Z = self._take(X, rows) if moved is None else moved
            labels = one_per_item(estimator.fit_predict(Z), rows.size)[first]
        return items, self._encode_and_keep(labels, items.size, estimator, keep)

    def label_others(
        self,
        X: Any,
        y: Any,
        rows: NDArray[np.int64],
        items: NDArray[np.int64],
        seeds: np.random.SeedSequence,
        moved: NDArray[np.float64] | None = None,
        keep: list[Any] | None = None,
    ) -> NDArray[np.int64]:
        """Fit to one resample and return the labels of some items by `predict`."""
        if moved is not None:
            classes = None if y is None else take_items(y, rows)
            return self.label_by_model(moved, classes, X[items], seeds, keep)
        distinct, counts = np.unique(rows, return_counts=True)
        weighted = self._takes_weights(distinct.size)
        n_fitted = distinct.size if weighted else rows.size
        estimator = self._seeded_clone(seeds, share=n_fitted / number_of_items(X))
        if weighted:
            last, Z = fit_transformers(estimator, self._take(X, distinct), counts)
            last.fit(Z, sample_weight=counts)
        else:
            self._fit(estimator, X, y, rows)
        # Without items to label, the model still has to be kept.
        some = items if items.size else distinct[:1]
        labels = self._predict(estimator, X, some, rows)[: items.size]
        return self._encode_and_keep(labels, items.size, estimator, keep)

    def _fit(self, estimator: Any, X: Any, y: Any, rows: NDArray[np.int64]) -> Any:
        if self.kind == "classifier":
            return estimator.fit(self._take(X, rows), take_items(y, rows))
        return estimator.fit(self._take(X, rows))

    def _predict(
        self, estimator: Any, X: Any, items: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> NDArray[Any]:
        """Return the labels of some items, block by block, because X may be larger than memory."""
        predict = functools.partial(predict_each, estimator)
        if isinstance(X, BlockedItems) and items.size == len(X):
            return X.label(predict)
        blocks = np.split(items, range(_ITEMS_PER_BLOCK, items.size, _ITEMS_PER_BLOCK))
        return np.concatenate([predict(self._take(X, block, rows)) for block in blocks])

    def label_by_model(
        self, Z: Any, y: Any, X: Any, seeds: np.random.SeedSequence, keep: list[Any] | None = None
    ) -> NDArray[np.int64]:
        """Fit to Z and y, and return the labels of the items of X by `predict`."""
        estimator = self._seeded_clone(seeds)
        estimator.fit(Z) if y is None else estimator.fit(Z, y)
        if number_of_items(X) == 0:
            return self._encode_and_keep(np.empty(0, np.int64), 0, estimator, keep)
        return self._encode_and_keep(estimator.predict(X), number_of_items(X), estimator, keep)

    def _encode_and_keep(
        self, labels: Any, n_items: int, estimator: Any, keep: list[Any] | None
    ) -> NDArray[np.int64]:
        codes, names = self._encode(labels, n_items)
        if keep is not None:
            keep.append(EstimatorModel(estimator, names, self.kind != "classifier"))
        return codes

    @property
    def predicts(self) -> bool:
        """Whether the estimator can label items that it was not fitted to."""
        return self.kind != "callable" and hasattr(self.estimator, "predict")

    def label_first(self, Z: Any, y: Any, n_wanted: int, seed: int) -> NDArray[np.int64]:
        """Cluster a dataset and return the labels of its first items.

        The first random_state is `seed`; any others derive from it.
        """
        if self.kind == "callable":
            return self._encode(self._call(Z, seed), number_of_items(Z))[0][:n_wanted]
        estimator = self._seeded_clone(seed)
        if self.kind == "classifier":
            labels = estimator.fit(Z, y).predict(Z[:n_wanted])
            return self._encode(labels, n_wanted)[0]
        return self._encode(estimator.fit_predict(Z), number_of_items(Z))[0][:n_wanted]

    def _call(self, Z: Any, seeds: np.random.SeedSequence | int) -> Any:
        if self.takes_seed:
            return self.estimator(Z, random_state=draw_random_states(seeds, 1)[0])
        return self.estimator(Z)

    def _takes_weights(self, n_distinct: int) -> bool:
        return self.kind != "classifier" and takes_weights(self.estimator, n_distinct)

    def _seeded_clone(
        self,
        seeds: np.random.SeedSequence | int,
        *,
        only_unset: bool = False,
        share: float = 1.0,
    ) -> Any:
        estimator = clone(self.estimator)
        parameters = sorted(estimator.get_params(deep=True).items())
        free = [item for item in parameters if _is_random_state(item[0]) or _is_splitter(item[1])]
        # One seed per name, in sorted order, whether the estimator uses it or not.
        for (name, value), seed in zip(free, draw_random_states(seeds, len(free)), strict=True):
            current = value if _is_random_state(name) else value.random_state
            if only_unset and current is not None:
                continue
            if _is_random_state(name):
                estimator.set_params(**{name: seed})
            else:
                value.random_state = seed  # of the clone: cloning copied the splitter
        if not only_unset:
            _set_for_resample(share, estimator, *(value for _, value in parameters))
        return estimator

    def _take(
        self, X: Any, rows: NDArray[np.int64], columns: NDArray[np.int64] | None = None
    ) -> Any:
        if isinstance(X, BlockedItems):
            return X.take(rows)
        if not self.pairwise:
            return X[rows] if isinstance(X, np.ndarray) else take_items(X, rows)
        columns = rows if columns is None else columns
        if issparse(X):
            return X[rows][:, columns]
        return np.asarray(X)[np.ix_(rows, columns)]

    def _encode(self, labels: Any, n_items: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
        is_classifier = self.kind == "classifier"
        return encode_labels(
            one_per_item(labels, n_items),
            LABELS,
            negative_is_noise=not is_classifier,
            floats=is_classifier,
        )


def _check_tied_to_items(estimator: Any) -> None:
    """Refuse a connectivity matrix, whose rows are the items of the data, not of a resample."""
    for name, value in estimator.get_params(deep=True).items():
        if name.split("__")[-1] == "connectivity" and hasattr(value, "shape"):
            raise ValueError(
                f"estimator has a matrix as {name}, which does not fit resamples of the data; pass "
                "a callable that computes it from the given items."
            )


def last_step(estimator: Any) -> Any:
    """Return the last step of a Pipeline, or the estimator itself."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator


def is_density_clusterer(estimator: Any) -> bool:
    """Tell whether copies are known to matter; for others, `copies.py` finds out."""
    # By name, because several packages have a HDBSCAN.
    return any(cls.__name__ in ("HDBSCAN", "OPTICS") for cls in type(last_step(estimator)).__mro__)


def warn_of_density(estimator: Any) -> None:
    """Warn about clusterers that treat the copies in a bootstrap resample as dense regions."""
    if is_density_clusterer(estimator):
        name = type(last_step(estimator)).__name__
        warnings.warn(
            f"{name} treats the copies of rows in bootstrap resamples as dense regions, so its "
            "cores may be too small; use resampling=SmoothedBootstrap() or Subsample(), which draw "
            "no copies.",
            stacklevel=5,
        )


def _set_for_resample(share: float, *estimators: Any) -> None:
    """Set what compiled clusterers change in resamples, such as the number of starts."""
    for estimator in estimators:
        if hasattr(estimator, "__coreclust_native__") and not isinstance(estimator, type):
            offer = estimator.__coreclust_native__()
            scaled = {} if offer.in_share is None else offer.in_share(share)
            estimator.set_params(**offer.in_resamples, **scaled)


def _is_random_state(name: str) -> bool:
    return name == "random_state" or name.endswith("__random_state")


def _is_splitter(value: Any) -> bool:
    """Tell whether a parameter is random but not an estimator, such as a shuffled KFold."""
    return (
        hasattr(value, "random_state")
        and not hasattr(value, "get_params")
        and getattr(value, "shuffle", True)
    )


def _wants_random_state(function: Callable[..., Any]) -> bool:
    bound = function.keywords if isinstance(function, functools.partial) else {}
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # builtins without a signature
        return False
    return "random_state" in parameters and "random_state" not in bound


def _copy(X: Any) -> Any:
    """Return a copy of X, or X itself if it is (part of) a read-only memory map."""
    base = X if isinstance(X, np.ndarray) and not X.flags.writeable else None
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            return X
        base = base.base
    return X.clone() if hasattr(X, "clone") else X.copy()
