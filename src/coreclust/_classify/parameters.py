"""Tells whether an estimator of scikit-learn has parameters that compiled code supports."""

from __future__ import annotations

import math
from typing import Any

from coreclust._utils.validation import is_number


def others_are_default(estimator: Any, supported: set[str]) -> bool:
    """Tell whether all parameters but the supported ones have their default values.

    A parameter that a later version of scikit-learn adds is thus respected, too.
    """
    default = type(estimator)().get_params(deep=False)
    given = estimator.get_params(deep=False)
    return all(_equal(given[name], default[name]) for name in given.keys() - supported)


def is_finite(value: Any) -> bool:
    """Tell whether a value is a number that compiled code can compute with."""
    return is_number(value) and math.isfinite(value)


def _equal(value: Any, default: Any) -> bool:
    if is_number(value) and is_number(default):
        return bool(value == default)
    return value is default or (isinstance(value, str) and value == default)
