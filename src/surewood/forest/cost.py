"""What a forest will need: a few probe trees, counted and timed, times the number of trees (ESTIMATE)."""

from __future__ import annotations

import time

from joblib import effective_n_jobs

from surewood.estimators.cost import CostEstimate
from surewood.forest.plan import ForestPlan
from surewood.tables import FitInputs, reading_bytes
from surewood.trees.binning import BinnedMatrix
from surewood.trees.growing import grow_forest

_PROBE_TREES = 2
_SCRATCH_PER_ROW = 24  # row order, labels and weights of a tree under construction


def estimate_cost(
    plan: ForestPlan, matrix: BinnedMatrix, inputs: FitInputs, bin_seconds: float = 0.0
) -> CostEstimate:
    """Grow some trees of the forest and multiply; `bin_seconds` is what binning took."""
    probe = min(_PROBE_TREES, plan.n_trees)
    started = time.perf_counter()
    grown = grow_forest(
        matrix, inputs.y, inputs.n_classes, plan.trees, n_trees=probe, seed=0, weight=inputs.weight
    )
    seconds = (time.perf_counter() - started) / probe * plan.n_trees
    threads = effective_n_jobs(plan.n_jobs)
    votes = 3.0 * 8.0 * matrix.n_rows * inputs.n_classes if plan.needs_votes else 0.0
    # Batches of trees are joined at the end: for a moment the trees are there twice.
    later = {
        "trees": 2.0 * grown.forest.nbytes / probe * plan.n_trees,
        "growing": float(matrix.n_rows * _SCRATCH_PER_ROW * threads),
        "out-of-bag votes": votes,
    }
    # Columns that were read for the bins are gone when the trees grow: whichever needs more counts.
    kept = reading_bytes(matrix.n_rows, 0)
    columns = reading_bytes(matrix.n_rows, matrix.n_columns) - kept
    parts = {
        "table": kept + max(0.0, columns - sum(later.values())),
        "bins": 2.0 * sum(block.nbytes for block in matrix.blocks),
        # Found column by column, then joined: for a moment they are there twice.
        "bin edges": 2.0 * (matrix.mapper.values.nbytes + matrix.mapper.edges.nbytes),
        **later,
    }
    total = bin_seconds + seconds / threads
    return CostEstimate.of(parts, (0.5 * total, 2.0 * total + 0.05))
