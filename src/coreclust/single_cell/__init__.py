"""Core clusters of single cells, read from and written to AnnData objects."""

from coreclust.cluster import Leiden as Leiden  # documented in coreclust.cluster
from coreclust.single_cell._anndata import core_clustering
from coreclust.single_cell._resolution import select_resolution

__all__ = ["core_clustering", "select_resolution"]
