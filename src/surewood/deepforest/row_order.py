"""Rows in an order of their own, so that a fit depends on what the rows are and not on how they came.

Folds and bootstrap draws are random choices of rows. To make weight 2 the same as the row twice, and any
order of the rows the same fit, rows are sorted by their content before anything is drawn, rows of weight 0
are dropped, and whole-number weights are written out as repeated rows as long as that at most quadruples the
table. Other weights stay weights: they count in trees, margins and scores.

Equal rows are not merged here: trees and margins count each of them. But rows with the same values, whatever
their classes, are one content (`equal_contents`), and folds are dealt by content: no model that is held out
from a row has seen its copies. Contents without regard to the class, because a fold that held out all rows of
one value and one class would leave models that saw this value with the other classes only, and held-out
vectors that are systematically wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.tables import Table, alongside, is_mapped
from surewood.tables.row_hashes import linear_keys, row_hashes
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

    def content(self, of_user_rows: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
        """Contents of the training rows; None where no content occurs twice among them."""
        of_rows = self.source if of_user_rows is None else of_user_rows[self.source]
        return of_rows if len(np.unique(of_rows)) < len(of_rows) else None

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
    content: NDArray[np.int64] | None = None,
) -> OrderedRows:
    """Canonical order of rows with these content keys.

    `fold` orders equal rows in different given folds; `content` (ascending with a hash of the values) orders
    rows of equal keys and different values.
    """
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
    if content is not None:
        parts = [content[source], *parts]
    order = np.lexsort(parts if weight is None else [weight, *parts])
    return OrderedRows(source[order], None if weight is None else weight[order] / weight.mean())


def equal_contents(
    table: Table, keys: NDArray[np.uint64], weight: NDArray[np.float64] | None
) -> NDArray[np.int64] | None:
    """A number for each row of a table that rows with the same values share; None where there are no copies.

    Weight 2 is the row twice. Only rows with the same key can be equal, so only these are read. Numbers
    ascend with a hash of the values: they do not depend on the order of the rows.
    """
    _, place, times = np.unique(keys, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(times[place] > 1)
    hashes = np.empty(len(rows), dtype=np.uint64)
    for places, part in table.take(rows).batches() if len(rows) else ():
        hashes[places] = row_hashes(part, np.zeros(part.n_rows, dtype=np.int32))
    values, group = np.unique(hashes, return_inverse=True)
    repeated = weight is not None and _are_counts(weight[weight > 0]) and bool(weight.max() > 1)
    if len(values) == len(rows) and not repeated:
        return None
    content = len(values) + np.arange(len(keys))
    content[rows] = group
    return content


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
