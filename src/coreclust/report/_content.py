"""What a report shows, as plain data: nothing here knows of HTML."""

from __future__ import annotations

import math
import numbers
import platform
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray

from coreclust import __version__
from coreclust._inspection.closest import closest_clusters
from coreclust._inspection.path import CorePath
from coreclust._inspection.tables import item_strengths
from coreclust._inspection.verdict import cluster_name, shorten
from coreclust._utils.frames import is_pandas_frame
from coreclust.answers import path_to_draw
from coreclust.plotting._items import check_positions, ordered_items, project

if TYPE_CHECKING:
    from coreclust.answers import CoreAnswers

MAX_ITEMS = 10_000
MAX_TEXT = 200  # characters of an id or a name
_MAX_EXACT = 2**53  # larger whole numbers are not exact in JavaScript


@dataclass(frozen=True, eq=False)
class Layout:
    """Where items are drawn.

    Attributes
    ----------
    positions : ndarray of shape (n_items, 2)
    axis_names : tuple of two str
    note : str
        What the picture is, in words.
    """

    positions: NDArray[np.float64]
    axis_names: tuple[str, str]
    note: str


def lay_out(fitted: CoreAnswers, X: Any, positions: ArrayLike | None) -> Layout:
    """Decide where to draw the items: as told, from the data, or else by their strength."""
    if positions is not None:
        places = check_positions(positions, fitted.labels_.size)
        return Layout(places, ("", ""), "Items are drawn where the author of the report put them.")
    if X is not None:
        return _from_data(fitted, X)
    if fitted._frame is not None:
        try:
            return _from_data(fitted, fitted._frame)
        except (TypeError, ValueError):  # columns that are not numbers, for instance
            pass
    strengths = np.nan_to_num(item_strengths(fitted))
    clusters = np.where(fitted.reference_labels_ < 0, len(fitted.cores_), fitted.reference_labels_)
    # Spread by position: the golden ratio keeps neighbors apart, and it is no random number.
    spread = 0.7 * ((np.arange(clusters.size) * 0.6180339887498949) % 1 - 0.5)
    return Layout(
        np.column_stack([clusters + spread, strengths]),
        ("cluster, from left to right", "strength"),
        "The data was not at hand, so items are drawn by cluster and strength.",
    )


def _from_data(fitted: CoreAnswers, X: Any) -> Layout:
    places, names = project(fitted, X)
    n_features = X.shape[1] if hasattr(X, "shape") else len(X[0])
    notes = {
        1: "The one feature is drawn against the strength of the items.",
        2: "The two features are drawn as they are.",
    }
    more = f"The first two principal components of {n_features} features."
    return Layout(places, names, notes.get(n_features, more))


def check_ids(fitted: CoreAnswers, ids: Any) -> list[str | int | float]:
    """Return a name an item: as given, or the index of the data, or its position."""
    n_items = fitted.labels_.size
    if ids is None:
        frame = fitted._frame
        ids = frame.index if is_pandas_frame(frame) else range(n_items)
    elif isinstance(ids, (str, bytes)) or not hasattr(ids, "__len__"):
        raise TypeError(f"ids must be one name an item, in a list or array, got {shorten(ids)!r}.")
    if len(ids) != n_items:
        raise ValueError(f"ids must name each of {n_items} items, got {len(ids)}.")
    return [_plain(value) for value in ids]


def _plain(value: Any) -> str | int | float:
    """Return a name as a number or as text that any file can hold."""
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, numbers.Integral):
        whole = int(value)
        return whole if abs(whole) <= _MAX_EXACT else str(whole)
    if isinstance(value, numbers.Real) and math.isfinite(value):
        return float(value)
    return clean(str(value))


