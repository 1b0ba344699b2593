"""Core clusters of single cells, read from and written to AnnData objects."""

from coreclust.cluster import Leiden as Leiden  # documented in coreclust.cluster
from coreclust.single_cell._anndata import core_clustering

__all__ = ["core_clustering"]
