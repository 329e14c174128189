"""A plan and data become a fitted model: composite trees, their votes on held-out rows, calibration.

:func:`train` is the whole way. The published algorithm, RCF(B, r, gamma, M) of theory.md §2.11, is
:func:`~surewood.composite.trees.fit_trees`: grow trees, train the SVMs of their leaves, choose the degrees.
:func:`fit_parts` calls it for every setting of the plan, in steps of bounded memory, and of time with a
limit. A default fit adds plain trees and calibrated votes.

For a forest whose votes are guaranteed on all rows ([D-43], theory.md §11.9) each tree is a function of the
rows in its bag alone, and every tree's labels of all rows are the evidence.

Two kinds of votes on the training rows are told apart (theory.md §12.3). *Held-out* votes come from trees
that did not see the row: they stand for new contents, and `held_out_error_` and certificates speak of them.
*Population* votes stand for rows as they will come, copies of training rows included: a content that occurs
more than once in the training table is voted on by all trees, since they have seen it when its copies come,
any other content by the trees that did not see it. With ``selection="auto"`` the weight of the plain trees
and the calibration are chosen on population votes.

Plain trees vote beside the composite ones: they have no depth limit, see a bootstrap sample and keep class
frequencies at the leaves. The error of held-out votes is what a user sees, but it is noisy: it decides on
their weight only up to its standard error. Among the weights that it cannot tell from the best one, the
smallest log-loss of the calibrated votes decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base.calibration import ScoreCalibrator
from surewood.base.copies import copy_counts, with_other_copies
from surewood.base.folds import shuffled_folds
from surewood.base.subsamples import TANDEM_WORK, vote_evidence
from surewood.base.time_limit import TimeLimit
from surewood.bounds.evidence import VoteEvidence
from surewood.composite.data import CompositeData, rows_of
from surewood.composite.growing import Grove, Setting, TreeRange, mean_sample_size
from surewood.composite.model import CompositeModel, held_out_estimate, table_split_growth
from surewood.composite.plan import PLAIN_WEIGHTS, CompositePlan
from surewood.composite.trees import (
    ROWS_PER_BLOCK,
    CompositeTrees,
    blend,
    fit_trees,
    join_trees,
    vote_fractions,
)
from surewood.parallel.progress import stage
from surewood.svm.one_vs_one import first_rows
from surewood.tables import alongside
from surewood.trees.growing import Grown, TreeParams, grow_forest, out_of_bag

ROWS_AND_TREES = 2e7  # rows x trees whose leaves are held at once: some 20 bytes each
_COMPOSITE_TIME = 0.7  # part of the time left after the pilot that the composite trees may take
_TIMED_STEPS = 10  # of each part, where the time is limited


def train(plan: CompositePlan, data: CompositeData) -> CompositeModel:
    """Fit a plan to a prepared sample."""
    fitted = fit_parts(plan, data, plan.limit.part(_COMPOSITE_TIME))
    plain = plain_trees(plan, data) if plan.n_plain else None
    votes, kind = held_out_votes(plan, data, fitted.held_out, plain)
    population = population_votes(plan, data, fitted.trees, plain, votes)
    weight = plan.plain_weight
    if weight is None:
        weight = 0.0
        if population is not None and population[1] is not None:
            weight = choose_plain_weight(population[0], population[1], data.y, data.weight)
    trees, importances = fitted.trees, fitted.importances
    if plain is not None and weight > 0.0:
        trees = replace(trees, plain=plain.forest, plain_weight=weight)
        importances = (1 - weight) * importances + weight * plain.importances
    held_out = None if votes is None else blend(*votes, weight)
    evidence = fitted.evidence
    if fitted.labels is not None and fitted.outside is not None:
        hard_vote = plan.leaf_scores == "one_hot" and weight == 0.0
        evidence = out_of_bag_evidence(
            data, fitted.labels, fitted.outside, hard_vote, plan.searched.n_settings
        )
    inputs, predictor = data.inputs, trees.predictor
    return CompositeModel(
        trees=trees,
        reader=data.reader,
        classes=inputs.classes,
        schema=inputs.schema,
        settings=tuple(setting for setting, _ in plan.parts),
        part_of_tree=fitted.part_of_tree,
        leaf_scores=plan.leaf_scores,
        importances=importances,
        calibrator=fitted_calibrator(plan, data, None if population is None else blend(*population, weight)),
        held_out=held_out,
        estimate=held_out_estimate(held_out, data.y, data.weight, kind, plan.searched),
        votes=evidence,
        searched=plan.searched,
        split_growth=table_split_growth(data.reader.mapper, data.matrix.has_missing, data.n_rows),
        unweighted=not inputs.weighted,
        support_origin=None if predictor is None else first_rows(inputs)[predictor.support_index],
        notes=(*plan.notes, *_left_out(plan, trees, plain)),
        family_names=data.options.family_names,
    )


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
    #: Of bags that were drawn before anything was learned.
    evidence: VoteEvidence | None = None


def fit_parts(plan: CompositePlan, data: CompositeData, limit: TimeLimit) -> FittedParts:
    """The composite trees of every part; with a time limit those that were fitted in time, at least one."""
    steps: list[CompositeTrees] = []
    importances: list[Floats] = []
    counts: list[int] = []
    parts: list[int] = []
    outside = None
    if data.drawn is None and not plan.every_tree_sees_all_rows:
        outside = alongside(data.matrix.blocks[0], (data.n_rows, plan.n_trees), np.bool_)
    shown = 0 if data.drawn is None else data.options.verbose
    with stage(shown, "fitting composite trees", plan.n_trees) as advance:
        for part, setting, trees, base in _steps(plan, data, limit):
            if steps and limit.is_over:
                break
            if data.drawn is None:
                fitted, grove = fit_trees(data, setting, trees, base)
            else:
                fitted, grove = _fit_to_bag(data, setting, trees)
            if outside is not None:
                columns = slice(sum(counts), sum(counts) + trees.n_trees)
                outside[:, columns] = grove.outside(np.arange(data.n_rows))
            steps.append(fitted)
            importances.append(grove.grown.importances)
            counts.append(trees.n_trees)
            parts.append(part)
            advance(trees.n_trees)
    fitted_parts = FittedParts(
        trees=join_trees(steps),
        importances=np.average(importances, axis=0, weights=counts),
        part_of_tree=np.repeat(parts, counts),
        outside=None if outside is None else outside[:, : sum(counts)],
    )
    return _with_votes(fitted_parts, plan, data)


def _fit_to_bag(data: CompositeData, setting: Setting, trees: TreeRange) -> tuple[CompositeTrees, Grove]:
    """One tree of all the rows in its bag, which was drawn before."""
    bag, rows = data.of_bag(trees.first_tree)
    bag = replace(bag, options=replace(bag.options, verbose=0))
    whole = replace(setting, sampling="all", n_draws=None)
    return fit_trees(bag, whole, replace(trees, rows=rows))


def _steps(
    plan: CompositePlan, data: CompositeData, limit: TimeLimit
) -> Iterator[tuple[int, Setting, TreeRange, float | None]]:
    """Trees that are fitted together: part, setting, numbers, and the sample size that their C refers to.

    All trees of a part, or as many as keep the row numbers of leaves in bounds; the model is the same. With a
    time limit steps are short, and the parts take turns, so that each has trees when the time is up. Trees
    whose bags were drawn come one by one, and their C refers to their own bag.
    """
    most = max(1, int(ROWS_AND_TREES // data.n_rows)) if data.drawn is None else 1
    queues = []
    first = 0
    for part, (setting, n_trees) in enumerate(plan.parts):
        size = most if limit.seconds is None else min(most, max(1, n_trees // _TIMED_STEPS))
        base = None
        if n_trees > size and data.drawn is None:
            base = mean_sample_size(data, setting, n_trees, plan.seed, first)
        starts = range(0, n_trees, size)
        ranges = [TreeRange(min(size, n_trees - k), plan.seed, first + k) for k in starts]
        queues.append([(part, setting, trees, base) for trees in ranges])
        first += n_trees
    if limit.seconds is None:
        for queue in queues:
            yield from queue
        return
    for turn in range(max(len(queue) for queue in queues)):
        yield from (queue[turn] for queue in queues if turn < len(queue))


def _with_votes(fitted: FittedParts, plan: CompositePlan, data: CompositeData) -> FittedParts:
    """With labels, votes and evidence of the rows outside the bags, where there are bags."""
    outside, trees, n_jobs = fitted.outside, fitted.trees, data.options.n_jobs
    if data.drawn is not None:
        has_categories = bool(data.reader.mapper.is_category.any())
        every = labels_by_blocks(trees, data)
        evidence, held_out = vote_evidence(every, data.inputs, data.drawn, has_categories)
        return replace(fitted, held_out=held_out, evidence=evidence)
    if outside is None:
        return fitted
    labels = labels_by_blocks(trees, data, mask=outside)
    if plan.leaf_scores == "one_hot":
        held_out = vote_fractions(labels, data.n_classes)
    else:
        held_out = trees.composite_scores(data.matrix, data.gram.X, plan.leaf_scores, n_jobs, outside)
    return replace(fitted, labels=labels, held_out=held_out)


def _left_out(plan: CompositePlan, trees: CompositeTrees, plain: Grown | None) -> list[str]:
    """What the time limit left out of the plan."""
    notes = []
    if trees.n_trees < plan.n_trees:
        notes.append(f"{trees.n_trees} of {plan.n_trees} composite trees were fitted: time_limit")
    if plain is not None and plain.forest.n_trees < plan.n_plain:
        notes.append(f"{plain.forest.n_trees} of {plan.n_plain} plain trees were fitted: time_limit")
    return notes


# --- votes on the training rows --------------------------------------------------------------------------


CALIBRATION_FOLDS = 3
CALIBRATION_TREES = 30
CALIBRATION_PLAIN_TREES = 100
_TIMED_TREES = 10  # plain trees fitted first, to see how many the time allows
_PLAIN_TIME = 0.5  # part of the time left that they may take: votes and calibration follow
_LOSS_ROWS = 3000  # on which log-losses are compared: they are smooth

#: Votes on the training rows by composite and by plain trees (None: there are none), (n_rows, n_classes).
Votes = tuple[Floats, Floats | None]


def grow_plain(
    data: CompositeData,
    max_features: int,
    n_trees: int,
    seed: int,
    rows: NDArray[Any] | None = None,
) -> Grown:
    """Plain trees on all rows, or on some."""
    params = TreeParams(criterion="gini", max_features=max_features, sampling="bootstrap")
    return grow_forest(
        data.matrix, data.y, data.n_classes, params, n_trees=n_trees, seed=seed,
        weight=data.weight, rows=rows, groups=data.inputs.groups, n_jobs=data.options.n_jobs,
        verbose=data.options.verbose,
    )  # fmt: skip


def plain_trees(plan: CompositePlan, data: CompositeData) -> Grown:
    """The plan's plain trees; with a time limit as many as the time allows, never fewer than ten."""
    max_features, seed, n_trees = plan.parts[0][0].max_features, plan.seed + 1, plan.n_plain
    if plan.limit.seconds is not None and n_trees > _TIMED_TREES:
        before = plan.limit.passed
        grow_plain(data, max_features, _TIMED_TREES, seed)
        seconds = (plan.limit.passed - before) / _TIMED_TREES
        n_trees = min(n_trees, max(_TIMED_TREES, int(_PLAIN_TIME * plan.limit.left / max(seconds, 1e-9))))
    return grow_plain(data, max_features, n_trees, seed)


