"""Plan and data to a fitted forest: bins, trees, out-of-bag votes, calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surewood._arrays import Floats
from surewood.estimators.calibration import ScoreCalibrator
from surewood.estimators.cost import refuse_beyond
from surewood.estimators.subsamples import draw_subsamples, vote_evidence
from surewood.forest.certifiable import grow_certifiable, prepared_bins
from surewood.forest.cost import estimate_cost
from surewood.forest.model import ForestModel, OutOfBag
from surewood.forest.plan import ForestPlan
from surewood.parallel.progress import stage
from surewood.tables import FitInputs
from surewood.trees.bag import Bag
from surewood.trees.binned_tables import bin_table
from surewood.trees.binning import BinMapper, BinnedMatrix
from surewood.trees.flat_tree import FlatForest
from surewood.trees.growing import Grown, grow_forest, out_of_bag


@dataclass(frozen=True)
class Beginning:
    """Where a fit starts: with new bins and no tree, or with those of an earlier fit (warm start)."""

    mapper: BinMapper
    seed: int
    trees: FlatForest | None = None
    importances: Floats | None = None
    matrix: BinnedMatrix | None = None  # the table's, where it was binned with the bins

    @classmethod
    def anew(cls, plan: ForestPlan, inputs: FitInputs, seed: int) -> Beginning:
        """Learn the bins of a table."""
        matrix = bin_table(inputs.table, inputs.weight, plan.max_bins, plan.n_jobs)
        return cls(matrix.mapper, seed, matrix=matrix)

    @classmethod
    def after(cls, model: ForestModel) -> Beginning:
        """Go on with a fitted forest."""
        return cls(model.mapper, model.seed, model.trees, model.importances)


@dataclass(frozen=True)
class Trained:
    """A fitted forest, and its out-of-bag votes per row of the merged table (None where not computed)."""

    model: ForestModel
    votes: Floats | None


def train_certifiable(plan: ForestPlan, inputs: FitInputs, seed: int) -> Trained:
    """Grow trees that are functions of their in-bag rows alone ([D-43])."""
    drawn = draw_subsamples(inputs, plan.trees.n_draws, seed)
    mapper = prepared_bins(plan, inputs, drawn)
    matrix = BinnedMatrix.of(mapper.codes(inputs.table, plan.n_jobs), mapper)
    _check_memory(plan, matrix, inputs)
    trees, importances = grow_certifiable(plan, matrix, inputs, drawn)
    labels = trees.votes(matrix, plan.n_jobs)
    evidence, votes = vote_evidence(labels, inputs, drawn, bool(mapper.is_category.any()))
    out_of_bag = OutOfBag(inputs.expand(votes), _accuracy(votes, inputs)) if plan.wants_votes else None
    model = ForestModel(trees, mapper, seed, importances, None, out_of_bag, evidence)
    return Trained(model, votes)


def _check_memory(plan: ForestPlan, matrix: BinnedMatrix, inputs: FitInputs) -> None:
    if plan.max_memory is not None:
        needed = estimate_cost(plan, matrix, inputs).memory_bytes
        refuse_beyond(plan.max_memory, needed, "use fewer or smaller trees")


def train(plan: ForestPlan, inputs: FitInputs, beginning: Beginning) -> Trained:
    """Grow the trees that the plan asks for beyond those that are there already."""
    matrix = beginning.matrix
    if matrix is None:
        matrix = BinnedMatrix.of(beginning.mapper.codes(inputs.table, plan.n_jobs), beginning.mapper)
    _check_memory(plan, matrix, inputs)
    first = 0 if beginning.trees is None else beginning.trees.n_trees
    grown = grow_forest(
        matrix,
        inputs.y,
        inputs.n_classes,
        plan.trees,
        n_trees=plan.n_trees - first,
        seed=beginning.seed,
        weight=inputs.weight,
        first_tree=first,
        n_jobs=plan.n_jobs,
        verbose=plan.verbose,
    )
    trees, importances = _joined(beginning, grown)
    votes = _votes(trees, grown.bag, matrix, inputs, plan.n_jobs) if plan.needs_votes else None
    model = ForestModel(
        trees=trees,
        mapper=matrix.mapper,
        seed=grown.bag.seed,
        importances=importances,
        calibrator=None if votes is None else _calibrator(plan, votes, inputs),
        out_of_bag=OutOfBag(inputs.expand(votes), _accuracy(votes, inputs))
        if plan.wants_votes and votes is not None
        else None,
    )
    return Trained(model, votes)


def _joined(beginning: Beginning, grown: Grown) -> tuple[FlatForest, Floats]:
    """All trees, and the mean of their importances."""
    if beginning.trees is None or beginning.importances is None:
        return grown.forest, grown.importances
    trees = beginning.trees.extend(grown.forest)
    new = grown.forest.n_trees / max(trees.n_trees, 1)
    return trees, (1 - new) * beginning.importances + new * grown.importances


def _votes(
    trees: FlatForest, bag: Bag, matrix: BinnedMatrix, inputs: FitInputs, n_jobs: int | None
) -> Floats:
    """Mean votes about each row of the table by the trees that did not see it; NaN where all did."""
    sums, counts = out_of_bag(trees, bag, matrix, n_jobs)
    votes = np.full((inputs.table.n_rows, inputs.n_classes), np.nan)
    seen = counts > 0
    votes[bag.rows[seen]] = sums[seen] / counts[seen, None]
    return votes


def _calibrator(plan: ForestPlan, votes: Floats, inputs: FitInputs) -> ScoreCalibrator | None:
    if plan.calibration is None:
        return None
    with stage(plan.verbose, "calibrating", 1) as advance:
        return ScoreCalibrator(plan.calibration).fit(votes, inputs.y, inputs.weight, advance, plan.n_jobs)


def _accuracy(votes: Floats, inputs: FitInputs) -> float:
    rows = np.flatnonzero(~np.isnan(votes[:, 0]))
    if len(rows) == 0:
        return float("nan")
    right = votes[rows].argmax(axis=1) == inputs.y[rows]
    return float(np.average(right, weights=None if inputs.weight is None else inputs.weight[rows]))
