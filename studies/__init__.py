"""Studies of the method, run from a clone: the paper's experiments and the calibration."""
