"""Sliding windows over rows that are sequences or images.

A row of a table is read as an array of `shape` ``(length,)``, ``(length, channels)``, ``(height, width)`` or
``(height, width, channels)``. With two entries the windows decide: they
have one size per spatial axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import check_number


@dataclass(frozen=True)
class Grain:
    """Windows of one size over rows of one shape."""

    #: Spatial axes, then the number of channels.
    shape: tuple[int, ...]
    #: One entry per spatial axis.
    size: tuple[int, ...]
    stride: tuple[int, ...]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in ("shape", "size", "stride"):
            for side in getattr(self, name):
                check_number(name, side, 1, 2**31, whole=True)
        n_axes = len(self.shape) - 1
        if n_axes < 1 or (len(self.size), len(self.stride)) != (n_axes, n_axes):
            raise ValueError("shape, size and stride of windows have different numbers of axes.")
        if any(size > side for size, side in zip(self.size, self.shape)):
            raise ValueError("a window is larger than a row.")

    @property
    def positions(self) -> tuple[int, ...]:
        """Windows along each axis."""
        spatial = self.shape[:-1]
        return tuple((n - w) // s + 1 for n, w, s in zip(spatial, self.size, self.stride))

    @property
    def n_positions(self) -> int:
        return math.prod(self.positions)

    @property
    def n_values(self) -> int:
        """Values in a window."""
        return math.prod(self.size) * self.shape[-1]

    def windows(self, rows: NDArray[Any]) -> NDArray[Any]:
        """All windows of some rows, shape (n_rows · n_positions, n_values), row after row.

        Examples
        --------
        >>> Grain((4, 1), (2,), (1,)).windows(np.array([[1.0, 2.0, 3.0, 4.0]])).tolist()
        [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]
        """
        arrays = rows.reshape(len(rows), *self.shape)
        axes = tuple(range(1, 1 + len(self.size)))
        view = np.lib.stride_tricks.sliding_window_view(arrays, self.size, axis=axes)
        steps = (slice(None), *(slice(None, None, step) for step in self.stride))
        view = view[steps]
        # (row, positions..., channel, window...) -> (row, positions..., window..., channel)
        view = np.moveaxis(view, 1 + len(self.size), -1)
        return np.ascontiguousarray(view).reshape(len(rows) * self.n_positions, self.n_values)


def make_grains(n_features: int, shape: Any, windows: Any, stride: int) -> list[Grain]:
    """The grains that the scanner's parameters describe.

    Examples
    --------
    >>> [grain.size for grain in make_grains(16, None, "auto", 1)]
    [(1,), (2,), (4,)]
    >>> [grain.positions for grain in make_grains(12, (3, 4), [(2, 2)], 1)]
    [(2, 3)]
    """
    spatial, channels = _read_shape(n_features, shape, windows)
    if isinstance(windows, str) and windows == "auto":
        sizes = sorted({tuple(math.ceil(n / part) for n in spatial) for part in (16, 8, 4)})
    elif isinstance(windows, str) or not isinstance(windows, list | tuple) or len(windows) == 0:
        raise ValueError(f"windows must be 'auto' or a list of window sizes, got {windows!r}.")
    else:
        sizes = [_size(item, len(spatial)) for item in windows]
    for size in sizes:
        if any(w < 1 or w > n for w, n in zip(size, spatial)):
            raise ValueError(f"a window of size {size} does not fit into rows of shape {spatial}.")
    return [Grain((*spatial, channels), size, (stride,) * len(spatial)) for size in sizes]


def _size(item: Any, n_axes: int) -> tuple[int, ...]:
    size = (item,) * n_axes if np.ndim(item) == 0 else tuple(item)
    if len(size) != n_axes or not all(isinstance(n, int | np.integer) for n in size):
        raise ValueError(f"window {item!r} must be an integer or have one integer for each of {n_axes} axes.")
    return tuple(int(n) for n in size)


def _read_shape(n_features: int, shape: Any, windows: Any) -> tuple[tuple[int, ...], int]:
    """Spatial axes and number of channels."""
    if shape is None:
        return (n_features,), 1
    sizes = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    whole = all(isinstance(n, int | np.integer) and n > 0 for n in sizes)
    if not 1 <= len(sizes) <= 3 or not whole or math.prod(sizes) != n_features:
        raise ValueError(
            f"shape {shape!r} does not describe rows of {n_features} values; its one to three entries must "
            "multiply to that."
        )
    given = windows[0] if isinstance(windows, list | tuple) and len(windows) else None
    one_axis = isinstance(given, list | tuple) and len(given) == 1
    if len(sizes) == 1 or (len(sizes) == 2 and not one_axis):
        return sizes, 1
    return sizes[:-1], sizes[-1]
