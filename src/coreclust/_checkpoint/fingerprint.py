"""Describes the data and settings of a fit in texts and hashes that can be compared later."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Mapping
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from coreclust._utils.blocks import BlockedItems
from coreclust._utils.frames import is_pandas_frame, is_polars_frame

Settings = dict[str, Any]  # names, with None, numbers or strings

_DIGITS = 16  # of a hash that are shown and compared: 64 bits


def settings_of(
    estimator: Any,
    X: Any,
    y: Any,
    scheme: Any,
    groups: NDArray[np.intp] | None,
    **others: Any,
) -> Settings:
    """Return everything that the labels of resamples depend on, as values that JSON can hold.

    An estimator is described by its class and parameters, a callable by its name and source.
    Changes in other functions that it calls are not detected.
    """
    settings: Settings = {"X": describe(X), "y": describe(y), "groups": describe(groups)}
    settings.update(_parts("estimator", estimator))
    settings["resampling"] = _name(type(scheme))
    settings.update(
        {f"resampling.{name}": describe(value) for name, value in sorted(vars(scheme).items())}
    )
    return settings | {name: describe(value) for name, value in others.items()}


def differences(then: Settings, now: Settings) -> list[str]:
    """Return one short phrase for each difference between two fits.

    >>> differences({"estimator.n_clusters": 3}, {"estimator.n_clusters": 4})
    ['n_clusters=3, this estimator has n_clusters=4']
    """
    found = []
    for name in [*now, *(name for name in then if name not in now)]:
        if name in then and name in now and _same(then[name], now[name]):
            continue
        whole, _, part = name.partition(".")
        if part and not _same(then.get(whole), now.get(whole)):
            continue  # another class has other parameters; one phrase is enough
        short = part or whole
        before, after = (
            f"{short}={side[name]!r}" if name in side else f"no {short}" for side in (then, now)
        )
        found.append(f"{before}, this {whole if part else 'call'} has {after}")
    return found


def describe(value: Any) -> Any:
    """Return a value as None, a number or a string; strings for large values hold a hash."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    return f"<{_kind(value)}, {joblib.hash(_plain(value), coerce_mmap=True)[:_DIGITS]}>"


def _parts(name: str, estimator: Any) -> Settings:
    """Describe an estimator by its class and each of its parameters, anything else as a whole."""
    if not hasattr(estimator, "get_params"):
        return {name: describe(estimator)}
    parameters = sorted(estimator.get_params(deep=True).items())
    # The parameters of an inner estimator have their own entries.
    inside = {
        id(value): _name(type(value))
        for _, value in parameters
        if hasattr(value, "get_params") and not isinstance(value, type)
    }
    parts: Settings = {name: _name(type(estimator))}
    for parameter, value in parameters:
        parts[f"{name}.{parameter}"] = describe(_outline(value, inside))
    return parts


def _outline(value: Any, inside: dict[int, str]) -> Any:
    """Replace estimators by the names of their classes, also in lists such as steps."""
    if isinstance(value, (list, tuple)):
        return [_outline(entry, inside) for entry in value]
    return inside.get(id(value), value)


def _kind(value: Any) -> str:
    if callable(value):
        return f"function {_name(value)}" if hasattr(value, "__qualname__") else _name(type(value))
    if isinstance(value, np.ndarray):
        return f"{value.dtype} array of shape {value.shape}"
    if hasattr(value, "shape"):
        return f"{type(value).__name__} of shape {tuple(value.shape)}"
    if hasattr(value, "__len__"):
        return f"{type(value).__name__} of {len(value)}"
    return _name(type(value))


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _plain(value: Any, above: frozenset[int] = frozenset()) -> Any:
    """Return plain data for `joblib.hash`, whose hashes of objects differ between processes.

    Functions are described by their name and source, other objects by their class and state.
    `above` holds the ids of the objects that contain the value.
    """
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        return value
    if id(value) in above:
        return "again"
    above = above | {id(value)}
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return ["objects", value.shape, [_plain(entry, above) for entry in value.flat]]
        array = np.ascontiguousarray(value)  # the order in memory does not matter
        return array[None].reshape(array.shape)  # nor do the strides of axes of length 1
    if is_pandas_frame(value) or is_polars_frame(value):
        columns = [[str(name), np.asarray(value[name])] for name in value.columns]
        return ["frame", _plain(columns, above)]
    if isinstance(value, BlockedItems):
        return ["blocks", [joblib.hash(_plain(block)) for block in value.blocks()]]
    if issparse(value):
        rows = value.tocsr()
        return ["sparse", value.shape, rows.data, rows.indices, rows.indptr]
    if isinstance(value, Mapping):
        return ["mapping", [[_plain(k, above), _plain(v, above)] for k, v in value.items()]]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *(_plain(entry, above) for entry in value)]
    if isinstance(value, (set, frozenset)):
        return ["set", sorted((describe(entry) for entry in value), key=repr)]
    return _plain_object(value, above)


def _plain_object(value: Any, above: frozenset[int]) -> Any:
    if isinstance(value, functools.partial):
        return ["partial", _plain([value.func, value.args, value.keywords], above)]
    if isinstance(value, types.MethodType):
        return ["method", _plain([value.__func__, value.__self__], above)]
    if isinstance(value, types.CodeType):
        return ["code", value.co_code, value.co_names, _plain(value.co_consts, above)]
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        try:
            return ["function", _name(value), inspect.getsource(value)]
        except (OSError, TypeError):  # typed into a console, or compiled
            return ["function", _name(value), _plain(getattr(value, "__code__", None), above)]
    try:
        state = value.__getstate__()
    except Exception:  # noqa: BLE001 - an object without a readable state is described by its class
        state = None
    call = type(value).__call__ if callable(value) else None
    return ["object", _name(type(value)), _plain([state, call], above)]
