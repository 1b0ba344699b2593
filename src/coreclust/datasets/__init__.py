"""The datasets of the paper, checked against what its authors used."""

from coreclust.datasets.paper import PAPER_DATASETS, load_kdd_population, load_paper_dataset
from coreclust.datasets.sources import DatasetNotFoundError
from coreclust.datasets.synthetic import load_synthetic, synthetic_sampler

__all__ = [
    "PAPER_DATASETS",
    "DatasetNotFoundError",
    "load_kdd_population",
    "load_paper_dataset",
    "load_synthetic",
    "synthetic_sampler",
]
