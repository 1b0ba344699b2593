"""Clusterers at compiled speed, scikit-learn estimators in their own right."""

from coreclust.cluster.hierarchical import HierarchicalClustering
from coreclust.cluster.kmeans import KMeans

__all__ = ["HierarchicalClustering", "KMeans"]
