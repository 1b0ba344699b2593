"""Private helpers of scikit-learn (1.6 to 1.9) that the package uses, in one place."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_sample_weight, _num_samples

try:  # scikit-learn 1.9
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for the mixin of scikit-learn 1.9."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method unchanged."""
        return method


__all__ = [
    "CallbackSupportMixin",
    "Interval",
    "StrOptions",
    "available_if",
    "check_sample_weight",
    "fit_callbacks",
    "fit_context",
    "is_pairwise",
    "number_of_items",
    "take_items",
    "with_callbacks",
]

fit_context = _fit_context


class Interval(_Interval):
    """An interval of numbers, to which True and False do not belong."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Tell whether a value is a number in the interval."""
        return not isinstance(val, (bool, np.bool_)) and super().is_satisfied_by(val)


class available_if:  # noqa: N801 - like the decorator of scikit-learn
    """A method that an instance has if a check passes; otherwise, the error of the check is raised.

    scikit-learn's decorator of this name hides the message of that error.
    """

    def __init__(self, check: Callable[[Any], bool], method: Callable[..., Any]) -> None:
        self._check, self._method = check, method

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self._method
        self._check(instance)
        return MethodType(self._method, instance)


number_of_items = _num_samples
take_items = _safe_indexing


def check_sample_weight(sample_weight: Any, X: Any) -> Any:
    """Return one weight per item, 1 by default; refuse negative weights."""
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def is_pairwise(estimator: Any) -> bool:
    """Tell whether an estimator takes a square matrix of distances or affinities."""
    if get_tags(estimator).input_tags.pairwise:
        return True
    steps = getattr(estimator, "steps", None)
    if steps:
        return hasattr(steps[0][1], "get_params") and is_pairwise(steps[0][1])
    # Some estimators, such as AgglomerativeClustering, do not set the tag.
    params = estimator.get_params(deep=False)
    return any(
        isinstance(params.get(name), str) and params[name] == "precomputed"
        for name in ("metric", "affinity", "kernel")
    )


def fit_callbacks(estimator: Any, X: Any, y: Any, n_subtasks: int) -> tuple[Any, Any]:
    """Return two functions for scikit-learn's callbacks: one per subtask, one for the end."""
    if not hasattr(estimator, "_init_callback_context"):
        return None, lambda: None
    context = estimator._init_callback_context(max_subtasks=n_subtasks)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def on_subtask() -> None:
        subtask = context.subcontext(task_name="resample")
        subtask.call_on_fit_task_begin(estimator=estimator)
        subtask.call_on_fit_task_end(estimator=estimator)

    def on_end() -> None:
        context.call_on_fit_task_end(estimator=estimator, X=X, y=y)

    return (on_subtask if getattr(estimator, "_skl_callbacks", []) else None), on_end
