"""Splits of a search: contents, not rows, are dealt to the two sides.

Rows with equal values are one content, whatever their labels, and all of its copies lie on the same side.
Which side is a function of the seed and of all contents: neither the order of the rows nor the number of
copies matters, so weight 2 is the row twice. Only pairs of row numbers are followed row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.estimators.folds import given_splits, shuffled_folds, splits_of, validation_split
from surewood.tables import FitInputs
from surewood.tables.row_hashes import row_hashes

Split = tuple[NDArray[np.int64], NDArray[np.int64]]  # training and held-out rows, ascending


@dataclass(frozen=True)
class Splits:
    """Rows, and the splits of them; none where all rows are equal."""

    inputs: FitInputs
    pairs: list[Split]


def make_splits(cv: Any, given: FitInputs, merged: FitInputs, seed: int) -> Splits:
    """The splits of a sample, given row by row and with equal rows merged.

    A fraction is one validation part, an integer a number of folds. A splitter is applied to the merged
    rows in the order of their contents; pairs of row numbers refer to the rows as given.
    """
    if given.n_counted < 2:
        raise ValueError(f"{given.n_counted} sample cannot be split; give at least 2 rows.")
    content = contents(merged)
    n_contents = int(content.max(initial=-1)) + 1
    if n_contents < 2:
        return Splits(merged, [])
    if isinstance(cv, float):
        [(_, held)] = validation_split(n_contents, cv, [seed, 4])
        return Splits(merged, splits_of(np.isin(content, held).astype(np.int64))[1:])
    if isinstance(cv, int):
        fold = shuffled_folds(n_contents, min(cv, n_contents), [seed, 4])
        return Splits(merged, splits_of(fold[content]))
    if callable(getattr(cv, "split", None)):
        found = enumerate(given_splits(cv, merged.y))
        return Splits(merged, [_apart(train, held, content, k) for k, (train, held) in found])
    return Splits(given, [_checked(train, held, given, k) for k, (train, held) in enumerate(cv)])


def contents(merged: FitInputs) -> NDArray[np.int64]:
    """Number of the content of each merged row, in the order of a hash of the values."""
    hashes = row_hashes(merged.table, np.zeros(merged.table.n_rows, dtype=np.int32))
    return np.unique(hashes, return_inverse=True)[1].astype(np.int64)


def _apart(train: NDArray[Any], held: NDArray[Any], content: NDArray[np.int64], k: int) -> Split:
    """A split without contents on both sides: what has a copy among the training rows is not held out."""
    train, held = np.sort(train), np.sort(held)
    held = held[~np.isin(content[held], content[train])]
    if not (len(train) and len(held)):
        raise ValueError(
            f"split {k} of cv has no training row, or no held-out row that differs from all of them."
        )
    return train, held


def _checked(train: Any, held: Any, given: FitInputs, k: int) -> Split:
    """A pair of row numbers, those of weight 0 left out."""
    n_rows = given.table.n_rows
    parts = []
    for rows in (np.asarray(train), np.asarray(held)):
        at = np.flatnonzero(rows) if rows.dtype == bool else np.sort(rows.astype(np.int64))
        if len(at) and not (at[0] >= 0 and at[-1] < n_rows):
            raise ValueError(f"split {k} of cv has row numbers outside 0 to {n_rows - 1}.")
        parts.append(at if given.weight is None else at[given.weight[at] > 0])
    if not (len(parts[0]) and len(parts[1])):
        raise ValueError(f"split {k} of cv has no training row or no held-out row of positive weight.")
    return parts[0], parts[1]
