"""How much each column adds to the predictions of any classifier: `contributions`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from surewood.estimators.base import ClassifierBase
from surewood.estimators.contributing import Groups, pool_contributions
from surewood.estimators.contributions import Contributions
from surewood.inspect.opening import open_rows, unwrap
from surewood.tables import plain

__all__ = ["Contributions", "contributions"]


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

    Where values are sampled and there are more than 1,000 columns (groups count as one), the 250 with the
    largest ``feature_importances_`` are looked at one by one, and all others are one group with one value,
    named "1,750 other columns" or the like. Without such importances there are 250 groups of neighbouring
    columns. Exact values are not joined.

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
        found = classifier.contributions(opened.X, opened.background, groups=opened.groups, **options)
    elif background is None:
        raise ValueError(
            f"{type(classifier).__name__} keeps no rows to compare with; give background, such as 200 rows "
            "of the training table."
        )
    else:
        found = pool_contributions(open_rows(opened), opened.groups, **options)
    if opened.raw is None:
        return found
    raw = opened.raw
    own = set(raw.columns)
    cells = [
        [plain_cell(raw[name].iloc[row]) if name in own else cell for name, cell in zip(found.columns, shown)]
        for row, shown in enumerate(found.cells)
    ]
    return replace(found, cells=cells)


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
