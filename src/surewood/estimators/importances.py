"""Feature importances as every estimator reports them."""

from __future__ import annotations

import numpy as np

from surewood._arrays import Floats


def normalised(importances: Floats) -> Floats:
    """Importances that sum to 1; all of them 0 where no split was made.

    Examples
    --------
    >>> normalised(np.array([1.0, 3.0])).tolist(), normalised(np.zeros(2)).tolist()
    ([0.25, 0.75], [0.0, 0.0])
    """
    total = importances.sum()
    return np.asarray(importances / total) if total > 0 else importances
