"""Stability in the field's own terms, computed from the same ensemble as the cores.

The Jaccard similarities of fpc's `clusterboot`, the item and cluster consensus of
consensus clustering, its proportion of ambiguous pairs (PAC) and the adjusted Rand index
between resamples. All are averages: a stable average allows for items that are not, which
is what a core is about.
"""

from coreclust.stability._consensus import AmbiguousPairs, Consensus, ambiguous_pairs, consensus
from coreclust.stability._jaccard import JaccardStability, jaccard_stability
from coreclust.stability._rand import PairwiseRand, pairwise_rand, reference_rand

__all__ = [
    "AmbiguousPairs",
    "Consensus",
    "JaccardStability",
    "PairwiseRand",
    "ambiguous_pairs",
    "consensus",
    "jaccard_stability",
    "pairwise_rand",
    "reference_rand",
]
