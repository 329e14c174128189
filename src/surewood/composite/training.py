"""A plan and data become a fitted model: all parts fitted, weighed on held-out rows, calibrated.

Two kinds of votes on training rows are told apart (theory.md §12.3). *Held-out* votes come from trees that
did not see the row: they stand for new contents, and `held_out_error_` and certificates speak of them.
*Population* votes stand for rows as they will come, copies of training rows included: a content that occurs
more than once in the training table is voted on by all trees, since they have seen it when its copies come,
any other content by the trees that did not see it. With ``selection="auto"`` the weight of the plain trees
and the calibration are chosen on population votes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.bounds import VoteEvidence
from surewood.composite.certifiable import fit_certifiable, plan_certifiable, prepare_certifiable
from surewood.composite.data import TrainingData
from surewood.composite.evidence import SampleFacts, table_split_growth
from surewood.composite.growing import TreeRange
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.model import CompositeModel, HeldOutError
from surewood.composite.out_of_bag import (
    labels_by_blocks,
    plain_out_of_bag,
    rows_of,
    scores_by_blocks,
    vote_evidence,
)
from surewood.composite.part_fitting import FittedParts, fit_parts
from surewood.composite.plain_trees import grow_plain, plain_in_time
from surewood.composite.plain_weight import choose_plain_weight
from surewood.composite.plan import Parameters, Plan
from surewood.composite.tree_fitting import fit_trees
from surewood.composite.trees import CompositeTrees, join_trees
from surewood.composite.votes import blend, vote_fractions
from surewood.estimators.calibration import ScoreCalibrator
from surewood.estimators.copies import copy_counts, with_other_copies
from surewood.estimators.folds import shuffled_folds
from surewood.estimators.subsamples import vote_evidence as certifiable_votes
from surewood.estimators.time_limit import TimeLimit
from surewood.parallel.progress import stage
from surewood.svm import first_rows
from surewood.tables import FitInputs
from surewood.trees import Grown

CALIBRATION_FOLDS = 3
CALIBRATION_TREES = 30
CALIBRATION_PLAIN_TREES = 100
_COMPOSITE_TIME = 0.7  # part of the time left after the pilot that the composite trees may take


@dataclass(frozen=True)
class Trained:
    """A fitted model, and the votes of training rows by trees that did not see them (None without any)."""

    model: CompositeModel
    votes: Floats | None


@dataclass(frozen=True)
class Votes:
    """Votes on the training rows by both kinds of trees; `plain` is None where there are no plain trees."""

    composite: Floats
    plain: Floats | None

    def mixed(self, plain_weight: float) -> Floats:
        """The votes of all trees."""
        return self.composite if self.plain is None else blend(self.composite, self.plain, plain_weight)


def train_model(plan: Plan, inputs: FitInputs, data: TrainingData, options: SolverOptions) -> CompositeModel:
    """Fit a plan to a prepared sample."""
    return train_with_votes(plan, inputs, data, options).model


def train_with_votes(
    plan: Plan,
    inputs: FitInputs,
    data: TrainingData,
    options: SolverOptions,
    limit: TimeLimit | None = None,
) -> Trained:
    """Fit a plan to a prepared sample; the held-out votes come along."""
    limit = TimeLimit(None) if limit is None else limit
    parts = fit_parts(plan, data, options, limit.part(_COMPOSITE_TIME))
    plain = None
    if plan.n_plain:
        plain = grow_plain(plan, data, options, plain_in_time(plan, data, options, limit))
    votes, population, kind = _all_votes(plan, inputs, data, options, parts, plain)
    weight = _plain_weight(plan, population, data)
    trees, importances = parts.trees, parts.importances
    if plain is not None and weight > 0.0:
        trees = replace(trees, plain=plain.forest, plain_weight=weight)
        importances = (1 - weight) * importances + weight * plain.importances
    held_out = None if votes is None else votes.mixed(weight)
    chosen_on = None if population is None else population.mixed(weight)
    model = CompositeModel(
        **_recorded(plan, inputs, data, parts),
        trees=trees,
        importances=importances,
        calibrator=_calibrator(plan, data, chosen_on, options),
        held_out=HeldOutError.of(held_out, kind, data),
        votes=_evidence(plan, data, parts, weight),
        support_origin=_support_origin(inputs, trees),
        notes=(*plan.notes, *_left_out(plan, parts, plain)),
    )
    return Trained(model, held_out)


def _recorded(plan: Plan, inputs: FitInputs, data: TrainingData, parts: FittedParts) -> dict[str, Any]:
    """Fields of a model that say what it was fitted to and how."""
    return {
        "reader": data.reader,
        "classes": inputs.classes,
        "schema": inputs.schema,
        "settings": tuple(setting for setting, _ in plan.parts),
        "part_of_tree": parts.part_of_tree,
        "leaf_scores": plan.leaf_scores,
        "searched": plan.searched,
        "sample": _sample_facts(inputs, data),
    }


def train_certifiable(
    given: Parameters, inputs: FitInputs, seed: int, options: SolverOptions, max_memory: int | None
) -> Trained:
    """Fit trees that are functions of their in-bag rows alone ([D-43]); the held-out votes come along."""
    prepared = prepare_certifiable(inputs, given, seed, max_memory, options.n_jobs)
    plan = plan_certifiable(given, prepared, seed, options)
    parts, data = fit_certifiable(plan, prepared, options), prepared.data
    assert parts.labels is not None
    has_categories = bool(data.reader.mapper.is_category.any())
    evidence, votes = certifiable_votes(parts.labels, inputs, prepared.drawn, has_categories)
    model = CompositeModel(
        **_recorded(plan, inputs, data, parts),
        trees=parts.trees,
        importances=parts.importances,
        calibrator=None,
        held_out=HeldOutError.of(votes, "out-of-bag", replace(data, weight=inputs.weight)),
        votes=evidence,
        support_origin=_support_origin(inputs, parts.trees),
        notes=plan.notes,
    )
    return Trained(model, votes)


def _all_votes(
    plan: Plan,
    inputs: FitInputs,
    data: TrainingData,
    options: SolverOptions,
    parts: FittedParts,
    plain: Grown | None,
) -> tuple[Votes | None, Votes | None, str]:
    """Held-out votes, population votes and what the first are; None where no tree left a row out."""
    if parts.held_out is not None:
        kind, every = "out-of-bag", np.arange(data.n_rows)
        of_plain = None if plain is None else plain_out_of_bag(plain, data, every, options)
        votes = Votes(parts.held_out, of_plain)
    elif plan.out_of_fold:
        votes, kind = out_of_fold_votes(plan, data, options), "out-of-fold"
    else:
        return None, None, "out-of-bag"
    if not plan.with_copies:
        return votes, votes, kind
    counts = copy_counts(inputs)
    composite = with_other_copies(
        votes.composite,
        data.y,
        counts,
        lambda rows: scores_by_blocks(parts.trees, data, options, rows, plan.leaf_scores),
    )
    of_plain = votes.plain
    if plain is not None and of_plain is not None:
        forest = plain.forest
        of_plain = with_other_copies(
            of_plain,
            data.y,
            counts,
            lambda rows: forest.predict_proba(rows_of(data.matrix, rows), options.n_jobs),
        )
    return votes, Votes(composite, of_plain), kind


def out_of_fold_votes(plan: Plan, data: TrainingData, options: SolverOptions) -> Votes:
    """Vote fractions of every row by small forests grown without its fold; NaN where there is none."""
    fold = shuffled_folds(data.n_rows, CALIBRATION_FOLDS, [plan.seed, 2])
    composite, plain = np.full((2, data.n_rows, data.n_classes), np.nan)
    with stage(options.verbose, "forests without a fold", CALIBRATION_FOLDS) as advance:
        for k in range(CALIBRATION_FOLDS):
            rows, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            if len(held) == 0 or len(np.unique(data.y[rows])) < 2:
                continue
            parts = []
            for setting, n_trees in plan.parts:
                count = max(1, round(n_trees / plan.n_trees * min(plan.n_trees, CALIBRATION_TREES)))
                inner = replace(setting, sampling="all", n_draws=None)
                parts.append(fit_trees(data, inner, TreeRange(count, plan.seed, rows=rows), options).trees)
            labels = labels_by_blocks(join_trees(parts), data, options, held)
            composite[held] = vote_fractions(labels, data.n_classes)
            if plan.n_plain:
                forest = grow_plain(plan, data, options, CALIBRATION_PLAIN_TREES, rows).forest
                plain[held] = forest.predict_proba(data.matrix, options.n_jobs)[held]
            advance(1)
    return Votes(composite, plain if plan.n_plain else None)


def _plain_weight(plan: Plan, votes: Votes | None, data: TrainingData) -> float:
    """The plan's weight of the plain trees, or the one that population votes choose."""
    if plan.plain_weight is not None:
        return plan.plain_weight
    if votes is None or votes.plain is None:
        return 0.0
    return choose_plain_weight(votes.composite, votes.plain, data.y, data.weight)


