"""What a fit will need, before it starts: memory by formula, time by a rough count of element updates."""

from __future__ import annotations

import math

import numpy as np
from joblib import effective_n_jobs

from surewood.composite.data import worth_storing
from surewood.composite.depths import affordable_leaf, pilot_depths
from surewood.composite.memory import Shape, n_degrees, stages
from surewood.composite.parameters import is_auto
from surewood.composite.pilot import IN_BAG, PILOT_ROWS, pilot_trees
from surewood.composite.plan import PILOT_C, PLAIN_TREES_PER_TREE, Parameters
from surewood.composite.tuning import C_GRID, N_FOLDS
from surewood.estimators.cost import CostEstimate
from surewood.svm import Gram, gram_limit, kernel_memory

_SECONDS_PER_UPDATE = 5e-10  # one element of a solver pass, on a core of 2020
_SECONDS_PER_VISIT = 2e-8  # one row at one node of a plain tree, for one feature
_SPREAD = 8.0  # iterations depend on the data: the range of time is this factor either way
_SECONDS_PER_PAIR = 1.5e-6  # of classes: an SVM of few points, begun and ended
_PASSES_PER_POINT = 10.0  # over its leaf, until an SVM has converged


def needed_memory(
    given: Parameters, shape: Shape, max_memory: int | None, n_jobs: int | None
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Parts of the memory of a fit, and what to note."""
    n_rows = shape.n_rows
    stored = worth_storing(n_rows, shape.width, products_read(given, n_rows))
    limit = gram_limit(max_memory)
    parts, notes = kernel_memory(n_rows, shape.n_columns, shape.width, limit=limit if stored else 0)
    if not stored and Gram.bytes_stored(n_rows) <= limit:
        notes = ()  # to save time, not memory
    parts["bins"] = 1.0 * n_rows * shape.n_columns
    n_trees = _n_trees(given)
    found = stages(given, shape, n_trees, affordable_leaf(n_rows, n_trees), n_jobs)
    largest = max(found, key=lambda name: found[name])
    parts[largest] = found[largest]
    return parts, notes


def products_read(given: Parameters, n_rows: int) -> float:
    """Inner products that the SVMs of a default forest read, about; infinite where leaves may be large."""
    if given.selection != "auto":
        return math.inf
    n_trees = _n_trees(given)
    return IN_BAG * n_rows * n_trees * affordable_leaf(n_rows, n_trees) / 2.0


def estimate_cost(
    given: Parameters, shape: Shape, max_memory: int | None, n_jobs: int | None, n_passes: int = 1
) -> CostEstimate:
    """Cost of a fit on a table of this shape; a search does the work `n_passes` times."""
    parts, notes = needed_memory(given, shape, max_memory, n_jobs)
    n_rows, n_columns, n_classes = shape.n_rows, shape.n_columns, shape.n_classes
    n_trees = _n_trees(given)
    work = _work(given, n_rows, n_trees, n_classes) * n_passes
    # Pairs of classes divide the points of a leaf: each class meets every other.
    work *= max(min(n_classes, 12) - 1, 1) ** 0.5
    pairs = _svms(given, shape, n_trees) * n_passes
    seconds = work * _SECONDS_PER_UPDATE + pairs * _SECONDS_PER_PAIR + 1e-4 * n_trees
    if given.selection == "auto":  # plain trees, should they get a weight
        visits = PLAIN_TREES_PER_TREE * n_trees * n_rows * math.log2(max(n_rows, 2)) * math.sqrt(n_columns)
        seconds += visits * _SECONDS_PER_VISIT
    seconds /= effective_n_jobs(n_jobs)
    return CostEstimate.of(parts, (seconds / _SPREAD, seconds * _SPREAD), *notes)


def _n_trees(given: Parameters) -> int:
    """Trees of the largest forest."""
    return int(np.max(given.n_estimators))


def _svms(given: Parameters, shape: Shape, n_trees: int) -> float:
    """SVMs of two classes, of the pilot and of the final trees at their largest leaves."""
    degrees, n_rows = n_degrees(given), shape.n_rows
    k = shape.classes_among(IN_BAG * min(n_rows, PILOT_ROWS))
    pilot = pilot_trees(n_rows, shape.n_classes) * (len(PILOT_C) - 1) if given.selection == "auto" else 0
    return k * (k - 1.0) / 2.0 * degrees * (pilot + n_trees)


def _work(given: Parameters, n_rows: int, n_trees: int, n_classes: int) -> float:
    """Element updates: some passes per point of a leaf, each over the leaf."""
    degrees = float(n_degrees(given))
    if given.selection == "auto":
        n = min(n_rows, PILOT_ROWS)
        leaf = affordable_leaf(n_rows, n_trees)
        depths = pilot_depths(n, leaf)
        pilot = float(sum(IN_BAG * n * IN_BAG * n / 2.0**d for d in depths))
        pilot *= pilot_trees(n_rows, n_classes) * degrees * (len(PILOT_C) - 1)
        return _PASSES_PER_POINT * (pilot + n_trees * n_rows * min(IN_BAG * n / 2.0 ** depths[0], leaf))
    # Of a grid of depths the shallowest costs most, and the deeper ones about as much again.
    offered = np.atleast_1d(4 if is_auto(given.max_depth) else given.max_depth)
    reached = np.minimum(offered, max(int(math.log2(max(n_rows, 2))), 0))
    per_point = float((n_rows / 2.0**reached).sum())
    tuning = N_FOLDS * len(C_GRID) * degrees * min(n_rows, PILOT_ROWS) ** 2 if is_auto(given.C) else 0.0
    return _PASSES_PER_POINT * (n_trees * degrees * n_rows * per_point + tuning)
