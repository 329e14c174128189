"""From table columns to bin codes: learned once per data set, shared by all folds, forests and layers.

* :func:`learn_bins` finds, column by column, at most 255 bins of about equal weight (:class:`BinMapper`);
* :meth:`BinMapper.codes` turns a table into a ``uint8`` block;
* :class:`BinnedMatrix` is one or several such blocks side by side, which is what trees are grown on. Columns
  are appended without touching the blocks that are there.

A column with at most `max_bins` distinct values has one bin per value. Otherwise values as heavy as a bin
stand alone and the rest is cut into bins of about equal weight. A bin ends half way between its largest
value and the smallest of the next one, so raw values and codes always take the same side of a split.
Category codes are their own bins; rare ones (:mod:`surewood.tables.schema`) share the last bin, and
so do the lightest ones beyond `max_bins`. Code 255 is missing. Rows of weight 0 are not looked at, and
weight 2 is the row twice.

A streamed table (:class:`surewood.tables.ParquetTable`) is read batch by batch, once for the bins, by
:mod:`~surewood.trees.sketch`, and once for the codes, which stand in a memory-mapped file. Its bins are
those above, exactly for columns of up to 16,384 distinct values, else up to ranks of less than 0.1 %.

Numbers are cut in the core: core/forest/learn_bins.hpp. :func:`bin_table`, :func:`bin_array` and
:func:`training_bins` learn bins and code rows in one call; :func:`check_mapper` refuses bins of a model file
that do not belong together.

Weights (:func:`quantise_weights`): trees add up weights as integers. Weights that are whole numbers (or
multiples of a small power of one half) are taken exactly, so weight 2 is the row twice to the last bit;
other weights are rounded to multiples of a unit about 2^-30 of their sum, a relative error of at most n /
2^31 for an average row. Every positive weight stays positive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from surewood import _core
from surewood._arrays import ArrayTable, Floats, check_array, check_arrays
from surewood.parallel import in_threads
from surewood.tables import Table, TrainingTable, alongside
from surewood.tables.schema import FEW_CATEGORIES, row_weight, stands_alone
from surewood.trees.sketch import QuantileSketch

_TARGET_TOTAL = 2.0**30  # totals stay below 2^31 in the core, bootstrap included
_EXACT_HALVINGS = 8


def quantise_weights(weight: NDArray[np.float64]) -> NDArray[np.uint32] | None:
    """Positive float weights as integers up to a common factor; None when all are equal.

    Examples
    --------
    >>> quantise_weights(np.array([1.0, 2.0, 0.5])).tolist()
    [2, 4, 1]
    >>> quantise_weights(np.array([0.3, 0.3])) is None
    True
    """
    if len(weight) == 0 or (weight == weight[0]).all():
        return None
    scaled = weight / weight.max()  # a sum of huge weights could overflow
    for halvings in range(_EXACT_HALVINGS + 1):
        candidate = weight * 2.0**halvings
        if candidate.max() >= _TARGET_TOTAL:
            break
        if (candidate == np.rint(candidate)).all() and candidate.sum() <= _TARGET_TOTAL:
            return candidate.astype(np.uint32)
    unit = 2.0 ** np.floor(np.log2(_TARGET_TOTAL / scaled.sum()))
    units: NDArray[np.uint32] = np.maximum(np.rint(scaled * unit), 1.0).astype(np.uint32)
    return units


def category_bins(mass: Floats, one_row: float, max_bins: int) -> NDArray[np.uint8] | None:
    """Bins of the categories, in code order; rare ones, and the lightest of too many, share the last.

    None where every category has a bin of its own.
    """
    alone = np.flatnonzero(stands_alone(mass, one_row))
    if len(alone) == len(mass) <= max_bins:
        return None
    if len(alone) > max_bins - 1:
        alone = np.sort(alone[np.argsort(-mass[alone], kind="stable")[: max_bins - 1]])
    bins = np.full(len(mass), len(alone), dtype=np.uint8)
    bins[alone] = np.arange(len(alone), dtype=np.uint8)
    return bins


def category_mass(column: Floats, weight: Floats | None, n: int) -> Floats:
    """Weight of each of `n` categories in a column of codes; missing ones are not counted."""
    counted = ~np.isnan(column)
    codes = column[counted].astype(np.int64)
    mass = np.bincount(codes, weights=None if weight is None else weight[counted], minlength=n)
    return mass.astype(np.float64)


def whole_weights(weight: Floats | None) -> tuple[Floats | None, float]:
    """Weights as whole numbers, 0 for absent rows (None: all 1), and what a row weighs.

    Whole numbers add up to the same sums in any order: neither rows nor batches decide on a tie.
    """
    if weight is None:
        return None, 1.0
    present = weight > 0
    units = quantise_weights(weight[present])
    if units is None and present.all():
        return None, 1.0
    whole = np.zeros(len(weight))
    whole[present] = 1.0 if units is None else units
    return whole, row_weight(units)


MISSING_CODE = 255
_ROWS_TRANSPOSED = 1 << 14  # rows of a row-major copy made at once: they stay in the cache
_COLUMNS_AT_ONCE = 32  # columns read from the table together: kind to row-major input, small beside it
_COLUMNS_WITHOUT_COPY = 256  # the same for one thread, where columns are read as they lie
_BLOCKS_AHEAD = 2  # of columns, read per thread


@dataclass(frozen=True)
class BinMapper:
    """Bins of every column, as flat arrays.

    Attributes
    ----------
    offset : ndarray of int64, shape (n_columns + 1,)
        Column `j` has bins ``offset[j] ... offset[j + 1] - 1`` in `values` and `edges` (at least one).
    values : ndarray of float64
        A representative value of each bin: its weighted (lower) median.
    edges : ndarray of float64
        The largest raw value that still belongs to the bin; infinite for a column's last bin.
    is_category : ndarray of uint8, shape (n_columns,)
    category_bins : dict of int to ndarray of uint8
        Bin of every category, for columns in which some share one.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees.binning import bin_array
    >>> mapper = bin_array(np.array([[1.0], [2.0], [4.0]])).mapper
    >>> mapper.n_columns, mapper.column_edges(0).tolist()
    (1, [1.5, 3.0])
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
        """Number of columns."""
        return len(self.is_category)

    def column_edges(self, j: int) -> Floats:
        """The finite edges of column `j`."""
        return self.edges[self.offset[j] : self.offset[j + 1] - 1]

    def codes(self, table: Table, n_jobs: int | None = 1) -> NDArray[np.uint8]:
        """The table as codes, shape ``(n_columns, n_rows)``, C-contiguous: one row per column."""
        if table.stream is not None:
            return self._streamed_codes(table)
        return self.codes_into(table, np.empty((self.n_columns, table.n_rows), dtype=np.uint8), n_jobs)

    def codes_into(self, table: Table, codes: NDArray[np.uint8], n_jobs: int | None = 1) -> NDArray[np.uint8]:
        """The same, written into an array of that shape; blocks of columns on `n_jobs` threads."""
        tasks = (
            delayed(self._block_codes)(start, block, codes[start : start + _COLUMNS_AT_ONCE])
            for start, block in _blocks(table)
        )
        for _ in in_threads(tasks, n_jobs, ahead=_BLOCKS_AHEAD):
            pass
        return codes

    def _streamed_codes(self, table: Table) -> NDArray[np.uint8]:
        """Codes in a file, batch by batch."""
        codes = table.new_array((self.n_columns, table.n_rows), np.uint8)
        for places, part in table.batches():
            for start, block in _blocks(part):
                block_codes = np.empty((block.shape[1], part.n_rows), dtype=np.uint8)
                self._block_codes(start, block, block_codes)
                codes[start : start + len(block_codes), places] = block_codes
        return codes

    def _block_codes(self, start: int, block: NDArray[Any], out: NDArray[np.uint8]) -> None:
        """Codes of some columns from `start` on."""
        stop = start + block.shape[1]
        for begin, end, category in _runs(self.is_category[start:stop]):
            if category:
                self._category_codes(start + begin, block[:, begin], out[begin])
            else:
                _core.bin_columns(block, begin, end, self.edges, self.offset[start : stop + 1], out)

    def _category_codes(self, j: int, column: Floats, out: NDArray[np.uint8]) -> None:
        missing = np.isnan(column)
        known = np.where(missing, 0, column).astype(np.int64)
        out[:] = self.category_bins[j][known] if j in self.category_bins else known
        out[missing] = MISSING_CODE

    def join(self, other: BinMapper) -> BinMapper:
        """The bins of these columns followed by those of `other`."""
        joined = object.__new__(BinMapper)  # of checked parts: checking again costs more than one prediction
        joined.__dict__.update(
            offset=np.concatenate([self.offset, self.offset[-1] + other.offset[1:]]),
            values=np.concatenate([self.values, other.values]),
            edges=np.concatenate([self.edges, other.edges]),
            is_category=np.concatenate([self.is_category, other.is_category]),
            category_bins=self.category_bins
            | {self.n_columns + j: bins for j, bins in other.category_bins.items()},
        )
        return joined


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
    >>> from surewood.trees.binning import bin_array
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
        missing = np.max(codes, axis=1, initial=0) == MISSING_CODE
        return cls((codes,), mapper, missing.astype(np.uint8))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.blocks[0].shape[1])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.mapper.n_columns

    @property
    def nbytes(self) -> int:
        """Bytes of the codes, row-major copies included."""
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


