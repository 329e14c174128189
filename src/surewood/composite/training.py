"""A plan and data become a fitted model: all parts fitted, joined, judged on held-out rows, calibrated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.bounds import VoteEvidence
from surewood.composite.data import TrainingData
from surewood.composite.evidence import SampleFacts, split_log_growth
from surewood.composite.growing import mean_sample_size
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.model import CompositeModel, HeldOutError
from surewood.composite.out_of_bag import labels_by_blocks, outside_bags, plain_out_of_bag, vote_evidence
from surewood.composite.plan import Plan
from surewood.composite.setting import Setting, plain_tree_params
from surewood.composite.tree_fitting import fit_trees
from surewood.composite.trees import CompositeTrees, join_trees
from surewood.composite.votes import LeafReliability, blend, vote_fractions
from surewood.estimators.calibration import ScoreCalibrator
from surewood.estimators.folds import shuffled_folds
from surewood.parallel.progress import stage
from surewood.svm import first_rows
from surewood.tables import FitInputs, alongside
from surewood.trees import Grown, grow_forest

CALIBRATION_FOLDS = 3
CALIBRATION_TREES = 30
CALIBRATION_PLAIN_TREES = 100
_ROWS_AND_TREES = 2e7  # rows x trees whose leaves are held at once: some 20 bytes each


@dataclass(frozen=True)
class Trained:
    """A fitted model, and the votes of training rows by trees that did not see them (None without any)."""

    model: CompositeModel
    votes: Floats | None


def train_model(plan: Plan, inputs: FitInputs, data: TrainingData, options: SolverOptions) -> CompositeModel:
    """Fit a plan to a prepared sample."""
    return train_with_votes(plan, inputs, data, options).model


def train_with_votes(plan: Plan, inputs: FitInputs, data: TrainingData, options: SolverOptions) -> Trained:
    """Fit a plan to a prepared sample; the held-out votes come along."""
    fitted = _with_plain_trees(_fit_parts(plan, data, options), plan, data, options)
    votes, kind = fitted.held_out, "out-of-bag"
    if votes is None and plan.out_of_fold:
        votes, kind = out_of_fold_votes(plan, data, options), "out-of-fold"
    predictor = fitted.trees.predictor
    model = CompositeModel(
        trees=fitted.trees,
        reader=data.reader,
        classes=inputs.classes,
        schema=inputs.schema,
        settings=tuple(setting for setting, _ in plan.parts),
        part_of_tree=np.repeat(np.arange(len(plan.parts)), [n for _, n in plan.parts]),
        leaf_scores=plan.leaf_scores,
        importances=fitted.importances,
        calibrator=_calibrator(plan, data, votes, options),
        held_out=HeldOutError.of(votes, kind, data),
        votes=fitted.votes,
        searched=plan.searched,
        sample=SampleFacts(
            n_features=data.n_features,
            n_splitting=data.n_splitting,
            split_growth=split_log_growth(data.reader.mapper, data.matrix.has_missing, data.n_rows),
            unweighted=not inputs.weighted,
            affine_features=not data.reader.encoder.learned_,
            learned=data.reader.encoder.learned_,
        ),
        support_origin=None if predictor is None else first_rows(inputs)[predictor.support_index],
    )
    return Trained(model, votes)


@dataclass(frozen=True)
class _Fitted:
    """Trees, importances of their splits, out-of-bag votes (None without bags), and evidence from them."""

    trees: CompositeTrees
    importances: Floats
    held_out: Floats | None = None
    votes: VoteEvidence | None = None


def _fit_parts(plan: Plan, data: TrainingData, options: SolverOptions) -> _Fitted:
    """The composite trees of every part, numbered through."""
    parts: list[CompositeTrees] = []
    importances: list[Floats] = []
    outside = _room_for_outside(plan, data)
    for step in _steps(plan, data):
        fitted = fit_trees(
            data, step.setting, step.n_trees, plan.seed, options, first_tree=step.first_tree, base=step.base
        )
        parts.append(fitted.trees)
        importances.append(fitted.importances)
        if outside is not None:
            columns = slice(step.first_tree, step.first_tree + step.n_trees)
            outside[:, columns] = outside_bags(fitted.grove, np.arange(data.n_rows))
    trees = join_trees(parts)
    mean = np.average(importances, axis=0, weights=[part.n_trees for part in parts])
    if outside is None:
        if plan.leaf_scores == "calibrated":  # no row outside any bag: the training labels have to do
            labels = labels_by_blocks(trees, data, options)
            trees = _with_reliability(trees, data, labels, options)
        return _Fitted(trees, mean)
    labels = labels_by_blocks(trees, data, options, mask=outside)
    evidence = vote_evidence(
        data, labels, outside, hard_vote=plan.hard_vote, n_settings=plan.searched.n_settings
    )
    if plan.leaf_scores == "calibrated":
        trees = _with_reliability(trees, data, labels, options)
    if plan.leaf_scores == "one_hot":
        held_out = vote_fractions(labels, data.n_classes)
    else:
        held_out = trees.composite_scores(data.matrix, data.gram.X, plan.leaf_scores, options.n_jobs, outside)
    return _Fitted(trees, mean, held_out, evidence)


@dataclass(frozen=True)
class _Step:
    """Trees that are fitted together, and the sample size that their C refers to."""

    setting: Setting
    first_tree: int
    n_trees: int
    base: float | None


def _steps(plan: Plan, data: TrainingData) -> Iterator[_Step]:
    """All trees of a part, or as many as keep the row numbers of leaves in bounds; the model is the same."""
    most = max(1, int(_ROWS_AND_TREES // data.n_rows))
    first = 0
    for setting, n_trees in plan.parts:
        base = None if n_trees <= most else mean_sample_size(data, setting, n_trees, plan.seed, first)
        for start in range(0, n_trees, most):
            yield _Step(setting, first + start, min(most, n_trees - start), base)
        first += n_trees


def _room_for_outside(plan: Plan, data: TrainingData) -> NDArray[np.bool_] | None:
    """Room for which rows each tree did not see; None where every tree sees every row."""
    if plan.every_tree_sees_all_rows:
        return None
    return alongside(data.matrix.blocks[0], (data.n_rows, plan.n_trees), np.bool_)


def _with_reliability(
    trees: CompositeTrees, data: TrainingData, labels: NDArray[Any], options: SolverOptions
) -> CompositeTrees:
    leaf = trees.leaf_index(data.matrix, options.n_jobs)
    measured = LeafReliability.measure(leaf, labels, data.y, data.weight, len(trees.leaves), data.n_classes)
    return replace(trees, reliability=measured)


def _with_plain_trees(fitted: _Fitted, plan: Plan, data: TrainingData, options: SolverOptions) -> _Fitted:
    """With the plain trees of the plan, in the vote, the importances and the held-out votes."""
    if not plan.n_plain:
        return fitted
    grown = _grow_plain(plan, data, options, plan.n_plain)
    weight, held_out = plan.plain_weight, fitted.held_out
    if held_out is not None:
        plain = plain_out_of_bag(grown, data, np.arange(data.n_rows), options)
        held_out = blend(held_out, plain, weight)
    return replace(
        fitted,
        trees=replace(fitted.trees, plain=grown.forest, plain_weight=weight),
        importances=(1 - weight) * fitted.importances + weight * grown.importances,
        held_out=held_out,
    )


def _grow_plain(
    plan: Plan, data: TrainingData, options: SolverOptions, n_trees: int, rows: NDArray[Any] | None = None
) -> Grown:
    params = plain_tree_params(plan.parts[0][0].max_features)
    return grow_forest(
        data.matrix, data.y, data.n_classes, params, n_trees=n_trees, seed=plan.seed + 1,
        weight=data.weight, rows=rows, n_jobs=options.n_jobs, verbose=options.verbose,
    )  # fmt: skip


def out_of_fold_votes(plan: Plan, data: TrainingData, options: SolverOptions) -> Floats:
    """Vote fractions of every row by small forests grown without its fold; NaN where there is none."""
    fold = shuffled_folds(data.n_rows, CALIBRATION_FOLDS, [plan.seed, 2])
    votes = np.full((data.n_rows, data.n_classes), np.nan)
    with stage(options.verbose, "forests without a fold", CALIBRATION_FOLDS) as advance:
        for k in range(CALIBRATION_FOLDS):
            rows, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            if len(held) == 0 or len(np.unique(data.y[rows])) < 2:
                continue
            parts = []
            for setting, n_trees in plan.parts:
                count = max(1, round(n_trees / plan.n_trees * min(plan.n_trees, CALIBRATION_TREES)))
                inner = replace(setting, sampling="all", n_draws=None)
                parts.append(fit_trees(data, inner, count, plan.seed, options, rows).trees)
            labels = labels_by_blocks(join_trees(parts), data, options, held)
            votes[held] = vote_fractions(labels, data.n_classes)
            if plan.n_plain:
                plain = _grow_plain(plan, data, options, CALIBRATION_PLAIN_TREES, rows)
                everywhere = plain.forest.predict_proba(data.matrix, options.n_jobs)
                votes[held] = blend(votes[held], everywhere[held], plan.plain_weight)
            advance(1)
    return votes


def _calibrator(
    plan: Plan, data: TrainingData, votes: Floats | None, options: SolverOptions
) -> ScoreCalibrator | None:
    if plan.calibration is None or votes is None or data.n_classes < 2:
        return None
    with stage(options.verbose, "calibrating", 1) as advance:
        calibrator = ScoreCalibrator(plan.calibration)
        return calibrator.fit(votes, data.y, data.weight, advance, options.n_jobs)
