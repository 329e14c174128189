"""What a fit will need, before it starts: memory by formula, time by a rough count of element updates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from surewood.composite import parameters as check
from surewood.composite.machines import CHUNK_BYTES
from surewood.composite.portfolio import IN_BAG, PILOT_ROWS, pilot_trees
from surewood.composite.rules import (
    DEGREES,
    PILOT_C,
    PLAIN_TREES_A_TREE,
    affordable_leaf,
    pilot_depths,
)
from surewood.estimators.cost import CostEstimate
from surewood.svm import gram_limit, kernel_memory

_SECONDS_A_UPDATE = 1.5e-9  # one element of a solver pass, on a core of 2020
_SECONDS_A_VISIT = 2e-8  # one row at one node of a plain tree, for one feature
_SPREAD = 8.0  # iterations depend on the data: the range of time is this factor either way


def memory_of(
    estimator: Any, n_rows: int, n_columns: int, width: int, n_classes: int
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Parts of the memory of a fit, and what to note."""
    parts, notes = kernel_memory(
        n_rows, n_columns, width, limit=gram_limit(estimator.max_memory), n_jobs=estimator.n_jobs
    )
    n_trees = int(np.max(estimator.n_estimators))
    a_point = 8.0 * max(min(n_classes, 12) - 1, 1) + 8.0  # coefficients and predictions of a machine
    work = n_rows * n_trees * len(_degrees(estimator)) * a_point
    parts["bins"] = 1.0 * n_rows * n_columns
    parts["leaves and votes"] = n_rows * n_trees * 40.0
    parts["machines"] = min(2.0 * CHUNK_BYTES, work) + n_rows * n_trees * 0.3 * a_point
    if getattr(estimator, "selection", "exact") == "auto":
        parts["plain trees"] = PLAIN_TREES_A_TREE * n_trees * n_rows * 6.0
    return parts, notes


def cost_of(estimator: Any, n_rows: int, n_columns: int, width: int, n_classes: int) -> CostEstimate:
    """Cost of a fit of this estimator on a table of this size."""
    parts, notes = memory_of(estimator, n_rows, n_columns, width, n_classes)
    n_trees = int(np.max(estimator.n_estimators))
    work = _work(estimator, n_rows, n_trees, n_classes) * _passes(estimator, n_columns)
    # Pairs of classes share the points of a leaf: each class meets every other.
    work *= max(min(n_classes, 12) - 1, 1) ** 0.5
    seconds = work * _SECONDS_A_UPDATE + 1e-4 * n_trees
    if getattr(estimator, "selection", "exact") == "auto":  # plain trees, should they get a share
        visits = PLAIN_TREES_A_TREE * n_trees * n_rows * math.log2(max(n_rows, 2)) * math.sqrt(n_columns)
        seconds += visits * _SECONDS_A_VISIT
    seconds /= effective_n_jobs(estimator.n_jobs)
    return CostEstimate.of(parts, (seconds / _SPREAD, seconds * _SPREAD), *notes)


def _degrees(estimator: Any) -> list[int]:
    return list(DEGREES) if check.is_auto(estimator.degrees) else list(check.degree_list(estimator.degrees))


def _work(estimator: Any, n_rows: int, n_trees: int, n_classes: int) -> float:
    """Element updates: about 10 passes a point of a leaf, each over the leaf."""
    degrees = len(_degrees(estimator))
    if getattr(estimator, "selection", "exact") == "auto":
        n = min(n_rows, PILOT_ROWS)
        leaf = affordable_leaf(n_rows, n_trees)
        pilot = sum(IN_BAG * n * IN_BAG * n / 2**d for d in pilot_depths(n, leaf))
        trees = pilot_trees(n, n_classes)
        first = IN_BAG * n / 2 ** pilot_depths(n, leaf)[0]
        return 10.0 * (trees * degrees * (len(PILOT_C) - 1) * pilot + n_trees * n_rows * min(first, leaf))
    # Of a grid of depths the shallowest costs most, and the deeper ones about as much again.
    depths = np.atleast_1d(4 if check.is_auto(estimator.max_depth) else estimator.max_depth)
    reached = np.minimum(depths, max(int(math.log2(max(n_rows, 2))), 0))
    leaf = float((n_rows / 2.0**reached).sum())
    tuning = 5 * 6 * degrees * min(n_rows, PILOT_ROWS) ** 2 if check.is_auto(estimator.C) else 0
    return 10.0 * (n_trees * degrees * n_rows * leaf + tuning)


def _passes(estimator: Any, n_columns: int) -> int:
    """How often the work is done: once, or for every split and every number of features of a search."""
    cv = getattr(estimator, "cv", None)
    if cv is None:
        return 1
    splits = cv if isinstance(cv, int) else 1 if isinstance(cv, float) else 5
    named = estimator.max_features
    if isinstance(named, str):
        return splits * (len(check.feature_grid(n_columns)) if named == "paper" else 1)
    return splits * len(np.atleast_1d(named))
