"""Rows to explain together with background rows, from whose cells mixed rows are made.

:class:`MatrixPool` holds a matrix (of any type), :class:`FramePool` a frame of pandas with its own types.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pandas as pd

from surewood._arrays import AnyArray, Counts


class RowPool(Protocol):
    """Rows from which mixed rows are made."""

    columns: list[str]

    def codes(self) -> Counts:
        """Numbers of the cells, shape (n_pool, n_columns): the same for equal cells of a column."""
        ...

    def mixed(self, at: Counts) -> Any:
        """Rows whose cell in column j is that of row ``at[:, j]`` of the pool."""
        ...


class MatrixPool:
    """Rows of one matrix.

    Examples
    --------
    >>> pool = MatrixPool(np.array([[1.0, 2.0]]), np.array([[1.0, 5.0]]), ["a", "b"])
    >>> pool.codes().tolist(), pool.mixed(np.array([[0, 1]])).tolist()
    ([[0, 0], [0, 1]], [[1.0, 5.0]])
    """

    def __init__(self, rows: AnyArray, background: AnyArray, columns: list[str]) -> None:
        self.values = np.concatenate([rows, background])
        self.columns = columns

    def codes(self) -> Counts:
        """Numbers of the cells."""
        found = [pd.factorize(column, use_na_sentinel=False)[0] for column in self.values.T]
        return np.array(found, dtype=np.int64).reshape(self.values.shape[1], -1).T

    def mixed(self, at: Counts) -> AnyArray:
        """Rows with cells of the pool's rows."""
        return np.take_along_axis(self.values, at, axis=0)


class FramePool:
    """Rows of a frame; every column keeps its type.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [20, 40], "job": ["clerk", "baker"]})
    >>> FramePool(frame[:1], frame[1:]).mixed(np.array([[0, 1]])).values.tolist()
    [[20, 'baker']]
    """

    def __init__(self, rows: pd.DataFrame, background: pd.DataFrame) -> None:
        self.columns = [str(name) for name in rows.columns]
        self._names = rows.columns
        self._values = [_joined(rows.iloc[:, j], background.iloc[:, j]) for j in range(rows.shape[1])]

    def codes(self) -> Counts:
        """Numbers of the cells."""
        found = [pd.factorize(column, use_na_sentinel=False)[0] for column in self._values]
        return np.array(found, dtype=np.int64).T

    def mixed(self, at: Counts) -> pd.DataFrame:
        """Rows with cells of the pool's rows."""
        taken = {j: column.take(at[:, j]) for j, column in enumerate(self._values)}
        frame = pd.DataFrame(taken, copy=False)
        frame.columns = self._names
        return frame


def _joined(rows: pd.Series, background: pd.Series) -> Any:
    """Two columns one after the other, in the type of the first where both have the same."""
    kinds = (rows.dtype, background.dtype)
    if kinds[0] != kinds[1] and all(isinstance(kind, pd.CategoricalDtype) for kind in kinds):
        return pd.api.types.union_categoricals([rows, background], ignore_order=True)
    return pd.concat([rows, background], ignore_index=True).array