def _blocks(table: Table, n_jobs: int | None = None) -> Iterator[tuple[int, NDArray[Any]]]:
    """The columns of a table in memory, a few at a time, with the number of the first."""
    width = _COLUMNS_WITHOUT_COPY if n_jobs == 1 and table.blocks_are_views else _COLUMNS_AT_ONCE
    for start in range(0, table.n_columns, width):
        yield start, table.block(start, min(start + width, table.n_columns))


def _runs(is_category: NDArray[Any]) -> Iterator[tuple[int, int, bool]]:
    """(begin, end, False) of number columns side by side, (at, at + 1, True) of category columns."""
    begin = 0
    for at in np.append(np.flatnonzero(is_category), len(is_category)).tolist():
        if begin < at:
            yield begin, at, False
        if at < len(is_category):
            yield at, at + 1, True
        begin = at + 1


def learn_bins(
    table: Table,
    weight: Floats | None = None,
    max_bins: int = 255,
    n_jobs: int | None = 1,
    codes: NDArray[np.uint8] | None = None,
) -> BinMapper:
    """Find the bins of every column of a table.

    Parameters
    ----------
    table : Table
    weight : ndarray of float64, shape (n_rows,), optional
        Weights of the rows; rows of weight 0 are not looked at.
    max_bins : int, default=255
        Most bins of a column, missing values apart; 2 to 255.
    n_jobs : int, optional
        Threads, each with a block of columns; the bins do not depend on it.
    codes : ndarray of uint8, shape (n_columns, n_rows), optional
        For a table in memory: receives its codes, which cost less here than from :meth:`BinMapper.codes`.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees.binning import as_table, learn_bins
    >>> learn_bins(as_table(np.arange(100.0)[:, None]), max_bins=4).column_edges(0).tolist()
    [24.5, 49.5, 74.5]
    """
    if not 2 <= max_bins <= 255:
        raise ValueError(f"max_bins must be between 2 and 255, got {max_bins}.")
    weight, one_row = whole_weights(weight)
    found = _FoundBins(table.n_categories, max_bins, one_row)
    if table.stream is not None:
        return _streamed_bins(table, weight, found)
    blocks = _blocks(table, n_jobs)
    tasks = (delayed(_learn_block)(found, weight, start, block, codes) for start, block in blocks)
    at = 0
    for pieces in in_threads(tasks, n_jobs, ahead=_BLOCKS_AHEAD):
        for piece in pieces:
            if isinstance(piece, tuple):
                found.add_numbers(*piece)
                at += len(piece[2])
            else:
                found.add_category(at, piece)
                at += 1
    mapper = found.mapper()
    if codes is not None:
        for j in np.flatnonzero(mapper.is_category).tolist():
            mapper._category_codes(j, table.column(j), codes[j])
    return mapper


