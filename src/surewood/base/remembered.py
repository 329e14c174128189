"""Training rows remembered, and signs that a table was copied ([D-34]).

A fit remembers a hash of each row that it was given, so that a certificate can tell new rows from training
rows. Rows are equal where all of their feature values are; labels are never looked at. What becomes of equal
rows in a holdout is decided in :mod:`~surewood.base.counted_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from surewood._arrays import Mask, check_array
from surewood.tables import TableSchema, TrainingTable, content_hashes, table_content_hashes
from surewood.tables.mixing import splitmix64
from surewood.tables.schema import open_source
from surewood.tables.sources import CATEGORY
from surewood.tables.table import Table

Hashes = NDArray[np.uint64]

_COPIED = 0.01  # fraction of copied rows from which a table looks copied
FEWEST = 5  # copied rows, and values, below which nothing is decided
MANY_CONTENTS = 20  # contents times log2(k) from which counts that are all multiples of k are no chance
_PURE = 0.9  # fraction of a column's shared values that only equal rows share
BY_CHANCE = 1e-3  # probability below which a check does not believe in chance
_CHECKED_ROWS = 200_000  # of a larger table, a part in which equal rows stay together


@dataclass(frozen=True, repr=False)
class RememberedRows:
    """Sorted hashes of the rows that a fit was given, rows of weight 0 included.

    Examples
    --------
    >>> from surewood import BinnedForestClassifier
    >>> X = [[0.1, 1.0], [0.2, 2.0], [0.3, 3.0]]
    >>> rows = BinnedForestClassifier(2).fit(X, [0, 1, 1]).remembered_rows_
    >>> rows.contains([[0.2, 2.0], [0.2, 2.5]]), rows.copied
    (array([ True, False]), False)
    """

    #: Ascending, one for each row.
    hashes: Hashes
    #: The columns, where the table had names.
    columns: list[str] | None
    #: Whether the table looks copied.
    copied: bool

    def __repr__(self) -> str:
        return f"<RememberedRows: {len(self.hashes):,}>"

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Refuse what no fit remembers: a file may hold anything."""
        self.__dict__.update(state)
        check_array(self.hashes, "hashes", np.uint64, 1)
        if (self.hashes[1:] < self.hashes[:-1]).any():
            raise ValueError("hashes of rows must ascend.")
        names = self.columns
        if names is not None and not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
            raise ValueError("columns must be a list of names.")
        if not isinstance(self.copied, bool):
            raise ValueError("copied must be True or False.")

    @classmethod
    def of(cls, inputs: TrainingTable) -> tuple[RememberedRows, Hashes]:
        """The rows of a fit, and the hash of each of them in their order."""
        hashes = table_content_hashes(inputs.given, inputs.schema)
        copied = copied_fraction(inputs.given, inputs.schema, hashes) >= _COPIED
        return cls(np.sort(hashes), inputs.schema.names, copied), hashes

    @classmethod
    def from_table(cls, X: Any, columns: list[str] | None = None) -> RememberedRows:
        """The rows of a table: for models of other libraries, and rows that something was chosen on."""
        if columns is None and hasattr(X, "columns"):
            columns = [str(name) for name in X.columns]
        hashes = content_hashes(X, columns)
        return cls(np.sort(hashes), columns, copied_fraction_of(X, hashes, columns) >= _COPIED)

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.hashes)

    @property
    def digest(self) -> int:
        """A number that another table would hardly share."""
        with np.errstate(over="ignore"):
            return int(splitmix64(splitmix64(self.hashes).sum(dtype=np.uint64)) >> np.uint64(1))

    def contains(self, X: Any) -> Mask:
        """Which rows of a table equal a remembered one; columns are found by name where both have names."""
        return self.contains_hashes(content_hashes(X, self.columns))

    def contains_hashes(self, hashes: Hashes) -> Mask:
        """Which of these hashes are those of remembered rows."""
        return self.times(hashes) > 0

    def times(self, hashes: Hashes) -> NDArray[np.intp]:
        """How many remembered rows have each of these hashes."""
        return np.asarray(self.hashes.searchsorted(hashes, "right") - self.hashes.searchsorted(hashes))

    def and_rows_of(self, other: RememberedRows | None) -> RememberedRows | None:
        """Rows of either table, each as often as in the one that has more of it; None where one forgot them.

        Examples
        --------
        >>> first, second = (RememberedRows.from_table(np.array([[1.0], [x]])) for x in (1.0, 2.0))
        >>> first.and_rows_of(second).n_rows
        3
        """
        if other is None:
            return None
        contents, position = np.unique(np.r_[self.hashes, other.hashes], return_inverse=True)
        counts = [np.bincount(part, minlength=len(contents)) for part in np.split(position, [self.n_rows])]
        hashes = np.repeat(contents, np.maximum(*counts))
        return replace(self, hashes=hashes, copied=self.copied or other.copied)


