"""Names of the array types that are used everywhere."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Counts: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.int32]  # class codes 0 .. n_classes - 1
Mask: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
