"""Plan and data to fitted boosted trees: a model without each of some folds, their common number of rounds.

The engine (core/forest/boosting) grows a model on the bins that all folds share. Category columns become
ordered ones for it: every category stands at its smoothed frequency of a class, found without the row's own
fold (:func:`category_axes`). The models take their shape of trees in turn. Every model is stopped by the rows
of its own fold, and all are cut at one number of rounds, chosen on all held-out rows together
(:func:`choose_rounds`), so held-out probabilities are hardly optimistic. The fitted model is the mean of the
models' scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from surewood import _core
from surewood._arrays import Floats
from surewood.base.calibration import ScoreCalibrator
from surewood.base.folds import Rows, stratified_folds
from surewood.base.parameters import calibration_method, features_tried
from surewood.base.time_limit import TimeLimit
from surewood.parallel import run_tasks, share, thread_count, worker_count
from surewood.parallel.progress import stage
from surewood.tables import TrainingTable
from surewood.tables.mixing import splitmix64
from surewood.trees.binning import MISSING_CODE, BinMapper, BinnedMatrix, training_bins
from surewood.trees.boosted_model import BoostedModel, output_count, softmax
from surewood.trees.flat_tree import FlatForest
from surewood.trees.monotone import monotone_directions
from surewood.trees.node_codec import (
    feature_of,
    is_split,
    last_bin,
    missing_left,
    pack_set,
    split_word,
)

N_FOLDS = 8
LEAST_MODELS = 2
#: Rows of all models together. The mean of many models is worth their time where each of them varies with its
#: rows; with many rows it does not.
ROWS_OF_ALL = 50_000
#: Bins of a column; finer ones cost time at every leaf and gain nothing that a mean of models would not blur.
MOST_BINS = 64
LEARNING_RATE = 0.1
#: Rounds without a smaller held-out loss before a model stops, times the learning rate, besides as many as it
#: took to reach that loss.
PATIENCE = 2.0
LEAST_PATIENCE = 10
MIN_HESSIAN = 1e-3
#: Columns that a tree may split on by default, where they are few and each has this many rows per output.
FEW_COLUMNS = 8
ROWS_A_COLUMN = 100
#: Numbers of rounds that are compared, and the rows that compare them, at most.
N_COMPARED = 16
ROWS_COMPARED = 10_000
#: Rows that the frequency of a class among all rows counts for in that of a category.
PRIOR_ROWS = 10.0
#: Classes whose frequencies order the categories: the most frequent ones.
MOST_AXES = 6
_NEWTON_STEPS = 6
_FEW_ROUNDS = 10  # where no row can be held out
_SECONDS_A_CELL = 1e-6  # of a table, for a model, roughly


class Shape(NamedTuple):
    """One split per level for all leaves, or leaf by leaf; most leaves."""

    symmetric: bool
    n_leaves: int

    @property
    def depth(self) -> int:
        """Levels of a symmetric tree."""
        return min(8, int(math.log2(self.n_leaves)))


#: Shapes that the models of a fit take in turn: none is best for all tables, and a mean gains by models that
#: differ.
SHAPES = {
    "auto": (Shape(True, 64), Shape(False, 16), Shape(True, 16), Shape(True, 256)),
    "symmetric": (Shape(True, 64),),
    "leaf-wise": (Shape(False, 16),),
}


@dataclass(frozen=True)
class BoostingPlan:
    """How boosted trees are grown; only the number of rounds is decided later."""

    #: Of all folds, how many are held out from a model of their own.
    n_models: int
    n_rounds: int
    learning_rate: float
    patience: int
    shapes: tuple[Shape, ...]
    min_samples_leaf: int
    l2_regularization: float
    #: Fraction of the columns, and of the rows, that each tree sees.
    column_fraction: float
    row_fraction: float
    #: What each further leaf and each split must gain.
    leaf_penalty: float
    split_penalty: float
    #: 1, -1 or 0 for every column, or None.
    monotone: NDArray[np.int8] | None
    calibration: str | None
    seed: int
    time_limit: TimeLimit
    n_jobs: int | None
    verbose: int


def make_plan(parameters: Mapping[str, Any], data: TrainingTable, seed: int) -> BoostingPlan:
    """The plan for a training table."""
    (n_rows, n_columns), n_rounds = data.table.shape, int(parameters["n_estimators"])
    shapes = SHAPES[parameters["tree_shape"]]
    if parameters["max_leaf_nodes"] != "auto":
        n_leaves = int(parameters["max_leaf_nodes"])
        shapes = tuple(dict.fromkeys(shape._replace(n_leaves=n_leaves) for shape in shapes))
    rate = parameters["learning_rate"]
    rate = learning_rate(n_rounds) if rate == "auto" else float(rate)
    least_weight = math.ceil(float(parameters["min_weight_fraction_leaf"]) * n_rows)
    leaf, split = penalties(output_count(data.n_classes), n_columns)
    scale = float(parameters["gamma_scale"])
    return BoostingPlan(
        n_models=max(LEAST_MODELS, min(N_FOLDS, ROWS_OF_ALL // max(n_rows, 1))),
        n_rounds=n_rounds,
        learning_rate=rate,
        patience=max(LEAST_PATIENCE, math.ceil(PATIENCE / rate)),
        shapes=shapes,
        min_samples_leaf=max(int(parameters["min_samples_leaf"]), least_weight),
        l2_regularization=float(parameters["l2_regularization"]),
        column_fraction=column_fraction(parameters["max_features"], data),
        row_fraction=float(parameters["max_samples"]),
        leaf_penalty=scale * leaf,
        split_penalty=scale * split,
        monotone=monotone_directions(parameters["monotonic_cst"], data),
        calibration=calibration_method(parameters["calibrate"]),
        seed=seed,
        time_limit=parameters["time_limit"],
        n_jobs=parameters["n_jobs"],
        verbose=int(parameters["verbose"]),
    )


def learning_rate(n_rounds: int) -> float:
    """The rate for a number of rounds: few need long steps.

    Examples
    --------
    >>> learning_rate(1000), learning_rate(20)
    (0.1, 0.25)
    """
    return max(LEARNING_RATE, min(0.3, 5 / n_rounds))


def penalties(n_outputs: int, n_columns: int) -> tuple[float, float]:
    """What each leaf and each split must gain, in units of `gamma_scale` (theory.md §13.2).

    Examples
    --------
    >>> [round(value, 2) for value in penalties(1, 10)]
    [1.39, 34.16]
    """
    return 2 * math.log(2) * n_outputs, 4 * math.log(8 * n_columns * MOST_BINS) * n_outputs


def column_fraction(max_features: Any, data: TrainingTable) -> float:
    """The fraction of the columns that a tree may split on.

    By default half of them, which makes the trees differ. Of few columns that is too few to find how they act
    together, so a tree has up to eight, if there are rows enough to choose among them.
    """
    n_rows, n_columns = data.table.shape
    if max_features == "auto":
        affordable = n_rows / (ROWS_A_COLUMN * max(output_count(data.n_classes), 1))
        return max(0.5, min(FEW_COLUMNS, affordable, n_columns) / max(n_columns, 1))
    if isinstance(max_features, float):
        return max_features
    return features_tried(max_features, n_columns) / n_columns


@dataclass(frozen=True)
class BoostingData:
    """A table as the engine reads it; all models share it."""

    matrix: BinnedMatrix
    #: Codes of at most `MOST_BINS` bins, and how many bins of the matrix one of them is, column by column.
    codes: NDArray[np.uint8]
    step: NDArray[np.int64]
    n_bins: NDArray[np.uint8]
    y: NDArray[np.uint16]
    n_classes: int
    weight: Floats | None
    #: A random word for each row, the same in any order of the rows.
    keys: NDArray[np.uint64]
    #: Fold of each row; -1 for one that no model leaves out.
    fold: NDArray[np.int64]

    @property
    def mapper(self) -> BinMapper:
        """The bins of the matrix."""
        return self.matrix.mapper


def boosting_data(inputs: TrainingTable, n_jobs: int | None, seed: int) -> BoostingData:
    """The table binned, its rows dealt to folds; the only row of a class is in every model."""
    matrix = training_bins(inputs, n_jobs=n_jobs)
    sizes = np.diff(matrix.mapper.offset)
    step = np.where(matrix.mapper.is_category == 1, 1, -(-sizes // MOST_BINS))
    codes = matrix.blocks[0]
    if (step > 1).any():
        codes = np.where(codes == MISSING_CODE, MISSING_CODE, codes // step[:, None]).astype(np.uint8)
    keys = np.empty(matrix.n_rows, dtype=np.uint64)
    keys[np.lexsort((inputs.y, matrix.row_keys))] = splitmix64(np.arange(matrix.n_rows, dtype=np.uint64))
    fold = stratified_folds(inputs.y, N_FOLDS, seed, inputs.groups)
    fold[np.bincount(inputs.y)[inputs.y] == 1] = -1
    data = BoostingData(
        matrix=matrix,
        codes=codes,
        step=step,
        n_bins=(-(-sizes // step)).astype(np.uint8),
        y=inputs.y.astype(np.uint16),
        n_classes=inputs.n_classes,
        weight=inputs.weight,
        keys=keys,
        fold=fold,
    )
    share(data.codes, data.y, data.weight, data.keys, data.fold)
    return data


class CategoryAxis(NamedTuple):
    """A category column ordered by the frequency of a class."""

    column: int
    #: Place of each category among them all, by its frequency in the training rows.
    rank: NDArray[np.uint8]
    #: The same for every row, by the frequency of its category outside of its own fold.
    codes: NDArray[np.uint8]


def category_axes(data: BoostingData, held: int) -> list[CategoryAxis]:
    """Category columns as ordered ones for the model without fold `held`.

    Two categories need no order. The frequency of a class in a category is smoothed by that of all rows
    (:data:`PRIOR_ROWS`); for a row of fold e it is counted on folds other than e and `held`.
    """
    axes = []
    weight = np.ones(len(data.y)) if data.weight is None else data.weight
    place = data.fold + 1  # 0: rows of every model
    classes = np.argsort(-np.bincount(data.y, weight, data.n_classes), kind="stable")
    targets = [1] if data.n_classes == 2 else classes[:MOST_AXES].tolist()
    for j in np.flatnonzero((data.mapper.is_category == 1) & (data.n_bins > 2)).tolist():
        codes, n_bins = data.codes[j], int(data.n_bins[j])
        known = codes != MISSING_CODE
        cell = place[known] * n_bins + codes[known]
        total = np.bincount(cell, weight[known], (N_FOLDS + 1) * n_bins).reshape(-1, n_bins)
        for target in targets:
            counted = weight[known] * (data.y[known] == target)
            hits = np.bincount(cell, counted, (N_FOLDS + 1) * n_bins).reshape(-1, n_bins)
            everything = _frequencies(hits, total, [held + 1])
            middles = np.unique(everything)
            middles = (middles[1:] + middles[:-1]) / 2
            own = np.full(len(codes), MISSING_CODE, dtype=np.uint8)
            for e in range(N_FOLDS + 1):
                left_out = [held + 1] if e in (0, held + 1) else [held + 1, e]
                rank = np.searchsorted(middles, _frequencies(hits, total, left_out)).astype(np.uint8)
                rows = known & (place == e)
                own[rows] = rank[codes[rows]]
            axes.append(CategoryAxis(j, np.searchsorted(middles, everything).astype(np.uint8), own))
    return axes


def _frequencies(hits: NDArray[Any], total: NDArray[Any], left_out: list[int]) -> Floats:
    """Smoothed frequencies by category, without some folds."""
    hit, count = (
        hits.sum(axis=0) - hits[left_out].sum(axis=0),
        total.sum(axis=0) - total[left_out].sum(axis=0),
    )
    prior = hit.sum() / max(count.sum(), 1e-300)
    return np.asarray(np.round((hit + PRIOR_ROWS * prior) / (count + PRIOR_ROWS), 12))


@dataclass(frozen=True)
class GrownModel:
    """A boosted model of some rows."""

    trees: FlatForest
    values: NDArray[np.float32]
    baseline: Floats
    gains: Floats
    #: Log-loss of the held-out rows and one failure, before the first and after every round; or empty.
    losses: Floats
    #: Weight of the held-out rows.
    mass: float


def grow_model(
    plan: BoostingPlan, data: BoostingData, shape: Shape, held: int, seed: int, seconds: float, stop: Any
) -> GrownModel:
    """A model of all rows but those of fold `held`, which stop it; -1: of all rows."""
    axes = category_axes(data, held)
    n_columns = data.mapper.n_columns
    numbers = np.flatnonzero((data.mapper.is_category == 0) | (data.n_bins <= 2))
    columns = np.concatenate([numbers, n_columns + np.arange(len(axes))]).astype(np.uint32)
    blocks = [data.codes, *(axis.codes[None] for axis in axes)]
    extra = [(int(axis.rank.max()) + 1, data.matrix.has_missing[axis.column]) for axis in axes]
    monotone = None
    if plan.monotone is not None:
        monotone = np.concatenate([plan.monotone, np.zeros(len(axes), dtype=np.int8)])
    role = np.where(data.fold == held, 2, 1).astype(np.uint8) if held >= 0 else np.ones_like(data.y, np.uint8)
    baseline = _baseline(data, role)
    options = _core.BoostingOptions(
        symmetric=shape.symmetric,
        depth=shape.depth,
        max_leaves=shape.n_leaves,
        n_rounds=plan.n_rounds if held >= 0 else min(plan.n_rounds, _FEW_ROUNDS),
        patience=plan.patience,
        learning_rate=plan.learning_rate,
        l2=plan.l2_regularization,
        min_hessian=MIN_HESSIAN,
        min_rows=plan.min_samples_leaf,
        leaf_penalty=plan.leaf_penalty,
        split_penalty=plan.split_penalty,
        columns_per_tree=max(1, math.ceil(plan.column_fraction * len(columns))),
        row_fraction=plan.row_fraction,
        seed=seed,
    )
    nodes, values, node_start, gains, losses = _core.boost(
        _core.Bins(blocks),
        np.concatenate([data.n_bins, [size for size, _ in extra]]).astype(np.uint8),
        np.concatenate([data.matrix.has_missing, [missing for _, missing in extra]]).astype(np.uint8),
        monotone,
        columns,
        data.y,
        data.n_classes,
        data.weight,
        data.keys,
        role,
        baseline,
        options,
        seconds,
        stop,
    )
    trees = flat_forest(nodes, node_start, data, axes)
    total = gains[:n_columns].copy()
    for axis, gain in zip(axes, gains[n_columns:]):
        total[axis.column] += gain
    held_rows = role == 2
    mass = float(held_rows.sum() if data.weight is None else data.weight[held_rows].sum())
    return GrownModel(trees, values.reshape(-1, len(baseline)), baseline, total, losses, mass)


def _baseline(data: BoostingData, role: NDArray[np.uint8]) -> Floats:
    """Logarithms of the classes' frequencies in the training rows."""
    weight = None if data.weight is None else data.weight[role == 1]
    counts = np.bincount(data.y[role == 1], weight, data.n_classes) + 1e-3
    scores = np.log(counts / counts.sum())
    return np.array([scores[1] - scores[0]]) if data.n_classes == 2 else scores - scores.mean()


