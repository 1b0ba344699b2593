"""Draw resamples, cluster each of them and collect their labels."""