def copied_fraction_of(
    X: Any, hashes: Hashes, columns: list[str] | None = None, rows: NDArray[np.intp] | None = None
) -> float:
    """:func:`copied_fraction` of a table that is not read yet, or of some of its rows."""
    source = open_source(X)
    schema = TableSchema.learn(source)
    table = schema.read(source)
    places = list(range(table.n_columns))
    if columns is not None and source.names is not None:
        places = [list(source.names).index(name) for name in columns]
    if rows is not None and rows.size < table.n_rows:
        table, hashes = table.take(rows), hashes[rows]
    return copied_fraction(table, schema, hashes, places)


def copied_fraction(
    table: Table, schema: TableSchema, hashes: Hashes, columns: Sequence[int] | None = None
) -> float:
    """Fraction of the rows that look like copies of other rows of the table; 0 where a few may be chance.

    All of them where every content occurs a multiple of k >= 2 times. Otherwise repeated rows are copies if
    they share a measured number: a value of a column in which different rows neither share values nor come as
    close to each other as the column's scale allows. On a coarse scale (ages, dates, prices) rows meet by
    chance about as often as they are neighbors.

    Parameters
    ----------
    table, schema, hashes
        The rows and their content hashes.
    columns : sequence of int, optional
        The columns that were hashed; all by default.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> def fraction(X):
    ...     schema = TableSchema.learn(X)
    ...     return copied_fraction(schema.read(X), schema, content_hashes(X))
    >>> X = rng.normal(size=(100, 2))
    >>> fraction(X), fraction(np.r_[X, X]), fraction(np.r_[X, X[:30]])
    (0.0, 1.0, 0.46153846153846156)
    >>> fraction(np.c_[rng.integers(18, 90, 100), rng.integers(0, 2, 100)])  # age and sex
    0.0
    """
    counts = np.unique(hashes, return_counts=True)[1]
    repeated = counts > 1
    if all_occur_k_times(counts):
        return 1.0
    if repeated.sum() < FEWEST or counts[repeated].sum() < _COPIED * len(hashes):
        return 0.0
    columns = range(table.n_columns) if columns is None else columns
    if len(columns) < 2:
        return 0.0  # rows that share their only value always share everything
    if len(hashes) > _CHECKED_ROWS:
        part = np.flatnonzero(hashes <= np.quantile(hashes, _CHECKED_ROWS / len(hashes), method="lower"))
        table, hashes = table.take(part), hashes[part]
    if table.stream is not None:
        table = table.detached()
    marked = np.zeros(len(hashes), dtype=bool)
    for j in columns:
        if schema.kinds[j] != CATEGORY:
            marked |= _share_a_measured_number(table.column(j), hashes)
    return float(marked.mean()) if marked.sum() >= FEWEST else 0.0


def all_occur_k_times(counts: NDArray[np.intp]) -> bool:
    """Whether every content occurs a multiple of k >= 2 times, and that is no chance.

    Examples
    --------
    >>> all_occur_k_times(np.array([2, 4] * 10)), all_occur_k_times(np.array([2, 4] * 10 + [1]))
    (True, False)
    """
    k = int(np.gcd.reduce(counts)) if counts.size else 1
    return k >= 2 and bool(counts.size * np.log2(k) >= MANY_CONTENTS)


def _share_a_measured_number(values: NDArray[np.float64], hashes: Hashes) -> Mask:
    """Rows whose value is a measured number that equal rows share, and no others."""
    marked = np.zeros(len(values), dtype=bool)
    present = np.flatnonzero(np.isfinite(values))
    if not present.size:
        return marked
    order = present[np.lexsort((hashes[present], values[present]))]
    values, hashes = values[order], hashes[order]
    first = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    size = np.diff(np.r_[first, order.size])
    shared = size > 1
    pure = shared & (hashes[first] == hashes[first + size - 1])
    n_pure, steps = int(pure.sum()), np.diff(values[first])
    if n_pure < max(FEWEST, _PURE * shared.sum()):
        return marked
    neighbors = int((steps <= 1.5 * steps.min()).sum())
    if stats.binom.sf(n_pure - 1, n_pure + neighbors, 0.5) < BY_CHANCE:
        marked[order[np.repeat(pure, size)]] = True
    return marked
