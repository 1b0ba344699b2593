"""Benchmarks of coreclust; run all from the repository root with ``python -m benchmarks``."""
