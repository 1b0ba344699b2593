"""Draws resamples, clusters each of them and collects their labels."""
