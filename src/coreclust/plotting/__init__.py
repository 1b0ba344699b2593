"""Pictures of core clusterings. matplotlib is imported when one is drawn."""

from coreclust.plotting.alpha_path import AlphaPathDisplay
from coreclust.plotting.bars import ClusterSizesDisplay
from coreclust.plotting.heatmap import CooccurrenceDisplay
from coreclust.plotting.scatter import CoreClusterDisplay
from coreclust.plotting.strength import StrengthDisplay

__all__ = [
    "AlphaPathDisplay",
    "ClusterSizesDisplay",
    "CooccurrenceDisplay",
    "CoreClusterDisplay",
    "StrengthDisplay",
]
