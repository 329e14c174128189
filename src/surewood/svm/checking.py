"""Checks of trained SVMs before the core reads them: nothing in a model file is trusted.

The core follows every count and row number without looking. So a `Predictor` is checked when it is made,
unpickled or loaded, in one pass: counts sum to the lengths of the arrays, support rows and class codes are in
range, degrees bounded, coefficients finite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from surewood import _core
from surewood._arrays import ArrayTable, check_arrays, check_weights

if TYPE_CHECKING:
    from surewood.svm.one_vs_one import Predictor

__all__ = ["TABLE", "check_predictor"]

_ARRAYS: ArrayTable = {
    (np.float64, 2): ("support_rows",),
    (np.float32, 1): ("support_norms",),
    (np.int32, 1): ("degree", "n_classes", "n_support", "classes", "class_support", "support"),
    (np.float64, 1): ("scale", "bias", "coef"),
}
#: The arrays of a predictor that the core reads.
TABLE = tuple(name for names in _ARRAYS.values() for name in names)
_FINITE = ("support_rows", "support_norms")
_WEIGHTS = ("bias", "coef")


def check_predictor(predictor: Predictor) -> _core.SvmTable:
    """Refuse SVMs that the core could not read safely, with ValueError and one sentence.

    Returns them as the core reads them.
    """
    check_arrays(predictor, _ARRAYS)
    index: Any = predictor.support_index
    if not isinstance(index, np.ndarray) or index.shape != (len(predictor.support_rows),):
        raise ValueError("support_index must have one entry per support row.")
    for name in _FINITE:
        if not np.isfinite(getattr(predictor, name)).all():
            raise ValueError(f"{name} must be finite.")
    for name in _WEIGHTS:
        check_weights(name, getattr(predictor, name))
    try:
        return _core.SvmTable(**{name: getattr(predictor, name) for name in TABLE})
    except TypeError as error:  # lengths that do not agree
        raise ValueError(f"SVMs: {error}.") from None
