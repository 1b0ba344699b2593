"""Computes the measures of stability of one clustering from its ensemble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coreclust.core_clustering import CoreClustering
from coreclust.metrics import weak_fraction
from coreclust.stability import ambiguous_pairs, jaccard_stability

_PAIRS = 20_000  # keeps the standard error of the proportion below 0.4 %


@dataclass(frozen=True)
class Measures:
    """Measures of the stability of a clustering."""

    weak_fraction: float  # share of the items that are in no core, the criterion of the paper
    mean_jaccard: float  # as in jaccard_stability, averaged over the clusters
    ambiguous_pairs: float  # proportion of ambiguous pairs


def measure(fitted: CoreClustering) -> Measures:
    """Return the measures of a fitted core clustering."""
    ensemble: Any = fitted.ensemble_  # a LabelEnsemble, as schemes that draw pairs are refused
    jaccard = jaccard_stability(ensemble, fitted.reference_labels_).mean_jaccard
    known = jaccard[~np.isnan(jaccard)]
    pairs = ambiguous_pairs(ensemble, noise=fitted.noise, max_pairs=_PAIRS, random_state=0)
    return Measures(
        weak_fraction=weak_fraction(fitted.labels_),
        mean_jaccard=float(known.mean()) if known.size else float("nan"),
        ambiguous_pairs=pairs.proportion,
    )
