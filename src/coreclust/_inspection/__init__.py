"""What a fitted estimator reports: tables, verdict, paths and predictions."""
