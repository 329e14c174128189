"""Points and labels on which families are tested."""

import numpy as np

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
CODES = (X[:, 0] + 0.5 * X[:, 1] + 0.3 * RNG.normal(size=60) > 0).astype(np.int32)
THREE = np.digitize(X[:, 0], [-0.5, 0.5]).astype(np.int32)


def stump_values(points):
    """Value vectors of all stumps with values ±1, constants included."""
    rows = {tuple([1.0] * len(points)), tuple([-1.0] * len(points))}
    for column in points.T:
        for t in column:
            side = np.where(column <= t, 1.0, -1.0)
            rows |= {tuple(side), tuple(-side)}
    return np.array(sorted(rows))