def flat_forest(
    nodes: NDArray[np.uint32], node_start: NDArray[np.int64], data: BoostingData, axes: list[CategoryAxis]
) -> FlatForest:
    """Trees on the engine's columns as trees on those of the table, with sets of categories and all bins."""
    left, word = nodes[:, 0].astype(np.int64), nodes[:, 1].astype(np.int64)
    n_columns, sizes = data.mapper.n_columns, np.diff(data.mapper.offset)
    split = is_split(word)
    column = np.where(split, feature_of(word), 0)
    category = split & (column >= n_columns)
    number = split & ~category
    j = column[number]
    last = np.minimum((last_bin(word[number]) + 1) * data.step[j] - 1, sizes[j] - 1)
    word[number] = split_word(j, last, missing_left(word[number]), np.zeros(len(j), dtype=bool))
    places = np.flatnonzero(category)
    members = np.zeros((len(places), MISSING_CODE + 1), dtype=bool)
    for k, at in enumerate(places.tolist()):
        axis = axes[int(column[at]) - n_columns]
        members[k, : len(axis.rank)] = axis.rank <= last_bin(word[at : at + 1])[0]
        members[k, MISSING_CODE] = missing_left(word[at : at + 1])[0]
        column[at] = axis.column
    tree = np.searchsorted(node_start, places, side="right") - 1
    category_start = np.searchsorted(tree, np.arange(len(node_start)))
    category_left = left[places].astype(np.uint32)
    left[places] = np.arange(len(places)) - category_start[tree]
    flags = np.ones(len(places), dtype=bool)
    word[places] = split_word(column[places], np.zeros(len(places), dtype=np.int64), ~flags, flags)
    return FlatForest(
        nodes=np.stack([left, word], axis=1).astype(np.uint32),
        leaf_class=np.empty(0, dtype=np.uint16),
        leaf_weight=np.empty(0, dtype=np.uint32),
        category_left=category_left,
        category_set=pack_set(members),
        node_start=node_start,
        leaf_start=np.zeros(len(node_start), dtype=np.int64),
        category_start=category_start.astype(np.int64),
        n_classes=data.n_classes,
        n_features=n_columns,
    )


