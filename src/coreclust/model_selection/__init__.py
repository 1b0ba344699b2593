"""Choice of the number of clusters and of the algorithm, by stability."""

from coreclust.model_selection._comparison import AlgorithmComparison, compare_algorithms
from coreclust.model_selection._number import ClusterNumber, select_n_clusters

__all__ = ["AlgorithmComparison", "ClusterNumber", "compare_algorithms", "select_n_clusters"]
