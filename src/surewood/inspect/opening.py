"""Any classifier with the rows that are to be looked at: ours, pipelines that prepare tables, and others.

:func:`unwrap` finds the classifier inside decision rules and pipelines that prepare tables, and prepares the
rows once: parts of a date or of free text then count as one column of the user's table. :func:`open_rows`
makes the rows ready for mixing: our classifiers read them once, every other model gets rows of the type that
it was given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from surewood.estimators.background import check_columns
from surewood.estimators.base import ClassifierBase
from surewood.estimators.contributing import Groups, OpenedRows, background_matrix, table_pool
from surewood.estimators.row_pools import FramePool, MatrixPool
from surewood.tables import TablePreparer, plain
from surewood.tables.preparing import as_frame

__all__ = ["Unwrapped", "open_rows", "unwrap"]


@dataclass(frozen=True)
class Unwrapped:
    """A classifier with rows as it takes them.

    Attributes
    ----------
    classifier : fitted classifier
    X, background : tables
        `background` may be None.
    groups : dict of str to list of str, or None
        Columns that count as one.
    raw : DataFrame or None
        The rows before they were prepared, where they were.
    """

    classifier: Any
    X: Any
    background: Any
    groups: Groups
    raw: pd.DataFrame | None = None


def unwrap(model: Any, X: Any, background: Any = None, groups: Groups = None) -> Unwrapped:
    """The classifier inside a saved model, a pipeline that prepares tables, or a decision rule.

    Examples
    --------
    >>> from surewood import BinnedForestClassifier
    >>> from surewood.tables import TablePreparer
    >>> frame = pd.DataFrame({"born": ["1990-02-01", "1985-07-30", "1999-01-09"] * 9, "pay": range(27)})
    >>> model = Pipeline([("prepare", TablePreparer()), ("forest", BinnedForestClassifier(3))])
    >>> found = unwrap(model.fit(frame, [0, 1, 1] * 9), frame)
    >>> type(found.classifier).__name__, list(found.groups)
    ('BinnedForestClassifier', ['born'])
    """
    model = getattr(model, "pipeline", model)
    raw = None
    if isinstance(model, Pipeline) and len(model.steps) == 2 and isinstance(model[0], TablePreparer):
        preparer: TablePreparer = model[0]
        raw = as_frame(X)
        X, groups = preparer.transform(raw), {**preparer.parts_, **(groups or {})}
        background = None if background is None else preparer.transform(background)
        model = model[-1]
    ruled = getattr(model, "model", None)
    if isinstance(ruled, ClassifierBase):
        model = ruled
    if not callable(getattr(model, "predict_proba", None)) and not isinstance(model, ClassifierBase):
        raise TypeError(f"model must have a predict_proba method, got {type(model).__name__}.")
    return Unwrapped(model, X, background, groups, raw)


def open_rows(found: Unwrapped) -> OpenedRows:
    """Rows, and background rows if any, ready for mixing.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> open_rows(unwrap(LogisticRegression().fit(X, [0, 0, 1]), X)).pool.columns
    ['x0']
    """
    model, background = found.classifier, found.background
    if isinstance(model, ClassifierBase):
        own = None if background is None else background_matrix(model, background)
        return table_pool(model, found.X, own)
    X, background = _pandas(found.X), _pandas(background)
    if isinstance(X, pd.DataFrame):
        background = X.iloc[:0] if background is None else background
        pool, values = _frame_pool(X, background), X.to_numpy(dtype=object)
    else:
        values = np.asarray(X)
        if background is None:
            background = values[:0]
        else:
            check_columns("background", background, None, values.shape[1])
        pool = MatrixPool(values, np.asarray(background), [f"x{j}" for j in range(values.shape[1])])

    def cells() -> list[list[Any]]:
        return [[None if pd.isna(one) else plain(one) for one in row] for row in values.tolist()]

    return OpenedRows(pool, model.predict_proba, len(values), np.asarray(model.classes_), cells, model)


def _frame_pool(X: pd.DataFrame, background: Any) -> Any:
    names = [str(name) for name in X.columns]
    if len(background):
        check_columns("background", background, names, len(names))
    if not isinstance(background, pd.DataFrame):
        background = pd.DataFrame(np.asarray(background), columns=X.columns)
    return FramePool(X, background[list(X.columns)])


def _pandas(X: Any) -> Any:
    """Frames of polars and Arrow as those of pandas; sparse matrices dense; all else as it is."""
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    return X.toarray() if hasattr(X, "toarray") else X
