"""Classifiers of scikit-learn, compiled to label many resamples per call."""
