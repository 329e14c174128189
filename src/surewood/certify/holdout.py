"""Reading a holdout: labels, probabilities, and a named column or array as groups or times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from surewood._arrays import Floats, Mask

__all__ = ["as_times", "group_labels", "probabilities_of", "reaches", "read_labels"]

MISSING = "(missing)"
_NEAR = 1e-9  # relative


def read_labels(model: Any, X: Any, y: Any) -> NDArray[Any]:
    """Labels of the rows, checked against the table and the model."""
    truth = np.asarray(column_or_1d(y))
    if truth.shape[0] == 0:
        raise ValueError("X and y must have at least one row")
    check_consistent_length(X, truth)
    if pd.isna(truth).any():
        raise ValueError("y must not have missing labels")
    known = getattr(model, "classes_", None)
    if isinstance(known, np.ndarray) and known.ndim == 1 and not np.isin(truth, known).any():
        raise ValueError(f"y must hold labels the model knows, such as {known[0]}; got {truth[0]}")
    return truth


def probabilities_of(model: Any, X: Any, n: int | None = None) -> Floats:
    """Probabilities of the model, checked: one row per row of X, sums of one."""
    if not callable(getattr(model, "predict_proba", None)):
        raise TypeError(f"model must have a predict_proba method, got {type(model).__name__}")
    p = np.asarray(model.predict_proba(X), dtype=np.float64)
    if p.ndim != 2 or (n is not None and p.shape[0] != n):
        raise ValueError(f"model.predict_proba must return one row per row of X, got shape {p.shape}")
    if not np.isfinite(p).all() or p.min(initial=0.0) < -1e-9:
        raise ValueError("model.predict_proba must return probabilities, got negative or missing values")
    if not np.allclose(p.sum(axis=1), 1.0, atol=1e-6):
        raise ValueError("model.predict_proba must return probabilities that sum to one")
    return p


def reaches(scores: Floats, threshold: Floats | float) -> Mask:
    """Which scores are at least the threshold, those closer to it than rounding included ([D-41]).

    A threshold may be the score of many equal rows, and the last digits of a probability depend on how many
    rows are predicted at once.

    Examples
    --------
    >>> reaches(np.array([0.3 - 1e-15, 0.2]), 0.3).tolist()
    [True, False]
    """
    return np.asarray(scores >= threshold - _NEAR * np.abs(threshold))


def _frame(X: Any) -> pd.DataFrame:
    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "to_pandas"):
        return pd.DataFrame(X.to_pandas())
    if hasattr(X, "toarray"):
        X = X.toarray()
    return pd.DataFrame(np.asarray(X))


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
