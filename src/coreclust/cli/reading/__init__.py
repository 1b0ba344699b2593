"""Reading tables as people have them: CSV, TSV, Parquet, .npy and .h5ad."""

from coreclust.cli.reading.table import Table, read_table

__all__ = ["Table", "read_table"]
