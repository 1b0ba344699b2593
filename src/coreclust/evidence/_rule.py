"""From alpha, confidence and guarantee to the table of edges, and a warning if it allows none."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import NDArray

from coreclust.evidence._bounds import apart_table, confidence_table, least_seen, sequence_tables
from coreclust.evidence._ensemble import LabelEnsemble
from coreclust.evidence._pair_evidence import PairEvidence


def edge_table(
    ensemble: LabelEnsemble | PairEvidence,
    sizes: NDArray[np.int64],
    alpha: float,
    confidence: float | None,
    guarantee: str,
    *,
    anytime: bool = False,
) -> NDArray[np.int64]:
    """Return how often a pair may be apart, by how often it was seen; warn if it is too seldom."""
    n_resamples = ensemble.n_resamples
    if confidence is None:
        # The prior belongs to Algorithm 3, not to Algorithm 2.
        n_prior = ensemble.n_items if isinstance(ensemble, LabelEnsemble) else None
        table = apart_table(alpha, n_prior, n_resamples)
        if n_prior is None and alpha < 1:
            table[: (n_resamples + 1) // 2] = -1  # lost more than half of its resamples
        if table[-1] < 0 and alpha > 0:
            warnings.warn(
                f"{n_resamples} resamples are too few for any pair to reach a co-occurrence of "
                f"{1 - alpha:g}: every core is a single item. Use more resamples.",
                stacklevel=3,
            )
        return table
    level = pair_level(sizes, confidence, guarantee)
    needed = least_seen(alpha, level, anytime=anytime)
    share = pair_share(ensemble)
    if math.isinf(needed):
        warnings.warn(
            f"No number of resamples can show with confidence that a probability is {1 - alpha:g}: "
            "every core is a single item. Use a larger alpha, or confidence=None.",
            stacklevel=3,
        )
    elif needed > share * n_resamples:
        warnings.warn(
            f"{n_resamples} resamples are too few for confidence={confidence:g}: a pair must be seen "
            f"{needed} times, never apart, to show a co-occurrence of {1 - alpha:g}, and is seen "
            f"about {share * n_resamples:.0f} times. It takes at least "
            f"{math.ceil(needed / max(share, 1 / n_resamples))} resamples.",
            stacklevel=3,
        )
    if anytime:
        return sequence_tables(alpha, level, n_resamples)[0]
    return confidence_table(alpha, level, n_resamples)


def pair_level(sizes: NDArray[np.int64], confidence: float, guarantee: str) -> float:
    """Return the error that is allowed for one pair of clusters of some sizes."""
    n_pairs = int((sizes * (sizes - 1) // 2).sum()) if guarantee == "simultaneous" else 1
    return (1 - confidence) / max(n_pairs, 1)


def pair_share(ensemble: LabelEnsemble | PairEvidence) -> float:
    """Return the share of resamples in which a pair is seen, on average."""
    if isinstance(ensemble, PairEvidence):
        return 1.0
    return ensemble.present_share**2
