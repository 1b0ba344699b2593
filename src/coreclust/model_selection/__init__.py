"""Choice of the number of clusters and of the algorithm, by stability, and its sources."""

from coreclust.model_selection._comparison import AlgorithmComparison, compare_algorithms
from coreclust.model_selection._number import ClusterNumber, select_n_clusters
from coreclust.model_selection._resolution import ClusterResolution, select_resolution
from coreclust.model_selection._sources import instability_sources
from coreclust.model_selection._tree import CoreTree, core_tree

__all__ = [
    "AlgorithmComparison",
    "ClusterNumber",
    "ClusterResolution",
    "CoreTree",
    "compare_algorithms",
    "core_tree",
    "instability_sources",
    "select_n_clusters",
    "select_resolution",
]
