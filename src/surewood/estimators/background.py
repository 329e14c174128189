"""The rows that contributions compare with: a sample of the training rows, or rows that the user gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import AnyArray
from surewood.tables import FitInputs

BACKGROUND_ROWS = 200
_BACKGROUND_VALUES = 100_000
_FEWEST_ROWS = 20


def draw_background(inputs: FitInputs, hashes: NDArray[np.uint64]) -> AnyArray:
    """A sample of the rows of a fit, as the engines read them; the same in whatever order the rows came.

    Rows are put into the order of their hashes and taken at even distances, so contents with many copies
    come up as often as they should.

    Parameters
    ----------
    inputs : FitInputs
    hashes : ndarray of uint64
        Hash of the content of each row of ``inputs.given``.

    Returns
    -------
    ndarray, shape (at most 200 rows, n_columns)
        float32 where nothing is lost, else float64; fewer rows of wide tables.
    """
    assert inputs.given is not None
    n_rows = background_size(len(hashes), inputs.given.n_columns)
    places = (np.arange(n_rows) * len(hashes)) // max(n_rows, 1)
    rows = np.argpartition(hashes, places)[places] if n_rows else places
    found = np.asarray(inputs.given.take(rows).matrix())
    with np.errstate(over="ignore"):
        single = found.astype(np.float32)
    return single if np.array_equal(single, found, equal_nan=True) else found


def background_size(n_rows: int, n_columns: int) -> int:
    """Rows that a model keeps of its training table.

    Examples
    --------
    >>> background_size(1000, 20), background_size(50, 20), background_size(1000, 1000)
    (200, 50, 100)
    """
    wide = max(_FEWEST_ROWS, _BACKGROUND_VALUES // max(n_columns, 1))
    return min(n_rows, BACKGROUND_ROWS, wide)


def check_kept(kept: Any, n_categories: NDArray[np.int64], n_columns: int) -> None:
    """Refuse rows of a model file that are no table of the model's columns.

    Examples
    --------
    >>> check_kept(np.array([[0.5, 3.0]]), np.array([0, 2]), 2)
    Traceback (most recent call last):
    ValueError: background_ has a category that the model does not know.
    """
    if not isinstance(kept, np.ndarray) or kept.dtype.kind != "f" or kept.shape[1:] != (n_columns,):
        raise ValueError(f"background_ must be a matrix of numbers with {n_columns} columns.")
    if np.isinf(kept).any():
        raise ValueError("background_ must have no infinite values.")
    codes, count = kept[:, n_categories > 0], n_categories[n_categories > 0]
    known = np.isnan(codes) | ((codes >= 0) & (codes < count) & (codes == np.floor(codes)))
    if not known.all():
        raise ValueError("background_ has a category that the model does not know.")


def check_columns(name: str, X: Any, names: list[str] | None, n_columns: int) -> None:
    """Refuse rows with other columns than the training table, in one sentence.

    Examples
    --------
    >>> check_columns("background", np.zeros((2, 3)), None, 4)
    Traceback (most recent call last):
    ValueError: background must have the 4 columns of the training table, got 3.
    """
    own = [str(one) for one in getattr(X, "columns", ())] or None
    if own is not None and names is not None:
        absent = [one for one in names if one not in own]
        if absent:
            raise ValueError(f"{name} must have the columns of the training table; it lacks {absent[0]!r}.")
        extra = [one for one in own if one not in names]
        if extra:
            raise ValueError(f"{name} has a column {extra[0]!r} that the training table does not have.")
    shape = np.shape(X)
    if len(shape) == 2 and shape[1] != n_columns:
        raise ValueError(f"{name} must have the {n_columns} columns of the training table, got {shape[1]}.")
    if len(shape) and shape[0] == 0:
        raise ValueError(f"{name} has no rows.")
