"""A table with its target, divided into training rows and rows that are held out."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.datasets import load
from surewood.tables import ParquetTable
from surewood.tables.reading.file_format import looks_like_a_file
from surewood.tables.reading.file_rows import FileRows, row_name
from surewood.tables.reading.table_file import TableFile, read_table_file
from surewood.workflow.errors import WorkflowError
from surewood.workflow.holdout import DEFAULT_HOLDOUT, OTHER, check_classes, check_holdout, settle_rare
from surewood.workflow.row_weights import row_weights
from surewood.workflow.sampling import Sampling, divide, side_notes

Source = str | Path | Sequence[str | Path]


@dataclass
class LabelledTable:
    """A labelled table divided into training rows and a holdout.

    Attributes
    ----------
    X, y : frame and series of the training rows
    row_numbers : ndarray of int
        The numbers that the file gives the training rows: their lines, or rows from 1.
    row_unit : {"line", "row"}
        What these numbers count.
    files : FileRows or None
        Which row stands where, of several files.
    holdout : (frame, series) or None
    holdout_rows : ndarray of int or None
        The numbers of its rows.
    weight : ndarray of float or None
        Weights of the training rows.
    weight_name : str or None
        The column they came from.
    target, name, source : str
    notes : list of str
        What was done to the table that its owner should know.
    stream : ParquetTable or None
        All training rows, where the table is too large to read; `X` and `y` are a sample of them then.
    n_streamed : int
        Number of these.
    sampling : Sampling
        What the owner says about how rows were sampled.
    groups : ndarray of str or None
        Group of each training row.
    times : ndarray of float or None
        Time of each training row.
    holdout_groups : ndarray of str or None
    holdout_times : ndarray of float or None
    holdout_places : ndarray of int
        Positions of the holdout among the labelled rows; empty for an official test part.
    """

    name: str
    source: str
    target: str
    X: pd.DataFrame
    y: pd.Series
    row_numbers: NDArray[np.int64]
    holdout: tuple[pd.DataFrame, pd.Series] | None = None
    notes: list[str] = field(default_factory=list)
    stream: ParquetTable | None = None
    n_streamed: int = 0
    row_unit: str = "row"
    files: FileRows | None = None
    holdout_rows: NDArray[np.int64] | None = None
    weight: Floats | None = None
    weight_name: str | None = None
    sampling: Sampling = field(default_factory=Sampling)
    groups: NDArray[Any] | None = None
    times: NDArray[np.float64] | None = None
    holdout_groups: NDArray[Any] | None = None
    holdout_times: NDArray[np.float64] | None = None
    holdout_places: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return len(self.y) if self.stream is None else self.n_streamed

    @property
    def n_holdout(self) -> int:
        """Number of rows that are held out."""
        return 0 if self.holdout is None else len(self.holdout[1])

    def keep(self, rows: NDArray[Any]) -> None:
        """Go on with some of the training rows."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        self.X, self.y = self.X.iloc[rows].reset_index(drop=True), self.y.iloc[rows].reset_index(drop=True)
        self.row_numbers = self.row_numbers[rows]
        self.weight = None if self.weight is None else self.weight[rows]
        self.groups = None if self.groups is None else self.groups[rows]
        self.times = None if self.times is None else self.times[rows]
        self.stream = None

    def take_weights(self, name: str) -> None:
        """Weights from a column, which is then no feature."""
        if name not in self.X.columns:
            raise WorkflowError(f"weight={name}: {self.name} has no such column.")
        self.weight = row_weights(self.X[name], self.row_numbers, self.row_unit, self.files)
        self.weight_name = name
        self.X = self.X.drop(columns=[name])

    def hold_out(self, rows: NDArray[np.bool_]) -> None:
        """Hold some of the rows out."""
        self.holdout = self.X[rows].reset_index(drop=True), self.y[rows].reset_index(drop=True)
        self.holdout_rows = self.row_numbers[rows]
        self.keep(~rows)

    def take_back(self) -> None:
        """Go on with the holdout among the training rows."""
        if self.holdout is None or self.holdout_rows is None:
            return
        self.X = pd.concat([self.X, self.holdout[0]], ignore_index=True)
        self.y = pd.concat([self.y, self.holdout[1]], ignore_index=True)
        self.row_numbers = np.concatenate([self.row_numbers, self.holdout_rows])
        self.holdout = self.holdout_rows = None

    def row_names(self, identifiers: Sequence[str] = (), held_out: bool = False) -> pd.Index:
        """What to call the rows: their numbers in the file, and their identifiers where there are some."""
        numbers = self.holdout_rows if held_out else self.row_numbers
        X = self.holdout[0] if held_out and self.holdout is not None else self.X
        if numbers is None or len(numbers) != len(X):
            return X.index
        names = [row_name(number, self.row_unit, self.files) for number in numbers]
        for column in identifiers:
            if column in X.columns:
                names = [f"{name}, {value}" for name, value in zip(names, X[column])]
        return pd.Index(names)


