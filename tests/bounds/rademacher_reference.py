"""The empirical Rademacher complexity by its definition (0.1)."""

import itertools

import numpy as np


def exact_rademacher(values):
    """Of finitely many value vectors, one per row, over all sign vectors."""
    table = np.asarray(values, dtype=float)
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=table.shape[1])))
    return max(0.0, float((signs @ table.T).max(axis=1).mean() / table.shape[1]))
