"""64-bit hashes of the contents of rows: the one place where rows become numbers.

* :func:`row_hashes` hashes values as they are, and the class. It decides the order of the rows of a fit
  (:mod:`~surewood.tables.duplicates`), so it never changes.
* :func:`content_hashes` hashes what a reader would call the same row, whatever holds the table: numbers after
  rounding to 6 significant digits, text without the blanks around it ([D-33]). A salt keys it ([D-34]).
* :func:`linear_keys` is a cheap random linear form of blocks of columns. It decides the order of the rows of
  a deep forest, so it never changes either.

The first two add up a mixed word per cell, so columns may come in blocks and rows in batches; the words of
numbers of the second are made in ``core/common/row_words.cpp``. The engine has
one more of its own, ``row_keys`` in ``core/forest/in_bag.cpp``: a product of bin codes in the order of the
columns, which orders the rows of a bag. None of the four is ever compared with another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood import _core
from surewood._arrays import Floats
from surewood.tables.mixing import GOLDEN, mixed, splitmix64
from surewood.tables.parquet import as_parquet
from surewood.tables.schema import TableSchema, open_source
from surewood.tables.source import CATEGORY, NUMBER, Source
from surewood.tables.table import Table

Hashes = NDArray[np.uint64]

_WIDE_BLOCK = 1 << 18  # values copied at once: they stay in the cache
_COPIED = 8  # columns that are copied together at least: they share lines of memory
_MISSING = np.uint64(0x6E616E)  # a missing time; `core/common/row_words.cpp` has it for numbers
_MILLISECONDS = 1e3


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


def content_hashes(X: Any, digits: int = 6, salt: int = 0, columns: list[str] | None = None) -> Hashes:
    """A hash of each row's contents, the same from an array, a frame or a file with the same values.

    Parameters
    ----------
    X : table
        Whatever an estimator takes: array, sparse matrix, pandas or polars frame, Arrow table, Parquet file.
    digits : int, default=6
        Significant digits that numbers are rounded to. Times are rounded to milliseconds.
    salt : int, default=0
        Hashes of different salts cannot be compared.
    columns : list of str, optional
        The columns that count, in this order, where the table has names; all by default.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, 2.0], "color": ["red ", "blue"]})
    >>> again = np.array([[1.0000000001, "red"], [2, " blue"]], dtype=object)
    >>> bool((content_hashes(frame) == content_hashes(again)).all())
    True
    """
    parquet = as_parquet(X)
    if parquet is not None:
        opened = parquet.open(columns=columns)
        parts = [_of_source(source, digits, salt, columns) for _, _, source in opened.batches()]
        return np.concatenate([np.empty(0, dtype=np.uint64), *parts])
    return _of_source(open_source(X), digits, salt, columns)


def table_content_hashes(table: Table, schema: TableSchema, digits: int = 6, salt: int = 0) -> Hashes:
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
    out = np.empty(table.n_rows, dtype=np.uint64)
    for places, part in table.batches():
        out[places] = _of_table(part, schema, digits, salt, range(part.n_columns))
    return out


def table_hash_pairs(
    table: Table, schema: TableSchema, digits: tuple[int, int], salt: int
) -> tuple[Hashes, Hashes]:
    """Two of these hashes of every row, with more and with fewer digits, in one reading of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.tables import TableSchema
    >>> X = np.array([[1.004], [1.0]])
    >>> schema = TableSchema.learn(X)
    >>> fine, rough = table_hash_pairs(schema.read(X), schema, (6, 2), salt=1)
    >>> bool(fine[0] == fine[1]), bool(rough[0] == rough[1])
    (False, True)
    """
    out = np.empty((2, table.n_rows), dtype=np.uint64)
    for places, part in table.batches():
        for k in range(2):
            out[k, places] = _of_table(part, schema, digits[k], salt, range(part.n_columns))
    return out[0], out[1]


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


def _of_source(source: Source, digits: int, salt: int, columns: list[str] | None) -> Hashes:
    order = _column_order(source, columns)
    schema = TableSchema.learn(source)
    return _of_table(schema.read(source), schema, digits, salt, order)


def _column_order(source: Source, columns: list[str] | None) -> list[int]:
    if columns is None or source.names is None:
        return list(range(source.n_columns))
    places = {name: j for j, name in enumerate(source.names)}
    absent = [name for name in columns if name not in places]
    if absent:
        raise ValueError(f"the table lacks the column {absent[0]!r}, which the hashed rows have.")
    return [places[name] for name in columns]


def _of_table(table: Table, schema: TableSchema, digits: int, salt: int, order: Any) -> Hashes:
    total = np.zeros(table.n_rows, dtype=np.uint64)
    keys = _column_keys(len(order), salt)
    places = np.asarray(order, dtype=np.intp)
    numbers = np.array([schema.kinds[j] == NUMBER for j in places], dtype=bool)
    for first, last in _runs(places, numbers):
        j, width = int(places[first]), last - first
        if numbers[first]:
            step = width if table.blocks_are_views else max(_COPIED, _WIDE_BLOCK // max(1, table.n_rows))
            for at in range(0, width, step):
                some = slice(first + at, min(first + at + step, last))
                block = table.block(j + at, min(j + at + step, j + width))
                _core.add_row_words(block, keys[some], digits, total)
        else:
            total += _other_words(table.column(j), schema, j, digits, keys[first : first + 1])
    return mixed(total)


def _other_words(
    column: Floats, schema: TableSchema, j: int, digits: int, key: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """The mixed words of a column of categories or times."""
    with np.errstate(over="ignore"):
        if schema.kinds[j] != CATEGORY:
            return mixed(_moments(column) + key)
        words = _category_words(schema.categories[j] or [], digits, key)
    return words[np.where(np.isnan(column), len(words) - 1, column).astype(np.intp)]


def _runs(places: NDArray[np.intp], numbers: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Ranges of `places` that are read at once: neighbouring number columns, other columns one by one."""
    joined = (np.diff(places) == 1) & numbers[1:] & numbers[:-1]
    starts = np.flatnonzero(np.r_[True, ~joined]) if len(places) else np.empty(0, dtype=np.intp)
    ends = np.r_[starts[1:], len(places)]
    return list(zip(starts.tolist(), ends.tolist()))


