"""What a fit will take, before it starts: a few probe trees, extrapolated (ESTIMATE).

`estimate_cost` grows some trees of every forest on the rows of one fold, counts their nodes and their time,
and multiplies. `within_memory` makes a plan respect its memory limit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from surewood.deepforest.data import PreparedData, TrainingSet
from surewood.deepforest.members import has_contrast, tree_params
from surewood.deepforest.plan import FitPlan, GrowthPlan, P
from surewood.deepforest.wide_tables import contrast_bytes, contrast_seconds
from surewood.estimators.cost import CostEstimate, mib
from surewood.tables import reading_bytes
from surewood.trees import BinnedMatrix, grow_forest

_PROBE_TREES = 2
_LATER_LAYER = 0.75  # size of a later layer, with the first as unit
_JOINED = 0.5  # of a layer's trees that are there twice while they are joined
_USUAL_LAYERS = 4  # growing that ends at the first layer within noise seldom goes beyond


@dataclass(frozen=True)
class LayerCost(CostEstimate):
    """Cost of a cascade of forests, for `max_layers` layers (ESTIMATE)."""

    n_trees_per_layer: int = 0
    model_bytes_per_layer: int = 0
    #: Binned matrix (with its row-major copy where used), class vectors, a held-out fold.
    working_bytes: int = 0


class _Probe(NamedTuple):
    """Trees, bytes and seconds (on one thread) of the forests of one layer; classifiers are not probed."""

    n_trees: int
    n_bytes: float
    seconds: float


def estimate_cost(plan: FitPlan[Any], data: PreparedData) -> LayerCost:
    """Probe the first block of a plan with its largest depth, and extrapolate to the whole fit."""
    training = data.training
    own = [one for one in plan.candidates if one.forests == plan.candidates[0].forests][-1]
    n_folds = 1 if own.cross_fit == "oob" else own.n_folds
    probe = _probe(own, training, n_folds)
    matrix, n_threads = training.inputs.matrix, effective_n_jobs(plan.run.n_jobs)
    n_classes = len(training.classes)
    wide = 1.0 + own.vector_columns(n_classes) / matrix.n_columns  # later layers read more columns
    vectors = (3 * len(own.members) + 4) * training.n_rows * n_classes * 8
    working = int(matrix.nbytes * (1.0 + 1.0 / n_folds) * wide + vectors)
    working += int(reading_bytes(training.n_rows, matrix.n_columns))
    contrast_memory, contrast_time = 0, 0.0
    if any(has_contrast(one.members) for one in plan.candidates):
        contrast_memory = contrast_bytes(training.n_rows, matrix.n_columns, n_threads)
        contrast_time = contrast_seconds(training.n_rows, max(n_folds, 2), n_threads)
    seconds, (fewest, most) = probe.seconds / n_threads, _layers_grown(plan, own)
    # Later layers read the scores of earlier ones, which makes their trees smaller; the trees of a layer are
    # joined from batches, so that some are there twice.
    trees = probe.n_bytes * (1.0 + _LATER_LAYER * (own.max_layers - 1) + _JOINED)
    return LayerCost(
        memory_bytes=working + contrast_memory + int(trees),
        seconds=(
            0.5 * (seconds * fewest + contrast_time),
            2.0 * (seconds * most * wide + contrast_time * min(most, own.max_layers)),
        ),
        parts={"bins and class vectors": working, "contrasts": contrast_memory, "trees": int(trees)},
        n_trees_per_layer=probe.n_trees,
        model_bytes_per_layer=int(probe.n_bytes),
        working_bytes=working + contrast_memory,
    )


def _layers_grown(plan: FitPlan[Any], own: GrowthPlan) -> tuple[float, float]:
    """Fewest and most layers to grow, those of comparisons included, in layers of all trees."""
    few_trials, many_trials = plan.trial_layers
    if own.pilot is None:
        return min(own.max_layers, 1 + own.patience) + few_trials, own.max_layers + many_trials
    all_trees = max(member.n_trees for member in own.members)
    pilot, least = own.pilot.n_trees / all_trees, min(1.0, own.pilot.least_trees / all_trees)
    # The better half of the blocks go on to further depths; a layer begins with few trees.
    fewest = least + pilot * (1.0 + few_trials / 2.0)
    return min(fewest, 1.0 + few_trials), min(own.max_layers, _USUAL_LAYERS) + pilot * many_trials


def _probe(plan: GrowthPlan, training: TrainingSet, n_folds: int) -> _Probe:
    matrix, rows = training.inputs.matrix, np.arange(training.n_rows)
    if n_folds > 1:
        rows = rows[rows % n_folds != 0]
    n_bytes, seconds, n_trees = 0.0, 0.0, 0
    for member, depth in zip(plan.members, plan.depths(1)):
        if not member.is_forest:
            continue
        params = tree_params(member, plan.trees, matrix.n_columns, depth, n_folds == 1, len(rows))
        probe = min(_PROBE_TREES, member.n_trees)
        started = time.perf_counter()
        grown = grow_forest(
            matrix,
            training.y,
            len(training.classes),
            params,
            n_trees=probe,
            seed=0,
            weight=training.weight,
            rows=rows,
        )
        grown.forest.predict_proba(_first_rows(matrix, training.n_rows // n_folds))
        times = member.n_trees * n_folds / probe
        seconds += (time.perf_counter() - started) * times
        n_bytes += grown.forest.with_short_nodes().nbytes * times
        n_trees += member.n_trees * n_folds
    return _Probe(n_trees, n_bytes, seconds)


def within_memory(plan: FitPlan[P], data: PreparedData) -> FitPlan[P]:
    """The plan with finished layers on disk where the memory limit asks for it."""
    if plan.max_memory is None:
        return plan
    keep = fits_in_memory(estimate_cost(plan, data), plan.max_memory, not plan.run.spill)
    return replace(plan, run=replace(plan.run, spill=not keep))


def fits_in_memory(cost: LayerCost, max_memory: float, keep_in_memory: bool) -> bool:
    """Whether blocks stay in memory; refuses what would not fit even with all but one on disk."""
    if keep_in_memory and cost.memory_bytes <= max_memory:
        return True
    needed = cost.working_bytes + 2 * cost.model_bytes_per_layer
    if needed > max_memory:
        raise ValueError(
            f"a fit needs about {mib(needed)} even with finished layers on disk, more than "
            f"max_memory={mib(max_memory)}; use fewer trees, folds or forests, or raise it."
        )
    return False


def _first_rows(matrix: BinnedMatrix, n_rows: int) -> BinnedMatrix:
    """As many rows as a held-out fold has."""
    rows = np.arange(max(1, n_rows))
    blocks = tuple(np.take(block, rows, axis=1) for block in matrix.blocks)
    return BinnedMatrix(blocks, matrix.mapper, matrix.has_missing)
