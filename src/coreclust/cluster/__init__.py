"""Compiled clusterers. Each is a scikit-learn estimator."""

from coreclust.cluster._hierarchical import HierarchicalClustering
from coreclust.cluster._kmeans import KMeans
from coreclust.cluster._leiden import Leiden
from coreclust.cluster._native import Batch, NativeOffer
from coreclust.cluster._tclust import TClust
from coreclust.cluster._trimmed import TrimmedKMeans

__all__ = [
    "Batch",
    "HierarchicalClustering",
    "KMeans",
    "Leiden",
    "NativeOffer",
    "TClust",
    "TrimmedKMeans",
]