def clean(text: str) -> str:
    """Return text that UTF-8 can hold: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def report_path(fitted: CoreAnswers) -> CorePath:
    """Return the cores along the usual alphas and the fitted one, there the fitted cores."""
    alphas = np.union1d(fitted._reachable_alphas(), [fitted.alpha])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says which alphas lack a proof
        path = path_to_draw(fitted, alphas)
    place = int(np.flatnonzero(path.values == fitted.alpha)[0])
    path.cores[place] = fitted.cores_
    path.labels[place] = fitted.labels_
    return path


def chart_data(
    fitted: CoreAnswers, path: CorePath, layout: Layout, ids: list[Any], items: NDArray[np.intp]
) -> dict[str, Any]:
    """Return all that the script of the page needs, ready for JSON."""
    closest, shares = closest_clusters(fitted, items)
    sizes = path.core_sizes.reshape(path.values.size, len(fitted.cores_))
    return {
        "alphas": path.values.tolist(),
        "fitted": int(np.flatnonzero(path.values == fitted.alpha)[0]),
        "proven": [all(core.optimal for core in cores) for cores in path.cores],
        "nItems": int(fitted.labels_.size),
        "nTrimmed": int(fitted.trimmed_sample_indices_.size),
        "axes": [shorten(clean(name), 60) for name in layout.axis_names],
        "clusters": [
            {
                "name": _short(_plain(fitted.cluster_names_[core.label])),
                "size": core.size,
                "cores": sizes[:, place].tolist(),
            }
            for place, core in enumerate(fitted.cores_)
        ],
        "items": {
            "id": [_short(ids[item]) for item in items.tolist()],
            "x": _rounded(layout.positions[items, 0]),
            "y": _rounded(layout.positions[items, 1]),
            "cluster": fitted.reference_labels_[items].tolist(),
            "strength": _rounded(item_strengths(fitted)[items]),
            "closest": closest.tolist(),
            "share": _rounded(shares),
            "core": core_switches(path.labels[:, items] >= 0),
        },
    }


def core_switches(inside: NDArray[np.bool_]) -> list[int | list[int]]:
    """Return at which places of a path each item enters, leaves and enters the cores again.

    Parameters
    ----------
    inside : ndarray of bool of shape (n_values, n_items)

    Returns
    -------
    switches : list of int or list of int
        One whole number for an item that enters once and stays, or -1 if it never enters;
        otherwise all places at which it switches.

    Examples
    --------
    >>> import numpy as np
    >>> from coreclust.report._content import core_switches
    >>> core_switches(np.array([[0, 0, 1], [1, 0, 0], [1, 0, 1]], dtype=bool))
    [1, -1, [0, 1, 2]]
    """
    before = np.vstack([np.zeros((1, inside.shape[1]), dtype=bool), inside[:-1]])
    changes = (inside != before).T
    n_changes = changes.sum(axis=1)
    first = np.where(n_changes == 0, -1, changes.argmax(axis=1)).tolist()
    for item in np.flatnonzero(n_changes > 1).tolist():
        first[item] = np.flatnonzero(changes[item]).tolist()
    return first


def shown_items(fitted: CoreAnswers) -> NDArray[np.intp]:
    """Return the items that are drawn and listed, ascending."""
    return np.sort(ordered_items(fitted, MAX_ITEMS))


def cluster_rows(fitted: CoreAnswers) -> list[dict[str, Any]]:
    """Return the table of clusters."""
    summary = fitted.summary()
    together = [float(share) for share in summary["all_together"]]
    return [
        {
            "code": place,
            "name": clean(cluster_name(fitted, core)),
            "size": core.size,
            "core": core.core.size,
            "weak": core.size - core.core.size,
            "weak_share": 1 - core.core.size / core.size,
            "together": share if share == share else None,
            "bound": core.upper_bound,
            "optimal": core.optimal,
        }
        for place, (core, share) in enumerate(zip(fitted.cores_, together, strict=True))
    ]


def how_made(fitted: CoreAnswers, path: CorePath) -> list[tuple[str, str]]:
    """Return what is needed to make the answer again, as pairs of a name and a text."""
    unproven = sum(not core.optimal for core in fitted.cores_)
    on_path = sum(any(not core.optimal for core in cores) for cores in path.cores)
    proof = "all cores" if not unproven else f"all but {unproven} of {len(fitted.cores_)} cores"
    if on_path:
        proof += f"; at {on_path} of the {path.values.size} alphas of the slider, not all"
    confidence = "none: the estimate is taken at its word"
    if fitted.confidence is not None:
        confidence = f"{fitted.confidence:g}, {fitted.guarantee}"
    limit = "none" if fitted.time_limit is None else f"{fitted.time_limit:g} s"
    versions = (
        f"coreclust {__version__}, scikit-learn {sklearn.__version__}, "
        f"numpy {np.__version__}, Python {platform.python_version()}"
    )
    rows = [
        ("Items", f"{fitted.labels_.size:,}"),
        ("Features", f"{fitted.n_features_in_:,}" if hasattr(fitted, "n_features_in_") else ""),
        ("Estimator", _describe(fitted._estimator())),
        ("Resampling", _describe(fitted.resampling)),
        ("Samples, m", f"{fitted.ensemble_.n_resamples:,}"),
        ("Samples left out", f"{fitted.n_dropped_resamples_:,}"),
        ("Seed", _describe(fitted.random_state)),
        ("Alpha", f"{fitted.alpha:g}"),
        ("Confidence", confidence),
        ("Noise", fitted.noise),
        ("Proven largest", proof),
        ("Time limit of the search", limit),
        ("Engine", fitted.engine_),
        ("Versions", versions),
    ]
    return [(name, clean(text)) for name, text in rows if text]


def _describe(value: Any) -> str:
    """Return an estimator with all its parameters, the name of a function, or the value."""
    if isinstance(value, str):
        return value
    if callable(value) and not hasattr(value, "get_params"):
        return str(getattr(value, "__qualname__", repr(value)))
    with sklearn.config_context(print_changed_only=False):
        return shorten(" ".join(repr(value).split()), 2000)


def _short(value: Any) -> Any:
    return shorten(value, MAX_TEXT) if isinstance(value, str) else value


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers with five digits, and None for those that are none."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in values.tolist()]
