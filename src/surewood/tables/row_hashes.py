"""64-bit hashes of the contents of rows, the one place where rows become numbers; equal rows merged into one.

* :func:`row_hashes` hashes values as they are, and the class. It decides the order of the rows of a fit
  (:func:`merge_equal_rows`), so it never changes.
* :func:`content_hashes` hashes feature values alone, the same whatever holds the table: rows are equal where
  all of their values are ([D-33]).
* :func:`linear_keys` is a cheap random linear form of blocks of columns. It decides the order of the rows of
  a deep forest, so it never changes either.

The first two add up a mixed word per cell, so columns may come in blocks and rows in batches. The engine has
one more of its own, ``row_keys`` in ``core/forest/in_bag.cpp``: a product of bin codes in the order of the
columns, which orders the rows of a bag. None of the four is ever compared with another.

Every fit works on merged rows, in an order that depends on their content alone. Two properties hold by
construction, for every estimator, however random it is: weight 2 is the row twice, weight 0 is no row; and
the order of the rows does not matter. Equal rows stay together in folds and bootstrap samples, so none of
them leaks its label to its twin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.tables.mixing import mixed, splitmix64
from surewood.tables.parquet import as_parquet
from surewood.tables.schema import TableSchema, open_source
from surewood.tables.sources import CATEGORY, Source
from surewood.tables.table import Table

Hashes = NDArray[np.uint64]

_WIDE_BLOCK = 1 << 18  # values copied at once: they stay in the cache


def row_hashes(table: Table, y: NDArray[np.int32], salt: int = 0) -> Hashes:
    """A hash of each row's values and class; all NaNs are equal, and so are the two zeros."""
    total = mixed(y.astype(np.uint64) + np.uint64(1 + (salt << 40)))
    width = max(1, _WIDE_BLOCK // max(1, table.n_rows))
    with np.errstate(over="ignore"):
        for start in range(0, table.n_columns, width):
            block = table.columns(start, start + width)
            block = np.where(np.isnan(block), np.nan, block + 0.0)
            columns = np.arange(start, start + block.shape[1], dtype=np.uint64)
            keys = mixed(columns + np.uint64((salt + 1) << 32))
            total += mixed(block.view(np.uint64) + keys).sum(axis=1, dtype=np.uint64)
    return mixed(total)


def content_hashes(X: Any, columns: list[str] | None = None) -> Hashes:
    """A hash of each row's feature values, the same from an array, a frame or a file with the same values.

    Parameters
    ----------
    X : table
        Whatever an estimator takes: array, sparse matrix, pandas or polars frame, Arrow table, Parquet file.
    columns : list of str, optional
        The columns that count, in this order, where the table has names; all by default.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, 2.0], "color": ["red", "blue"]})
    >>> again = np.array([[1, "red"], [2.5, "blue"]], dtype=object)
    >>> (content_hashes(frame) == content_hashes(again)).tolist()
    [True, False]
    """
    parquet = as_parquet(X)
    if parquet is not None:
        batches = parquet.open(columns=columns).batches()
        return np.concatenate(
            [np.empty(0, dtype=np.uint64), *(_of_source(s, columns) for _, _, s in batches)]
        )
    return _of_source(open_source(X), columns)


def table_content_hashes(table: Table, schema: TableSchema) -> Hashes:
    """The same for a table that was read with its own schema: every category in it is known to the schema.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.tables import TableSchema, content_hashes, table_content_hashes
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> schema = TableSchema.learn(X)
    >>> bool((table_content_hashes(schema.read(X), schema) == content_hashes(X)).all())
    True
    """
    hashes = np.empty(table.n_rows, dtype=np.uint64)
    for places, part in table.batches():
        hashes[places] = _of_table(part, schema, range(part.n_columns))
    return hashes


def linear_keys(columns: NDArray[Any], seed: int, odd: bool = False) -> NDArray[np.uint64]:
    """A random linear form, modulo 2^64, of each row of a block ``(n_columns, n_rows)``.

    With `odd` all factors are odd, so that words which differ in their highest bits have different keys. Only
    deep forests order rows by it.
    """
    factors = np.random.default_rng(seed).integers(1, 2**63, size=len(columns), dtype=np.uint64)
    keys = np.zeros(columns.shape[1], dtype=np.uint64)
    for column, factor in zip(columns, factors | np.uint64(1) if odd else factors):
        keys += column * factor
    return keys


def _of_source(source: Source, columns: list[str] | None) -> Hashes:
    order = _column_order(source, columns)
    schema = TableSchema.learn(source)
    return _of_table(schema.read(source), schema, order)


def _column_order(source: Source, columns: list[str] | None) -> list[int]:
    if columns is None or source.names is None:
        return list(range(source.n_columns))
    places = {name: j for j, name in enumerate(source.names)}
    absent = [name for name in columns if name not in places]
    if absent:
        raise ValueError(f"the table lacks the column {absent[0]!r}, which the hashed rows have.")
    return [places[name] for name in columns]


def _of_table(table: Table, schema: TableSchema, order: Any) -> Hashes:
    total = np.zeros(table.n_rows, dtype=np.uint64)
    for key, j in enumerate(order):
        total += _cell_words(table, schema, j, key)
    return total


def _number_words(values: Floats, column: int) -> Hashes:
    with np.errstate(over="ignore"):
        bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)  # one NaN, one zero
        return mixed(bits + splitmix64(column))


def _cell_words(table: Table, schema: TableSchema, j: int, key: int) -> Hashes:
    """The words of column `j`, which is number `key` among the columns that are hashed."""
    values = table.column(j)
    if schema.kinds[j] != CATEGORY:
        return _number_words(values, key)
    words = _category_words(schema.categories[j] or [], key)
    return words[np.where(np.isnan(values), len(words) - 1, values).astype(np.intp)]


def _category_words(categories: list[Any], column: int) -> Hashes:
    """A word per category, numbers as in number columns, and one for a missing value at the end."""
    numbers = [np.nan if isinstance(value, str) else float(value) for value in (*categories, np.nan)]
    words = _number_words(np.array(numbers), column)
    for k, value in enumerate(categories):
        if isinstance(value, str):
            words[k] = splitmix64(np.uint64(_text_word(value)) ^ splitmix64(column))
    return words


def _text_word(text: str) -> int:
    data = text.encode("utf-8", "surrogatepass")
    data += b"\x80" + b"\0" * (-(len(data) + 1) % 8)
    word = np.uint64(len(data))
    for part in np.frombuffer(data, dtype="<u8"):
        word = np.uint64(splitmix64(word ^ part))
    return int(word)


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
