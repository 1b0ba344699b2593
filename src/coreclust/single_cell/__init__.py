"""Core clusters of single cells, read from and written to AnnData objects."""

from coreclust.single_cell._anndata import core_clustering
from coreclust.single_cell._leiden import Leiden

__all__ = ["Leiden", "core_clustering"]
