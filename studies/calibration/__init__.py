"""Measures how often core pairs truly meet the guarantee, on data with a known distribution."""
