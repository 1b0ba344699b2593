"""Clusterers at compiled speed, scikit-learn estimators in their own right."""

from coreclust.cluster._hierarchical import HierarchicalClustering
from coreclust.cluster._kmeans import KMeans
from coreclust.cluster._tclust import TClust
from coreclust.cluster._trimmed import TrimmedKMeans

__all__ = ["HierarchicalClustering", "KMeans", "TClust", "TrimmedKMeans"]