def train(plan: BoostingPlan, data: TrainingTable) -> BoostedModel:
    """Grow the models, cut, join and calibrate them."""
    binned = boosting_data(data, plan.n_jobs, plan.seed)
    scores = np.full((data.table.n_rows, data.n_classes), np.nan)
    if data.n_classes == 1:
        return replace(_joined([], binned, data), held_out=scores)
    folds = np.unique(binned.fold[binned.fold >= 0])[: plan.n_models].tolist()
    tasks = [
        (plan, binned, plan.shapes[k % len(plan.shapes)], held, plan.seed + held)
        for k, held in enumerate(folds or [-1])
    ]
    grown = _grow_all(tasks, plan)
    if folds:
        held_out = [np.flatnonzero(binned.fold == held) for held in folds]
        n_rounds, parts = choose_rounds(grown, binned, held_out)
        grown = [_rounds(model, 0, n_rounds) for model in grown]
        scores[np.concatenate(held_out)] = softmax(np.concatenate(parts))
    return _calibrated(plan, data, _joined(grown, binned, data), scores)


def _grow_all(tasks: list[Any], plan: BoostingPlan) -> list[GrownModel]:
    """Models side by side; each has its part of the time."""
    workers = max(worker_count(plan.n_jobs) or thread_count(plan.n_jobs), 1)
    seconds = plan.time_limit.left / math.ceil(len(tasks) / workers)
    stop = np.zeros(1, dtype=np.uint8)
    calls = (delayed(grow_model)(*task, seconds, stop) for task in tasks)
    expected = 1.0 + _SECONDS_A_CELL * tasks[0][1].codes.size
    grown = []
    with stage(plan.verbose, "boosting", len(tasks)) as advance:
        for model in run_tasks(calls, plan.n_jobs, stop, seconds=expected):
            grown.append(model)
            advance(1)
    return grown


