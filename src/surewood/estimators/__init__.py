"""What all families share: parameter checks, seeds, folds, calibration, cost."""
