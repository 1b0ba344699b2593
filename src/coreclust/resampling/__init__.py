"""Resampling schemes: which items a resample holds, and which of them it labels."""

from coreclust.resampling._schemes import (
    Bootstrap,
    KnownDistribution,
    ParametricBootstrap,
    SmoothedBootstrap,
    Subsample,
    check_resampling,
    required_resamples,
)

__all__ = [
    "Bootstrap",
    "KnownDistribution",
    "ParametricBootstrap",
    "SmoothedBootstrap",
    "Subsample",
    "check_resampling",
    "required_resamples",
]
