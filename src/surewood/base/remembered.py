"""Training rows remembered, copies recognized, and which rows of a holdout count ([D-33], [D-34]).

Rows are equal where all of their feature values are; labels are never looked at. Equal rows are ordinary
(half of the customers are inactive, a table of age and sex), so a holdout of independent rows is counted row
by row. What breaks a guarantee is a *copy*: a row that was entered twice, or a training row in the holdout.
Three checks decide, and nothing else in the package looks at copies:

1. `RememberedRows.copied`: does the training table look copied? Then holdout rows that equal a training row
   are left out, and the claim is about the other rows. Where these are many, the table was copied before it
   was divided, and there is no guarantee.
2. Does the holdout contain more training rows than chance explains? Then there is no guarantee.
3. Does the holdout itself look copied? Then there is no guarantee either.

The last two can only take a claim away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special, stats

from surewood._arrays import Mask, check_array
from surewood.base.reasons import Reason
from surewood.bounds import Condition, clopper_pearson
from surewood.bounds.statements import CALLER, CHECKED
from surewood.tables import TableSchema, TrainingTable, content_hashes, table_content_hashes
from surewood.tables.mixing import splitmix64
from surewood.tables.schema import open_source
from surewood.tables.sources import CATEGORY
from surewood.tables.table import Table

Hashes = NDArray[np.uint64]

COPIES = ("check", "count", "leave_out")
# repeated rows were removed before the rows were divided: from a table that looks copied, or from another
ENTERED_AGAIN, REMOVED = "entered_again", "removed"
_COPIED_TRAINING, _COPIED_HOLDOUT = 0.01, 0.2  # fractions of copied rows from which checks 1 and 3 apply
_FEWEST = 5  # copied rows, and values, below which nothing is decided
_BITS = 20  # contents times log2(k) from which counts that are all multiples of k are no chance
_PURE = 0.9  # fraction of a column's shared values that only equal rows share
_BY_CHANCE = 1e-3  # probability below which a check does not believe in chance
_RATE_DELTA = 1e-4  # of the upper limit of the fraction of training rows that equal another one
_MANY_MATCHES = 0.01  # fraction of counted training rows above which the other rows get a claim of their own
_CHECKED_ROWS = 200_000  # of a larger table, a part in which equal rows stay together

INDEPENDENT = "rows are independent draws from the population you care about"
NOT_COPIES = "rows that are not copies of training rows"
#: Populations of rows as they come, whose errors and scores can be watched.
AS_THEY_COME = ("", "new rows", NOT_COPIES)


class NoRowsCountError(ValueError):
    """No guarantee can rest on these rows; the sentence names the check, the counts and the remedy."""

    def __init__(self, reason: Reason, **counts: object) -> None:
        super().__init__(reason.say(**counts))
        self.reason = reason


@dataclass(frozen=True)
class RememberedRows:
    """Sorted hashes of the rows that a fit was given, rows of weight 0 included, and what check 1 found.

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
        copied = copied_fraction(inputs.given, inputs.schema, hashes) >= _COPIED_TRAINING
        return cls(np.sort(hashes), inputs.schema.names, copied), hashes

    @classmethod
    def from_table(cls, X: Any, columns: list[str] | None = None) -> RememberedRows:
        """The rows of a table: for models of other libraries, and rows that something was chosen on."""
        if columns is None and hasattr(X, "columns"):
            columns = [str(name) for name in X.columns]
        hashes = content_hashes(X, columns)
        return cls(np.sort(hashes), columns, _table_looks_copied(X, hashes, columns) >= _COPIED_TRAINING)

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


