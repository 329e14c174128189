"""Folds of the cascades' protocol (theory.md §3.8)."""

import numpy as np

from surewood.experiments.cascades.folds import N_FOLDS, folds_of


def test_folds_are_even_shuffled_and_seeded():
    fold = folds_of(351, 4)
    sizes = np.bincount(fold, minlength=N_FOLDS)
    assert sizes.max() - sizes.min() <= 1
    assert fold.tolist() == folds_of(351, 4).tolist() != folds_of(351, 5).tolist()
    assert fold.tolist() != (np.arange(351) % N_FOLDS).tolist()