def _evidence(plan: Plan, data: TrainingData, parts: FittedParts, plain_weight: float) -> VoteEvidence | None:
    """Out-of-bag statistics of the composite trees."""
    if parts.labels is None or parts.outside is None:
        return None
    hard_vote = plan.leaf_scores == "one_hot" and plain_weight == 0.0
    n_settings = plan.searched.n_settings
    return vote_evidence(data, parts.labels, parts.outside, hard_vote=hard_vote, n_settings=n_settings)


def _sample_facts(inputs: FitInputs, data: TrainingData) -> SampleFacts:
    return SampleFacts(
        n_features=data.n_features,
        n_splitting=data.n_splitting,
        split_growth=table_split_growth(data.reader.mapper, data.matrix.has_missing, data.n_rows),
        unweighted=not inputs.weighted,
        affine_features=not data.reader.encoder.learned_,
        learned=data.reader.encoder.learned_,
    )


def _support_origin(inputs: FitInputs, trees: CompositeTrees) -> NDArray[np.int64] | None:
    """Training row of each support row."""
    predictor = trees.predictor
    return None if predictor is None else first_rows(inputs)[predictor.support_index]


def _left_out(plan: Plan, parts: FittedParts, plain: Grown | None) -> list[str]:
    """What the time limit left out of the plan."""
    notes = []
    if parts.trees.n_trees < plan.n_trees:
        notes.append(f"{parts.trees.n_trees} of {plan.n_trees} composite trees were fitted: time_limit")
    if plain is not None and plain.forest.n_trees < plan.n_plain:
        notes.append(f"{plain.forest.n_trees} of {plan.n_plain} plain trees were fitted: time_limit")
    return notes


def _calibrator(
    plan: Plan, data: TrainingData, votes: Floats | None, options: SolverOptions
) -> ScoreCalibrator | None:
    if plan.calibration is None or votes is None or data.n_classes < 2:
        return None
    with stage(options.verbose, "calibrating", 1) as advance:
        calibrator = ScoreCalibrator(plan.calibration)
        return calibrator.fit(votes, data.y, data.weight, advance, options.n_jobs)
