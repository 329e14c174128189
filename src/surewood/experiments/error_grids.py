"""Error counts of every point of a grid, packed into a line of text for a record.

They let a summary choose one point for all repeats (theory.md [D-18], option) without running anything again.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack(axes: Mapping[str, Sequence[Any]], validation: NDArray[Any], test: NDArray[Any]) -> dict[str, Any]:
    """Named axes and two arrays of counts of that shape, as plain values.

    Examples
    --------
    >>> grid = pack({"r": [1, 2]}, np.array([3, 4]), np.array([5, 6]))
    >>> unpack(grid)[1].tolist()
    [5, 6]
    """
    return {
        "axes": {name: list(values) for name, values in axes.items()},
        "validation": _text(validation),
        "test": _text(test),
    }


def _text(counts: NDArray[Any]) -> str:
    return base64.b64encode(zlib.compress(counts.astype("<u2").tobytes(), 9)).decode()


def unpack(grid: Mapping[str, Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts of validation and of test errors."""
    shape = [len(values) for values in grid["axes"].values()]
    validation, test = (
        np.frombuffer(zlib.decompress(base64.b64decode(grid[part])), "<u2").astype(np.int64).reshape(shape)
        for part in ("validation", "test")
    )
    return validation, test