def plain_out_of_bag(grown: Grown, data: CompositeData) -> Floats:
    """Mean class vectors of the plain trees that did not see a row; NaN where all did."""
    n_jobs, verbose = data.options.n_jobs, data.options.verbose
    with stage(verbose, "out-of-bag votes of plain trees", len(grown.bag.rows)) as advance:
        sums, votes = out_of_bag(grown.forest, grown.bag, data.matrix, n_jobs, advance=advance)
    mean = np.full((data.n_rows, data.n_classes), np.nan)
    judged = votes > 0
    mean[grown.bag.rows[judged]] = sums[judged] / votes[judged, None]
    return mean


def choose_plain_weight(
    composite: Floats, plain: Floats, y: NDArray[np.int32], sample_weight: Floats | None = None
) -> float:
    """The weight of the plain trees.

    Parameters
    ----------
    composite, plain : ndarray of shape (n_rows, n_classes)
        Votes of both kinds of trees; rows with NaN in either do not count.
    y : ndarray of int32
        Class codes.
    sample_weight : ndarray, optional

    Examples
    --------
    >>> y = np.arange(200, dtype=np.int32) % 2
    >>> right, even = np.eye(2)[y], np.full((200, 2), 0.5)
    >>> choose_plain_weight(right, even, y), choose_plain_weight(1 - right, right, y)
    (0.0, 0.9)
    """
    judged = np.flatnonzero(~np.isnan(composite).any(axis=1) & ~np.isnan(plain).any(axis=1))
    if not len(judged):
        return 0.5
    composite, plain, y = composite[judged], plain[judged], y[judged]
    weight = np.ones(len(y)) if sample_weight is None else sample_weight[judged]
    mass = weight / weight.sum()
    wrong = np.array(
        [blend(composite, plain, w).argmax(axis=1) != y for w in PLAIN_WEIGHTS], dtype=np.float64
    )
    errors = wrong @ weight  # counts are summed exactly: equal numbers of errors tie on every processor
    difference = wrong - wrong[errors.argmin()]
    excess = difference @ mass
    standard_error = np.sqrt((np.square(difference - excess[:, None]) * np.square(mass)).sum(axis=1))
    alike = np.flatnonzero(excess <= standard_error)
    if len(alike) == 1:
        return PLAIN_WEIGHTS[int(alike[0])]
    some = np.linspace(0, len(y) - 1, min(len(y), _LOSS_ROWS)).astype(np.int64)
    votes = [blend(composite[some], plain[some], PLAIN_WEIGHTS[k]) for k in alike]
    losses = [_calibrated_log_loss(v, y[some], mass[some]) for v in votes]
    return PLAIN_WEIGHTS[int(alike[int(np.argmin(losses))])]


