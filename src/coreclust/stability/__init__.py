"""Established measures of stability, computed from the same ensemble as the cores.

These are the Jaccard similarities of fpc's `clusterboot`, the item and cluster consensus of
consensus clustering, the proportion of ambiguous pairs (PAC) and the adjusted Rand index
between resamples. All of them are averages. A high average can hide single unstable items;
cores identify them.
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
