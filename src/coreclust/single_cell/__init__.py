"""Core clusters of single cells, read from and written to AnnData objects."""

from coreclust.cluster import Leiden
from coreclust.single_cell._anndata import core_clustering

__all__ = ["Leiden", "core_clustering"]