@contextmanager
def collecting(notes: list[str]) -> Iterator[None]:
    """Warnings meant for the user become notes; all others stay silent."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        text = " ".join(str(warning.message).split())
        if warning.category is UserWarning and text not in notes:
            notes.append(text)


def read_labelled(
    source: Source,
    target: str | None,
    *,
    check: bool = True,
    weight: str | None = None,
    as_text: Collection[str] = (),
) -> LabelledTable:
    """Read a table with its target, columns as they stand in it.

    Parameters
    ----------
    source : str, Path or list of them
        A table file, several with the same columns, or the name of a built-in data set.
    target : str or None
        The column of the classes; not needed for built-in data sets.
    check : bool, default=True
        Refuse a target that cannot be learned.
    weight : str, optional
        The column of row weights, which is not a feature.
    as_text : collection of str
        Columns of a file to leave as text: `SavedModel.text_columns`, for a table that a model reads.

    Examples
    --------
    >>> table = read_labelled("wine", None)
    >>> table.n_rows, table.target
    (178, 'target')
    """
    notes: list[str] = []
    with collecting(notes):
        data = load(source, target, raw=True, as_text=as_text)
    name = str(data.y.name) if target is None else target
    rows = np.arange(1, len(data.y) + 1) if data.row_numbers is None else data.row_numbers
    table = LabelledTable(data.name, data.source, name, data.X, data.y, rows, None, notes)
    table.row_unit, table.files = data.row_unit, data.files
    if weight is not None:
        table.take_weights(weight)
    if check:
        check_classes(table.y, name)
    if data.is_divided:
        test = data.split == "test"
        table.hold_out(test)
    return table


@dataclass(frozen=True)
class TrainingTable:
    """A table to train on, and how to divide it."""

    source: Source
    target: str | None = None
    #: Fraction of rows; None: the official test part, else a fifth.
    holdout: float | None = None
    random_state: int = 0
    rare: str = "drop"
    weight: str | None = None
    sampling: Sampling = field(default_factory=Sampling)
    #: Columns that are no features: rows that differ in nothing else are copies.
    ignored: tuple[str, ...] = ()


def read_for_training(wanted: TrainingTable) -> LabelledTable:
    """Read a table and hold rows out: its official test part, else a random fifth, or as `sampling` says."""
    holdout, random_state = wanted.holdout, wanted.random_state
    check_holdout(holdout)
    table = read_labelled(wanted.source, wanted.target, weight=wanted.weight)
    table.sampling = wanted.sampling
    table.sampling.check_columns(table.X.columns, table.name, table.target)
    if holdout is None and table.holdout is not None and not table.sampling.columns:
        table.notes.append(
            f"the official test part of {table.name}, {len(table.holdout[1]):,} rows, is the holdout."
        )
        return table
    table.take_back()
    hold_out(table, DEFAULT_HOLDOUT if holdout is None else holdout, random_state, wanted.ignored)
    settle_training(table, wanted.rare)
    return table


def hold_out(table: LabelledTable, fraction: float, random_state: int, ignored: Sequence[str] = ()) -> None:
    """Divide the rows of a table; columns that only say how rows were sampled are no features."""
    X, y, sampling = table.X, table.y, table.sampling
    groups, times = sampling.group_of_rows(X), sampling.times_of_rows(X)
    table.X, table.groups, table.times = X.drop(columns=sampling.columns), groups, times
    for name in sampling.columns:
        table.notes.append(f"column {name!r} divides the rows; it is not used as a feature.")
    if fraction == 0:
        return
    ignored = [name for name in ignored if name in table.X]
    held_out = divide(X.drop(columns=ignored), sampling, fraction, random_state)
    if not held_out.any() or held_out.all():
        raise WorkflowError(
            f"holdout={fraction:g} of {len(held_out):,} rows is less than one row; take more, or 0."
        )
    if y[~held_out].nunique() < 2:
        raise WorkflowError("the training rows have only one class; take a smaller holdout.")
    table.notes += side_notes(y, held_out)
    table.hold_out(held_out)
    table.holdout_places = np.flatnonzero(held_out)
    table.holdout_groups = None if groups is None else groups[held_out]
    table.holdout_times = None if times is None else times[held_out]


def settle_training(table: LabelledTable, rare: str) -> None:
    """Deal with classes of one training row; a row is never taken from the holdout by its label ([D-36]).

    Merged classes are "other", and so is each label of the holdout that training does not know.
    """
    y, kept, notes = settle_rare(table.y, rare)
    if y[kept].nunique() < 2:
        return
    table.y = y
    if not kept.all():
        table.keep(kept)
    table.notes += notes
    if table.holdout is not None and (table.y == OTHER).any() and rare == "merge":
        labels = table.holdout[1].astype(str)
        known = labels.isin(set(table.y)).to_numpy()
        table.holdout = table.holdout[0], labels.where(known, OTHER)
    if table.holdout is not None and not table.holdout[1].isin(table.y.unique()).any():
        raise WorkflowError(
            "no row of the holdout has a class that is left in the training rows, where classes of one row "
            "are dropped; take rare=keep, or holdout=0."
        )


def read_rows(source: Source, as_text: Collection[str] = ()) -> TableFile:
    """Rows to predict: all columns of a file, or the features of a built-in data set; there may be none."""
    if not isinstance(source, str) or looks_like_a_file(source):
        return read_table_file(source, as_text=as_text)
    X = load(source).X
    return TableFile(X, source, np.arange(1, len(X) + 1), "row", numbered=False)
