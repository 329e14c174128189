"""Plan and data to fitted boosted trees: a model without each of some folds, their common number of rounds.

Every model is stopped by the rows of its own fold, and all are cut at the number of rounds with the smallest
log-loss over all held-out rows together: one number is chosen on them, so held-out probabilities are hardly
optimistic. The fitted model is the mean of the models' scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.boosting.converting import flat_forest
from surewood.boosting.growing import GrownModel, Rows, grow_model
from surewood.boosting.model import BoostedModel, softmax
from surewood.boosting.plan import N_FOLDS, BoostingPlan
from surewood.estimators.calibration import ScoreCalibrator, held_out_probabilities
from surewood.estimators.folds import stratified_folds
from surewood.parallel import run_tasks, share
from surewood.parallel.progress import stage
from surewood.tables import FitInputs
from surewood.trees.binned_tables import bin_table
from surewood.trees.binning import BinMapper, BinnedMatrix
from surewood.trees.flat_tree import FlatForest

_FEW_ROUNDS = 10  # where no row can be held out
_SECONDS_A_CELL = 1e-6  # of a table, for a model, roughly


@dataclass(frozen=True)
class Trained:
    """A fitted model, and its held-out probabilities per row of the merged table (NaN for rows without)."""

    model: BoostedModel
    held_out: Floats


def train(plan: BoostingPlan, inputs: FitInputs, seed: int) -> Trained:
    """Grow the models, cut them, join and calibrate them."""
    matrix = bin_table(inputs.table, inputs.weight, n_jobs=plan.n_jobs)
    mapper = matrix.mapper
    splits = held_out_splits(plan, inputs.y, seed) if inputs.n_classes > 1 else []
    grown = _grown(plan, matrix, inputs, splits, seed) if inputs.n_classes > 1 else []
    cut = [_cut(one, common_rounds(grown, [held for _, held in splits], inputs.weight)) for one in grown]
    singles = [_model([one], mapper, inputs.n_classes) for one in cut]
    scores = np.full((inputs.table.n_rows, inputs.n_classes), np.nan)
    for (_, held), single in zip(splits, singles):
        blocks = (np.ascontiguousarray(matrix.blocks[0][:, held]),)
        part = BinnedMatrix(blocks, mapper, matrix.has_missing)
        scores[held] = softmax(single.scores(part, plan.n_jobs))
    model = _model(cut, mapper, inputs.n_classes)
    return _calibrated(plan, inputs, model, scores)


def held_out_splits(plan: BoostingPlan, y: NDArray[np.int32], seed: int) -> list[tuple[Rows, Rows]]:
    """(training, held-out) rows of each model; the only row of a class is in every model."""
    fold = stratified_folds(y, N_FOLDS, seed)
    fold[np.bincount(y)[y] == 1] = -1
    pairs = ((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(N_FOLDS))
    return [(rows, held) for rows, held in pairs if len(held)][: plan.n_models]


def _grown(
    plan: BoostingPlan,
    matrix: BinnedMatrix,
    inputs: FitInputs,
    splits: list[tuple[Rows, Rows]],
    seed: int,
) -> list[GrownModel]:
    codes, is_category = matrix.blocks[0], matrix.mapper.is_category == 1
    parts = splits
    if not splits:
        everything = np.arange(inputs.table.n_rows)
        parts, plan = [(everything, everything[:0])], replace(plan, n_rounds=min(plan.n_rounds, _FEW_ROUNDS))
    share(codes, inputs.y, inputs.weight)
    tasks = (
        delayed(grow_model)(plan, codes, is_category, inputs.y, inputs.weight, rows, held, seed + k)
        for k, (rows, held) in enumerate(parts)
    )
    seconds = 1.0 + _SECONDS_A_CELL * codes.size
    found = []
    with stage(plan.verbose, "boosting", len(parts)) as advance:
        for one in run_tasks(tasks, plan.n_jobs, seconds=seconds):
            found.append(one)
            advance(1)
    return found


def common_rounds(grown: list[GrownModel], held: list[Rows], weight: Floats | None) -> int:
    """The number of rounds with the smallest log-loss over all held-out rows, the first of equal ones.

    A model that stopped earlier stays as it is.
    """
    if not held:
        return max((len(one.rounds) for one in grown), default=0)
    longest = max(len(one.losses) for one in grown)
    total = np.zeros(longest)
    for one, rows in zip(grown, held):
        mass = float(len(rows)) if weight is None else float(weight[rows].sum())
        total += mass * np.pad(one.losses, (0, longest - len(one.losses)), mode="edge")
    return int(total.argmin())


def _cut(grown: GrownModel, n_rounds: int) -> GrownModel:
    return replace(grown, rounds=grown.rounds[:n_rounds])


def _model(grown: list[GrownModel], mapper: BinMapper, n_classes: int) -> BoostedModel:
    """The mean of some models, before calibration."""
    n_outputs = len(grown[0].baseline) if grown else 0
    forests, values, sizes = [], [], [0]
    importances = np.zeros(mapper.n_columns)
    for output in range(n_outputs):
        trees = [one_round[output] for one in grown for one_round in one.rounds]
        forest, value, gains = flat_forest(trees, mapper, n_classes)
        forests.append(forest.arrays)
        values.append(value / np.float32(len(grown)))
        sizes.append(len(trees))
        importances += gains
    empty = flat_forest([], mapper, n_classes)[0]
    return BoostedModel(
        trees=FlatForest.join(forests, n_classes, mapper.n_columns) if forests else empty,
        values=np.concatenate(values) if values else np.empty(0, dtype=np.float32),
        output_start=np.cumsum(sizes).astype(np.int64),
        baseline=np.mean([one.baseline for one in grown], axis=0) if grown else np.empty(0),
        mapper=mapper,
        importances=importances,
        n_rounds=np.array([len(one.rounds) for one in grown], dtype=np.int64),
        calibrator=None,
        held_out_error=np.nan,
        n_held_out=0,
    )


def _calibrated(plan: BoostingPlan, inputs: FitInputs, model: BoostedModel, scores: Floats) -> Trained:
    rows = np.flatnonzero(~np.isnan(scores[:, 0]))
    if len(rows) == 0:
        return Trained(model, scores)
    calibrator = None
    if plan.calibration is not None:
        with stage(plan.verbose, "calibrating", 1) as advance:
            calibrator = ScoreCalibrator(plan.calibration).fit(
                scores, inputs.y, inputs.weight, advance, plan.n_jobs
            )
    wrong = scores[rows].argmax(axis=1) != inputs.y[rows]
    error = float(np.average(wrong, weights=None if inputs.weight is None else inputs.weight[rows]))
    fitted = replace(model, calibrator=calibrator, held_out_error=error, n_held_out=len(rows))
    return Trained(fitted, held_out_probabilities(scores, calibrator))
