"""From table columns to bin codes: learned once a data set, shared by all folds, forests and layers.

* :func:`learn_bins` finds, column by column, at most 255 bins of about equal weight (:class:`BinMapper`);
* :meth:`BinMapper.codes` turns a table into a ``uint8`` block;
* :class:`BinnedMatrix` is one or several such blocks side by side, which is what trees are grown on. Columns
  are appended without touching the blocks that are there.

Rules
-----
A column with at most `max_bins` distinct values has one bin a value. Otherwise values as heavy as a bin
stand alone and the rest is cut into bins of about equal weight. A bin ends half way between its largest
value and
the smallest of the next one, so raw values and codes always take the same side of a split. Category codes
are their own bins; rare ones (:mod:`surewood.tables.rare_categories`) share the last bin, and so do the
lightest ones beyond `max_bins`. Code 255 is missing.
Rows of weight 0 are not looked at, and weight 2 is the row twice.

A streamed table (:class:`surewood.tables.ParquetTable`) is read batch by batch, once for the bins, by
:mod:`~surewood.trees.sketch`, and once for the codes, which stand in a memory-mapped file. Its bins are those
above, exactly for columns of up to 16,384 distinct values, else up to ranks of less than 0.1 %.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood import _core
from surewood._arrays import Floats
from surewood.tables import Table, alongside
from surewood.tables.rare_categories import FEW_CATEGORIES, row_weight
from surewood.trees.bin_cuts import category_bins, number_bins
from surewood.trees.checking import check_codes, check_mapper
from surewood.trees.sketch import QuantileSketch, distinct_values
from surewood.trees.weights import quantise_weights

MISSING_CODE = 255
_ROWS_TRANSPOSED = 1 << 14  # rows of a row-major copy made at once: they stay in the cache
_COLUMNS_AT_ONCE = 32  # columns read from the table together: kind to row-major input, small beside it


@dataclass(frozen=True)
class BinMapper:
    """Bins of every column, as flat arrays.

    Attributes
    ----------
    offset : ndarray of int64, shape (n_columns + 1,)
        Column `j` has bins ``offset[j] ... offset[j + 1] - 1`` in `values` and `edges` (at least one).
    values : ndarray of float64
        A representative value a bin: its weighted (lower) median.
    edges : ndarray of float64
        The largest raw value that still belongs to the bin; infinite for a column's last bin.
    is_category : ndarray of uint8, shape (n_columns,)
    category_bins : dict of int to ndarray of uint8
        Bin of every category, for columns in which some share one.
    """

    offset: NDArray[np.int64]
    values: Floats
    edges: Floats
    is_category: NDArray[np.uint8]
    category_bins: dict[int, NDArray[np.uint8]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_mapper(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def n_columns(self) -> int:
        return len(self.is_category)

    def column_edges(self, j: int) -> Floats:
        """The finite edges of column `j`."""
        return self.edges[self.offset[j] : self.offset[j + 1] - 1]

    def codes(self, table: Table) -> NDArray[np.uint8]:
        """The table as codes, shape ``(n_columns, n_rows)``, C-contiguous: a row an input column."""
        if table.stream is not None:
            return self._streamed_codes(table)
        return self.codes_into(table, np.empty((self.n_columns, table.n_rows), dtype=np.uint8))

    def codes_into(self, table: Table, codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The same, written into an array of that shape."""
        for start in range(0, self.n_columns, _COLUMNS_AT_ONCE):
            block = table.columns(start, start + _COLUMNS_AT_ONCE)
            for k in range(block.shape[1]):
                self._column_codes(start + k, block[:, k], codes[start + k])
        return codes

    def _streamed_codes(self, table: Table) -> NDArray[np.uint8]:
        """Codes in a file, batch by batch."""
        codes = table.new_array((self.n_columns, table.n_rows), np.uint8)
        for places, part in table.batches():
            for j in range(self.n_columns):
                column = np.empty(part.n_rows, dtype=np.uint8)
                self._column_codes(j, part.column(j), column)
                codes[j, places] = column
        return codes

    def _column_codes(self, j: int, column: Floats, out: NDArray[np.uint8]) -> None:
        if not self.is_category[j]:
            _core.bin_column(column, self.column_edges(j), out)
            return
        missing = np.isnan(column)
        known = np.where(missing, 0, column).astype(np.int64)
        out[:] = self.category_bins[j][known] if j in self.category_bins else known
        out[missing] = MISSING_CODE

    def join(self, other: BinMapper) -> BinMapper:
        """The bins of these columns followed by those of `other`."""
        return BinMapper(
            np.concatenate([self.offset, self.offset[-1] + other.offset[1:]]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.edges, other.edges]),
            np.concatenate([self.is_category, other.is_category]),
            self.category_bins | {self.n_columns + j: bins for j, bins in other.category_bins.items()},
        )


