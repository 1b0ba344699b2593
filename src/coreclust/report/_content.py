"""Collects the content of a report as plain data, without HTML."""

from __future__ import annotations

import math
import numbers
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from coreclust._inspection.closest import closest_clusters
from coreclust._inspection.confusion import Confusion
from coreclust._inspection.diagnosis import Diagnosis
from coreclust._inspection.outer import possible_members
from coreclust._inspection.path import CorePath, path_to_draw, reachable_alphas
from coreclust._inspection.verdict import cluster_name
from coreclust._utils.frames import is_pandas_frame
from coreclust._utils.text import shorten
from coreclust.plotting._items import check_positions, ordered_items, project
from coreclust.report import _next_steps as next_steps
from coreclust.report._audit import audit_rows
from coreclust.report._text import clean, versions

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

MAX_ITEMS = 10_000
MAX_PAIRS = 20  # pairs of clusters in a table
MAX_TEXT = 200  # characters in the id of an item or the name of a cluster
_MAX_EXACT = 2**53  # larger whole numbers are not exact in JavaScript


@dataclass(frozen=True, eq=False)
class Layout:
    """The positions at which items are drawn."""

    positions: NDArray[np.float64]
    axis_names: tuple[str, str]
    note: str  # a sentence for the reader that says what the positions are


def lay_out(fitted: CoreClustering, X: Any, positions: ArrayLike | None) -> Layout:
    """Place the items by the given positions, by the data, or else by their strength."""
    if positions is not None:
        places = check_positions(positions, fitted.labels_.size)
        return Layout(places, ("", ""), "The author of the report chose where items are drawn.")
    if X is not None:
        return _from_data(fitted, X)
    if fitted._frame is not None:
        with suppress(TypeError, ValueError):  # for instance, columns that are not numbers
            return _from_data(fitted, fitted._frame)
    strengths = np.nan_to_num(fitted.strengths_)
    clusters = np.where(fitted.reference_labels_ < 0, fitted.n_clusters_, fitted.reference_labels_)
    # Multiples of the golden ratio spread the items of a cluster evenly, without randomness.
    spread = 0.7 * ((np.arange(clusters.size) * 0.6180339887498949) % 1 - 0.5)
    return Layout(
        np.column_stack([clusters + spread, strengths]),
        ("cluster, in the order of the table", "strength"),
        "The data was not available, so items are drawn by cluster and strength.",
    )


def _from_data(fitted: CoreClustering, X: Any) -> Layout:
    places, names = project(fitted, X)
    n_features = X.shape[1] if hasattr(X, "shape") else len(X[0])
    notes = {
        1: "The single feature is drawn against the strength of the items.",
        2: "The two features are drawn as they are.",
    }
    more = f"Axes: the first two principal components of {n_features} features."
    return Layout(places, names, notes.get(n_features, more))


def check_ids(fitted: CoreClustering, ids: Any) -> list[str | int | float]:
    """Return one name per item: as given, from the index of the data, or its position."""
    n_items = fitted.labels_.size
    if ids is None:
        frame: Any = fitted._frame
        ids = frame.index if is_pandas_frame(frame) else range(n_items)
    elif isinstance(ids, (str, bytes)) or not hasattr(ids, "__len__"):
        raise TypeError(f"ids must be a list or array of one name per item, got {shorten(ids)!r}.")
    if len(ids) != n_items:
        raise ValueError(f"ids must have one name for each of {n_items} items, got {len(ids)}.")
    return [_plain(value) for value in ids]


def _plain(value: Any) -> str | int | float:
    """Return a name as a number or as text that can be written to a file."""
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, numbers.Integral):
        whole = int(value)
        return whole if abs(whole) <= _MAX_EXACT else str(whole)
    if isinstance(value, numbers.Real) and math.isfinite(value):
        return float(value)
    return clean(str(value))


def report_path(fitted: CoreClustering) -> CorePath:
    """Return the cores at the default alphas and, unchanged, the fitted cores at the fitted one."""
    alphas = np.union1d(reachable_alphas(fitted), [fitted.alpha])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says at which alphas a proof is missing
        path = path_to_draw(fitted, alphas)
    place = int(np.flatnonzero(path.values == fitted.alpha)[0])
    path.cores[place] = fitted.cores_
    path.labels[place] = fitted.labels_
    return path


def chart_data(
    fitted: CoreClustering, path: CorePath, layout: Layout, ids: list[Any], items: NDArray[np.intp]
) -> dict[str, Any]:
    """Return the data that the script of the page needs, ready for JSON."""
    closest, shares = closest_clusters(fitted, items)
    possible = possible_members(fitted, items)
    n_possible = possible.sum(axis=0).tolist()
    sizes = path.core_sizes.reshape(path.values.size, fitted.n_clusters_)
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
                "size": core.n_items,
                "cores": sizes[:, place].tolist(),
                "possible": n_possible[place],
            }
            for place, core in enumerate(fitted.cores_)
        ],
        "items": {
            "id": [_short(ids[item]) for item in items.tolist()],
            "x": _rounded(layout.positions[items, 0]),
            "y": _rounded(layout.positions[items, 1]),
            "cluster": fitted.reference_labels_[items].tolist(),
            "strength": _rounded(fitted.strengths_[items]),
            "closest": closest.tolist(),
            "share": _rounded(shares),
            "core": core_switches(path.labels[:, items] >= 0),
            # The codes of clusters; 0 instead of an empty list saves space.
            "possible": [np.flatnonzero(row).tolist() if row.any() else 0 for row in possible],
            "undecided": np.flatnonzero(np.isin(items, fitted.undecided_sample_indices_)).tolist(),
        },
        **next_steps.verdicts(fitted, path),
    }


