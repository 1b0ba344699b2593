"""The measures of one clustering, all from one ensemble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from coreclust.core_clustering import CoreClustering
from coreclust.evidence._ensemble import LabelEnsemble
from coreclust.metrics import weak_fraction
from coreclust.stability import ambiguous_pairs, jaccard_stability

_PAIRS = 20_000  # a choice of pairs has a standard error below 0.4 %


@dataclass(frozen=True)
class Measures:
    """How stable a clustering is.

    Attributes
    ----------
    weak_fraction : float
        Share of the items that are in no core: the criterion of the paper.
    mean_jaccard : float
        Jaccard similarity of a cluster with its likest in a resample: mean over resamples, then
        over clusters.
    ambiguous_pairs : float
        Share of the pairs that are neither clearly together nor clearly apart.
    """

    weak_fraction: float
    mean_jaccard: float
    ambiguous_pairs: float


def measure(fitted: CoreClustering) -> Measures:
    """Return the measures of a fitted core clustering."""
    ensemble = cast(LabelEnsemble, fitted.ensemble_)
    jaccard = jaccard_stability(ensemble, fitted.reference_labels_).mean_jaccard
    known = jaccard[~np.isnan(jaccard)]
    pairs = ambiguous_pairs(ensemble, noise=fitted.noise, max_pairs=_PAIRS, random_state=0)
    return Measures(
        weak_fraction=weak_fraction(fitted.labels_),
        mean_jaccard=float(known.mean()) if known.size else float("nan"),
        ambiguous_pairs=pairs.proportion,
    )
