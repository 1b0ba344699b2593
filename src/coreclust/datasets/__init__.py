"""Synthetic datasets."""

from coreclust.datasets._synthetic import load_synthetic, synthetic_sampler

__all__ = ["load_synthetic", "synthetic_sampler"]
