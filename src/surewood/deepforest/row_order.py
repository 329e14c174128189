"""Rows in an order of their own, so that a fit depends on what the rows are and not on how they came.

Folds and bootstrap draws are random choices of rows. To make weight 2 the same as the row twice, and any
order of the rows the same fit, rows are sorted by their content before anything is drawn, rows of weight 0
are dropped, and whole-number weights are written out as repeated rows as long as that at most quadruples the
table. Other weights stay weights: they count in trees, margins and scores, while folds are dealt by row.

Equal rows are not merged here. Where values repeat (a few category columns, say), a fold that held out all
rows of one value and one class would leave models that saw this value with the other classes only, and
held-out vectors that are systematically wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.tables import alongside, is_mapped
from surewood.tables.row_hashes import linear_keys
from surewood.trees import BinnedMatrix

_MOST_COPIES = 4  # rows after repetition, as a multiple of the rows before
_HASH_SEED = 0x5EED


@dataclass(frozen=True)
class OrderedRows:
    """Training rows in canonical order."""

    #: Row of the user's table that each training row is (a copy of).
    source: NDArray[np.int64]
    #: Weights that remain; None when all are equal.
    weight: NDArray[np.float64] | None

    def to_user_rows(self, values: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
        """Mean over the copies of each of the user's rows, NaN for rows that were dropped."""
        sums = np.zeros((n_rows, *values.shape[1:]))
        np.add.at(sums, self.source, values)
        copies = np.bincount(self.source, minlength=n_rows).astype(np.float64)
        copies[copies == 0] = np.nan
        return sums / copies.reshape(-1, *([1] * (values.ndim - 1)))


def order_rows(
    keys: NDArray[np.uint64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    fold: NDArray[np.int64] | None = None,
) -> OrderedRows:
    """Canonical order of rows with these content keys; `fold` orders equal rows in different given folds."""
    source = np.arange(len(keys))
    if weight is not None:
        source = np.flatnonzero(weight > 0)
        weight = weight[source]
        if _are_counts(weight):
            source = np.repeat(source, weight.astype(np.int64))
            weight = None
        elif (weight == weight[0]).all():
            weight = None
    key = keys[source]
    parts: list[NDArray[Any]] = [y[source], key] if fold is None else [fold[source], y[source], key]
    order = np.lexsort(parts if weight is None else [weight, *parts])
    return OrderedRows(source[order], None if weight is None else weight[order] / weight.mean())


def content_keys(codes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """A 64-bit key for each row of a block of codes ``(n_columns, n_rows)``."""
    return linear_keys(codes, _HASH_SEED)


def put_in_order(codes: NDArray[np.uint8], source: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The given rows of a block ``(n_columns, n_rows)``; in place where their number does not change."""
    if len(source) != codes.shape[1]:
        return _taken(codes, source)
    for column in codes:  # one column at a time: no second matrix
        column[:] = column[source]
    return codes


def take_rows(matrix: BinnedMatrix, rows: NDArray[np.int64]) -> BinnedMatrix:
    """The given rows of a binned matrix, in that order, as a matrix of its own without row-major copy."""
    blocks = tuple(_taken(block, rows) for block in matrix.blocks)
    return BinnedMatrix(blocks, matrix.mapper, matrix.has_missing)


def _taken(block: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Rows of a block; in a file beside it where it is mapped from one."""
    if not is_mapped(block):
        return np.take(block, rows, axis=1)
    out = alongside(block, (len(block), len(rows)), np.uint8)
    for column, taken in zip(block, out):
        taken[:] = column[rows]
    return out


def _are_counts(weight: NDArray[np.float64]) -> bool:
    return bool((weight == np.rint(weight)).all() and weight.sum() <= _MOST_COPIES * len(weight))