def choose_rounds(
    grown: list[GrownModel], data: BoostingData, held_out: list[Rows]
) -> tuple[int, list[Floats]]:
    """The number of rounds with the smallest held-out loss after calibration, and the scores of these rows.

    Models become too sure of themselves before they stop learning. Probabilities are calibrated anyway, so
    numbers of rounds are compared by the loss at the temperature that suits each best.
    """
    best = int(_common_losses(grown).argmin())
    longest = max(model.trees.n_trees for model in grown)
    compared = np.geomspace(max(best / 2, 1), max(longest, 1), N_COMPARED).round().astype(int)
    blocks = [[np.ascontiguousarray(data.matrix.blocks[0][:, rows])] for rows in held_out]
    scores = [np.tile(model.baseline, (len(rows), 1)) for model, rows in zip(grown, held_out)]
    every = np.concatenate(held_out)
    some = np.linspace(0, len(every) - 1, min(len(every), ROWS_COMPARED)).astype(np.int64)
    y, weight = data.y[every[some]], None if data.weight is None else data.weight[every[some]]
    chosen, smallest, begin = (0, scores), np.inf, 0
    for n_rounds in np.unique([best, *compared]).tolist():
        scores = [
            _with_rounds(model, begin, n_rounds, block, score)
            for model, block, score in zip(grown, blocks, scores)
        ]
        loss = tempered_loss(np.concatenate(scores)[some], y, weight)
        if loss < smallest:
            chosen, smallest = (n_rounds, scores), loss
        begin = n_rounds
    return chosen


