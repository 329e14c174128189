"""Columns of a user's table: which are discrete, and a named column or array as labels or times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["as_times", "discrete_columns", "group_labels", "values_repeat"]

MOST_VALUES = 50  # different integers up to which a column counts as discrete
MISSING = "(missing)"


def _frame(X: Any) -> pd.DataFrame:
    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "to_pandas"):
        return pd.DataFrame(X.to_pandas())
    if hasattr(X, "toarray"):
        X = X.toarray()
    return pd.DataFrame(np.asarray(X))


def discrete_columns(X: Any) -> bool:
    """Whether every column is a category, a boolean, text, or an integer with at most 50 values.

    Floating-point columns count when all their values are whole numbers: that is how integers with missing
    values are stored.
    """
    frame = _frame(X)
    return frame.shape[1] > 0 and all(_is_discrete(frame.iloc[:, j]) for j in range(frame.shape[1]))


def _is_discrete(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(column.dtype):
        return True
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.dropna().to_numpy()
        whole = pd.api.types.is_integer_dtype(column.dtype) or bool((values == np.round(values)).all())
        return whole and len(np.unique(values)) <= MOST_VALUES
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return False
    return int(column.nunique()) <= MOST_VALUES


def values_repeat(X: Any) -> bool:
    """Whether rows are enough to tell that columns have few values: on average each occurs twice.

    Categories and booleans say themselves what they are.

    Examples
    --------
    >>> values_repeat([[0, 1], [1, 1], [0, 0], [1, 0]]), values_repeat([[7, 1], [3, 1]])
    (True, False)
    """
    frame = _frame(X)
    own = [column for _, column in frame.items() if not isinstance(column.dtype, pd.CategoricalDtype)]
    unsure = [column for column in own if not pd.api.types.is_bool_dtype(column.dtype)]
    return all(2 * int(column.nunique()) <= len(frame) for column in unsure)


def group_labels(groups: Any, X: Any, n: int, name: str = "groups") -> tuple[NDArray[Any], str]:
    """Label of each row's group as text, and what the groups are called.

    Parameters
    ----------
    groups : str, list of str or array
        A column of `X`, several columns (their combinations), or one label per row.
    X : table
    n : int
        Number of rows.
    name : str
        Name of the argument, for errors.
    """
    names = [groups] if isinstance(groups, str) else groups
    if isinstance(names, list) and names and len(names) != n and all(isinstance(item, str) for item in names):
        frame = _frame(X)
        absent = [item for item in names if item not in frame.columns]
        if absent:
            raise ValueError(f"{name} must name a column of X or have one label per row, got {absent[0]!r}")
        columns = [_texts(frame[item].to_numpy()) for item in names]
        return np.array([", ".join(parts) for parts in zip(*columns)], dtype=object), " and ".join(names)
    labels = np.asarray(groups, dtype=object)
    if labels.shape != (n,):
        raise ValueError(f"{name} must have one label per row ({n}), got shape {labels.shape}")
    named = isinstance(groups, pd.Series) and groups.name is not None
    return np.array(_texts(labels), dtype=object), str(groups.name) if named else "group"


def _texts(values: NDArray[Any]) -> list[str]:
    return [MISSING if pd.isna(value) else _text(value) for value in values]


def _text(value: Any) -> str:
    """A value as text: 1 and 1.0 are the same group, and so are names with and without blanks around them."""
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value).strip()


def as_times(time: Any, X: Any, n: int) -> NDArray[np.float64]:
    """Times as numbers, from a column's name, dates or numbers."""
    values = _frame(X)[time].to_numpy() if isinstance(time, str) and time in _frame(X).columns else time
    array = np.asarray(values)
    if array.shape != (n,):
        raise ValueError(f"time must name a column of X or have one value per row ({n}), got {time!r:.60}")
    try:
        if array.dtype.kind in "iuf":
            times = array.astype(np.float64)
        else:
            times = (
                pd.to_datetime(pd.Series(array), format="mixed")
                .to_numpy()
                .astype("datetime64[ns]")
                .astype(np.float64)
            )
    except (ValueError, TypeError):
        times = np.full(n, np.nan)
    if np.isnan(times).any() or pd.isna(array).any():
        raise ValueError("time must hold numbers or dates that can be read, without missing values")
    return times
