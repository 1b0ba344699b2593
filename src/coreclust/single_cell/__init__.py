"""Core clusters of single cells, from an AnnData object and back into it."""

from coreclust.single_cell._anndata import Leiden, core_clustering

__all__ = ["Leiden", "core_clustering"]
