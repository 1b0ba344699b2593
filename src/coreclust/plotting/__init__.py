"""Plots of core clusterings. matplotlib is imported when a plot is drawn."""

from coreclust.plotting._alpha_path import AlphaPathDisplay
from coreclust.plotting._bars import ClusterSizesDisplay
from coreclust.plotting._heatmap import CooccurrenceDisplay
from coreclust.plotting._scatter import CoreClusterDisplay
from coreclust.plotting._selection import (
    ClusterNumberDisplay,
    ComparisonDisplay,
    ResolutionDisplay,
)
from coreclust.plotting._strength import StrengthDisplay
from coreclust.plotting._tree import CoreTreeDisplay

__all__ = [
    "AlphaPathDisplay",
    "ClusterNumberDisplay",
    "ClusterSizesDisplay",
    "ComparisonDisplay",
    "CooccurrenceDisplay",
    "CoreClusterDisplay",
    "CoreTreeDisplay",
    "ResolutionDisplay",
    "StrengthDisplay",
]
