"""Reports of a fitted estimator: tables, verdict, paths and predictions."""
