"""RF of theory.md §2.12: bagging, random feature subsets, unpruned trees, class frequencies at the leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier


def numbers(X: pd.DataFrame) -> NDArray[np.float32]:
    """A table as numbers; categories as their codes."""
    columns = [
        X[name].cat.codes if isinstance(X[name].dtype, pd.CategoricalDtype) else X[name] for name in X.columns
    ]
    return np.column_stack(columns).astype(np.float32)


def prefix_labels(
    X: NDArray[Any],
    y: NDArray[Any],
    evaluated: NDArray[Any],
    max_features: int,
    sizes: Sequence[int],
    seed: int,
    n_jobs: int,
) -> NDArray[np.int64]:
    """Labels of the evaluated rows by the first 100, 200, ... trees, shape (sizes, rows)."""
    forest = RandomForestClassifier(
        max(sizes), max_features=max_features, bootstrap=True, random_state=seed, n_jobs=n_jobs
    ).fit(X, y)
    total = np.zeros((len(evaluated), len(forest.classes_)))
    labels = np.zeros((len(sizes), len(evaluated)), dtype=np.int64)
    for number, tree in enumerate(forest.estimators_, start=1):
        total += tree.predict_proba(evaluated)
        if number in sizes:
            labels[list(sizes).index(number)] = forest.classes_[total.argmax(axis=1)]
    return labels