def _column_keys(n_columns: int, salt: int) -> Hashes:
    """A word for each column, so that equal values in different columns differ."""
    start = splitmix64(np.uint64(salt % 2**64))
    with np.errstate(over="ignore"):
        return splitmix64(start + np.arange(1, n_columns + 1, dtype=np.uint64) * GOLDEN)


def _moments(seconds: Floats) -> Hashes:
    """Times as words, rounded to milliseconds."""
    known = ~np.isnan(seconds)
    words = np.full(len(seconds), _MISSING)
    words[known] = np.rint(seconds[known] * _MILLISECONDS).astype(np.int64).view(np.uint64)
    return words


def _category_words(categories: list[Any], digits: int, key: NDArray[np.uint64]) -> Hashes:
    """A mixed word per category, numbers as in number columns, and one for a missing value at the end."""
    numbers = [np.nan if isinstance(value, str) else float(value) for value in (*categories, np.nan)]
    words = np.zeros(len(numbers), dtype=np.uint64)
    _core.add_row_words(np.array(numbers)[:, None], key, digits, words)
    for k, value in enumerate(categories):
        if isinstance(value, str):
            words[k] = mixed(np.uint64(_text_word(value.strip())) + key)[0]
    return words


def _text_word(text: str) -> int:
    data = text.encode("utf-8", "surrogatepass")
    data += b"\x80" + b"\0" * (-(len(data) + 1) % 8)
    word = np.uint64(len(data))
    for part in np.frombuffer(data, dtype="<u8"):
        word = np.uint64(splitmix64(word ^ part))
    return int(word)


__all__ = ["content_hashes", "linear_keys", "row_hashes", "table_content_hashes", "table_hash_pairs"]
