"""Benchmarks of coreclust; run one from the repository root: ``python -m benchmarks.clique``."""
