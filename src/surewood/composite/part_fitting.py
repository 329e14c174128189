"""The composite trees of a plan, fitted part by part in steps of bounded memory, and of time with a limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.data import TrainingData
from surewood.composite.growing import TreeRange, mean_sample_size
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.out_of_bag import labels_by_blocks, outside_bags
from surewood.composite.plan import Plan
from surewood.composite.setting import Setting
from surewood.composite.tree_fitting import fit_trees
from surewood.composite.trees import CompositeTrees, join_trees
from surewood.composite.votes import LeafReliability, vote_fractions
from surewood.estimators.time_limit import TimeLimit
from surewood.tables import alongside

ROWS_AND_TREES = 2e7  # rows x trees whose leaves are held at once: some 20 bytes each
_TIMED_STEPS = 10  # of each part, where the time is limited


@dataclass(frozen=True)
class FittedParts:
    """Composite trees and what they say of the training rows."""

    trees: CompositeTrees
    #: Mean importances of their splits.
    importances: Floats
    #: The part of the plan that each tree belongs to.
    part_of_tree: NDArray[np.int64]
    #: Which rows each tree did not see, and its labels of them (-1 elsewhere); None without bags. Shape
    #: (n_rows, n_trees).
    outside: NDArray[np.bool_] | None = None
    labels: NDArray[np.int32] | None = None
    #: Votes by trees that did not see the row. Shape (n_rows, n_classes).
    held_out: Floats | None = None


def fit_parts(plan: Plan, data: TrainingData, options: SolverOptions, limit: TimeLimit) -> FittedParts:
    """The composite trees of every part; with a time limit those that were fitted in time, at least one."""
    parts: list[CompositeTrees] = []
    importances: list[Floats] = []
    steps: list[_Step] = []
    outside = _room_for_outside(plan, data)
    n_trees = 0
    for step in _steps(plan, data, limit):
        if steps and limit.is_over:
            break
        wanted = TreeRange(step.n_trees, plan.seed, step.first_tree)
        fitted = fit_trees(data, step.setting, wanted, options, step.base)
        if outside is not None:
            columns = slice(n_trees, n_trees + step.n_trees)
            outside[:, columns] = outside_bags(fitted.grove, np.arange(data.n_rows))
        parts.append(fitted.trees)
        importances.append(fitted.importances)
        steps.append(step)
        n_trees += step.n_trees
    counts = [step.n_trees for step in steps]
    found = FittedParts(
        trees=join_trees(parts),
        importances=np.average(importances, axis=0, weights=counts),
        part_of_tree=np.repeat([step.part for step in steps], counts),
        outside=None if outside is None else outside[:, :n_trees],
    )
    return _with_votes(found, plan, data, options)


def _room_for_outside(plan: Plan, data: TrainingData) -> NDArray[np.bool_] | None:
    """Room for which rows each tree did not see; None where every tree sees every row."""
    if plan.every_tree_sees_all_rows:
        return None
    return alongside(data.matrix.blocks[0], (data.n_rows, plan.n_trees), np.bool_)


def _with_votes(found: FittedParts, plan: Plan, data: TrainingData, options: SolverOptions) -> FittedParts:
    """With labels and votes of the rows outside the bags, where there are bags."""
    outside, trees = found.outside, found.trees
    if outside is None:
        if plan.leaf_scores == "calibrated":  # the labels of rows that the trees saw have to do
            trees = _reliable(trees, data, labels_by_blocks(trees, data, options), options)
        return replace(found, trees=trees)
    labels = labels_by_blocks(trees, data, options, mask=outside)
    if plan.leaf_scores == "calibrated":
        trees = _reliable(trees, data, labels, options)
    if plan.leaf_scores == "one_hot":
        held_out = vote_fractions(labels, data.n_classes)
    else:
        held_out = trees.composite_scores(data.matrix, data.gram.X, plan.leaf_scores, options.n_jobs, outside)
    return replace(found, trees=trees, labels=labels, held_out=held_out)


def _reliable(
    trees: CompositeTrees, data: TrainingData, labels: NDArray[Any], options: SolverOptions
) -> CompositeTrees:
    """With the reliability of the leaves."""
    leaf = trees.leaf_index(data.matrix, options.n_jobs)
    measured = LeafReliability.measure(leaf, labels, data.y, data.weight, len(trees.leaves), data.n_classes)
    return replace(trees, reliability=measured)


@dataclass(frozen=True)
class _Step:
    """Trees that are fitted together, and the sample size that their C refers to."""

    part: int
    setting: Setting
    first_tree: int
    n_trees: int
    base: float | None


def _steps(plan: Plan, data: TrainingData, limit: TimeLimit) -> Iterator[_Step]:
    """All trees of a part, or as many as keep the row numbers of leaves in bounds; the model is the same.

    With a time limit steps are short, and the parts take turns, so that each has trees when the time is up.
    """
    most = max(1, int(ROWS_AND_TREES // data.n_rows))
    queues: list[list[_Step]] = []
    first = 0
    for part, (setting, n_trees) in enumerate(plan.parts):
        size = most if limit.deadline is None else min(most, max(1, n_trees // _TIMED_STEPS))
        base = None if n_trees <= size else mean_sample_size(data, setting, n_trees, plan.seed, first)
        starts = range(0, n_trees, size)
        queues.append([_Step(part, setting, first + k, min(size, n_trees - k), base) for k in starts])
        first += n_trees
    if limit.deadline is None:
        for queue in queues:
            yield from queue
        return
    for turn in range(max(len(queue) for queue in queues)):
        yield from (queue[turn] for queue in queues if turn < len(queue))
