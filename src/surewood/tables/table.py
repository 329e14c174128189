"""A validated table: number columns and category codes, read by column or as one matrix.

A :class:`Table` never holds a second copy of what the user passed: a numeric array stays as it is, a
frame is read column by column, a Parquet data set batch by batch. Missing numbers, missing categories and
categories that were not there in training are all NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

if TYPE_CHECKING:
    from surewood.tables.parquet import RowStream

#: Types that fit into float32 without loss.
_EXACT_IN_FLOAT32 = tuple(np.dtype(t) for t in (np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.float16))

#: Types of numbers that bins are learned on as they are.
_STORED = tuple(np.dtype(t) for t in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"))


#: Values that may be copied so that they are encoded once.
_FEW_VALUES = 1 << 20


class Table:
    """A table with a known schema.

    Tables are made by :meth:`surewood.tables.TableSchema.read`, which has checked the columns.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the table.
    names : list of str or None
        Column names, where the input had them.
    n_categories : ndarray of int64, shape (n_columns,)
        Number of categories seen in training, 0 for a number column.
    array : ndarray or csc matrix, optional
        The input itself, when it is one homogeneous numeric array. Columns with categories are read
        through `encode` all the same.
    encode : callable, optional
        ``encode(j)`` gives column `j` as float64; needed where `array` is None or has categories.
    rows : ndarray of int64, optional
        The rows of the input that belong to the table, in this order; all of them by default.
    stream : RowStream, optional
        Where the rows are read from, batch by batch, when the input is larger than memory may be.

    Examples
    --------
    >>> import pandas as pd
    >>> from surewood.tables import TableSchema
    >>> frame = pd.DataFrame({"age": [31, 54, 40], "job": ["clerk", "baker", "clerk"]})
    >>> table = TableSchema.learn(frame).read(frame)
    >>> table.shape, table.n_categories.tolist(), table.column(1).tolist()
    ((3, 2), [0, 2], [1.0, 0.0, 1.0])
    """

    def __init__(
        self,
        n_rows: int,
        n_columns: int,
        names: list[str] | None,
        n_categories: NDArray[np.int64],
        array: Any = None,
        encode: Callable[[int], NDArray[np.float64]] | None = None,
        rows: NDArray[np.int64] | None = None,
        stream: RowStream | None = None,
    ) -> None:
        self.n_rows = n_rows
        self.n_columns = n_columns
        self.names = names
        self.n_categories = n_categories
        #: The input itself, where it is one array.
        self.array = array
        self._encode = encode
        self._rows = rows
        self.stream = stream
        #: What was made from the rows, by name; see ``TrainingTable.once``.
        self.made: dict[Any, Any] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, self.n_columns

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Which columns are categories."""
        return self.n_categories > 0

    @property
    def _is_plain(self) -> bool:
        """Whether the stored array is the table itself, with no column to encode."""
        return self.array is not None and not self.n_categories.any()

    def column(self, j: int) -> NDArray[np.float64]:
        """Column `j` as float64: numbers or category codes 0..k-1, NaN where missing or unseen."""
        if self.array is None or self.n_categories[j]:
            assert self._encode is not None
            return np.asarray(self._picked(self._encode(j)))
        if sp.issparse(self.array):
            return np.asarray(self._picked(self.array[:, [j]].toarray().ravel().astype(np.float64)))
        return np.asarray(self._picked(self.array[:, j]).astype(np.float64))

    def columns(self, start: int, stop: int) -> NDArray[np.float64]:
        """Columns `start` to `stop` as one float64 block, Fortran-ordered: kind to wide C-ordered input."""
        stop = min(stop, self.n_columns)
        if self._is_plain and not sp.issparse(self.array):
            return np.asfortranarray(self._picked(self.array[:, start:stop]), dtype=np.float64)
        block = np.empty((self.n_rows, stop - start), dtype=np.float64, order="F")
        for j in range(start, stop):
            block[:, j - start] = self.column(j)
        return block

    def block(self, start: int, stop: int) -> NDArray[Any]:
        """The same as it is stored, in its own type and order; a view where all rows belong to the table."""
        if self._is_stored:
            part = self._picked(self.array[:, start:stop])
            return np.asarray(part.view(np.uint8) if part.dtype == np.bool_ else part)
        return self.columns(start, stop)

    @property
    def _is_stored(self) -> bool:
        """Whether blocks are numbers as the input has them."""
        if not self._is_plain or sp.issparse(self.array):
            return False
        return self.array.dtype == np.bool_ or (self.array.dtype in _STORED and self.array.flags.aligned)

    @property
    def blocks_are_views(self) -> bool:
        """Whether :meth:`block` copies nothing."""
        return self._is_stored and self._rows is None

    def _picked(self, values: Any) -> Any:
        return values if self._rows is None else values[self._rows]

    def matrix(self) -> NDArray[Any]:
        """The whole table, C-contiguous, float32 or float64; the input itself where it is that already.

        Small integer types become float32, which holds them exactly; everything else float64.
        """
        if self.stream is not None:
            out = np.empty(self.shape, dtype=np.float64)
            for places, part in self.batches():
                out[places] = part.matrix()
            return out
        if not self._is_plain:
            out = np.empty(self.shape, dtype=np.float64)
            for j in range(self.n_columns):
                out[:, j] = self.column(j)
            return out
        array = self._picked(self.array)
        if sp.issparse(array):
            array = array.toarray()
        if array.dtype in _EXACT_IN_FLOAT32:
            return np.ascontiguousarray(array, dtype=np.float32)
        dtype = np.float32 if array.dtype == np.float32 else np.float64
        return np.ascontiguousarray(array, dtype=dtype)

    def take(self, rows: NDArray[Any]) -> Table:
        """The table of the given rows (indices or mask), in that order; a view, nothing is copied."""
        rows = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows, dtype=np.int64)
        inner = rows if self._rows is None else self._rows[rows]
        return Table(
            len(rows),
            self.n_columns,
            self.names,
            self.n_categories,
            self.array,
            self._encode,
            inner,
            self.stream,
        )

    def detached(self) -> Table:
        """The same table on one array of its own, for another process: nothing of the input is held."""
        return self.with_values(np.array(self.matrix()))

    def read_once(self) -> Table:
        """The same table, where its columns have to be encoded and are few values: encoded now, once.

        Several readers of one small table would each encode it again.

        Examples
        --------
        >>> import pandas as pd
        >>> from surewood.tables import TableSchema
        >>> frame = pd.DataFrame({"job": ["clerk", "baker"]})
        >>> TableSchema.learn(frame).read(frame).read_once().column(0).tolist()
        [1.0, 0.0]
        """
        few = self.stream is None and self.n_rows * self.n_columns <= _FEW_VALUES
        return self.detached() if few and not self._is_plain else self

    def with_values(self, matrix: NDArray[Any]) -> Table:
        """Other rows of the same columns, given as :meth:`matrix` gives them."""
        encode = partial(_column_of, matrix)
        return Table(len(matrix), self.n_columns, self.names, self.n_categories, matrix, encode)

    def batches(self, columns: list[int] | None = None) -> Iterator[tuple[Any, Table]]:
        """(places in this table, a table of these rows): the whole table, or, streamed, batch by batch.

        Places are a slice or an array; together they cover every row once. With `columns` the tables
        have these only.
        """
        if self.stream is None:
            yield slice(0, self.n_rows), self if columns is None else self._only(columns)
            return
        if self._rows is None:
            for at, part in self.stream.batches(columns):
                yield slice(at, at + part.n_rows), part
            return
        order = np.argsort(self._rows, kind="stable")
        ascending = self._rows[order]
        for at, part in self.stream.batches(columns):
            first, last = np.searchsorted(ascending, (at, at + part.n_rows))
            if last > first:
                yield order[first:last], part.take(ascending[first:last] - at)

    def _only(self, columns: list[int]) -> Table:
        names = None if self.names is None else [self.names[j] for j in columns]
        counts = self.n_categories[columns]
        return Table(self.n_rows, len(columns), names, counts, encode=lambda k: self.column(columns[k]))

    def new_array(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Zeros as long as the table: in memory, or in a file where the table is streamed."""
        if self.stream is None:
            return np.zeros(shape, dtype=dtype)
        return self.stream.workspace.array(shape, dtype)


def _column_of(matrix: NDArray[Any], j: int) -> NDArray[np.float64]:
    """A column of a matrix that has category codes already."""
    return np.asarray(matrix[:, j], dtype=np.float64)
