"""Folds by which classifiers are compared: stratified, and groups stay whole."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedGroupKFold, StratifiedKFold

from surewood.workflow.errors import WorkflowError

Split = tuple[NDArray[np.int64], NDArray[np.int64]]

__all__ = ["Split", "divided_groups", "grouped_splits", "make_splits"]


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


def grouped_splits(cv: Any, y: pd.Series, groups: NDArray[Any], random_state: int = 0) -> list[Split] | None:
    """The splits of an estimator's `cv` for rows in groups; None where it is none that rows can be given to.

    An integer becomes folds of whole groups, a splitter is given the groups, and pairs of index arrays are
    taken as they are. Whether the last two keep groups whole, :func:`divided_groups` says.

    Examples
    --------
    >>> from sklearn.model_selection import GroupKFold
    >>> y, groups = pd.Series([0, 0, 1, 1]), np.array(["p", "q", "p", "q"])
    >>> [held.tolist() for _, held in grouped_splits(GroupKFold(2), y, groups)]
    [[1, 3], [0, 2]]
    """
    if isinstance(cv, bool) or cv is None or isinstance(cv, str):
        return None
    if isinstance(cv, int):
        return make_splits(y, min(max(cv, 2), len(np.unique(groups))), 1, random_state, groups)
    if callable(getattr(cv, "split", None)):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            try:
                return list(cv.split(np.zeros(len(y)), y, groups))
            except ValueError as error:
                raise WorkflowError(f"cv={type(cv).__name__}: {error}") from None
    if isinstance(cv, Iterable):
        return [(np.asarray(train), np.asarray(held)) for train, held in cv]
    return None


def divided_groups(splits: Iterable[Split], groups: NDArray[Any]) -> list[str]:
    """Groups with rows on both sides of some split.

    Examples
    --------
    >>> divided_groups([(np.array([0, 1]), np.array([2]))], np.array(["p", "q", "p"]))
    ['p']
    """
    found: set[str] = set()
    for train, held in splits:
        found |= set(groups[train].astype(str).tolist()) & set(groups[held].astype(str).tolist())
    return sorted(found)
