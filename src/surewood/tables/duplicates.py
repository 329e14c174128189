"""Rows in an order that depends on their content alone, equal rows merged into one.

Every fit works on the merged rows. Two properties hold by construction, for every estimator, however random
it is: weight 2 is the row twice, weight 0 is no row; and the order of the rows does not matter. Equal rows
stay together in folds and bootstrap samples, so none of them leaks its label to its twin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surewood.tables.row_hashes import row_hashes
from surewood.tables.table import Table

# Two different rows share a hash once in 10^8 tables of a million rows: then another salt is tried.
_SALTS = 16


@dataclass(frozen=True)
class MergedRows:
    """Which rows stay, what they weigh, and where the others went."""

    #: One row of each group of equal rows, in canonical order.
    rows: NDArray[np.int64]
    #: For each given row its position in `rows`; -1 for a row of weight 0.
    inverse: NDArray[np.int64]
    #: Summed weights of each group.
    weight: NDArray[np.float64]


def merge_equal_rows(
    table: Table, y: NDArray[np.int32], weight: NDArray[np.float64] | None = None
) -> MergedRows:
    """Group rows with equal values and class, in the order of a hash of their content.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.tables import TableSchema
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    >>> merged = merge_equal_rows(TableSchema.learn(X).read(X), np.array([0, 1, 0], dtype=np.int32))
    >>> sorted(merged.weight.tolist()), bool(merged.inverse[0] == merged.inverse[2])
    ([1.0, 2.0], True)
    """
    weight = np.ones(table.n_rows) if weight is None else weight
    kept = np.flatnonzero(weight > 0)
    for salt in range(_SALTS):
        hashes = row_hashes(table, y, salt)[kept]
        order = np.argsort(hashes, kind="stable")
        rows, new = kept[order], np.r_[True, np.diff(hashes[order]) != 0]
        group = np.cumsum(new) - 1
        if new.all() or _are_equal(table, y, rows, rows[new][group]):
            break
    inverse = np.full(table.n_rows, -1, dtype=np.int64)
    inverse[rows] = group
    # Sum the weights of a group from small to large, so that the order of the given rows cannot be heard.
    ascending = np.lexsort((weight[rows], group))
    return MergedRows(rows[new], inverse, np.add.reduceat(weight[rows][ascending], np.flatnonzero(new)))


def _are_equal(
    table: Table, y: NDArray[np.int32], rows: NDArray[np.int64], firsts: NDArray[np.int64]
) -> bool:
    """Whether rows that share a hash with the first of their group really equal it."""
    twins = rows != firsts
    rows, firsts = rows[twins], firsts[twins]
    if not (y[rows] == y[firsts]).all():
        return False
    columns = (table.column(j) for j in range(table.n_columns))
    return all(np.array_equal(column[rows], column[firsts], equal_nan=True) for column in columns)
