"""Plan and data to a fitted forest: bins, trees, out-of-bag votes, calibration.

`train_certifiable` grows forests whose votes are guaranteed on all rows, without a holdout ([D-43],
theory.md §11.9). Every tree is a function of its in-bag rows alone: bins are learned on the preparation part,
which is in the bag of every tree, and leaves vote for one class. :mod:`~surewood.base.folds` draws the bags.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from joblib import delayed

from surewood._arrays import Floats
from surewood.base.calibration import ScoreCalibrator
from surewood.base.folds import Subsamples, draw_subsamples, vote_evidence
from surewood.parallel import in_threads
from surewood.parallel.progress import stage
from surewood.tables import TrainingTable
from surewood.trees.binning import BinnedMatrix, learn_bins, training_bins
from surewood.trees.flat_tree import FlatForest, with_hard_votes
from surewood.trees.forest_model import ForestModel, OutOfBag
from surewood.trees.forest_plan import ForestPlan
from surewood.trees.growing import Bag, grow_forest, out_of_bag


def train(
    plan: ForestPlan,
    inputs: TrainingTable,
    seed: int,
    earlier: ForestModel | None = None,
    deadline: float | None = None,
) -> tuple[ForestModel, Floats | None]:
    """A fitted forest, and its out-of-bag votes by row of the merged table where they were computed.

    With the model of an `earlier` fit (warm start) its bins and trees stay, and new trees follow.
    """
    if earlier is None:
        matrix = training_bins(inputs, plan.max_bins, plan.n_jobs)
    else:
        matrix = earlier.binned(inputs.table, plan.n_jobs)
    first = 0 if earlier is None else earlier.trees.n_trees
    grown = grow_forest(
        matrix,
        inputs.y,
        inputs.n_classes,
        plan.trees,
        n_trees=plan.n_trees - first,
        seed=seed,
        weight=inputs.weight,
        first_tree=first,
        n_jobs=plan.n_jobs,
        verbose=plan.verbose,
        deadline=deadline,
    )
    trees, importances = grown.forest, grown.importances
    if earlier is not None:
        trees = earlier.trees.extend(grown.forest)
        new = grown.forest.n_trees / max(trees.n_trees, 1)
        importances = (1 - new) * earlier.importances + new * grown.importances
    votes = _votes(trees, grown.bag, matrix, inputs, plan.n_jobs) if plan.needs_votes else None
    model = ForestModel(
        trees=trees,
        mapper=matrix.mapper,
        seed=seed,
        importances=importances,
        calibrator=None if votes is None else _calibrator(plan, votes, inputs),
        out_of_bag=_reported(plan, votes, inputs),
    )
    return model, votes


def train_certifiable(
    plan: ForestPlan, inputs: TrainingTable, seed: int
) -> tuple[ForestModel, Floats | None]:
    """A forest of trees that are functions of their in-bag rows alone ([D-43]), and its out-of-bag votes."""
    drawn = draw_subsamples(inputs, plan.trees.n_draws, seed)
    counts = drawn.counts(drawn.prepares)
    rows = np.flatnonzero(counts)
    mapper = learn_bins(inputs.table.take(rows), counts[rows], plan.max_bins, plan.n_jobs)
    matrix = BinnedMatrix.of(mapper.codes(inputs.table, plan.n_jobs), mapper)
    trees, importances = grow_certifiable(plan, matrix, inputs, drawn)
    labels = trees.votes(matrix, plan.n_jobs)
    evidence, votes = vote_evidence(labels, inputs, drawn, bool(mapper.is_category.any()))
    model = ForestModel(
        trees, mapper, seed, importances, None, _reported(plan, votes, inputs), votes=evidence
    )
    return model, votes


def grow_certifiable(
    plan: ForestPlan, matrix: BinnedMatrix, inputs: TrainingTable, drawn: Subsamples
) -> tuple[FlatForest, Floats]:
    """Trees with hard votes, each grown on its own bag, and the mean of their importances."""
    # Whether a column has missing values outside the bag must not be known to a tree.
    blind = replace(matrix, has_missing=np.ones_like(matrix.has_missing))
    params = replace(plan.trees, sampling="all", n_draws=None)

    def grow(tree: int) -> tuple[FlatForest, Floats]:
        weight = drawn.counts(drawn.in_bag(tree))
        if inputs.weighted and inputs.weight is not None:
            weight *= inputs.weight
        grown = grow_forest(
            blind,
            inputs.y,
            inputs.n_classes,
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
    joined = FlatForest.join(trees, inputs.n_classes, matrix.n_columns)
    return with_hard_votes(joined), importances / plan.n_trees


def _votes(
    trees: FlatForest, bag: Bag, matrix: BinnedMatrix, inputs: TrainingTable, n_jobs: int | None
) -> Floats:
    """Mean votes about each row of the table by the trees that did not see it; NaN where all did."""
    sums, counts = out_of_bag(trees, bag, matrix, n_jobs)
    votes = np.full((inputs.table.n_rows, inputs.n_classes), np.nan)
    seen = counts > 0
    votes[bag.rows[seen]] = sums[seen] / counts[seen, None]
    return votes


def _calibrator(plan: ForestPlan, votes: Floats, inputs: TrainingTable) -> ScoreCalibrator | None:
    if plan.calibration is None:
        return None
    with stage(plan.verbose, "calibrating", 1) as advance:
        return ScoreCalibrator(plan.calibration).fit(votes, inputs.y, inputs.weight, advance, plan.n_jobs)


def _reported(plan: ForestPlan, votes: Floats | None, inputs: TrainingTable) -> OutOfBag | None:
    """Out-of-bag votes by row of the user's table and their accuracy, where the user asked for them."""
    if votes is None or not plan.wants_votes:
        return None
    rows = np.flatnonzero(~np.isnan(votes[:, 0]))
    accuracy = float("nan")
    if len(rows):
        right = votes[rows].argmax(axis=1) == inputs.y[rows]
        accuracy = float(np.average(right, weights=None if inputs.weight is None else inputs.weight[rows]))
    return OutOfBag(inputs.expand(votes), accuracy)
