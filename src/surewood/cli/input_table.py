"""A table named on the command line, its target, and the rows put aside before anything is trained."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.cli.mistakes import Mistake
from surewood.datasets import DataError, load
from surewood.tables import ParquetTable

LEAST_ROWS_A_CLASS = 2


@dataclass
class InputTable:
    """A labelled table divided into rows to train on and rows put aside.

    Attributes
    ----------
    X, y : frame and series of the training rows
    row_numbers : ndarray of int
        Where the training rows stood in the table, from 0.
    holdout : (frame, series) or None
    target, name, source : str
    notes : list of str
        What was done to the table that its owner should know.
    stream : ParquetTable or None
        All training rows, where the table is too large to read; `X` and `y` are a sample of them then.
    n_streamed : int
        How many these are.
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
        """Rows to train on."""
        return len(self.y) if self.stream is None else self.n_streamed

    def keep(self, rows: NDArray[Any]) -> None:
        """Go on with some of the training rows."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        self.X, self.y = (part.iloc[rows].reset_index(drop=True) for part in (self.X, self.y))
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


def read_labelled(source: str, target: str | None, *, check: bool = True) -> InputTable:
    """A table with its target; with `check` classes that cannot be learned are refused."""
    notes: list[str] = []
    try:
        with collecting(notes):
            data = load(source, target)
    except DataError as error:
        raise Mistake(str(error).replace("target=...", "--target ...")) from error
    name = str(data.y.name) if target is None else target
    if check:
        check_classes(data.y, name)
    rows = np.arange(len(data.y)) if data.row_numbers is None else data.row_numbers
    table = InputTable(data.name, data.source, name, data.X, data.y, rows, None, notes)
    if data.is_divided:
        (table.X, table.y), table.holdout = data.train, data.test
        table.row_numbers = rows[data.split != "test"]
    return table


def read_for_training(source: str, target: str | None, holdout: float | None, seed: int) -> InputTable:
    """A table with rows put aside: its official test part unless `holdout` is given, else a random share."""
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
    share = 0.2 if holdout is None else holdout
    if share == 0:
        return table
    aside, moved = choose_holdout(table.y, share, seed)
    if moved:
        table.notes.append(
            f"{moved} holdout rows of rare classes went to the training part, which had too few of them."
        )
    if not aside.any():
        raise Mistake(f"--holdout {share:g} of {len(aside):,} rows is not a single row; take more, or 0.")
    X, y = table.X, table.y
    table.holdout = X[aside].reset_index(drop=True), y[aside].reset_index(drop=True)
    table.keep(~aside)
    return table


def choose_holdout(y: pd.Series, share: float, seed: int) -> tuple[NDArray[np.bool_], int]:
    """Rows drawn at random, not by class: then they are independent draws, as the certificate assumes.

    The exception are classes that would have fewer than two training rows; their rows go back.
    """
    n = len(y)
    rng = np.random.default_rng(seed)
    aside = np.zeros(n, dtype=bool)
    aside[rng.permutation(n)[: round(share * n)]] = True
    codes = pd.factorize(y)[0]
    left = np.bincount(codes[~aside], minlength=codes.max() + 1)
    moved = 0
    for code in np.flatnonzero(left < LEAST_ROWS_A_CLASS):
        back = np.flatnonzero(aside & (codes == code))[: LEAST_ROWS_A_CLASS - left[code]]
        aside[back] = False
        moved += len(back)
    return aside, moved


def check_classes(y: pd.Series, target: str) -> None:
    """Refuse a target with one class, with classes of a single row, or with numbers that are no classes."""
    counts = y.value_counts()
    if len(counts) < 2:
        raise Mistake(
            f"the target {target!r} has one class only, {str(counts.index[0])!r}; nothing can be learned."
        )
    if pd.api.types.is_float_dtype(y.dtype) and (y % 1 != 0).any():
        raise Mistake(f"the target {target!r} holds numbers with fractions; classes are needed.")
    rare = [str(label) for label, count in counts.items() if count < LEAST_ROWS_A_CLASS]
    if len(rare) > 0.5 * len(counts) and len(counts) > 20:
        raise Mistake(
            f"the target {target!r} has {len(counts):,} classes in {len(y):,} rows, most of them with one "
            "row; is it the right column?"
        )
    if rare:
        shown = ", ".join(repr(label) for label in rare[:5]) + (", ..." if len(rare) > 5 else "")
        plural = "es" if len(rare) > 1 else ""
        raise Mistake(
            f"class{plural} {shown} of the target {target!r} {'have' if plural else 'has'} fewer than "
            f"{LEAST_ROWS_A_CLASS} rows; leave them out, or join them to another class."
        )
