"""An array that comes in parts, without a moment at which all of it is in memory twice."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


class GrowingArray:
    """Parts one below the other; the first one tells how much room all of them will need.

    Pages that nobody writes cost no memory, so room is taken generously. Where it is not enough after all, a
    quarter more is taken and what is there is copied.

    Parameters
    ----------
    first_fraction : float
        What fraction of the whole the first part is, more or less.

    Examples
    --------
    >>> array = GrowingArray(0.5)
    >>> array.add(np.array([1, 2]))
    >>> array.add(np.array([3]))
    >>> array.joined()
    array([1, 2, 3])
    """

    def __init__(self, first_fraction: float) -> None:
        self._parts_expected = 1.12 / min(max(first_fraction, 1e-9), 1.0)
        self._room: NDArray[Any] | None = None
        self._filled = 0

    def add(self, part: NDArray[Any]) -> None:
        """Copy the next part."""
        end = self._filled + len(part)
        if self._room is None:
            self._room = _like(part, math.ceil(self._parts_expected * len(part)))
        elif end > len(self._room):
            larger = _like(part, end + end // 4)
            larger[: self._filled] = self._room[: self._filled]
            self._room = larger
        self._room[self._filled : end] = part
        self._filled = end

    def joined(self) -> NDArray[Any]:
        """All parts so far."""
        assert self._room is not None
        return self._room[: self._filled]


def _like(array: NDArray[Any], length: int) -> NDArray[Any]:
    return np.empty((length, *array.shape[1:]), dtype=array.dtype)
