"""Runs the experiments of the paper and compares the results with the published values."""
