"""A table with its target, divided into training rows and rows that are held out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.datasets import load
from surewood.tables import ParquetTable, read_table
from surewood.tables.reading.file_format import looks_like_a_file
from surewood.workflow.errors import WorkflowError
from surewood.workflow.holdout import DEFAULT_HOLDOUT, check_classes, choose_holdout


@dataclass
class LabelledTable:
    """A labelled table divided into training rows and a holdout.

    Attributes
    ----------
    X, y : frame and series of the training rows
    row_numbers : ndarray of int
        Positions of the training rows in the table, from 0.
    holdout : (frame, series) or None
    target, name, source : str
    notes : list of str
        What was done to the table that its owner should know.
    stream : ParquetTable or None
        All training rows, where the table is too large to read; `X` and `y` are a sample of them then.
    n_streamed : int
        Number of these.
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
        self.stream = None


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


def read_labelled(source: str, target: str | None, *, check: bool = True) -> LabelledTable:
    """Read a table with its target; with `check` classes that cannot be learned are refused.

    Parameters
    ----------
    source : str
        A CSV or Parquet file, or the name of a built-in data set.
    target : str or None
        The column of the classes; not needed for built-in data sets.

    Examples
    --------
    >>> table = read_labelled("wine", None)
    >>> table.n_rows, table.target
    (178, 'target')
    """
    notes: list[str] = []
    with collecting(notes):
        data = load(source, target, raw=True)
    name = str(data.y.name) if target is None else target
    if check:
        check_classes(data.y, name)
    rows = np.arange(len(data.y)) if data.row_numbers is None else data.row_numbers
    table = LabelledTable(data.name, data.source, name, data.X, data.y, rows, None, notes)
    if data.is_divided:
        (table.X, table.y), table.holdout = data.train, data.test
        table.row_numbers = rows[data.split != "test"]
    return table


def read_for_training(
    source: str, target: str | None, holdout: float | None, random_state: int
) -> LabelledTable:
    """Read a table and hold rows out: by default its official test part, else a random fifth of the rows."""
    table = read_labelled(source, target)
    if holdout is None and table.holdout is not None:
        table.notes.append(
            f"the official test part of {table.name}, {len(table.holdout[1]):,} rows, is the holdout."
        )
        return table
    if table.holdout is not None:
        table.X = pd.concat([table.X, table.holdout[0]], ignore_index=True)
        table.y = pd.concat([table.y, table.holdout[1]], ignore_index=True)
        table.row_numbers = np.arange(len(table.y))
        table.holdout = None
    fraction = DEFAULT_HOLDOUT if holdout is None else holdout
    if fraction == 0:
        return table
    held_out, moved = choose_holdout(table.y, fraction, random_state)
    if moved:
        table.notes.append(f"{moved} holdout rows of rare classes were moved to the training rows.")
    if not held_out.any():
        raise WorkflowError(
            f"holdout={fraction:g} of {len(held_out):,} rows is less than one row; take more, or 0."
        )
    X, y = table.X, table.y
    table.holdout = X[held_out].reset_index(drop=True), y[held_out].reset_index(drop=True)
    table.keep(~held_out)
    return table


def read_rows(source: str) -> pd.DataFrame:
    """Rows to predict: all columns of a file, or the features of a built-in data set."""
    return read_table(source) if looks_like_a_file(source) else load(source).X
