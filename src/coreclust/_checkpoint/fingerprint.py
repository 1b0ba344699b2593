"""What a run was made from, in a few words and hashes that can be compared later."""

from __future__ import annotations

import functools
import hashlib
import inspect
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from coreclust._utils.blocks import BlockedItems
from coreclust._utils.frames import is_pandas_frame, is_polars_frame

Settings = dict[str, Any]  # names, with None, numbers or strings

_BLOCK = 1 << 24  # bytes of an array that are hashed at a time
_DIGITS = 16  # of a hash that are shown and compared: 64 bits, against accidents


def settings_of(
    estimator: Any,
    X: Any,
    y: Any,
    scheme: Any,
    groups: NDArray[np.intp] | None,
    **others: Any,
) -> Settings:
    """Return all that the labels of resamples depend on.

    Parameters
    ----------
    estimator : estimator or callable
        Its class and each of its parameters; of a callable the name and the source, where there
        is one. What a function finds outside of its own text is not seen.
    X, y : data
        Read block by block.
    scheme : resampling scheme
    groups : ndarray or None
    **others : object
        Further settings, by name.

    Returns
    -------
    settings : dict
        Of None, numbers and strings, as JSON knows them.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.cluster import KMeans
    >>> from coreclust._checkpoint.fingerprint import settings_of
    >>> from coreclust.resampling import Bootstrap
    >>> settings = settings_of(KMeans(3), np.zeros((5, 2)), None, Bootstrap(), None)
    >>> settings["X"]
    '<float64 array of shape (5, 2), d4e0f3fb116b62b0>'
    >>> settings["estimator"], settings["estimator.n_clusters"]
    ('coreclust.cluster._kmeans.KMeans', 3)
    """
    settings: Settings = {"X": describe(X), "y": describe(y), "groups": describe(groups)}
    settings.update(_parts("estimator", estimator))
    settings["resampling"] = _name(type(scheme))
    settings.update(
        {f"resampling.{name}": describe(value) for name, value in sorted(vars(scheme).items())}
    )
    return settings | {name: describe(value) for name, value in others.items()}


def differences(then: Settings, now: Settings) -> list[str]:
    """Say what differs between two runs, in short phrases; nothing if they are alike.

    Examples
    --------
    >>> from coreclust._checkpoint.fingerprint import differences
    >>> differences({"estimator.n_clusters": 3}, {"estimator.n_clusters": 4})
    ['n_clusters=3, this estimator has n_clusters=4']
    """
    found = []
    for name in [*now, *(name for name in then if name not in now)]:
        if name in then and name in now and _same(then[name], now[name]):
            continue
        whole, _, part = name.partition(".")
        if part and not _same(then.get(whole), now.get(whole)):
            continue  # another class has other parameters: that is said once
        short = part or whole
        before, after = (
            f"{short}={side[name]!r}" if name in side else f"no {short}" for side in (then, now)
        )
        found.append(f"{before}, this {whole if part else 'call'} has {after}")
    return found


def describe(value: Any) -> Any:
    """Return None, a number, or a string that stands for a value."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    hashed = hashlib.blake2b(digest_size=_DIGITS // 2)
    _feed(hashed, value, frozenset())
    return f"<{_kind(value)}, {hashed.hexdigest()}>"


def _parts(name: str, estimator: Any) -> Settings:
    """Describe an estimator by its class and parameters, anything else as one thing."""
    if not hasattr(estimator, "get_params"):
        return {name: describe(estimator)}
    parameters = sorted(estimator.get_params(deep=True).items())
    # The parameters of an estimator inside of this one have lines of their own.
    inside = {id(value): _name(type(value)) for _, value in parameters if _is_estimator(value)}
    parts: Settings = {name: _name(type(estimator))}
    for parameter, value in parameters:
        parts[f"{name}.{parameter}"] = describe(_outline(value, inside))
    return parts


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _outline(value: Any, inside: dict[int, str]) -> Any:
    """Put names of classes in place of estimators, also in lists such as steps."""
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


def _feed(hashed: Any, value: Any, above: frozenset[int]) -> None:
    """Add a value to a hash, by its content; `above` are the things that it is inside of."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        _tell(hashed, type(value).__name__, value if isinstance(value, bytes) else repr(value))
        return
    if id(value) in above:
        _tell(hashed, "again", "")
        return
    above = above | {id(value)}
    if isinstance(value, np.ndarray):
        _feed_array(hashed, value, above)
    elif is_pandas_frame(value) or is_polars_frame(value):
        _tell(hashed, "frame", str(tuple(value.shape)))
        for column in value.columns:
            _feed(hashed, str(column), above)
            _feed(hashed, np.asarray(value[column]), above)
    elif isinstance(value, BlockedItems):
        _tell(hashed, "blocks", str(value.shape))
        for block in value.blocks():
            _feed(hashed, block, above)
    elif issparse(value):
        rows = value.tocsr()
        _tell(hashed, "sparse", str(value.shape))
        _feed(hashed, [rows.data, rows.indices, rows.indptr], above)
    elif isinstance(value, Mapping):
        _tell(hashed, "mapping", str(len(value)))
        for key, entry in value.items():
            _feed(hashed, key, above)
            _feed(hashed, entry, above)
    elif isinstance(value, (list, tuple)):
        _tell(hashed, type(value).__name__, str(len(value)))
        for entry in value:
            _feed(hashed, entry, above)
    elif isinstance(value, (set, frozenset)):
        _tell(hashed, "set", repr(sorted(map(describe, value), key=repr)))
    else:
        _feed_object(hashed, value, above)


def _feed_array(hashed: Any, array: NDArray[Any], above: frozenset[int]) -> None:
    _tell(hashed, "array", f"{array.dtype} {array.shape}")
    if array.dtype.hasobject:
        for entry in array.flat:
            _feed(hashed, entry, above)
        return
    rows = np.atleast_1d(array)
    rows_a_block = max(1, _BLOCK * len(rows) // max(rows.nbytes, 1))
    for begin in range(0, len(rows), rows_a_block):
        block = np.ascontiguousarray(rows[begin : begin + rows_a_block])
        hashed.update(block.reshape(-1).view(np.uint8))


def _feed_object(hashed: Any, value: Any, above: frozenset[int]) -> None:
    """Add a function by its text, anything else by its class and state."""
    if isinstance(value, functools.partial):
        _tell(hashed, "partial", "")
        _feed(hashed, [value.func, value.args, value.keywords], above)
    elif isinstance(value, types.MethodType):
        _feed(hashed, [value.__func__, value.__self__], above)
    elif isinstance(value, types.CodeType):
        _feed(hashed, [value.co_code, value.co_names, value.co_consts], above)
    elif isinstance(value, type) or hasattr(value, "__qualname__"):
        _tell(hashed, "function", _name(value))
        try:
            _feed(hashed, inspect.getsource(value), above)
        except (OSError, TypeError):  # typed in, or compiled
            _feed(hashed, getattr(value, "__code__", None), above)
    else:
        _tell(hashed, "object", _name(type(value)))
        try:
            state = value.__getstate__()
        except Exception:  # noqa: BLE001 - an object that cannot be looked into: its class must do
            state = None
        _feed(hashed, state, above)
        if callable(value):
            _feed(hashed, type(value).__call__, above)


def _tell(hashed: Any, kind: str, content: str | bytes) -> None:
    """Add a piece of text with its length, so that pieces cannot run into each other."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    hashed.update(f"{kind}:{len(data)}:".encode())
    hashed.update(data)