def _common_losses(grown: list[GrownModel]) -> Floats:
    """Held-out log-loss of all models together by round; a model that stopped earlier stays as it is."""
    longest = max(len(model.losses) for model in grown)
    total = np.zeros(longest)
    for model in grown:
        total += model.mass * np.pad(model.losses, (0, longest - len(model.losses)), mode="edge")
    return total


def _with_rounds(model: GrownModel, begin: int, end: int, blocks: list[Any], scores: Floats) -> Floats:
    """Scores after round `end` from those after round `begin`."""
    scores, part = scores.copy(), _rounds(model, begin, end)
    _core.add_boosted_scores(part.trees.in_core, part.values, _core.Bins(blocks), 0, len(scores), scores)
    return scores


def _rounds(model: GrownModel, begin: int, end: int) -> GrownModel:
    """The model with these rounds alone."""
    trees = model.trees.trees(begin, end)
    first = model.trees.node_start[min(begin, model.trees.n_trees)]
    return replace(model, trees=trees, values=model.values[first : first + len(trees.nodes)])


def tempered_loss(scores: Floats, y: NDArray[Any], weight: Floats | None = None) -> float:
    """Mean log-loss at the best temperature, by Newton steps on its logarithm.

    A penalty worth one row pulls the temperature towards 1, so rows without an error do not make all scores
    equally good.

    Examples
    --------
    >>> log_odds = np.log([[1.0], [2.0], [3.0], [0.2]])
    >>> bool(tempered_loss(log_odds, np.array([0, 1, 1, 0])) <= 0.4)
    True
    """
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    weight = np.ones(len(y)) if weight is None else weight
    mass = weight / weight.sum()
    behind = scores - scores[np.arange(len(y)), y][:, None]
    log_sharpness = 0.0
    for _ in range(_NEWTON_STEPS):
        scaled = np.exp(log_sharpness) * behind
        power = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        power /= power.sum(axis=1, keepdims=True)
        mean = (power * scaled).sum(axis=1)
        spread = (power * scaled * scaled).sum(axis=1) - mean * mean
        step = (mass @ mean + log_sharpness / len(y)) / (mass @ spread + 1.0 / len(y))
        log_sharpness -= float(np.clip(step, -1.0, 1.0))
    losses = np.logaddexp.reduce(np.exp(log_sharpness) * behind, axis=1)
    return float(mass @ losses) + log_sharpness**2 / (2 * len(y))


