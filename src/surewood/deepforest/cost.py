"""What a fit will take, before it starts: a few probe trees, extrapolated (ESTIMATE).

`estimate_cascade_cost` grows some trees of every member on the rows of one fold, counts their nodes and their
time, and multiplies. `settle_memory` compares the result with a limit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs

from surewood.deepforest.members import Member, TreeSettings, tree_params
from surewood.deepforest.training import TrainingSet
from surewood.deepforest.wide_tables import machine_bytes, machine_seconds
from surewood.estimators.cost import CostEstimate
from surewood.tables import reading_bytes
from surewood.trees import BinnedMatrix, grow_forest

_PROBE_TREES = 2
_CUSTOM_SECONDS = 0.0  # classifiers in a forest's place are not probed


@dataclass(frozen=True)
class LayerCost(CostEstimate):
    """Cost of a cascade of forests, for `max_layers` layers (ESTIMATE).

    Attributes
    ----------
    n_trees_a_layer : int
    model_bytes_a_layer : int
    working_bytes : int
        Binned matrix (with its row-major copy where used), class vectors, a held-out fold.
    """

    n_trees_a_layer: int = 0
    model_bytes_a_layer: int = 0
    working_bytes: int = 0


def estimate_cascade_cost(
    training: TrainingSet,
    members: list[Member],
    settings: TreeSettings,
    max_depth: list[int | None],
    *,
    n_folds: int,
    max_layers: int,
    patience: int,
    vector_columns: int,
    trial_layers: tuple[float, float] = (0.0, 0.0),
    n_jobs: int | None,
    contrasts: bool = False,
) -> LayerCost:
    """Probe and extrapolate.

    `n_folds` is 1 for out-of-bag cross-fitting; `trial_layers` are the fewest and the most layers that are
    grown beside those of the forest itself, to compare settings. With `contrasts` a contrast machine may
    stand in every layer.
    """
    matrix, n_classes = training.inputs.matrix, len(training.classes)
    rows = np.arange(training.n_rows)
    if n_folds > 1:
        rows = rows[rows % n_folds != 0]
    layer_bytes, layer_seconds, n_trees = 0.0, 0.0, 0
    for member, depth in zip(members, max_depth):
        if not member.is_forest:
            layer_seconds += _CUSTOM_SECONDS
            continue
        params = tree_params(member, settings, matrix.n_columns, depth, n_folds == 1)
        started = time.perf_counter()
        probe = min(_PROBE_TREES, member.n_trees)
        grown = grow_forest(
            matrix, training.y, n_classes, params, n_trees=probe, seed=0, weight=training.weight, rows=rows
        )
        grown.forest.predict_proba(_some_rows(matrix, training.n_rows // max(n_folds, 1)))
        layer_seconds += (time.perf_counter() - started) / probe * member.n_trees * n_folds
        layer_bytes += grown.forest.with_short_nodes().nbytes / probe * member.n_trees * n_folds
        n_trees += member.n_trees * n_folds
    wide = 1.0 + vector_columns / matrix.n_columns  # later layers read more columns
    vectors = (3 * len(members) + 4) * training.n_rows * n_classes * 8
    working = int(matrix.nbytes * (1.0 + 1.0 / max(n_folds, 1)) * wide + vectors)
    working += int(reading_bytes(training.n_rows, matrix.n_columns))
    n_threads = effective_n_jobs(n_jobs)
    machines = machine_bytes(training.n_rows, matrix.n_columns, n_threads) if contrasts else 0
    working += machines
    seconds = layer_seconds / n_threads
    machine = machine_seconds(training.n_rows, max(n_folds, 2), n_threads) if contrasts else 0.0
    fewest = min(max_layers, 1 + patience)
    # A layer's trees are joined from batches, and compared with those of the best layer so far.
    layers = layer_bytes * (max_layers + 2)
    return LayerCost(
        memory_bytes=int(working + layers),
        seconds=(
            0.5 * (seconds * (fewest + trial_layers[0]) + machine),
            2.0 * (seconds * (max_layers + trial_layers[1]) * wide + machine * max_layers),
        ),
        parts={"bins and class vectors": working - machines, "contrasts": machines, "trees": int(layers)},
        n_trees_a_layer=n_trees,
        model_bytes_a_layer=int(layer_bytes),
        working_bytes=working,
    )


def settle_memory(cost: LayerCost, max_memory: float, keep_in_memory: bool) -> bool:
    """Whether blocks stay in memory; refuses what would not fit even with all but one on disk."""
    if keep_in_memory and cost.memory_bytes <= max_memory:
        return True
    needed = cost.working_bytes + 2 * cost.model_bytes_a_layer
    if needed > max_memory:
        raise ValueError(
            f"a fit needs about {needed / 2**20:.0f} MiB even with finished layers on disk, more than "
            f"max_memory={max_memory / 2**20:.0f} MiB; use fewer trees, folds or forests, or raise it."
        )
    return False


def _some_rows(matrix: BinnedMatrix, n_rows: int) -> BinnedMatrix:
    """The first rows, as many as a held-out fold has."""
    rows = np.arange(max(1, n_rows))
    blocks = tuple(np.take(block, rows, axis=1) for block in matrix.blocks)
    return BinnedMatrix(blocks, matrix.mapper, matrix.has_missing)
