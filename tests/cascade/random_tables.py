"""Small random tables with many equal distances: whole numbers, copies, mirrored points."""

import numpy as np


def random_table(seed):
    """Features and labels; every third table has three classes."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 120)), int(rng.integers(1, 6))
    kind = seed % 5
    if kind == 0:
        X = rng.integers(-3, 4, (n, d)).astype(float)
    elif kind == 1:
        X = rng.integers(0, 2, (n, d)).astype(float)
    elif kind == 2:
        X = np.round(rng.standard_normal((n, d)), 1)
    elif kind == 3:
        X = rng.standard_normal((n, d))
    else:
        half = rng.standard_normal((n // 2, d))
        X = np.vstack([half, -half])
    noise = rng.standard_normal(len(X))
    score = X[:, 0] * X[:, -1] + 0.5 * noise if seed % 2 else (X**2).sum(axis=1) + 0.8 * noise
    n_classes = 2 if seed % 3 else 3
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
