"""Folds by which classifiers are compared: stratified, and groups stay whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedGroupKFold, StratifiedKFold

from surewood.workflow.errors import WorkflowError

Split = tuple[NDArray[np.int64], NDArray[np.int64]]


def make_splits(
    y: pd.Series, n_folds: int, n_repeats: int, random_state: int, groups: NDArray[Any] | None = None
) -> list[Split]:
    """Stratified folds, the same for all classifiers; with groups no group is on both sides of a split.

    Examples
    --------
    >>> splits = make_splits(pd.Series([0, 0, 1, 1]), 2, 1, 0, np.array(["p", "q", "p", "q"]))
    >>> [held.tolist() for _, held in splits]
    [[1, 3], [0, 2]]
    """
    rows = np.zeros(len(y))
    if groups is None:
        if n_repeats == 1:
            return list(StratifiedKFold(n_folds, shuffle=True, random_state=random_state).split(rows, y))
        splitter = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=random_state)
        return list(splitter.split(rows, y))
    n_groups = len(np.unique(groups))
    if n_groups < n_folds:
        raise WorkflowError(
            f"there are {n_groups} groups for {n_folds} folds; take folds={max(2, n_groups)}."
        )
    found: list[Split] = []
    for repeat in range(n_repeats):
        grouped = StratifiedGroupKFold(n_folds, shuffle=True, random_state=random_state + repeat)
        found += list(grouped.split(rows, y, groups))
    return found
