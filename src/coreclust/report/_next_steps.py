"""Collects what a report says beyond the cores: advice, confusion, profiles and provenance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coreclust._inspection.actions import find_actions
from coreclust._inspection.confusion import Confusion
from coreclust._inspection.diagnosis import Diagnosis
from coreclust._inspection.path import CorePath
from coreclust._inspection.profiles import Profile, find_profiles
from coreclust._inspection.verdict import cluster_name, explanation, explanation_at, headline
from coreclust._utils.text import shorten
from coreclust.report._text import clean

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering

MAX_CONFUSED = 60  # clusters in the heat map and the table of clusters
MAX_FEATURES = 5  # of each cluster
MAX_PROFILED = 100  # clusters
MAX_CLASSES = 20  # columns of the table of classes
_WIDTH = 100.0  # of the small chart of a profile
_LARGE = 100.0  # differences beyond it are shown as "> 100"


def action_rows(fitted: CoreClustering, diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """Return the advice, with what its button shows."""
    return [
        {
            "text": clean(action.text),
            "clusters": " ".join(map(str, action.clusters)),
            "status": action.status,
        }
        for action in find_actions(fitted, diagnosis)
    ]


def verdicts(fitted: CoreClustering, path: CorePath) -> dict[str, list[str]]:
    """Return the headline and the explanation at each alpha of the slider."""
    headlines, explanations = [], []
    for alpha, cores in zip(path.values.tolist(), path.cores, strict=True):
        headlines.append(clean(headline(fitted, cores)))
        is_fitted = alpha == fitted.alpha
        text = explanation(fitted) if is_fitted else explanation_at(fitted, cores, alpha)
        explanations.append(clean(text))
    return {"headlines": headlines, "explanations": explanations}


def confusion_data(confusion: Confusion) -> dict[str, Any]:
    """Return the heat map of clusters for the script of the page."""
    return {
        "order": confusion.clusters.tolist(),
        "core": [_shares(row) for row in confusion.core],
        "weak": [None if np.isnan(row).all() else _shares(row) for row in confusion.weak],
    }


def confusion_rows(fitted: CoreClustering, confusion: Confusion) -> dict[str, Any]:
    """Return the table of clusters by clusters, with rows for core and for weak items."""
    names = [clean(cluster_name(fitted, fitted.cores_[code])) for code in confusion.clusters]
    rows = []
    for place, code in enumerate(confusion.clusters.tolist()):
        for status, values in (("core", confusion.core[place]), ("weak", confusion.weak[place])):
            if not np.isnan(values).all():
                cells = [_rough_percent(share) for share in values.tolist()]
                rows.append({"code": code, "name": names[place], "status": status, "cells": cells})
    heads = [
        {"code": code, "name": name} for code, name in zip(confusion.clusters, names, strict=True)
    ]
    return {"heads": heads, "rows": rows, "n_clusters": fitted.n_clusters_}


def profile_rows(fitted: CoreClustering, X: Any) -> list[dict[str, Any]]:
    """Return, for each cluster, the features that distinguish its core."""
    by_cluster: dict[int, list[Profile]] = {}
    for profile in find_profiles(fitted, X, MAX_FEATURES):
        by_cluster.setdefault(profile.cluster, []).append(profile)
    return [
        {
            "code": code,
            "name": clean(cluster_name(fitted, fitted.cores_[code])),
            "features": [_profile_row(profile) for profile in profiles],
        }
        for code, profiles in list(by_cluster.items())[:MAX_PROFILED]
    ]


def _profile_row(profile: Profile) -> dict[str, Any]:
    difference = profile.difference
    size = f"{abs(difference):.1f}" if abs(difference) <= _LARGE else f"> {_LARGE:.0f}"
    words = "the same" if difference == 0 else f"{size} {'higher' if difference > 0 else 'lower'}"
    means = {"core": profile.core, "weak": profile.weak, "rest": profile.rest}
    texts = {name: _mean(mean, profile.is_share) for name, mean in means.items()}
    return {
        "feature": clean(shorten(profile.feature, 60)),
        "difference": words,
        **texts,
        "chart": _ranges(profile),
    }


def _ranges(profile: Profile) -> dict[str, Any] | None:
    """Return where the small chart draws the core, the weak items and the rest."""
    ends = [
        profile.core - profile.core_spread,
        profile.core + profile.core_spread,
        profile.rest - profile.rest_spread,
        profile.rest + profile.rest_spread,
        *([] if math.isnan(profile.weak) else [profile.weak]),
    ]
    low, high = min(ends), max(ends)
    if not 0 < high - low < math.inf:
        return None

    def place(value: float) -> float:
        return round(4 + (_WIDTH - 8) * (value - low) / (high - low), 1)

    return {
        "core": [place(ends[0]), place(ends[1]), place(profile.core)],
        "rest": [place(ends[2]), place(ends[3]), place(profile.rest)],
        "weak": None if math.isnan(profile.weak) else place(profile.weak),
    }


def class_rows(fitted: CoreClustering, classes: Any) -> dict[str, Any] | None:
    """Return how many core and weak items of each cluster have which class."""
    if classes is None or not fitted.n_clusters_:
        return None
    if isinstance(classes, (str, bytes)) or not hasattr(classes, "__len__"):
        raise TypeError(
            f"classes must be a list or array of one class per item, got {shorten(classes)!r}."
        )
    n_items = fitted.labels_.size
    if len(classes) != n_items:
        raise ValueError(
            f"classes must have one class for each of {n_items} items, got {len(classes)}."
        )
    texts = np.array([clean(str(one)) for one in classes], dtype=object)
    names, codes = np.unique(texts, return_inverse=True)
    shown = np.sort(np.argsort(-np.bincount(codes), kind="stable")[:MAX_CLASSES])
    rows = []
    for core in fitted.cores_:
        for status, items in (("core", core.core), ("weak", core.weak)):
            counts = np.bincount(codes[items], minlength=len(names))
            rows.append(
                {
                    "code": core.label,
                    "name": clean(cluster_name(fitted, core)),
                    "status": status,
                    "counts": counts[shown].tolist(),
                    "most": int(counts.max(initial=0)),
                }
            )
    heads = [shorten(name) for name in names[shown].tolist()]
    return {"heads": heads, "rows": rows, "n_classes": len(names)}


def provenance_rows(provenance: Any) -> list[tuple[str, list[str]]]:
    """Return where the data comes from, as pairs of a name and lines, and today's date."""
    if provenance is not None and not isinstance(provenance, Mapping):
        raise TypeError(
            "provenance must be a dict of names and texts, such as {'File': 'data.csv'}, got "
            f"{type(provenance).__name__}."
        )
    rows = []
    for name, value in (provenance or {}).items():
        lines = value if isinstance(value, (list, tuple)) else [value]
        if lines:
            rows.append((clean(str(name)), [clean(shorten(line, 2000)) for line in lines]))
    return [*rows, ("Date", [f"{datetime.now(UTC):%Y-%m-%d}"])]


def _shares(row: NDArray[np.float64]) -> list[float | None]:
    return [None if math.isnan(share) else round(share, 3) for share in row.tolist()]


def _rough_percent(share: float) -> str:
    if math.isnan(share):
        return "?"
    return "" if share < 0.005 else f"{100 * share:.0f}"


def _mean(mean: float, is_share: bool) -> str:
    if math.isnan(mean):
        return "none"
    return f"{100 * mean:.0f} %" if is_share else _number(mean)


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"
