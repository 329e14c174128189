"""Arrays, nested lists and sparse matrices: numbers are read as they are, all else as a frame is."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from surewood.tables.frame_source import FrameSource, category_values, codes_of
from surewood.tables.source import LARGEST_EXACT, NUMBER, Source


def open_array(X: Any) -> Source:
    """A source for an array, a nested list or a sparse matrix."""
    X = _without_masks(_without_lists(X))
    return FrameSource(pd.DataFrame(X), by_position=True) if _beyond_numbers(X) else ArraySource(X)


class ArraySource(Source):
    """A homogeneous array of numbers, a nested list or a sparse matrix."""

    names = None

    def __init__(self, X: Any) -> None:
        try:
            # It adds up values, and a sum of single-precision ones may overflow.
            with np.errstate(over="ignore", invalid="ignore"):
                self.array = check_array(
                    X, accept_sparse="csc", ensure_all_finite="allow-nan", input_name="X"
                )
        except OverflowError:
            raise ValueError("Input X contains a number too large for a float.") from None
        if self.array.dtype == np.longdouble:
            with np.errstate(over="ignore"):
                self.array = self.array.astype(np.float64)
            values = self.array.data if sp.issparse(self.array) else self.array
            if np.isinf(values).any():
                raise ValueError("Input X contains a number too large for a float.")
        self.n_rows, self.n_columns = self.array.shape

    def label(self, j: int) -> str:
        return str(j)

    def kind(self, j: int) -> str:
        return NUMBER

    def _series(self, j: int) -> pd.Series:
        values = self.array[:, [j]].toarray().ravel() if sp.issparse(self.array) else self.array[:, j]
        return pd.Series(values)

    def categories(self, j: int) -> list[Any]:
        return category_values(self._series(j))

    def codes(self, j: int, index: pd.Index) -> NDArray[np.float64]:
        return codes_of(self._series(j), index)

    def numbers(self, j: int) -> NDArray[np.float64]:
        return self._series(j).to_numpy(dtype=np.float64)

    def rounded_columns(self) -> list[int]:
        if self.array.dtype not in (np.int64, np.uint64) or sp.issparse(self.array) or not self.array.size:
            return []
        if self.array.min() >= -LARGEST_EXACT and self.array.max() <= LARGEST_EXACT:
            return []
        outside = (self.array > LARGEST_EXACT) | (self.array < -LARGEST_EXACT)
        return [int(j) for j in np.flatnonzero(outside.any(axis=0))]

    def refuse_infinities(self, is_number: list[bool]) -> None:
        """Arrays were checked on entry."""


_BEYOND_NUMBERS = (str, type(pd.NA), datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)


def _without_lists(X: Any) -> Any:
    """A nested list as an array; of objects where there is text, or NumPy would make text of the numbers."""
    if isinstance(X, list | tuple):
        try:
            read = np.asarray(X)
        except (ValueError, TypeError, OverflowError):  # ragged and the like: check_array finds the words
            return X
        return np.array(X, dtype=object) if read.dtype.kind == "U" else read
    return X


def _without_masks(X: Any) -> Any:
    """NaN in the place of masked values; NumPy's own strings as objects."""
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "biuf":
        if not np.ma.getmaskarray(X).any():
            return X.data
        return np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
    return X.astype(object) if isinstance(X, np.ndarray) and X.dtype.kind == "T" else X


def _beyond_numbers(X: Any) -> bool:
    """Whether it is an array of two dimensions with text, times or missing objects in it."""
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return False
    return X.dtype.kind in "UMm" or (
        X.dtype == object and any(isinstance(value, _BEYOND_NUMBERS) for value in X.ravel())
    )
