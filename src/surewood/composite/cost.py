"""What a fit will need, before it starts: memory by formula, time by a rough count of element updates."""

from __future__ import annotations

import math

import numpy as np
from joblib import effective_n_jobs

from surewood.composite.data import worth_storing
from surewood.composite.depths import affordable_leaf, pilot_depths
from surewood.composite.leaf_svms import CHUNK_BYTES
from surewood.composite.parameters import degree_list, is_auto
from surewood.composite.pilot import IN_BAG, PILOT_ROWS, pilot_trees
from surewood.composite.plan import DEGREES, PILOT_C, PLAIN_TREES_PER_TREE, Parameters
from surewood.composite.tuning import C_GRID, N_FOLDS
from surewood.estimators.cost import CostEstimate
from surewood.svm import Gram, gram_limit, kernel_memory

Size = tuple[int, int, int, int]  # rows, columns, columns of the design matrix, classes

_SECONDS_PER_UPDATE = 1.5e-9  # one element of a solver pass, on a core of 2020
_SECONDS_PER_VISIT = 2e-8  # one row at one node of a plain tree, for one feature
_SPREAD = 8.0  # iterations depend on the data: the range of time is this factor either way
_BUFFERS = 8.0 * 2**20  # of solvers, predictions and the allocator, whatever the size of the table
_PASSES_PER_POINT = 10.0  # over its leaf, until an SVM has converged


def needed_memory(
    given: Parameters, size: Size, max_memory: int | None, n_jobs: int | None
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Parts of the memory of a fit, and what to note."""
    n_rows, n_columns, width, n_classes = size
    stored = worth_storing(n_rows, width, products_read(given, n_rows))
    limit = gram_limit(max_memory)
    parts, notes = kernel_memory(n_rows, n_columns, width, limit=limit if stored else 0, n_jobs=n_jobs)
    if not stored and Gram.bytes_stored(n_rows) <= limit:
        notes = ()  # to save time, not memory
    n_trees = _n_trees(given)
    held = Gram.bytes_stored(_largest_leaf(given, n_rows)) * effective_n_jobs(n_jobs)
    parts["kernel rows"] = min(parts["kernel rows"], float(held))
    per_point = 8.0 * max(min(n_classes, 12) - 1, 1) + 8.0  # coefficients and predictions of an SVM
    work = n_rows * n_trees * len(_degrees(given)) * per_point
    parts["bins"] = 1.0 * n_rows * n_columns
    parts["leaves and votes"] = n_rows * n_trees * 40.0
    parts["SVMs"] = min(2.0 * CHUNK_BYTES, work) + n_rows * n_trees * 0.3 * per_point
    if given.selection == "auto":
        parts["plain trees"] = PLAIN_TREES_PER_TREE * n_trees * n_rows * 6.0
    return parts, notes


def _largest_leaf(given: Parameters, n_rows: int) -> int:
    """Rows of the largest SVM, about."""
    if given.selection != "auto":
        return n_rows
    n = min(n_rows, PILOT_ROWS)
    leaf = affordable_leaf(n_rows, _n_trees(given))
    return math.ceil(max(leaf, IN_BAG * n / 2.0 ** pilot_depths(n, leaf)[0]))


def products_read(given: Parameters, n_rows: int) -> float:
    """Inner products that the SVMs of a default forest read, about; infinite where leaves may be large."""
    if given.selection != "auto":
        return math.inf
    n_trees = _n_trees(given)
    return IN_BAG * n_rows * n_trees * affordable_leaf(n_rows, n_trees) / 2.0


def estimate_cost(
    given: Parameters, size: Size, max_memory: int | None, n_jobs: int | None, n_passes: int = 1
) -> CostEstimate:
    """Cost of a fit on a table of this size; a search does the work `n_passes` times."""
    parts, notes = needed_memory(given, size, max_memory, n_jobs)
    parts["buffers"] = _BUFFERS
    n_rows, n_columns, _, n_classes = size
    n_trees = _n_trees(given)
    work = _work(given, n_rows, n_trees, n_classes) * n_passes
    # Pairs of classes divide the points of a leaf: each class meets every other.
    work *= max(min(n_classes, 12) - 1, 1) ** 0.5
    seconds = work * _SECONDS_PER_UPDATE + 1e-4 * n_trees
    if given.selection == "auto":  # plain trees, should they get a weight
        visits = PLAIN_TREES_PER_TREE * n_trees * n_rows * math.log2(max(n_rows, 2)) * math.sqrt(n_columns)
        seconds += visits * _SECONDS_PER_VISIT
    seconds /= effective_n_jobs(n_jobs)
    return CostEstimate.of(parts, (seconds / _SPREAD, seconds * _SPREAD), *notes)


def _n_trees(given: Parameters) -> int:
    """Trees of the largest forest."""
    return int(np.max(given.n_estimators))


def _degrees(given: Parameters) -> tuple[int, ...]:
    return DEGREES if is_auto(given.degrees) else degree_list(given.degrees)


def _work(given: Parameters, n_rows: int, n_trees: int, n_classes: int) -> float:
    """Element updates: some passes per point of a leaf, each over the leaf."""
    degrees = float(len(_degrees(given)))
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
