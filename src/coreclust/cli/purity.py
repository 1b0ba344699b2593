"""Compares clusters and cores with known classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from coreclust.cli.arguments import CLASSIFIERS
from coreclust.metrics import purity_score

if TYPE_CHECKING:
    from coreclust import CoreClustering, LabelEnsemble


def purity_of(cc: CoreClustering, classes: NDArray[np.str_], scheme: str) -> dict[str, float]:
    """Return the purity of clusters and cores; out of bag, that of the labels in resamples."""
    if scheme == "oob":
        core = cc.labels_ >= 0
        labels = cast("LabelEnsemble", cc.ensemble_).labels
        return {
            "clusters": purity_in_resamples(classes, labels),
            "cores": purity_in_resamples(classes[core], labels[core]),
        }
    return {
        "clusters": purity_score(classes, cc.reference_labels_),
        "cores": purity_score(classes, cc.labels_),
    }


def purity_text(summary: dict[str, Any]) -> str:
    """Return a sentence on the purity in a summary."""
    clusters, cores = summary["purity"].values()
    shares = f"{clusters:.3f} of the clusters, {cores:.3f} of their cores"
    if summary["scheme"] == "oob":
        return f"Purity of items that were not drawn (out of bag): {shares}."
    if summary["algorithm"] in CLASSIFIERS:
        return (
            f"Purity of the training items (in bag): {shares}. It says nothing about new items; "
            "--scheme oob labels items that the classifier has not seen."
        )
    return f"Purity: {shares}."


def purity_in_resamples(classes: NDArray[np.str_], labels: NDArray[np.signedinteger]) -> float:
    """Return the share of labeled items with the most common class of their label.

    The most common class is that of one resample, because labels of different resamples are
    unrelated. `labels` has one row per item; the result is NaN if no item has a label.
    """
    names, codes = np.unique(classes, return_inverse=True)
    n_common = n_labeled = 0
    for resample in labels.T:
        labeled = resample >= 0
        cells = resample[labeled].astype(np.int64) * names.size + codes[labeled]
        table = np.bincount(cells, minlength=names.size)
        table = np.pad(table, (0, -table.size % names.size)).reshape(-1, names.size)
        n_common += int(table.max(axis=1).sum())
        n_labeled += int(labeled.sum())
    return n_common / n_labeled if n_labeled else float("nan")
