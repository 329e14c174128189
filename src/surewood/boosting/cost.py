"""What boosted trees will need: a few rounds of one model, timed, and memory by count (ESTIMATE)."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from joblib import effective_n_jobs

from surewood.boosting.growing import grow_model
from surewood.boosting.plan import N_FOLDS, BoostingPlan
from surewood.estimators.cost import CostEstimate
from surewood.tables import FitInputs, reading_bytes
from surewood.trees.binning import BinnedMatrix

_PROBE_ROUNDS = (1, 4)  # what both take is not for the rounds
_PROBE_ROWS = 50_000  # more rows take time in proportion
_LEAST_ROUND = 0.02  # of the longer probe: a noisy clock may make a round look free
_FEWEST_ROUNDS = 30  # of a model that stops soon
_BIN_BYTES = 20.0 * 256.0  # of a histogram
_NODE_BYTES = 200.0  # of a tree under construction and as it is kept, per node


def memory_parts(plan: BoostingPlan, shape: tuple[int, int], n_classes: int) -> dict[str, float]:
    """Parts of the memory of a fit in bytes."""
    at_once = min(effective_n_jobs(plan.n_jobs), plan.n_models)
    n_rows, n_columns = shape
    n_trees = plan.n_models * plan.n_rounds * (1 if n_classes == 2 else n_classes)
    later = {
        # Codes as numbers, which missing ones are, and as scikit-learn's own bins; scores and gradients.
        "rows of the models": at_once * n_rows * (10.0 * n_columns + 40.0 * n_classes),
        "histograms": at_once * plan.max_leaf_nodes * n_columns * _BIN_BYTES,
        "trees": n_trees * min(2.0 * plan.max_leaf_nodes, n_rows / 5.0 + 1.0) * _NODE_BYTES,
    }
    # Columns that were read for the bins are gone when the models grow: whichever needs more counts.
    kept = reading_bytes(n_rows, 0)
    columns = reading_bytes(n_rows, n_columns) - kept
    table = kept + max(0.0, columns - sum(later.values()))
    return {"table": table, "bins": 2.0 * n_rows * n_columns, **later}


def estimate_cost(
    plan: BoostingPlan, matrix: BinnedMatrix, inputs: FitInputs, bin_seconds: float = 0.0
) -> CostEstimate:
    """Memory and time of a fit; `bin_seconds` is what binning took."""
    parts = memory_parts(plan, inputs.table.shape, inputs.n_classes)
    if inputs.n_classes < 2:
        return CostEstimate.of(parts, (bin_seconds, 2.0 * bin_seconds + 0.05))
    fixed, one_round = _probe(plan, matrix, inputs)
    threads = min(effective_n_jobs(plan.n_jobs), plan.n_models)
    share = (N_FOLDS - 1) / N_FOLDS * plan.n_models / threads
    low, high = (
        bin_seconds + share * (fixed + one_round * rounds)
        for rounds in (min(_FEWEST_ROUNDS, plan.n_rounds), plan.n_rounds)
    )
    return CostEstimate.of(parts, (0.5 * low, 2.0 * high + 0.05))


def _probe(plan: BoostingPlan, matrix: BinnedMatrix, inputs: FitInputs) -> tuple[float, float]:
    """Seconds that a model of all rows takes before its first round, and those of a round."""
    step = max(1, matrix.n_rows // _PROBE_ROWS)
    rows, is_category = np.arange(0, matrix.n_rows, step), matrix.mapper.is_category == 1
    taken = []
    for n_rounds in _PROBE_ROUNDS:
        few, started = replace(plan, n_rounds=n_rounds), time.perf_counter()
        grow_model(few, matrix.blocks[0], is_category, inputs.y, inputs.weight, rows, rows[:0], 0)
        taken.append(time.perf_counter() - started)
    one_round = max((taken[1] - taken[0]) / (_PROBE_ROUNDS[1] - _PROBE_ROUNDS[0]), _LEAST_ROUND * taken[1])
    times = matrix.n_rows / max(len(rows), 1)
    return times * max(taken[0] - one_round, 0.0), times * one_round
