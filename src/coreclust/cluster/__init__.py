"""Clusterers at compiled speed, scikit-learn estimators in their own right."""

from coreclust.cluster.hierarchical import HierarchicalClustering
from coreclust.cluster.kmeans import KMeans
from coreclust.cluster.tclust import TClust
from coreclust.cluster.trimmed import TrimmedKMeans

__all__ = ["HierarchicalClustering", "KMeans", "TClust", "TrimmedKMeans"]