@dataclass(frozen=True)
class CountedRows:
    """The rows of a holdout that a guarantee may rest on."""

    #: Positions, in an order that depends on contents and labels alone and puts equal rows far apart.
    rows: NDArray[np.intp]
    #: Which of them equal a training row.
    matches: Mask
    #: "count" or "leave_out", and whether the caller said so.
    rule: str
    by_caller: bool
    #: Whether the training rows are known.
    checked: bool
    #: What a reader must know first.
    facts: tuple[str, ...] = ()
    #: Whether repeated rows were removed from a copied table before the rows were divided.
    entered_again: bool = False

    @property
    def population(self) -> str:
        """Whom a claim on these rows is about."""
        return NOT_COPIES if self.rule == "leave_out" else "new rows"

    @property
    def has_many_matches(self) -> bool:
        """Whether the rows that do not equal a training row deserve a claim of their own."""
        return bool(self.matches.mean() > _MANY_MATCHES) and not self.matches.all()

    def conditions(self, drawn: str = INDEPENDENT) -> list[Condition]:
        """What a guarantee on these rows assumes: the caller's word first, then what was checked."""
        stated = ["these rows were not used for training or tuning"]
        if self.entered_again:
            stated.insert(0, "repeated rows, which were removed, are one row each, entered several times")
        if not self.checked:
            stated.insert(0, "no row is a copy of a training row (not checked: give X_train)")
        stated.append(drawn)
        if self.by_caller and self.checked:
            stated.append(f'equal rows are as copies="{self.rule}" says')
        conditions = [Condition(text, True, CALLER) for text in stated]
        if self.checked:
            text = "the counted rows hold no more training rows than chance explains, and do not look copied"
            conditions.append(Condition(text, True, CHECKED))
        return conditions


def count_rows(
    X: Any,
    trained_on: Sequence[tuple[RememberedRows, Any]] = (),
    chosen_on: Sequence[tuple[RememberedRows, Any]] = (),
    *,
    copies: str = "check",
    groups: NDArray[Any] | None = None,
    labels: NDArray[Any] | None = None,
) -> CountedRows:
    """Decide which rows of a holdout count.

    Parameters
    ----------
    X : table
    trained_on : pairs of RememberedRows and table
        Training rows of the model, with `X` as they were seen: behind the steps of a pipeline.
    chosen_on : the same
        Rows that a threshold or the like was chosen on.
    copies : {"check", "count", "leave_out", "entered_again", "removed"}
        ``"check"``: check 1 decides whether rows that equal a training row are left out. The last two:
        repeated rows were removed before the table was divided, and it looked copied, or did not.
    groups : ndarray, optional
        Group of each row: equal rows of one group are no copies.
    labels : ndarray, optional
        They only break ties in the order of the rows.

    Raises
    ------
    NoRowsCountError
        Where a check fails, or no row is left.
    """
    entered_again = copies == ENTERED_AGAIN
    if copies == REMOVED:
        raise NoRowsCountError(Reason.REMOVED)
    copies = "check" if entered_again else copies
    if copies not in COPIES:
        raise ValueError(f"copies must be one of {', '.join(COPIES)}, got {copies!r}")
    hashes = content_hashes(X)
    n = len(hashes)
    copied = any(memory.copied for memory, _ in trained_on)
    rule = copies if copies != "check" else "leave_out" if copied else "count"
    matches = np.zeros(n, dtype=bool)
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    for memory, seen in trained_on:
        same = seen is X and memory.columns in (None, names)
        own = hashes if same else content_hashes(seen, memory.columns)
        matches |= memory.contains_hashes(own)
        if rule == "count":
            _check_training_rows(memory, own)
    for memory, seen in chosen_on:
        _check_chosen_rows(memory, content_hashes(seen, memory.columns))
    if copies == "check" and copied and matches.sum() >= max(_FEWEST, _MANY_MATCHES * n):
        raise NoRowsCountError(Reason.COPIED_TABLE, matches=int(matches.sum()), n=n)
    rows = np.flatnonzero(~matches) if rule == "leave_out" else np.arange(n)
    facts = _facts(rule, copies, copied, int(matches.sum()), n)
    if not rows.size:
        raise NoRowsCountError(Reason.NOTHING_LEFT, n=n, why=_why_left_out(copies))
    _check_holdout(X, hashes, rows, groups)
    keys = splitmix64(hashes[rows])
    if labels is not None:
        keys = splitmix64(keys + pd.util.hash_array(labels[rows].astype(str).astype(object)))
    # a permutation of its own for every set of rows: one fixed by their number alone could favor a label
    seed = int(keys.sum(dtype=np.uint64))
    rows = rows[np.argsort(keys, kind="stable")]
    rows = rows[np.random.default_rng(seed).permutation(rows.size)]
    return CountedRows(rows, matches[rows], rule, copies != "check", bool(trained_on), facts, entered_again)


