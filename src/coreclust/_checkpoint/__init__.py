"""Saves finished resamples in a folder, so that an interrupted fit can continue."""