def _learn_block(
    found: _FoundBins, weight: Floats | None, start: int, block: NDArray[Any], codes: NDArray[np.uint8] | None
) -> list[Any]:
    """What is in columns from `start` on: weights of categories, or the bins of a run of number columns."""
    columns = slice(start, start + block.shape[1])
    out = None if codes is None else codes[columns]
    n_categories = found.n_categories[columns]
    return [
        category_mass(block[:, begin], weight, int(n_categories[begin]))
        if category
        else _core.number_bins(block, begin, end, weight, found.max_bins, out)
        for begin, end, category in _runs(n_categories > 0)
    ]


def _streamed_bins(table: Table, weight: Floats | None, found: _FoundBins) -> BinMapper:
    """Bins of a streamed table, after one pass."""
    assert table.stream is not None
    # The codes will follow, and a row-major copy of them: better to know now that there is room.
    table.stream.workspace.require(2 * table.n_rows * table.n_columns, "the binned table")
    n_categories = table.n_categories
    few = min(FEW_CATEGORIES, found.max_bins)
    read = [j for j in range(table.n_columns) if not 0 < n_categories[j] <= few]
    sketches = {j: QuantileSketch() for j in read if n_categories[j] == 0}
    mass = {j: np.zeros(int(n_categories[j])) for j in read if n_categories[j] > 0}
    for places, part in table.batches(read) if read else ():
        part_weight = None if weight is None else weight[places]
        for k, j in enumerate(read):
            column = part.column(k)
            if j in sketches:
                sketches[j].add(column, part_weight)
            else:
                mass[j] += category_mass(column, part_weight, len(mass[j]))
    for j in range(table.n_columns):
        if n_categories[j]:
            found.add_category(j, mass.get(j))
        else:
            seen = sketches.pop(j).distribution()
            bins = _core.distribution_bins(seen.values, np.cumsum(seen.weights), found.max_bins)
            found.add_numbers(*bins)
    return found.mapper()