@dataclass(frozen=True)
class BinnedMatrix:
    """Blocks of codes side by side; the input of :func:`surewood.trees.grow_forest`.

    Attributes
    ----------
    blocks : tuple of ndarray of uint8, each (n_columns_of_the_block, n_rows)
    mapper : BinMapper
        The bins of all columns, block after block.
    has_missing : ndarray of uint8, shape (n_columns,)
        Whether a column has missing values.
    row_blocks : tuple of ndarray of uint8, each (n_rows, n_columns_of_the_block), or ()
        The same codes row by row, where :meth:`with_row_copy` was asked for them.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, np.nan], [1.0, 7.0]])
    >>> matrix = bin_array(X)
    >>> matrix.blocks[0].tolist()
    [[0, 1, 1], [0, 255, 1]]
    >>> wider = matrix.append(bin_array(np.array([[3.0], [2.0], [3.0]])))
    >>> wider.n_columns, wider.blocks[0] is matrix.blocks[0]
    (3, True)
    """

    blocks: tuple[NDArray[np.uint8], ...]
    mapper: BinMapper
    has_missing: NDArray[np.uint8]
    row_blocks: tuple[NDArray[np.uint8], ...] = ()

    @classmethod
    def of(cls, codes: NDArray[np.uint8], mapper: BinMapper) -> BinnedMatrix:
        """One block."""
        missing = np.array([(column == MISSING_CODE).any() for column in codes], dtype=np.uint8)
        return cls((codes,), mapper, missing.reshape(len(codes)))

    @property
    def n_rows(self) -> int:
        return int(self.blocks[0].shape[1])

    @property
    def n_columns(self) -> int:
        return self.mapper.n_columns

    @property
    def nbytes(self) -> int:
        return sum(block.nbytes for block in self.blocks + self.row_blocks)

    @cached_property
    def row_keys(self) -> NDArray[np.uint64]:
        """A number for the codes of each row; found once, however many forests grow on the matrix."""
        return _core.row_keys(_core.Bins(list(self.blocks)))

    @property
    def training_bins(self) -> _core.TrainingBins:
        """The form the core grows trees on."""
        return _core.TrainingBins(
            blocks=list(self.blocks),
            row_blocks=list(self.row_blocks),
            values=self.mapper.values,
            offset=self.mapper.offset,
            is_category=self.mapper.is_category,
            has_missing=self.has_missing,
        )

    def check(self) -> None:
        """Refuse codes that are no bins of their column; looked at once per matrix."""
        if "_checked" not in self.__dict__:
            check_codes(self)
            self.__dict__["_checked"] = True

    def append(self, other: BinnedMatrix) -> BinnedMatrix:
        """These columns and those of `other`; no block is copied."""
        rows = self.row_blocks + other.row_blocks
        if self.row_blocks and not other.row_blocks:
            rows = self.row_blocks + tuple(_row_copy(block) for block in other.blocks)
        elif other.row_blocks and not self.row_blocks:
            rows = ()
        return BinnedMatrix(
            self.blocks + other.blocks,
            self.mapper.join(other.mapper),
            np.concatenate([self.has_missing, other.has_missing]),
            rows,
        )

    def with_row_copy(self) -> BinnedMatrix:
        """The same matrix with a row-major copy beside it, which speeds up large data."""
        if self.row_blocks:
            return self
        return BinnedMatrix(self.blocks, self.mapper, self.has_missing, tuple(map(_row_copy, self.blocks)))


