"""Which rows of a holdout count, and what a guarantee on them assumes ([D-33]).

Equal rows are ordinary (half of the customers are inactive, a table of age and sex), so a holdout of
independent rows is counted row by row. What breaks a guarantee is a *copy*: a row that was entered twice, or
a training row in the holdout. Three checks decide, and nothing else in the package looks at copies:

1. Does the training table look copied (:attr:`~surewood.base.remembered.RememberedRows.copied`)? Then holdout
   rows that equal a training row are left out, and the claim is about the other rows. Where these are many,
   the table was copied before it was divided, and there is no guarantee.
2. Does the holdout contain more training rows than chance explains? Then there is no guarantee.
3. Does the holdout itself look copied? Then there is no guarantee either.

The last two can only take a claim away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from surewood._arrays import Mask
from surewood.base.reasons import Reason
from surewood.base.remembered import (
    BY_CHANCE,
    FEWEST,
    MANY_CONTENTS,
    Hashes,
    RememberedRows,
    copied_fraction_of,
)
from surewood.bounds import Condition, clopper_pearson
from surewood.bounds.statements import CALLER, CHECKED
from surewood.tables import content_hashes
from surewood.tables.mixing import splitmix64

COPIES = ("check", "count", "leave_out")
# repeated rows were removed before the rows were divided: from a table that looks copied, or from another;
# or they were not, though every row with its label occurs k times
ENTERED_AGAIN, REMOVED, COPIED = "entered_again", "removed", "copied"
_COPIED_HOLDOUT = 0.2  # fraction of copied rows from which check 3 applies
_RATE_DELTA = 1e-4  # of the upper limit of the fraction of training rows that equal another one
_MANY_MATCHES = 0.01  # fraction of counted training rows above which the other rows get a claim of their own

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
    copies : {"check", "count", "leave_out", "entered_again", "removed", "copied"}
        ``"check"``: check 1 decides whether rows that equal a training row are left out. The last three are
        about the table before it was divided: repeated rows were removed, and it looked copied, or did not;
        or every row with its label occurs k times.
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
    if copies in (REMOVED, COPIED):
        raise NoRowsCountError(Reason.REMOVED if copies == REMOVED else Reason.ENTERED_SEVERAL_TIMES)
    copies = "check" if entered_again else copies
    if copies not in COPIES:
        raise ValueError(f"copies must be one of {', '.join(COPIES)}, got {copies!r}")
    hashes = content_hashes(X)
    n = len(hashes)
    # steps of a pipeline that mix columns turn equal rows of whole numbers into equal measured numbers
    as_given = [memory for memory, seen in trained_on if seen is X]
    copied = any(memory.copied for memory in as_given or [memory for memory, _ in trained_on])
    rule = copies if copies != "check" else "leave_out" if copied else "count"
    matches = np.zeros(n, dtype=bool)
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    for memory, seen in trained_on:
        same = seen is X and memory.columns in (None, names)
        as_seen = hashes if same else content_hashes(seen, memory.columns)
        matches |= memory.contains_hashes(as_seen)
        if rule == "count":
            _check_training_rows(memory, as_seen)
    for memory, seen in chosen_on:
        _check_chosen_rows(memory, content_hashes(seen, memory.columns))
    if copies == "check" and copied and matches.sum() >= max(FEWEST, _MANY_MATCHES * n):
        unmixed = "" if as_given else "; or give X_train, if the steps before the classifier mix columns"
        raise NoRowsCountError(Reason.COPIED_TABLE, matches=int(matches.sum()), n=n, unmixed=unmixed)
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
    if same_table and _n_distinct(hashes) >= MANY_CONTENTS:  # few contents may agree by chance
        raise NoRowsCountError(Reason.TRAINING_TABLE, n=n)
    times = memory.times(hashes)
    if not times.any():
        return
    others = memory.times(memory.hashes) - 1
    for equal, among in ((times > 0, others > 0), (times == 1, others == 1)):
        matches, repeated = int(equal.sum()), int(among.sum())
        rate = clopper_pearson(repeated, m, delta=_RATE_DELTA)
        if matches and special.bdtrc(matches - 1, n, rate) < BY_CHANCE:
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
    fraction = copied_fraction_of(X, hashes, rows=rows)
    if fraction >= _COPIED_HOLDOUT:
        raise NoRowsCountError(Reason.COPIED_HOLDOUT, n=rows.size, distinct=distinct, percent=100 * fraction)


def _n_distinct(hashes: Hashes) -> int:
    """Number of different hashes; sorting is faster than `np.unique`."""
    ordered = np.sort(hashes)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + min(1, ordered.size)
