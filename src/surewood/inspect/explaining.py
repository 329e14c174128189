"""How much each column adds to the predictions of any classifier: `contributions`.

:func:`unwrap` finds the classifier inside decision rules and pipelines that prepare tables, and prepares the
rows once: parts of a date or of free text then count as one column of the user's table. :func:`open_rows`
makes the rows ready for mixing: our classifiers read them once, every other model gets rows of the type that
it was given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from surewood.base.base import ClassifierBase
from surewood.base.contributions import (
    Contributions,
    FramePool,
    Groups,
    MatrixPool,
    OpenedRows,
    background_matrix,
    check_columns,
    pool_contributions,
    table_pool,
)
from surewood.tables import TablePreparer, plain
from surewood.tables.preparing import as_frame


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


def open_rows(unwrapped: Unwrapped) -> OpenedRows:
    """Rows, and background rows if any, ready for mixing.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> open_rows(unwrap(LogisticRegression().fit(X, [0, 0, 1]), X)).pool.columns
    ['x0']
    """
    model, background = unwrapped.classifier, unwrapped.background
    if isinstance(model, ClassifierBase):
        rows = None if background is None else background_matrix(model, background)
        return table_pool(model, unwrapped.X, rows)
    X, background = _pandas(unwrapped.X), _pandas(background)
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
        return [[None if pd.isna(value) else plain(value) for value in row] for row in values.tolist()]

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


def contributions(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    groups: Groups = None,
    n_orders: int | None = None,
    random_state: Any = 0,
) -> Contributions:
    """How much each column adds to, or takes from, the predicted probabilities of rows (Shapley values).

    Parameters
    ----------
    model : fitted classifier
        One of ours, a saved model, or any other with ``predict_proba``, pipelines included.
    X : table
        Rows to explain.
    background : table, optional
        Rows to compare with, such as 200 rows of the training table. Our classifiers keep such rows; all
        others need it.
    groups : dict of str to list of str, optional
        Columns that count as one, by the name of the group.
    n_orders, random_state
        As in the method ``contributions`` of every classifier: orders of the columns per row where values are
        sampled, and the seed of the sampling.

    Returns
    -------
    Contributions
        A value per row, column and class.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    >>> found = contributions(model, X[:2], background=X)
    >>> found.values.shape
    (2, 13, 3)
    >>> import numpy as np
    >>> bool(np.allclose(found.predictions, model.predict_proba(X[:2])))
    True
    """
    opened = unwrap(model, X, background, groups)
    classifier = opened.classifier
    options = {"n_orders": n_orders, "random_state": random_state}
    if isinstance(classifier, ClassifierBase):
        result = classifier.contributions(opened.X, opened.background, groups=opened.groups, **options)
    elif background is None:
        raise ValueError(
            f"{type(classifier).__name__} keeps no rows to compare with; give background, such as 200 rows "
            "of the training table."
        )
    else:
        result = pool_contributions(open_rows(opened), opened.groups, **options)
    if opened.raw is None:
        return result
    raw = opened.raw
    columns = set(raw.columns)
    cells = [
        [
            plain_cell(raw[name].iloc[row]) if name in columns else cell
            for name, cell in zip(result.columns, shown)
        ]
        for row, shown in enumerate(result.cells)
    ]
    return replace(result, cells=cells)


def plain_cell(value: Any) -> Any:
    """What stands in a cell: None where it is missing, days as days.

    Examples
    --------
    >>> plain_cell(pd.Timestamp("2020-06-19")), plain_cell(float("nan"))
    ('2020-06-19', None)
    """
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    is_day = isinstance(value, pd.Timestamp) and value == value.normalize()
    return value.date().isoformat() if is_day else plain(value)
