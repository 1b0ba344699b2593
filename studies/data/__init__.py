"""Loads the datasets of the paper and checks them against those that its authors used."""

from studies.data.paper import PAPER_DATASETS, load_kdd_population, load_paper_dataset
from studies.data.sources import DatasetNotFoundError

__all__ = ["PAPER_DATASETS", "DatasetNotFoundError", "load_kdd_population", "load_paper_dataset"]
