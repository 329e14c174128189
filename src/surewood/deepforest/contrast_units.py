"""Folded contrasts of rows: new columns for tables of many numbers, drawn from their values alone.

A *contrast* is the direction from one training row to another. A *unit* is the square of how far a row lies
along it beyond a threshold, and 0 before it. Labels are not used, nor is the order of the columns: two rows
of a table show which columns change together.

The rows that contrasts connect are few (`n_kept`), so a row is projected on those once, and each of thousands
of units is a difference of two of its projections.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats, Singles, check_values

Numbers = NDArray[np.int32]
_SAMPLE_ROWS = 4096  # rows that thresholds and scales are read from
_NO_SPREAD = 1e-6  # a contrast of two equal rows is no direction: its unit is 0 everywhere


@dataclass
class ContrastUnits:
    """Units of a table."""

    #: Half the smallest value and half the range in training: columns are moved to 0 ... 1. Shape
    #: (n_columns,).
    low: Floats
    width: Floats
    #: Scaled training rows. Shape (n_kept, n_columns).
    rows: Singles
    #: The ends of each contrast, rows of `rows`. Shape (n_units,).
    first: Numbers
    second: Numbers
    #: A unit is ``max(0, slope * (p[first] - p[second]) - threshold) ** 2`` where ``p = rows @ x``. Shape
    #: (n_units,).
    slope: Singles
    threshold: Singles

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        n_kept, n_columns = self.rows.shape
        for name, kind, shape, most in (
            ("low", "f", (n_columns,), None),
            ("width", "f", (n_columns,), None),
            ("rows", "f", (n_kept, n_columns), None),
            ("first", "i", (None,), n_kept - 1),
            ("second", "i", self.first.shape, n_kept - 1),
            ("slope", "f", self.first.shape, None),
            ("threshold", "f", self.first.shape, None),
        ):
            check_values(name, getattr(self, name), kind, shape, None if most is None else 0, most)

    @classmethod
    def draw(cls, X: Floats, n_units: int, n_kept: int, rng: np.random.RandomState) -> ContrastUnits:
        """Draw units from the training rows; thresholds are quantiles between 0.1 and 0.9."""
        low = X.min(axis=0) / 2.0  # halves: the range of huge numbers is no number
        width = X.max(axis=0) / 2.0 - low
        if not np.isfinite(width).all():
            raise ValueError("contrasts need numbers that are finite and not missing.")
        width[width == 0] = 1.0
        n_kept = min(n_kept, len(X))
        rows = _scaled(X[rng.choice(len(X), n_kept, replace=False)], low, width)
        first, second = rng.randint(n_kept, size=(2, n_units)).astype(np.int32)
        unscaled = np.ones(n_units, np.float32), np.zeros(n_units, np.float32)
        units = cls(low, width, rows, first, second, *unscaled)
        sample = X[rng.choice(len(X), min(_SAMPLE_ROWS, len(X)), replace=False)]
        along = units._along(units.projections(sample))
        along.sort(axis=0)
        spread = along.std(axis=0)
        place = (rng.uniform(0.1, 0.9, n_units) * (len(sample) - 1)).astype(np.int64)
        units.slope = np.where(spread > _NO_SPREAD, 1.0 / np.maximum(spread, _NO_SPREAD), 0.0).astype(
            np.float32
        )
        units.threshold = units.slope * along[place, np.arange(n_units)]
        return units

    @property
    def n_units(self) -> int:
        return len(self.slope)

    def projections(self, X: Floats) -> Singles:
        """Inner products with the kept rows, (n_rows, n_kept): all that units read."""
        return np.asarray(_scaled(X, self.low, self.width) @ self.rows.T)

    def values(self, projections: Singles) -> Singles:
        """The units, (n_rows, n_units), a new array."""
        out = self._along(projections)
        out *= self.slope
        out -= self.threshold
        np.maximum(out, 0.0, out=out)
        return np.square(out, out=out)

    def _along(self, projections: Singles) -> Singles:
        out = np.take(projections, self.first, axis=1)
        out -= np.take(projections, self.second, axis=1)
        return out


def _scaled(X: Floats, low: Floats, width: Floats) -> Singles:
    return ((X / 2.0 - low) / width).astype(np.float32)
