"""How the rows of a table were sampled, and what follows for dividing them (theory.md §11.0).

Copies stay on one side ([D-33]), groups stay whole, time cuts at a moment. Nothing here looks at a label
([D-36]).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.certify.columns import as_times, discrete_columns, group_labels
from surewood.certify.counting import COPIES
from surewood.tables import DataError, content_hashes, plan
from surewood.workflow.errors import WorkflowError

Mask = NDArray[np.bool_]
_NAMED = 5  # classes with a note each; more share one


@dataclass(frozen=True)
class Sampling:
    """What the owner of a table says about its rows."""

    #: Whether equal rows are independent draws ("natural") or copies that count once ("exclude"); "auto":
    #: natural where every column is discrete.
    copies: str = "auto"
    #: Columns whose values name the group of a row: a patient, a device. Empty: none.
    groups: list[str] = field(default_factory=list)
    #: Column by which rows are ordered in time.
    time: str | None = None

    @classmethod
    def of(cls, copies: str, groups: Any, time: str | None) -> Sampling:
        """Read the arguments of a command; refuse what cannot be."""
        if copies not in COPIES:
            raise WorkflowError(f"copies={copies} is unknown; choose among {', '.join(COPIES)}.")
        names = [] if groups is None else [groups] if isinstance(groups, str) else [str(g) for g in groups]
        if names and time is not None:
            raise WorkflowError("groups= and time= cannot be combined: choose the one that matters more.")
        return cls(copies, names, time)

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


def dealing_units(X: pd.DataFrame, copies: str) -> NDArray[np.intp]:
    """Number of the content of each row, in order of appearance; the row itself where copies are natural.

    Columns that are no features (identifiers, constants) do not make two rows different.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [0.5, 1.5, 0.5], "same": [1, 1, 1]})
    >>> dealing_units(frame, "exclude").tolist(), dealing_units(frame, "natural").tolist()
    ([0, 1, 0], [0, 1, 2])
    """
    used = X[_feature_names(X)]
    if used.shape[1] == 0 or copies == "natural" or (copies == "auto" and discrete_columns(used)):
        return np.arange(len(X))
    return np.asarray(pd.factorize(content_hashes(used))[0], dtype=np.intp)


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
        return deal(dealing_units(X, sampling.copies), fraction, random_state)
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
    notes = []
    sides = _held_out_counts(y, held_out)
    untrained = [(name, held) for name, held, rows in sides if held == rows]
    unseen = [name for name, held, _ in sides if held == 0]
    if len(untrained) > _NAMED:
        notes.append(
            f"{_first(name for name, _ in untrained)} have no training row, by chance: the model never "
            f"predicts them, and their {sum(held for _, held in untrained)} holdout rows count as errors."
        )
    else:
        notes += [
            f"class {name!r} has no training row, by chance: the model never predicts it, and its "
            f"{held} holdout rows count as errors."
            for name, held in untrained
        ]
    if len(unseen) > _NAMED:
        notes.append(
            f"{_first(unseen)} have no holdout row; the guarantee still covers all classes together."
        )
    else:
        notes += [
            f"class {name!r} has no holdout row; the guarantee still covers all classes together."
            for name in unseen
        ]
    return notes


def _held_out_counts(y: pd.Series, held_out: Mask) -> list[tuple[str, int, int]]:
    """Name of each class in order, how many of its rows are held out, and how many it has."""
    codes, labels = pd.factorize(y)
    rows = np.bincount(codes, minlength=len(labels))
    held = np.bincount(codes[held_out], minlength=len(labels))
    return sorted((str(label), int(h), int(n)) for label, h, n in zip(labels, held, rows, strict=True))


def _first(names: Iterable[str]) -> str:
    """How many classes, and the first of them."""
    every = list(names)
    return f"{len(every):,} classes ({', '.join(map(repr, every[:_NAMED]))}, ...)"
