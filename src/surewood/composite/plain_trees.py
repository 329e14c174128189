"""Plain trees beside the composite ones: no depth limit, bootstrap, class frequencies at the leaves."""

from __future__ import annotations

import time
from typing import Any

from numpy.typing import NDArray

from surewood.composite.data import TrainingData
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.plan import Plan
from surewood.composite.setting import plain_tree_params
from surewood.estimators.time_limit import TimeLimit
from surewood.trees import Grown, grow_forest

_TIMED_TREES = 10  # fitted first, to see how many the time allows


def grow_plain(
    plan: Plan, data: TrainingData, options: SolverOptions, n_trees: int, rows: NDArray[Any] | None = None
) -> Grown:
    """Plain trees on all rows, or on some."""
    params = plain_tree_params(plan.parts[0][0].max_features)
    return grow_forest(
        data.matrix, data.y, data.n_classes, params, n_trees=n_trees, seed=plan.seed + 1,
        weight=data.weight, rows=rows, n_jobs=options.n_jobs, verbose=options.verbose,
    )  # fmt: skip


def plain_in_time(plan: Plan, data: TrainingData, options: SolverOptions, limit: TimeLimit) -> int:
    """How many of the plan's plain trees the time allows: all without a limit, never fewer than ten."""
    if limit.deadline is None or plan.n_plain <= _TIMED_TREES:
        return plan.n_plain
    started = time.monotonic()
    grow_plain(plan, data, options, _TIMED_TREES)
    seconds = (time.monotonic() - started) / _TIMED_TREES
    return min(plan.n_plain, max(_TIMED_TREES, int(limit.left / max(seconds, 1e-9))))
