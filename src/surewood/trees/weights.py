"""Sample weights as integers: exact, the same whatever the order of addition.

Trees add up weights as integers. Weights that are whole numbers (or multiples of a small power of one half)
are taken exactly, so weight 2 is the row twice to the last bit; other weights are rounded to multiples of a
unit about 2^-30 of their sum, a relative error of at most n / 2^31 for an average row. Every positive weight
stays positive.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_TARGET_TOTAL = 2.0**30  # totals stay below 2^31 in the core, bootstrap included
_EXACT_HALVINGS = 8


def quantise_weights(weight: NDArray[np.float64]) -> NDArray[np.uint32] | None:
    """Positive float weights as integers up to a common factor; None when all are equal.

    Examples
    --------
    >>> quantise_weights(np.array([1.0, 2.0, 0.5])).tolist()
    [2, 4, 1]
    >>> quantise_weights(np.array([0.3, 0.3])) is None
    True
    """
    if len(weight) == 0 or (weight == weight[0]).all():
        return None
    scaled = weight / weight.max()  # a sum of huge weights could overflow
    for halvings in range(_EXACT_HALVINGS + 1):
        candidate = weight * 2.0**halvings
        if candidate.max() >= _TARGET_TOTAL:
            break
        if (candidate == np.rint(candidate)).all() and candidate.sum() <= _TARGET_TOTAL:
            return candidate.astype(np.uint32)
    unit = 2.0 ** np.floor(np.log2(_TARGET_TOTAL / scaled.sum()))
    units: NDArray[np.uint32] = np.maximum(np.rint(scaled * unit), 1.0).astype(np.uint32)
    return units