def _calibrated_log_loss(votes: Floats, y: NDArray[np.int32], mass: Floats) -> float:
    """Log-loss after one temperature for all classes."""
    weight = mass / mass.mean()  # the calibration's own penalty is worth one row
    proba = ScoreCalibrator("temperature").fit(votes, y, weight).transform(votes)
    return float(-(mass @ np.log(proba[np.arange(len(y)), y])))


def held_out_votes(
    plan: CompositePlan, data: CompositeData, out_of_bag_votes: Floats | None, plain: Grown | None
) -> tuple[Votes | None, str]:
    """Votes by trees that did not see a row, and what they are; None where no tree left a row out."""
    if out_of_bag_votes is not None:
        of_plain = None if plain is None else plain_out_of_bag(plain, data)
        return (out_of_bag_votes, of_plain), "out-of-bag"
    return (_out_of_fold_votes(plan, data) if plan.out_of_fold else None), "out-of-fold"


def _out_of_fold_votes(plan: CompositePlan, data: CompositeData) -> Votes:
    """Vote fractions of rows by small forests grown without their fold; NaN without a fold, or time."""
    fold = shuffled_folds(data.n_rows, CALIBRATION_FOLDS, [plan.seed, 2], data.inputs.groups)
    composite, plain = np.full((2, data.n_rows, data.n_classes), np.nan)
    with stage(data.options.verbose, "forests without a fold", CALIBRATION_FOLDS) as advance:
        for k in range(CALIBRATION_FOLDS):
            rows, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            if len(held) == 0 or len(np.unique(data.y[rows])) < 2:
                continue
            if plan.limit.is_over and not np.isnan(composite).all():
                break
            parts = []
            for setting, n_trees in plan.parts:
                count = max(1, round(n_trees / plan.n_trees * min(plan.n_trees, CALIBRATION_TREES)))
                whole = replace(setting, sampling="all", n_draws=None)
                parts.append(fit_trees(data, whole, TreeRange(count, plan.seed, rows=rows))[0])
            labels = labels_by_blocks(join_trees(parts), data, held)
            composite[held] = vote_fractions(labels, data.n_classes)
            if plan.n_plain:
                max_features, seed = plan.parts[0][0].max_features, plan.seed + 1
                grown = grow_plain(data, max_features, CALIBRATION_PLAIN_TREES, seed, rows)
                plain[held] = grown.forest.predict_proba(data.matrix, data.options.n_jobs)[held]
            advance(1)
    return composite, plain if plan.n_plain else None