def _facts(rule: str, copies: str, copied: bool, n_matches: int, n: int) -> tuple[str, ...]:
    if rule == "leave_out":
        return (
            f"{n_matches:,} of {n:,} holdout rows equal a training row and are left out: "
            f"{_why_left_out(copies)}.",
        )
    if copies == "count" and copied:
        return ('The training table looks copied, but copies="count" counts rows that equal its rows.',)
    return ()


def _why_left_out(copies: str) -> str:
    return 'copies="leave_out" was set' if copies == "leave_out" else "the training table looks copied"


def _check_training_rows(memory: RememberedRows, hashes: Hashes) -> None:
    """Check 2: a new row equals a training row, or just one, as often as a training row equals others."""
    n, m = len(hashes), memory.n_rows
    same_table = n == m and np.array_equal(np.sort(hashes), memory.hashes)
    if same_table and _n_distinct(hashes) >= _BITS:  # few contents may agree by chance
        raise NoRowsCountError(Reason.TRAINING_TABLE, n=n)
    times = memory.times(hashes)
    if not times.any():
        return
    others = memory.times(memory.hashes) - 1
    for equal, among in ((times > 0, others > 0), (times == 1, others == 1)):
        matches, repeated = int(equal.sum()), int(among.sum())
        rate = clopper_pearson(repeated, m, delta=_RATE_DELTA)
        if matches and special.bdtrc(matches - 1, n, rate) < _BY_CHANCE:
            expected = round(n * repeated / m)
            raise NoRowsCountError(Reason.TRAINING_ROWS, matches=matches, n=n, expected=expected)


def _check_chosen_rows(memory: RememberedRows, hashes: Hashes) -> None:
    """The same for rows that a threshold was chosen on."""
    try:
        _check_training_rows(memory, hashes)
    except NoRowsCountError:
        matches = int(memory.contains_hashes(hashes).sum())
        raise NoRowsCountError(Reason.CHOSEN_ON, matches=matches, n=len(hashes)) from None


def _check_holdout(X: Any, hashes: Hashes, rows: NDArray[np.intp], groups: NDArray[Any] | None) -> None:
    """Check 3; of equal rows of one group, one is looked at."""
    if groups is not None:
        _, group = np.unique(groups[rows].astype(str), return_inverse=True)
        rows = rows[np.unique(np.c_[group.astype(np.uint64), hashes[rows]], axis=0, return_index=True)[1]]
    distinct = _n_distinct(hashes[rows])
    if rows.size == distinct:
        return
    fraction = _table_looks_copied(X, hashes, None, rows)
    if fraction >= _COPIED_HOLDOUT:
        raise NoRowsCountError(Reason.COPIED_HOLDOUT, n=rows.size, distinct=distinct, percent=100 * fraction)


def _n_distinct(hashes: Hashes) -> int:
    """Number of different hashes; sorting is faster than `np.unique`."""
    ordered = np.sort(hashes)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + min(1, ordered.size)


def _table_looks_copied(
    X: Any, hashes: Hashes, columns: list[str] | None, rows: NDArray[np.intp] | None = None
) -> float:
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
    chance about as often as they are neighbours.

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
    contents, counts = np.unique(hashes, return_counts=True)
    repeated = counts > 1
    multiple = int(np.gcd.reduce(counts)) if counts.size else 1
    if multiple >= 2 and len(contents) * np.log2(multiple) >= _BITS:
        return 1.0
    if repeated.sum() < _FEWEST or counts[repeated].sum() < _COPIED_TRAINING * len(hashes):
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
    return float(marked.mean()) if marked.sum() >= _FEWEST else 0.0


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
    if n_pure < max(_FEWEST, _PURE * shared.sum()):
        return marked
    neighbours = int((steps <= 1.5 * steps.min()).sum())
    if stats.binom.sf(n_pure - 1, n_pure + neighbours, 0.5) < _BY_CHANCE:
        marked[order[np.repeat(pure, size)]] = True
    return marked
