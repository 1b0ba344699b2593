"""What is used of scikit-learn beyond its public names, in one place (1.6 to 1.9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, _num_samples

try:  # scikit-learn 1.9
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks yet."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method as it is."""
        return method


__all__ = [
    "CallbackSupportMixin",
    "Interval",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
    "number_of_items",
    "take_items",
    "with_callbacks",
]

fit_context = _fit_context
number_of_items = _num_samples


def check_sample_weight(sample_weight: Any, X: Any) -> Any:
    """Return a weight an item, 1 by default; refuse negative ones."""
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


take_items = _safe_indexing
