"""The all-numeric form of a table that SVMs see.

Built once per fit and shared by all leaves, degrees and trees:

* a number (or time) column is standardized with the training mean and standard deviation; missing values
  become the mean, i.e. 0; a column that had missing values in training also gets an indicator column;
* a category column becomes one 0/1 column per category; rare ones (:mod:`~surewood.tables.schema`)
  and all but the `MAX_CATEGORIES` most frequent ones share one column, and a column of nothing but rare
  ones gets none; missing values get a column of their own if training had any, otherwise, like unseen
  categories, a row of zeros.

Standardising is an affine map, so polynomials of degree at most d stay polynomials of degree at most d and no
bound is disturbed (theory.md [D-02]).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import check_values
from surewood.tables.schema import row_weight, stands_alone
from surewood.tables.table import Table

MAX_CATEGORIES = 64  # columns of a category column; rarer categories share one more
_FEW_ROWS = 64  # that are read column by column in more time than the arithmetic takes
_LARGEST = 1e18  # squares of it still fit into single precision


class DesignEncoder:
    """Standardise, one-hot encode and impute a table.

    Parameters
    ----------
    scale : bool, default=True
        Whether to standardize number columns. Without it they pass as they are, missing values as the mean.

    Attributes
    ----------
    n_columns_ : int
        Number of columns of the result.
    origin_ : ndarray of int64, one entry per column of the result
        Which column of the table each column of the result came from.

    Examples
    --------
    >>> import pandas as pd
    >>> from surewood.tables import TableSchema
    >>> frame = pd.DataFrame({"age": [20.0, 40.0], "job": ["clerk", "baker"]})
    >>> table = TableSchema.learn(frame).read(frame)
    >>> DesignEncoder().fit(table).transform(table)
    array([[-1.,  0.,  1.],
           [ 1.,  1.,  0.]])
    """

    def __init__(self, scale: bool = True) -> None:
        self.scale = scale

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "positions_" not in state:
            return  # not fitted
        n = len(self.positions_)
        check_values("unit", self.unit_, "f", (n,), 0.0)
        check_values("mean", self.mean_, "f", (n,))
        check_values("deviation", self.deviation_, "f", (n,), 0.0)
        check_values("missing", self.missing_, "b", (n,))
        for positions in self.positions_:
            if positions is not None:
                check_values("positions", positions, "i", (None,), -1, len(positions))
        widths = [self._width(j) for j in range(n)]
        if not (self.unit_.all() and self.deviation_.all()) or self.n_columns_ != sum(widths):
            raise ValueError("units, deviations and columns of a design do not belong together.")
        check_values("origin", self.origin_, "iu", (self.n_columns_,), 0, max(n - 1, 0))

    def fit(self, table: Table, weight: NDArray[np.float64] | None = None) -> DesignEncoder:
        """Learn means, deviations and category columns; rows of weight 0 do not count."""
        one_row = row_weight(None if weight is None else weight[weight > 0])
        weight = np.ones(table.n_rows) if weight is None else weight
        self.unit_ = np.ones(table.n_columns)
        self.mean_ = np.zeros(table.n_columns)
        self.deviation_ = np.ones(table.n_columns)
        self.missing_ = np.zeros(table.n_columns, dtype=bool)
        self.positions_: list[NDArray[np.int64] | None] = []
        for j in range(table.n_columns):
            column = table.column(j)
            counted = ~np.isnan(column) & (weight > 0)
            self.missing_[j] = bool((np.isnan(column) & (weight > 0)).any())
            if table.is_category[j]:
                codes, n_codes = column[counted].astype(np.int64), int(table.n_categories[j])
                counts = np.bincount(codes, weights=weight[counted], minlength=n_codes).astype(np.float64)
                self.positions_.append(self._category_positions(counts, one_row))
            else:
                self.positions_.append(None)
                self._fit_number(j, column[counted], weight[counted])
        widths = [self._width(j) for j in range(table.n_columns)]
        self.origin_ = np.repeat(np.arange(table.n_columns), widths)
        self.n_columns_ = int(sum(widths))
        return self

    @property
    def learned_(self) -> str:
        """What was learned from the sample beyond an affine map of its columns, in words ([D-39])."""
        learned = []
        if any(positions is not None for positions in self.positions_):
            learned.append("one-hot columns of categories")
        if self.missing_.any():
            learned.append("imputed missing values")
        return " and ".join(learned)

    def transform(self, table: Table) -> NDArray[np.float64]:
        """The design matrix, ``(n_rows, n_columns_)``, C-contiguous; in a file for streamed tables."""
        design = table.new_array((table.n_rows, self.n_columns_), np.float64)
        if table.stream is not None:
            for places, part in table.batches():
                design[places] = self.transform(part)
            return design
        if table.n_rows <= _FEW_ROWS and self._only_scaled:
            design[:] = self._standardised(table.matrix(), slice(None))
            return design
        start = 0
        for j in range(table.n_columns):
            self._fill(j, table.column(j), design[:, start : start + self._width(j)])
            start += self._width(j)
        return design

    def _fit_number(self, j: int, values: NDArray[np.float64], weight: NDArray[np.float64]) -> None:
        largest = float(np.abs(values).max(initial=0.0))
        # Squares of values beyond 1e150 overflow: measure such columns in units of their largest value.
        self.unit_[j] = largest if largest > 1e150 or 0 < largest < 1e-150 else 1.0
        values = values / self.unit_[j]
        if len(values):
            self.mean_[j] = np.average(values, weights=weight)
            deviation = np.sqrt(np.average((values - self.mean_[j]) ** 2, weights=weight))
            # A constant column is all zeros afterwards; rounding must not blow it up.
            spread = np.ptp(values) > 0 and deviation > 1e-12 * abs(self.mean_[j])
            if self.scale:
                self.deviation_[j] = deviation if spread else 1.0

    def _category_positions(self, counts: NDArray[np.float64], one_row: float) -> NDArray[np.int64]:
        """Column of each category code inside its one-hot group, -1 for those that have none."""
        present = np.flatnonzero(counts > 0)
        positions = np.full(len(counts), -1)
        frequent = present[stands_alone(counts[present], one_row)]
        if len(frequent) > MAX_CATEGORIES:
            frequent = np.sort(frequent[np.argsort(-counts[frequent], kind="stable")[:MAX_CATEGORIES]])
        if len(frequent):  # what the others share says nothing where it is all there is
            positions[present] = len(frequent)
            positions[frequent] = np.arange(len(frequent))
        return positions

    def _width(self, j: int) -> int:
        positions = self.positions_[j]
        base = 1 if positions is None else int(positions.max(initial=-1)) + 1
        return base + int(self.missing_[j])

    def _fill(self, j: int, column: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        missing = np.isnan(column)
        if self.missing_[j]:
            out[missing, -1] = 1.0
        positions = self.positions_[j]
        if positions is not None:
            rows = np.flatnonzero(~missing)
            places = positions[column[rows].astype(np.int64)]
            out[rows[places >= 0], places[places >= 0]] = 1.0
            return
        if not self.scale:
            out[:, 0] = np.where(missing, self.mean_[j] * self.unit_[j], column)
            return
        out[:, 0] = self._standardised(column, j)

    @property
    def _only_scaled(self) -> bool:
        """Whether every column is a number that becomes one scaled column."""
        return bool(
            self.scale
            and not self.missing_.any()
            and len(self.origin_) == len(self.positions_)
            and all(positions is None for positions in self.positions_)
        )

    def _standardised(self, values: NDArray[np.float64], j: int | slice) -> NDArray[np.float64]:
        """One column, or all of them side by side."""
        # A value far beyond those of training may overflow: the largest number has to do for it.
        with np.errstate(over="ignore"):
            standardized = (values / self.unit_[j] - self.mean_[j]) / self.deviation_[j]
        return np.where(np.isnan(values), 0.0, np.clip(standardized, -_LARGEST, _LARGEST))