def _joined(grown: list[GrownModel], data: BoostingData, table: TrainingTable) -> BoostedModel:
    """The mean of some models, before calibration."""
    n_outputs, n_columns = output_count(data.n_classes), data.mapper.n_columns
    nothing = flat_forest(np.empty((0, 2), dtype=np.uint32), np.zeros(1, dtype=np.int64), data, [])
    values = [model.values / np.float32(len(grown)) for model in grown]
    return BoostedModel(
        trees=FlatForest.join([nothing.arrays, *(m.trees.arrays for m in grown)], data.n_classes, n_columns),
        values=np.concatenate([np.empty((0, n_outputs), dtype=np.float32), *values]),
        baseline=np.mean([m.baseline for m in grown], axis=0) if grown else np.zeros(n_outputs),
        mapper=data.mapper,
        classes=table.classes,
        schema=table.schema,
        importances=np.sum([m.gains for m in grown], axis=0) if grown else np.zeros(n_columns),
        n_rounds=np.array([m.trees.n_trees for m in grown], dtype=np.int64),
        calibrator=None,
        held_out=None,
        held_out_error=np.nan,
        n_held_out=0,
    )


def _calibrated(plan: BoostingPlan, data: TrainingTable, model: BoostedModel, scores: Floats) -> BoostedModel:
    rows: Rows = np.flatnonzero(~np.isnan(scores[:, 0]))
    if len(rows) == 0:
        return replace(model, held_out=scores)
    calibrator = None
    if plan.calibration is not None:
        with stage(plan.verbose, "calibrating", 1) as advance:
            calibrator = ScoreCalibrator(plan.calibration).fit(scores, data.y, data.weight, data.groups)
            advance(1)
    wrong = scores[rows].argmax(axis=1) != data.y[rows]
    error = float(np.average(wrong, weights=None if data.weight is None else data.weight[rows]))
    return replace(model, calibrator=calibrator, held_out=scores, held_out_error=error, n_held_out=len(rows))
