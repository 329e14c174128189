"""Plan and data to a fitted forest: bins, trees, out-of-bag votes, calibration.

`train_certifiable` grows forests whose votes are guaranteed on all rows, without a holdout ([D-43],
theory.md §11.9). Every tree is a function of its in-bag rows alone: bins are learned on the preparation part,
which is in the bag of every tree, and leaves vote for one class. :mod:`~surewood.base.subsamples` draws
the bags.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from joblib import delayed

from surewood._arrays import Floats
from surewood.base.calibration import ScoreCalibrator
from surewood.base.subsamples import Subsamples, draw_subsamples, vote_evidence
from surewood.parallel import in_threads
from surewood.parallel.progress import stage
from surewood.tables import TrainingTable
from surewood.trees.binning import BinnedMatrix, learn_bins, training_bins
from surewood.trees.flat_tree import FlatForest, with_hard_votes
from surewood.trees.forest_model import ForestModel
from surewood.trees.forest_plan import ForestPlan
from surewood.trees.growing import Bag, grow_forest, out_of_bag
from surewood.trees.monotone import keep_monotone


def train(plan: ForestPlan, data: TrainingTable, earlier: ForestModel | None = None) -> ForestModel:
    """A fitted forest.

    With the model of an `earlier` fit (warm start) its bins and trees stay, and new trees follow.
    """
    if plan.certifiable:
        return _train_certifiable(plan, data)
    if earlier is None:
        matrix = training_bins(data, plan.max_bins, plan.n_jobs)
    else:
        matrix = earlier.binned(data.table, plan.n_jobs)
    first = 0 if earlier is None else earlier.trees.n_trees
    grown = grow_forest(
        matrix,
        data.y,
        data.n_classes,
        plan.trees,
        n_trees=plan.n_trees - first,
        seed=plan.seed,
        weight=data.weight,
        groups=data.groups,
        first_tree=first,
        n_jobs=plan.n_jobs,
        verbose=plan.verbose,
        deadline=plan.time_limit.deadline,
    )
    new_trees, importances = grown.forest, grown.importances
    if plan.monotone is not None and data.n_classes == 2:
        new_trees = keep_monotone(new_trees, matrix, plan.monotone, data.weight)
    trees = new_trees
    if earlier is not None:
        trees = earlier.trees.extend(new_trees)
        new = grown.forest.n_trees / max(trees.n_trees, 1)
        importances = (1 - new) * earlier.importances + new * grown.importances
    votes = _votes(trees, grown.bag, matrix, data, plan.n_jobs) if plan.needs_votes else None
    return ForestModel(
        trees=trees,
        mapper=matrix.mapper,
        classes=data.classes,
        schema=data.schema,
        seed=plan.seed,
        importances=importances,
        calibrator=None if votes is None else _calibrator(plan, votes, data),
        **_held_out(votes, data),
    )


def _train_certifiable(plan: ForestPlan, data: TrainingTable) -> ForestModel:
    """A forest of trees that are functions of their in-bag rows alone ([D-43])."""
    drawn = draw_subsamples(data, plan.trees.n_draws, plan.seed)
    counts = drawn.counts(drawn.prepares)
    rows = np.flatnonzero(counts)
    mapper = learn_bins(data.table.take(rows), counts[rows], plan.max_bins, plan.n_jobs)
    matrix = BinnedMatrix.of(mapper.codes(data.table, plan.n_jobs), mapper)
    trees, importances = grow_certifiable(plan, matrix, data, drawn)
    labels = trees.votes(matrix, plan.n_jobs)
    evidence, votes = vote_evidence(labels, data, drawn, bool(mapper.is_category.any()))
    return ForestModel(
        trees=trees,
        mapper=mapper,
        classes=data.classes,
        schema=data.schema,
        seed=plan.seed,
        importances=importances,
        calibrator=None,
        votes=evidence,
        **_held_out(votes, data),
    )


def grow_certifiable(
    plan: ForestPlan, matrix: BinnedMatrix, data: TrainingTable, drawn: Subsamples
) -> tuple[FlatForest, Floats]:
    """Trees with hard votes, each grown on its own bag, and the mean of their importances."""
    # Whether a column has missing values outside the bag must not be known to a tree.
    blind = replace(matrix, has_missing=np.ones_like(matrix.has_missing))
    params = replace(plan.trees, sampling="all", n_draws=None)

    def grow(tree: int) -> tuple[FlatForest, Floats]:
        weight = drawn.counts(drawn.in_bag(tree))
        if data.weighted and data.weight is not None:
            weight *= data.weight
        grown = grow_forest(
            blind,
            data.y,
            data.n_classes,
            params,
            n_trees=1,
            seed=drawn.seed,
            weight=weight,
            first_tree=tree,
        )
        return grown.forest, grown.importances

    trees, importances = [], np.zeros(matrix.n_columns)
    with stage(plan.verbose, "growing trees", plan.n_trees) as advance:
        tasks = (delayed(grow)(tree) for tree in range(plan.n_trees))
        for forest, importance in in_threads(tasks, plan.n_jobs, ahead=4):
            trees.append(forest.with_whole_nodes().arrays)
            importances += importance
            advance(1)
    joined = FlatForest.join(trees, data.n_classes, matrix.n_columns)
    return with_hard_votes(joined), importances / plan.n_trees


def _votes(
    trees: FlatForest, bag: Bag, matrix: BinnedMatrix, data: TrainingTable, n_jobs: int | None
) -> Floats:
    """Mean votes about each row of the table by the trees that did not see it; NaN where all did."""
    sums, counts = out_of_bag(trees, bag, matrix, n_jobs)
    votes = np.full((data.table.n_rows, data.n_classes), np.nan)
    seen = counts > 0
    votes[bag.rows[seen]] = sums[seen] / counts[seen, None]
    return votes


def _calibrator(plan: ForestPlan, votes: Floats, data: TrainingTable) -> ScoreCalibrator | None:
    if plan.calibration is None:
        return None
    with stage(plan.verbose, "calibrating", 1) as advance:
        calibrator = ScoreCalibrator(plan.calibration).fit(votes, data.y, data.weight, data.groups)
        advance(1)
        return calibrator


def _held_out(votes: Floats | None, data: TrainingTable) -> dict[str, Any]:
    """Fields of the model: out-of-bag votes and their weighted accuracy."""
    accuracy = float("nan")
    if votes is not None and not np.isnan(votes[:, 0]).all():
        rows = np.flatnonzero(~np.isnan(votes[:, 0]))
        right = votes[rows].argmax(axis=1) == data.y[rows]
        accuracy = float(np.average(right, weights=None if data.weight is None else data.weight[rows]))
    return {"held_out": votes, "held_out_accuracy": accuracy}
