"""Research code, run from a clone: the experiments of the paper and the calibration study."""
