"""Pictures of core clusterings. matplotlib is imported when one is drawn."""

from coreclust.plotting.alpha_path import AlphaPathDisplay
from coreclust.plotting.bars import ClusterSizesDisplay
from coreclust.plotting.heatmap import CooccurrenceDisplay
from coreclust.plotting.scatter import CoreClusterDisplay
from coreclust.plotting.selection import ClusterNumberDisplay, ComparisonDisplay
from coreclust.plotting.strength import StrengthDisplay

__all__ = [
    "AlphaPathDisplay",
    "ClusterNumberDisplay",
    "ClusterSizesDisplay",
    "ComparisonDisplay",
    "CooccurrenceDisplay",
    "CoreClusterDisplay",
    "StrengthDisplay",
]