def _row_copy(block: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The block row by row; in a file beside it where it is mapped from one."""
    width, n_rows = block.shape
    copy = alongside(block, (n_rows, width), np.uint8)
    for start in range(0, n_rows, _ROWS_TRANSPOSED):
        copy[start : start + _ROWS_TRANSPOSED] = block[:, start : start + _ROWS_TRANSPOSED].T
    return copy


def bin_table(table: Table, weight: Floats | None = None, max_bins: int = 255) -> BinnedMatrix:
    """Learn bins on a table and code it."""
    mapper = learn_bins(table, weight, max_bins)
    return BinnedMatrix.of(mapper.codes(table), mapper)


def bin_array(X: NDArray[Any], weight: Floats | None = None, max_bins: int = 255) -> BinnedMatrix:
    """Learn bins on a two-dimensional array of numbers (class vectors of a layer, say) and code it."""
    return bin_table(as_table(X), weight, max_bins)


def as_table(X: NDArray[Any]) -> Table:
    """An array of numbers as a table without names or categories."""
    n_rows, n_columns = X.shape
    return Table(n_rows, n_columns, None, np.zeros(n_columns, dtype=np.int64), X)


def learn_bins(table: Table, weight: Floats | None = None, max_bins: int = 255) -> BinMapper:
    """Find the bins of every column of a table.

    Parameters
    ----------
    table : Table
    weight : ndarray of float64, shape (n_rows,), optional
        Weights of the rows; rows of weight 0 are not looked at.
    max_bins : int, default=255
        Most bins of a column, missing values apart; 2 to 255.
    """
    if not 2 <= max_bins <= 255:
        raise ValueError(f"max_bins must be between 2 and 255, got {max_bins}.")
    rows = None
    if weight is not None:
        if not (weight > 0).all():
            rows = np.flatnonzero(weight > 0)
            weight = weight[rows]
        # Whole numbers add up to the same sums in any order: neither rows nor batches decide on a tie.
        units = quantise_weights(weight)
        weight = None if units is None else units.astype(np.float64)
    if table.stream is not None:
        return _streamed_bins(table, weight, rows, max_bins)
    found = _FoundBins(table.n_categories, max_bins, row_weight(weight))
    for start in range(0, table.n_columns, _COLUMNS_AT_ONCE):
        block = table.columns(start, start + _COLUMNS_AT_ONCE)
        for k in range(block.shape[1]):
            column = block[:, k] if rows is None else block[rows, k]
            n = int(table.n_categories[start + k])
            if n:
                found.add_category(start + k, _category_mass(column, weight, n))
            else:
                found.add_number(*distinct_values(column, weight))
    return found.mapper()


def _streamed_bins(
    table: Table, weight: Floats | None, rows: NDArray[np.int64] | None, max_bins: int
) -> BinMapper:
    """Bins of a streamed table, after one pass. `weight` belongs to `rows`, or to all where that is None."""
    assert table.stream is not None
    # The codes will follow, and a row-major copy of them: better to know now that there is room.
    table.stream.workspace.require(2 * table.n_rows * table.n_columns, "the binned table")
    full = None
    if rows is not None or weight is not None:
        full = np.zeros(table.n_rows)
        full[slice(None) if rows is None else rows] = 1.0 if weight is None else weight
    n_categories = table.n_categories
    few = min(FEW_CATEGORIES, max_bins)
    read = [j for j in range(table.n_columns) if not 0 < n_categories[j] <= few]
    sketches = {j: QuantileSketch() for j in read if n_categories[j] == 0}
    mass = {j: np.zeros(int(n_categories[j])) for j in read if n_categories[j] > 0}
    for places, part in table.batches(read) if read else ():
        part_weight = None if full is None else full[places]
        for k, j in enumerate(read):
            column = part.column(k)
            if j in sketches:
                sketches[j].add(column, part_weight)
            else:
                mass[j] += _category_mass(column, part_weight, len(mass[j]))
    found = _FoundBins(n_categories, max_bins, row_weight(weight))
    for j in range(table.n_columns):
        if n_categories[j]:
            found.add_category(j, mass.get(j))
        else:
            seen = sketches.pop(j).distribution()
            found.add_number(seen.values, np.cumsum(seen.weights))
    return found.mapper()


class _FoundBins:
    """Bins of the columns so far."""

    def __init__(self, n_categories: NDArray[np.int64], max_bins: int, one_row: float) -> None:
        self.n_categories, self.max_bins, self.one_row = n_categories, max_bins, one_row
        self.values: list[Floats] = []
        self.edges: list[Floats] = []
        self.category_bins: dict[int, NDArray[np.uint8]] = {}

    def add_category(self, j: int, mass: Floats | None) -> None:
        """A category column and the weight of each category; None where all stand alone anyway."""
        n_bins = int(self.n_categories[j])
        bins = None if mass is None else category_bins(mass, self.one_row, self.max_bins)
        if bins is not None:
            self.category_bins[j] = bins
            n_bins = int(bins.max()) + 1
        value = np.arange(n_bins, dtype=np.float64)
        self.values.append(value)
        self.edges.append(value)

    def add_number(self, distinct: Floats, cumulative: Floats) -> None:
        """A number column with these distinct values."""
        value, edge = number_bins(distinct, cumulative, self.max_bins)
        self.values.append(value)
        self.edges.append(edge)

    def mapper(self) -> BinMapper:
        offset = np.zeros(len(self.values) + 1, dtype=np.int64)
        np.cumsum([len(value) for value in self.values], out=offset[1:])
        is_category = (self.n_categories > 0).astype(np.uint8)
        values, edges = np.concatenate(self.values), np.concatenate(self.edges)
        return BinMapper(offset, values, edges, is_category, self.category_bins)


def _category_mass(column: Floats, weight: Floats | None, n: int) -> Floats:
    known = ~np.isnan(column)
    codes = column[known].astype(np.int64)
    mass = np.bincount(codes, weights=None if weight is None else weight[known], minlength=n)
    return mass.astype(np.float64)