def population_votes(
    plan: CompositePlan, data: CompositeData, trees: CompositeTrees, plain: Grown | None, votes: Votes | None
) -> Votes | None:
    """Held-out votes, where the plan asks for it with the votes of all trees on rows that have copies."""
    if votes is None or not plan.with_copies or data.inputs.groups is not None:
        return votes
    counts, n_jobs = copy_counts(data.inputs), data.options.n_jobs
    composite, of_plain = votes
    composite = with_other_copies(
        composite, data.y, counts, lambda rows: _scores_by_blocks(trees, data, rows, plan)
    )
    if plain is not None and of_plain is not None:
        forest = plain.forest
        of_plain = with_other_copies(
            of_plain, data.y, counts, lambda rows: forest.predict_proba(rows_of(data.matrix, rows), n_jobs)
        )
    return composite, of_plain


def labels_by_blocks(
    trees: CompositeTrees,
    data: CompositeData,
    rows: NDArray[Any] | None = None,
    mask: NDArray[np.bool_] | None = None,
) -> NDArray[np.int32]:
    """Class that every tree gives to training rows (all by default), in blocks of rows.

    `mask` has a row for each of them: which trees vote.
    """
    rows = np.arange(data.n_rows) if rows is None else rows
    matrix, options = data.matrix, data.options
    labels = alongside(matrix.blocks[0], (len(rows), trees.n_trees), np.int32)
    with stage(options.verbose, "out-of-bag votes" if mask is not None else "votes", len(rows)) as advance:
        for begin in range(0, len(rows), ROWS_PER_BLOCK):
            part = slice(begin, min(begin + ROWS_PER_BLOCK, len(rows)))
            labels[part] = trees.labels(
                rows_of(matrix, rows[part]),
                np.ascontiguousarray(data.gram.X[rows[part]]),
                options.n_jobs,
                None if mask is None else mask[part],
                data.gram.stored(rows[part]),
            )
            advance(part.stop - begin)
    return labels


