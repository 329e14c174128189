"""What a forest will need: a few probe trees, counted and timed, times the number of trees (ESTIMATE)."""

from __future__ import annotations

import time

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from surewood.estimators.cost import CostEstimate
from surewood.tables import reading_bytes
from surewood.trees.binning import BinnedMatrix
from surewood.trees.growing import TreeParams, grow_forest

_PROBE_TREES = 2
_SCRATCH_A_ROW = 24  # row order, labels and weights of a tree under construction


def forest_cost(
    matrix: BinnedMatrix,
    y: NDArray[np.int32],
    n_classes: int,
    params: TreeParams,
    n_trees: int,
    *,
    weight: NDArray[np.float64] | None = None,
    out_of_bag: bool = False,
    n_jobs: int | None = None,
    bin_seconds: float = 0.0,
) -> CostEstimate:
    """Grow some trees of a forest and multiply."""
    probe = min(_PROBE_TREES, n_trees)
    started = time.perf_counter()
    grown = grow_forest(matrix, y, n_classes, params, n_trees=probe, seed=0, weight=weight)
    seconds = (time.perf_counter() - started) / probe * n_trees
    threads = effective_n_jobs(n_jobs)
    # Batches of trees are joined at the end: for a moment the trees are there twice.
    parts = {
        "table": reading_bytes(matrix.n_rows, matrix.n_columns),
        "bins": 2.0 * sum(block.nbytes for block in matrix.blocks),
        "trees": 2.0 * grown.forest.nbytes / probe * n_trees,
        "growing": float(matrix.n_rows * _SCRATCH_A_ROW * threads),
        "out-of-bag votes": 3.0 * 8.0 * matrix.n_rows * n_classes if out_of_bag else 0.0,
    }
    total = bin_seconds + seconds / threads
    return CostEstimate.of(parts, (0.5 * total, 2.0 * total + 0.05))
