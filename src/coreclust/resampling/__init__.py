"""Resampling schemes, which draw the items of a resample and choose which items it labels."""

from coreclust.resampling._bootstrap import Bootstrap, SmoothedBootstrap
from coreclust.resampling._check import check_resampling, required_resamples
from coreclust.resampling._distribution import KnownDistribution, ParametricBootstrap
from coreclust.resampling._protocol import Scheme
from coreclust.resampling._reseed import Reseed
from coreclust.resampling._subsample import Subsample

__all__ = [
    "Bootstrap",
    "KnownDistribution",
    "ParametricBootstrap",
    "Reseed",
    "Scheme",
    "SmoothedBootstrap",
    "Subsample",
    "check_resampling",
    "required_resamples",
]