def _scores_by_blocks(
    trees: CompositeTrees, data: CompositeData, rows: NDArray[Any], plan: CompositePlan
) -> Floats:
    """Mean scores of all composite trees on training rows, whether the trees saw them or not."""
    scores = np.empty((len(rows), data.n_classes))
    for begin in range(0, len(rows), ROWS_PER_BLOCK):
        block = rows[begin : begin + ROWS_PER_BLOCK]
        design = np.ascontiguousarray(data.gram.X[block])
        scores[begin : begin + len(block)] = trees.composite_scores(
            rows_of(data.matrix, block), design, plan.leaf_scores, data.options.n_jobs
        )
    return scores


def fitted_calibrator(
    plan: CompositePlan, data: CompositeData, votes: Floats | None
) -> ScoreCalibrator | None:
    """The calibration of votes that the plan asks for; one temperature where the time is up."""
    if plan.calibration is None or votes is None or data.n_classes < 2:
        return None
    is_short = plan.calibration == "auto" and plan.limit.is_over
    with stage(data.options.verbose, "calibrating", 1) as advance:
        calibrator = ScoreCalibrator("temperature" if is_short else plan.calibration)
        calibrator.fit(votes, data.y, data.weight, data.inputs.groups)
        advance(1)
        return calibrator


def out_of_bag_evidence(
    data: CompositeData,
    labels: NDArray[Any],
    outside: NDArray[np.bool_],
    hard_vote: bool,
    n_settings: int,
) -> VoteEvidence | None:
    """Out-of-bag statistics of the trees (theory.md §6.3); None where a tree saw every row.

    Bins, scaling and tuned values were learned from all rows, which breaks condition (ii): `in_bag_only` is
    False, and a certificate names the condition instead of giving a guarantee.
    """
    if (outside.sum(axis=0) < 1).any():
        return None
    tandem = float(labels.shape[1]) ** 2 * len(labels) <= TANDEM_WORK
    if tandem:
        shared = outside.astype(np.float32)
        tandem = bool((shared.T @ shared).min() >= 1)
    return VoteEvidence.from_predictions(
        labels.T,
        ~outside.T,
        data.y,
        tandem=tandem,
        hard_vote=hard_vote,
        independent_subsamples=True,
        in_bag_only=False,
        unweighted=data.weight is None,  # equal rows are counted once here
        n_models=n_settings,
    )
