"""Recognizes data frames without importing their libraries."""

from __future__ import annotations

import sys
from typing import Any


def is_pandas_frame(X: Any) -> bool:
    """Tell whether X is a pandas DataFrame."""
    return _is_frame_of("pandas", X)


def is_polars_frame(X: Any) -> bool:
    """Tell whether X is a polars DataFrame."""
    return _is_frame_of("polars", X)


def _is_frame_of(library: str, X: Any) -> bool:
    # A frame can only exist if its library has been imported already.
    module = sys.modules.get(library)
    return module is not None and isinstance(X, module.DataFrame)
