"""Tables of many columns: those that a model hardly uses are looked at together.

Explaining a prediction, or shuffling columns one by one, takes a number of predictions that grows with the
number of columns, and the time of each grows with it too. In a table of 40,000 columns the least important
ones therefore count as one group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: Most columns, or groups of them, that are looked at one by one.
MOST_COLUMNS = 1000
KEPT_COLUMNS = 250


def with_least_important_joined(
    model: Any, names: Sequence[str], positions: Sequence[Sequence[int]]
) -> tuple[list[str], list[list[int]]]:
    """Groups of columns, of which at most `MOST_COLUMNS` remain.

    Where there are more, the `KEPT_COLUMNS` with the largest ``feature_importances_`` stay, and all others
    are one group. A model without importances gets groups of neighbouring columns.

    Parameters
    ----------
    model : fitted classifier
    names, positions : as :func:`~surewood.estimators.contributions.group_positions` returns them

    Examples
    --------
    >>> class Model:
    ...     feature_importances_ = np.arange(2000.0)
    >>> names, positions = [f"x{j}" for j in range(2000)], [[j] for j in range(2000)]
    >>> names, positions = with_least_important_joined(Model(), names, positions)
    >>> names[0], names[-1], len(positions), len(positions[-1])
    ('x1750', '1,750 other columns', 251, 1750)
    """
    if len(names) <= MOST_COLUMNS:
        return list(names), [list(own) for own in positions]
    n_columns = sum(map(len, positions))
    importances = np.asarray(getattr(model, "feature_importances_", np.zeros(0)), dtype=np.float64)
    if importances.shape != (n_columns,) or not (importances > 0).any():
        return _neighbours(names, positions)
    by_group = np.array([importances[list(own)].sum() for own in positions])
    kept = np.sort(np.argsort(-by_group, kind="stable")[:KEPT_COLUMNS])
    others = np.setdiff1d(np.arange(len(names)), kept)
    joined = [j for g in others.tolist() for j in positions[g]]
    name = f"{len(others):,} other columns"
    return [*(names[g] for g in kept), name], [*(list(positions[g]) for g in kept), joined]


def _neighbours(
    names: Sequence[str], positions: Sequence[Sequence[int]]
) -> tuple[list[str], list[list[int]]]:
    parts = np.array_split(np.arange(len(names)), KEPT_COLUMNS)
    shown = [f"{names[part[0]]} to {names[part[-1]]} ({len(part):,} columns)" for part in parts]
    return shown, [[j for g in part.tolist() for j in positions[g]] for part in parts]