def core_switches(inside: NDArray[np.bool_]) -> list[int | list[int]]:
    """Return the places of a path at which each item enters or leaves a core.

    `inside` is of shape (n_values, n_items). An item that enters once and stays gets one number,
    an item that never enters gets -1, and any other item gets the list of its places.
    """
    before = np.vstack([np.zeros((1, inside.shape[1]), dtype=bool), inside[:-1]])
    changes = (inside != before).T
    n_changes = changes.sum(axis=1)
    first = np.where(n_changes == 0, -1, changes.argmax(axis=1)).tolist()
    for item in np.flatnonzero(n_changes > 1).tolist():
        first[item] = np.flatnonzero(changes[item]).tolist()
    return first


def shown_items(fitted: CoreClustering) -> NDArray[np.intp]:
    """Return the items that are drawn and listed, in ascending order."""
    return np.sort(ordered_items(fitted, MAX_ITEMS))


def cluster_rows(fitted: CoreClustering) -> list[dict[str, Any]]:
    """Return the rows of the table of clusters."""
    together = fitted.summary()["all_together"].tolist()
    return [
        {
            "code": place,
            "name": clean(cluster_name(fitted, core)),
            "n_items": core.n_items,
            "n_core": core.n_core,
            "n_weak": core.n_weak,
            "weak_fraction": core.n_weak / core.n_items,
            "together": None if math.isnan(share) else share,
            "bound": core.upper_bound,
            "optimal": core.optimal,
        }
        for place, (core, share) in enumerate(zip(fitted.cores_, together, strict=True))
    ]


def pair_rows(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """Return the rows of the table of pairs: those not shown to be two, then the closest.

    Pairs that were never together and were not tested tell nothing, unless there are no others.
    """
    order = ["shown_two", "together", "p_value"]
    pairs = diagnosis.pairs.sort_values(order, ascending=[True, False, False], kind="stable")
    telling = pairs[~pairs["shown_two"] | pairs["p_value"].notna() | (pairs["together"] > 0)]
    pairs = telling if len(telling) else pairs
    return [
        {
            "names": [clean(shorten(row[name])) for name in ("cluster_1", "cluster_2")],
            "together": None if math.isnan(row["together"]) else row["together"],
            "p_value": None if math.isnan(row["p_value"]) else row["p_value"],
            "shown_two": row["shown_two"],
        }
        for row in pairs.head(MAX_PAIRS).to_dict("records")
    ]


@dataclass(frozen=True, eq=False)
class Section:
    """A part of the page that is shown only if there is something to show."""

    name: str  # its id in the page
    title: str
    template: str  # of templates/; it gets this object as `section`
    content: Any


def optional_sections(
    fitted: CoreClustering, X: Any, *, audit: Any, confusion: Confusion | None, classes: Any
) -> list[Section]:
    """Return the optional sections in the order in which the page shows them.

    To add one, append its template and its content here.
    """
    data = fitted._frame if X is None else X
    shown = None if confusion is None else next_steps.confusion_rows(fitted, confusion)
    found = [
        Section(
            "audit",
            "Would the cores hold on new data?",
            "_audit.html",
            audit_rows(fitted, audit),
        ),
        Section("confusion", "Which clusters are confused", "_confusion.html", shown),
        Section(
            "profiles",
            "What distinguishes each core",
            "_profiles.html",
            next_steps.profile_rows(fitted, data),
        ),
        Section(
            "classes",
            "Classes of each cluster",
            "_classes.html",
            next_steps.class_rows(fitted, classes),
        ),
    ]
    return [section for section in found if section.content]


def how_made(fitted: CoreClustering, path: CorePath) -> list[tuple[str, str]]:
    """Return the settings that reproduce the result, as pairs of a name and a text."""
    unproven = sum(not core.optimal for core in fitted.cores_)
    on_path = sum(any(not core.optimal for core in cores) for cores in path.cores)
    proof = "all cores" if not unproven else f"all but {unproven} of {fitted.n_clusters_} cores"
    if on_path:
        proof += f"; not all cores at {on_path} of the {path.values.size} alphas of the slider"
    seconds = fitted.rule_.time_limit
    limit = "none" if seconds is None else f"{seconds:.3g} s"
    rows = [
        ("Items", f"{fitted.labels_.size:,}"),
        ("Features", f"{fitted.n_features_in_:,}" if hasattr(fitted, "n_features_in_") else ""),
        ("Estimator", _describe(fitted._estimator())),
        ("Resampling", _describe(fitted.resampling)),
        ("Resamples", f"{fitted.ensemble_.n_resamples:,}"),
        ("Failed resamples", f"{fitted.n_dropped_resamples_:,}"),
        ("Seed", _describe(fitted.random_state)),
        ("Alpha", f"{fitted.alpha:g}"),
        ("Confidence", fitted.rule_.describe()),
        ("Noise rule", fitted.noise),
        ("Proven to be largest possible", proof),
        ("Time limit of the search", limit),
        ("Engine", fitted.engine_),
        ("Call", _describe(fitted, changed_only=True)),
        ("Versions", versions()),
    ]
    return [(name, clean(text)) for name, text in rows if text]


def _describe(value: Any, *, changed_only: bool = False) -> str:
    """Return a value as text: the parameters of an estimator, the name of a function."""
    if isinstance(value, str):
        return value
    if callable(value) and not hasattr(value, "get_params"):
        return str(getattr(value, "__qualname__", repr(value)))
    with sklearn.config_context(print_changed_only=changed_only):
        if hasattr(value, "cores_"):  # without the result
            value = clone(value)
        return shorten(" ".join(repr(value).split()), 2000)


def _short(value: Any) -> Any:
    return shorten(value, MAX_TEXT) if isinstance(value, str) else value


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers rounded to five digits, with None for NaN and infinity."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in values.tolist()]
