"""Splits of a search: contents, not rows, are dealt to the two sides.

Rows with equal values are one content, whatever their labels, and all of its copies lie on the same side.
Which side is a function of the seed and of all contents: neither the order of the rows nor the number of
copies matters, so weight 2 is the row twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.estimators.folds import given_splits, shuffled_folds, splits_of, validation_split
from surewood.tables import FitInputs
from surewood.tables.row_hashes import row_hashes

Split = tuple[
    NDArray[np.int64], NDArray[np.int64]
]  # training and held-out rows of the merged table, ascending


def make_splits(cv: Any, inputs: FitInputs, seed: int) -> list[Split]:
    """(training, held-out) rows of the merged table.

    A fraction is one validation part, an integer a number of folds. A splitter is applied to the merged
    rows in the order of their contents; pairs of row numbers refer to the rows as given.
    """
    n_rows = inputs.table.n_rows
    content = contents(inputs)
    n_contents = int(content.max(initial=-1)) + 1
    if n_contents < 2:
        raise ValueError(f"cv needs at least 2 distinct rows, got {n_contents}.")
    if isinstance(cv, float):
        [(_, held)] = validation_split(n_contents, cv, [seed, 4])
        is_held = np.isin(content, held)
        return [(np.flatnonzero(~is_held), np.flatnonzero(is_held))]
    if isinstance(cv, int):
        fold = shuffled_folds(n_contents, min(cv, n_contents), [seed, 4])
        return splits_of(fold[content])
    if callable(getattr(cv, "split", None)):
        return [_apart(train, held, content, k) for k, (train, held) in enumerate(given_splits(cv, inputs.y))]
    place = np.arange(n_rows) if inputs.inverse is None else inputs.inverse
    return [
        _apart(_merged_rows(train, place, k), _merged_rows(held, place, k), content, k)
        for k, (train, held) in enumerate(cv)
    ]


def contents(inputs: FitInputs) -> NDArray[np.int64]:
    """Number of the content of each row of the merged table, in the order of a hash of the values."""
    hashes = row_hashes(inputs.table, np.zeros(inputs.table.n_rows, dtype=np.int32))
    return np.unique(hashes, return_inverse=True)[1].astype(np.int64)


def _merged_rows(rows: Any, place: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Rows of the merged table that some rows of X became; rows of weight 0 became none."""
    given = np.asarray(rows)
    given = np.flatnonzero(given) if given.dtype == bool else given.astype(np.int64)
    if len(given) and not (given.min() >= 0 and given.max() < len(place)):
        raise ValueError(f"split {k} of cv has row numbers outside 0 to {len(place) - 1}.")
    found = np.unique(place[given])
    return found[found >= 0]


def _apart(train: NDArray[Any], held: NDArray[Any], content: NDArray[np.int64], k: int) -> Split:
    """A split without contents on both sides: what has a copy among the training rows is not held out."""
    train, held = np.sort(train), np.sort(held)
    held = held[~np.isin(content[held], content[train])]
    if not (len(train) and len(held)):
        raise ValueError(
            f"split {k} of cv has no training row, or no held-out row that differs from all of them."
        )
    return train, held