class _FoundBins:
    """Bins of the columns so far."""

    def __init__(self, n_categories: NDArray[np.int64], max_bins: int, one_row: float) -> None:
        self.n_categories, self.max_bins, self.one_row = n_categories, max_bins, one_row
        self.values: list[Floats] = []
        self.edges: list[Floats] = []
        self.sizes: list[int] = []
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
        self.sizes.append(n_bins)

    def add_numbers(self, values: Floats, edges: Floats, sizes: NDArray[np.int64]) -> None:
        """The bins of number columns side by side."""
        self.values.append(values)
        self.edges.append(edges)
        self.sizes += sizes.tolist()

    def mapper(self) -> BinMapper:
        offset = np.zeros(len(self.sizes) + 1, dtype=np.int64)
        np.cumsum(self.sizes, out=offset[1:])
        is_category = (self.n_categories > 0).astype(np.uint8)
        values, edges = np.concatenate(self.values), np.concatenate(self.edges)
        return BinMapper(offset, values, edges, is_category, self.category_bins)


_MOST_BINS = 255
_MAPPER_ARRAYS: ArrayTable = {
    (np.int64, 1): ("offset",),
    (np.float64, 1): ("values", "edges"),
    (np.uint8, 1): ("is_category",),
}


def check_count(value: Any, name: str, least: int, most: int) -> None:
    """Refuse what is not an integer from `least` to `most`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not least <= value <= most:
        raise ValueError(f"{name} must be an integer from {least} to {most}, got {value!r}.")


def check_mapper(mapper: BinMapper) -> None:
    """Refuse bins whose offsets, values or edges do not belong together."""
    check_arrays(mapper, _MAPPER_ARRAYS)
    offset, n_columns = mapper.offset, len(mapper.is_category)
    if len(offset) != n_columns + 1 or len(mapper.values) != len(mapper.edges):
        raise ValueError("offset must have one entry per column and the end, values one per edge.")
    sizes = np.diff(offset)
    wrong = sizes.min(initial=1) < 1 or sizes.max(initial=1) > _MOST_BINS
    if wrong or offset[0] != 0 or offset[-1] != len(mapper.edges):
        raise ValueError("offset must ascend by 1 to 255 bins per column, from 0 to the number of edges.")
    _check_edges(mapper)
    for j, bins in mapper.category_bins.items():
        check_count(j, "a column of category_bins", 0, n_columns - 1)
        check_array(bins, "category_bins", np.uint8, 1)
        if not mapper.is_category[j] or (len(bins) and bins.max() >= sizes[j]):
            raise ValueError(f"category_bins of column {j} name a bin that the column does not have.")


def _check_edges(mapper: BinMapper) -> None:
    """Values finite; edges finite but for the last of a number column, ascending within a column."""
    edges, last = mapper.edges, mapper.offset[1:] - 1
    open_end = last[mapper.is_category == 0]
    finite = np.isfinite(edges)
    finite[open_end] |= np.isinf(edges[open_end])
    if not finite.all() or not np.isfinite(mapper.values).all():
        raise ValueError("values and thresholds of bins must be finite.")
    falls = edges[1:] < edges[:-1]
    falls[last[:-1]] = False  # the next one is of another column
    if falls.any():
        raise ValueError("thresholds of a column must ascend.")


def check_codes(matrix: BinnedMatrix) -> None:
    """Refuse to grow on codes that are no bins of their column."""
    if not _core.codes_fit(matrix.training_bins):
        raise ValueError("matrix: a code is no bin of its column.")


def bin_table(
    table: Table, weight: Floats | None = None, max_bins: int = 255, n_jobs: int | None = 1
) -> BinnedMatrix:
    """Learn bins on a table and code it.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees.binning import as_table, bin_table
    >>> bin_table(as_table(np.array([[5.0], [np.nan], [7.0]]))).blocks[0].tolist()  # missing is 255
    [[0, 255, 1]]
    """
    if table.stream is not None:
        mapper = learn_bins(table, weight, max_bins, n_jobs)
        return BinnedMatrix.of(mapper.codes(table, n_jobs), mapper)
    codes = np.empty((table.n_columns, table.n_rows), dtype=np.uint8)
    mapper = learn_bins(table, weight, max_bins, n_jobs, codes)
    return BinnedMatrix.of(codes, mapper)


def training_bins(inputs: TrainingTable, max_bins: int = 255, n_jobs: int | None = 1) -> BinnedMatrix:
    """The binned rows of a fit: bins are learned and rows coded once for all who read them.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from surewood.tables import begin_fit
    >>> inputs = begin_fit(DummyClassifier(), [[5.0], [7.0], [7.0]], [0, 1, 1])
    >>> training_bins(inputs) is training_bins(inputs), training_bins(inputs).n_rows
    (True, 2)
    """
    merged = inputs.merged
    if merged is not None and merged.inverse is not None and (merged.inverse >= 0).all():
        shared = training_bins(merged, max_bins, n_jobs)
        if len(shared.blocks) == 1:
            return BinnedMatrix.of(np.take(shared.blocks[0], merged.inverse, axis=1), shared.mapper)
    made: BinnedMatrix = inputs.once(
        ("bins", max_bins), lambda: bin_table(inputs.table, inputs.weight, max_bins, n_jobs)
    )
    return made


def bin_array(
    X: NDArray[Any], weight: Floats | None = None, max_bins: int = 255, n_jobs: int | None = 1
) -> BinnedMatrix:
    """Learn bins on a two-dimensional array of numbers (class vectors of a layer, say) and code it.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees.binning import bin_array
    >>> bin_array(np.array([[0.5], [0.1], [0.9]])).blocks[0].tolist()
    [[1, 0, 2]]
    """
    return bin_table(as_table(X), weight, max_bins, n_jobs)


def as_table(X: NDArray[Any]) -> Table:
    """An array of numbers as a table without names or categories.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees.binning import as_table
    >>> as_table(np.zeros((3, 2))).shape
    (3, 2)
    """
    n_rows, n_columns = X.shape
    return Table(n_rows, n_columns, None, np.zeros(n_columns, dtype=np.int64), X)
