"""How the rows of a table are divided: training rows and holdout, and folds (theory.md §11.0).

`Sampling` is what the owner says about the rows. Rows are dealt at random, row by row ([D-33]), groups stay
whole, time cuts at a moment. No row changes sides because of its label ([D-36]). Then the rules about small
classes, and the folds that `auto` and `compare` use.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from surewood._text import listed
from surewood.base.counted_rows import COPIES, ENTERED_AGAIN, REMOVED
from surewood.base.remembered import RememberedRows, all_occur_k_times
from surewood.base.wording import plural
from surewood.certify.holdout import as_times, group_labels
from surewood.tables import DataError, plan
from surewood.workflow.errors import WorkflowError

Mask = NDArray[np.bool_]
_NAMED = 5  # classes in a note
_FAR_MORE_OFTEN = 5  # times the median of the repeated rows


@dataclass(frozen=True)
class Sampling:
    """What the owner of a table says about its rows."""

    #: Whether holdout rows that equal a training row count ("count") or not ("leave_out"); "check": they do
    #: unless the training table looks copied. "entered_again" and "removed": repeated rows were removed;
    #: "copied": they were not, but every row occurs several times.
    copies: str = "check"
    #: Columns whose values name the group of a row: a patient, a device. Empty: none.
    groups: list[str] = field(default_factory=list)
    #: Column by which rows are ordered in time.
    time: str | None = None
    #: Whether repeated rows are removed before the rows are divided.
    drop_duplicates: bool = False

    @classmethod
    def of(cls, copies: str, groups: Any, time: str | None, drop_duplicates: bool = False) -> Sampling:
        """Read the arguments of a command; refuse what cannot be."""
        if copies not in COPIES:
            raise WorkflowError(f"copies={copies} is unknown; choose among {', '.join(COPIES)}.")
        names = [] if groups is None else [groups] if isinstance(groups, str) else [str(g) for g in groups]
        if names and time is not None:
            raise WorkflowError("groups= and time= cannot be combined: choose the one that matters more.")
        if drop_duplicates and copies != "check":
            raise WorkflowError("copies= cannot be combined with drop_duplicates=True, which leaves none.")
        return cls(copies, names, time, drop_duplicates)

    @property
    def columns(self) -> list[str]:
        """Columns that say how rows were sampled; they are not features."""
        return [*self.groups, *([] if self.time is None else [self.time])]

    def check_columns(self, names: Any, table: str, target: str) -> None:
        """Refuse columns that the table does not have."""
        for option, column in [*(("groups", g) for g in self.groups), ("time", self.time)]:
            if column == target:
                raise WorkflowError(f"{option}={column}: this is the target.")
            if column is not None and column not in names:
                raise WorkflowError(f"{option}={column}: {table} has no such column.")

    def group_of_rows(self, X: pd.DataFrame) -> NDArray[Any] | None:
        """The group of each row as text."""
        return group_labels(self.groups, X, len(X))[0] if self.groups else None

    def times_of_rows(self, X: pd.DataFrame) -> NDArray[np.float64] | None:
        """The time of each row as a number."""
        if self.time is None:
            return None
        try:
            return as_times(X[self.time].to_numpy(), X, len(X))
        except ValueError as error:
            raise WorkflowError(
                f"time={self.time}: the column must hold numbers or dates, without missing values."
            ) from error


def first_of_equal_rows(X: pd.DataFrame, y: pd.Series, sampling: Sampling) -> tuple[Mask, str]:
    """The first of each set of rows with equal features, target, group and time; how they may count.

    Columns that are no features (identifiers, constants) do not make two rows different. Repeated rows of a
    table that looks copied are taken for rows that were entered again, unless rows with the same features
    have different targets, or one is repeated far more often than most: these are ordinary ([D-33]).

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [0.5, 1.5, 0.5], "same": [1, 1, 1]})
    >>> first, copies = first_of_equal_rows(frame, pd.Series([0, 1, 0]), Sampling())
    >>> first.tolist(), copies
    ([True, True, False], 'removed')
    """
    features = _feature_names(X)
    compared = X[list(dict.fromkeys([*features, *sampling.columns]))]
    first = ~compared.assign(**{"": y.to_numpy()}).duplicated().to_numpy()
    if first.all():
        return first, sampling.copies
    rows = RememberedRows.from_table(X[features])
    times = np.unique(rows.hashes, return_counts=True)[1]
    ordinary = X.loc[first, features].duplicated().any() or times.max() > _FAR_MORE_OFTEN * np.median(
        times[times > 1]
    )
    return first, ENTERED_AGAIN if rows.copied and not ordinary else REMOVED


def occurs_several_times(X: pd.DataFrame, y: pd.Series) -> bool:
    """Whether every row, its label included, occurs k times or a multiple of it.

    Of a table without measured numbers this can only be seen before the rows are divided.

    Examples
    --------
    >>> frame, y = pd.DataFrame({"age": range(30)}), pd.Series([0, 1] * 15)
    >>> occurs_several_times(pd.concat([frame, frame]), pd.concat([y, y])), occurs_several_times(frame, y)
    (True, False)
    """
    rows = pd.util.hash_pandas_object(X.assign(**{"": y.to_numpy()}), index=False)
    return all_occur_k_times(np.unique(rows, return_counts=True)[1])


def _feature_names(X: pd.DataFrame) -> list[Any]:
    """Columns that would be features; how an ambiguous decimal mark is read does not matter here."""
    try:
        made = plan(X)
    except DataError:
        made = plan(X, decimal=".")
    used = {column.name for column in made.used}
    return [name for name in X.columns if str(name) in used]


def deal(units: NDArray[Any], fraction: float, random_state: int) -> Mask:
    """Hold out this fraction of the units, drawn at random; all rows of a unit are on one side.

    Examples
    --------
    >>> held_out = deal(np.array([0, 1, 0, 2, 3]), 0.5, 0)
    >>> bool(held_out[0] == held_out[2])
    True
    """
    n_units = int(units.max()) + 1
    chosen = np.zeros(n_units, dtype=bool)
    chosen[np.random.default_rng(random_state).permutation(n_units)[: round(fraction * n_units)]] = True
    return np.asarray(chosen[units])


def last_part(times: NDArray[np.float64], fraction: float) -> Mask:
    """Hold out the last rows; rows of one moment are on one side, so the fraction is met as nearly as it can.

    Examples
    --------
    >>> last_part(np.array([3.0, 1.0, 2.0, 3.0]), 0.25).tolist()
    [True, False, False, True]
    """
    moments = np.unique(times)[1:]  # the first one would hold out everything
    if not len(moments):
        raise WorkflowError("time= has a single moment; there is no last part to hold out.")
    sizes = len(times) - np.searchsorted(np.sort(times), moments)
    return np.asarray(times >= moments[int(np.argmin(np.abs(sizes - fraction * len(times))))])


def divide(X: pd.DataFrame, sampling: Sampling, fraction: float, random_state: int) -> Mask:
    """Which rows are held out."""
    times, groups = sampling.times_of_rows(X), sampling.group_of_rows(X)
    if times is not None:
        return last_part(times, fraction)
    if groups is None:
        return deal(np.arange(len(X)), fraction, random_state)
    codes, names = pd.factorize(groups)
    if len(names) < 2:
        shown = " and ".join(sampling.groups)
        raise WorkflowError(f"groups={shown}: all rows belong to one group; at least two are needed.")
    least = min(max(fraction, 1.0 / len(names)), 1.0 - 1.0 / len(names))
    return deal(codes, least, random_state)


def side_notes(y: pd.Series, held_out: Mask) -> list[str]:
    """Classes that one side lacks: rows are not moved to make up for it ([D-36]).

    Examples
    --------
    >>> side_notes(pd.Series(list("aab")), np.array([False, True, False]))
    ["class 'b' has no holdout row; the guarantee still covers all classes together."]
    """
    sides = _held_out_counts(y, held_out)
    untrained = [(name, held) for name, held, rows in sides if held == rows]
    unseen = [name for name, held, _ in sides if held == 0]
    notes = []
    if untrained:
        has, it = ("have", "them") if len(untrained) > 1 else ("has", "it")
        errors = plural(sum(held for _, held in untrained), "error")
        notes.append(
            f"{_classes([name for name, _ in untrained])} {has} no training row, by chance: the model never "
            f"predicts {it}, which makes {errors} on the holdout."
        )
    if unseen:
        has = "have" if len(unseen) > 1 else "has"
        notes.append(
            f"{_classes(unseen)} {has} no holdout row; the guarantee still covers all classes together."
        )
    return notes


def _held_out_counts(y: pd.Series, held_out: Mask) -> list[tuple[str, int, int]]:
    """Name of each class in order, how many of its rows are held out, and how many it has."""
    codes, labels = pd.factorize(y)
    rows = np.bincount(codes, minlength=len(labels))
    held = np.bincount(codes[held_out], minlength=len(labels))
    return sorted((str(label), int(h), int(n)) for label, h, n in zip(labels, held, rows, strict=True))


def _classes(names: list[str]) -> str:
    """Which class, or how many classes and the first of them."""
    if len(names) == 1:
        return f"class {names[0]!r}"
    return f"{len(names):,} classes ({listed(names, _NAMED)})"


DEFAULT_HOLDOUT = 0.2
MIN_ROWS_PER_CLASS = 2
RARE = ("drop", "merge", "keep")
OTHER = "other"


def check_holdout(fraction: float | None) -> None:
    """Refuse what is not a fraction of the rows.

    Examples
    --------
    >>> try:
    ...     check_holdout(2.0)
    ... except WorkflowError as error:
    ...     print(error)
    holdout=2.0 is not a fraction of the rows; it must be at least 0 and less than 1.
    """
    if fraction is None:
        return
    is_number = isinstance(fraction, Real) and not isinstance(fraction, bool)
    if not (is_number and 0.0 <= fraction < 1.0):
        raise WorkflowError(
            f"holdout={fraction} is not a fraction of the rows; it must be at least 0 and less than 1."
        )


def stratified_rows(y: pd.Series, most: int, random_state: int) -> NDArray[np.int64]:
    """All rows, or a stratified sample of them with at least two of every class.

    Examples
    --------
    >>> stratified_rows(pd.Series([0, 0, 1, 1]), 10, 0).tolist()
    [0, 1, 2, 3]
    """
    n = len(y)
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng(random_state)
    codes = pd.factorize(y)[0]
    taken = []
    for code in range(codes.max() + 1):
        own = rng.permutation(np.flatnonzero(codes == code))
        taken.append(own[: max(MIN_ROWS_PER_CLASS, round(most * len(own) / n))])
    return np.sort(np.concatenate(taken))


def check_classes(y: pd.Series, target: str) -> None:
    """Refuse a target with one class, or with mostly classes of a single row."""
    counts = y.value_counts()
    if len(counts) < 2:
        raise WorkflowError(
            f"the target {target!r} has only one class, {str(counts.index[0])!r}; nothing can be learned."
        )
    rare = [str(label) for label, count in counts.items() if count < MIN_ROWS_PER_CLASS]
    if len(rare) > 0.5 * len(counts) and len(counts) > 20:
        raise WorkflowError(
            f"the target {target!r} has {len(counts):,} classes in {len(y):,} rows, most of them with one "
            "row; is it the right column?"
        )


def settle_rare(y: pd.Series, rare: str) -> tuple[pd.Series, NDArray[np.bool_], list[str]]:
    """Deal with classes of one row.

    Parameters
    ----------
    y : Series
        Labels.
    rare : {"drop", "merge", "keep"}
        Leave those rows out; make one class of them, "other", where they are at least two; or keep them.

    Returns
    -------
    y : Series
        Labels, of all rows.
    kept : ndarray of bool
        Rows to go on with.
    notes : list of str

    Examples
    --------
    >>> y, kept, notes = settle_rare(pd.Series(list("aabbc")), "drop")
    >>> kept.tolist(), notes
    ([True, True, True, True, False], ["class 'c' has one row, which was dropped (rare=keep keeps it)."])
    """
    if rare not in RARE:
        raise WorkflowError(f"rare={rare} is unknown; choose among {', '.join(RARE)}.")
    counts = y.value_counts()
    labels = counts.index[counts < MIN_ROWS_PER_CLASS].tolist()
    everything = np.ones(len(y), dtype=bool)
    if not labels or rare == "keep":
        return y, everything, []
    shown = ", ".join(repr(str(label)) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")
    single = y.isin(labels).to_numpy()
    if rare == "merge" and len(labels) >= MIN_ROWS_PER_CLASS:
        merged = y.astype(str).mask(single, OTHER)
        return merged, everything, [f"classes {shown} have one row each and were merged as {OTHER!r}."]
    if len(labels) == 1:
        return y, ~single, [f"class {shown} has one row, which was dropped (rare=keep keeps it)."]
    return y, ~single, [f"classes {shown} have one row each, which were dropped (rare=keep keeps them)."]


Split = tuple[NDArray[np.int64], NDArray[np.int64]]


def make_splits(
    y: pd.Series, n_folds: int, n_repeats: int, random_state: int, groups: NDArray[Any] | None = None
) -> list[Split]:
    """Stratified folds, the same for all classifiers; with groups no group is on both sides of a split.

    Examples
    --------
    >>> splits = make_splits(pd.Series([0, 0, 1, 1]), 2, 1, 0, np.array(["p", "q", "p", "q"]))
    >>> [held.tolist() for _, held in splits]
    [[1, 3], [0, 2]]
    """
    rows = np.zeros(len(y))
    if groups is None:
        if n_repeats == 1:
            return list(StratifiedKFold(n_folds, shuffle=True, random_state=random_state).split(rows, y))
        splitter = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=random_state)
        return list(splitter.split(rows, y))
    n_groups = len(np.unique(groups))
    if n_groups < n_folds:
        raise WorkflowError(
            f"there are {n_groups} groups for {n_folds} folds; take folds={max(2, n_groups)}."
        )
    found: list[Split] = []
    for repeat in range(n_repeats):
        grouped = StratifiedGroupKFold(n_folds, shuffle=True, random_state=random_state + repeat)
        found += list(grouped.split(rows, y, groups))
    return found


def splits_in_time(y: pd.Series, times: NDArray[np.float64], n_folds: int) -> list[Split]:
    """Every part of the rows in their order, to be predicted from the rows before it.

    Examples
    --------
    >>> splits = splits_in_time(pd.Series([0, 1, 0, 1]), np.array([2.0, 1.0, 3.0, 4.0]), 2)
    >>> [(train.tolist(), held.tolist()) for train, held in splits]
    [([1, 0], [2]), ([1, 0, 2], [3])]
    """
    order = np.argsort(times, kind="stable")
    splits = [(order[train], order[held]) for train, held in TimeSeriesSplit(n_folds).split(order)]
    if min(y.iloc[train].nunique() for train, _ in splits) < 2:
        raise WorkflowError("the first rows in time have only one class; take fewer folds, such as folds=2.")
    return splits


def grouped_splits(cv: Any, y: pd.Series, groups: NDArray[Any]) -> list[Split] | None:
    """The splits of an estimator's `cv` for rows in groups; None where the estimator deals its own folds.

    A splitter is given the groups, and pairs of index arrays are taken as they are. Whether they keep groups
    whole, :func:`divided_groups` says.

    Examples
    --------
    >>> from sklearn.model_selection import GroupKFold
    >>> y, groups = pd.Series([0, 0, 1, 1]), np.array(["p", "q", "p", "q"])
    >>> [held.tolist() for _, held in grouped_splits(GroupKFold(2), y, groups)]
    [[1, 3], [0, 2]]
    """
    if isinstance(cv, str):
        return None
    if callable(getattr(cv, "split", None)):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            try:
                return list(cv.split(np.zeros(len(y)), y, groups))
            except ValueError as error:
                raise WorkflowError(f"cv={type(cv).__name__}: {error}") from None
    if isinstance(cv, Iterable):
        return [(np.asarray(train), np.asarray(held)) for train, held in cv]
    return None


def divided_groups(splits: Iterable[Split], groups: NDArray[Any]) -> list[str]:
    """Groups with rows on both sides of some split.

    Examples
    --------
    >>> divided_groups([(np.array([0, 1]), np.array([2]))], np.array(["p", "q", "p"]))
    ['p']
    """
    found: set[str] = set()
    for train, held in splits:
        found |= set(groups[train].astype(str).tolist()) & set(groups[held].astype(str).tolist())
    return sorted(found)
