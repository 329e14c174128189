"""A plan and data become a fitted model: composite trees, their votes on held-out rows, calibration.

:func:`train` is the whole way. The published algorithm, RCF(B, r, gamma, M) of theory.md §2.11, is
:func:`~surewood.composite.trees.fit_trees`: grow trees, train the SVMs of their leaves, choose the degrees.
:func:`fit_parts` calls it for every setting of the plan, in steps of bounded memory, and of time with a
limit. A default fit adds what :mod:`~surewood.composite.votes` has: plain trees, and calibrated votes.

For a forest whose votes are guaranteed on all rows ([D-43], theory.md §11.9) each tree is a function of the
rows in its bag alone, and every tree's labels of all rows are the evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base import folds
from surewood.base.time_limit import TimeLimit
from surewood.bounds.evidence import VoteEvidence
from surewood.composite.data import CompositeData, SolverOptions
from surewood.composite.growing import Setting, TreeRange, mean_sample_size
from surewood.composite.model import CompositeModel, held_out_estimate, table_split_growth
from surewood.composite.plan import CompositePlan
from surewood.composite.trees import (
    CompositeTrees,
    FittedTrees,
    LeafReliability,
    blend,
    fit_trees,
    join_trees,
    vote_fractions,
)
from surewood.composite.votes import (
    choose_plain_weight,
    fitted_calibrator,
    held_out_votes,
    labels_by_blocks,
    plain_trees,
    population_votes,
    vote_evidence,
)
from surewood.parallel.progress import stage
from surewood.svm.one_vs_one import first_rows
from surewood.tables import alongside
from surewood.trees.growing import Grown

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
        evidence = vote_evidence(data, fitted.labels, fitted.outside, hard_vote, plan.searched.n_settings)
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
        family_names=plan.options.family_names,
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
    shown = 0 if data.drawn is None else plan.options.verbose
    with stage(shown, "fitting composite trees", plan.n_trees) as advance:
        for part, setting, trees, base in _steps(plan, data, limit):
            if steps and limit.is_over:
                break
            if data.drawn is None:
                fitted = fit_trees(data, setting, trees, plan.options, base)
            else:
                fitted = _fit_to_bag(data, setting, trees, plan.options)
            if outside is not None:
                columns = slice(sum(counts), sum(counts) + trees.n_trees)
                outside[:, columns] = fitted.grove.outside(np.arange(data.n_rows))
            steps.append(fitted.trees)
            importances.append(fitted.importances)
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


def _fit_to_bag(
    data: CompositeData, setting: Setting, trees: TreeRange, options: SolverOptions
) -> FittedTrees:
    """One tree of all the rows in its bag, which was drawn before."""
    bag, rows = data.of_bag(trees.first_tree)
    whole = replace(setting, sampling="all", n_draws=None)
    return fit_trees(bag, whole, replace(trees, rows=rows), replace(options, verbose=0))


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
        size = most if limit.deadline is None else min(most, max(1, n_trees // _TIMED_STEPS))
        base = None
        if n_trees > size and data.drawn is None:
            base = mean_sample_size(data, setting, n_trees, plan.seed, first)
        starts = range(0, n_trees, size)
        ranges = [TreeRange(min(size, n_trees - k), plan.seed, first + k) for k in starts]
        queues.append([(part, setting, trees, base) for trees in ranges])
        first += n_trees
    if limit.deadline is None:
        for queue in queues:
            yield from queue
        return
    for turn in range(max(len(queue) for queue in queues)):
        yield from (queue[turn] for queue in queues if turn < len(queue))


def _with_votes(fitted: FittedParts, plan: CompositePlan, data: CompositeData) -> FittedParts:
    """With labels, votes and evidence of the rows outside the bags, where there are bags."""
    outside, trees, options = fitted.outside, fitted.trees, plan.options
    if data.drawn is not None:
        has_categories = bool(data.reader.mapper.is_category.any())
        every = labels_by_blocks(trees, data, options)
        evidence, held_out = folds.vote_evidence(every, data.inputs, data.drawn, has_categories)
        return replace(fitted, held_out=held_out, evidence=evidence)
    labels = None
    if outside is not None or plan.leaf_scores == "calibrated":
        # Without bags the labels of rows that the trees saw have to do.
        labels = labels_by_blocks(trees, data, options, mask=outside)
    if labels is not None and plan.leaf_scores == "calibrated":
        leaf = trees.leaf_index(data.matrix, options.n_jobs)
        n_leaves = len(trees.leaves)
        reliability = LeafReliability.measure(leaf, labels, data.y, data.weight, n_leaves, data.n_classes)
        trees = replace(trees, reliability=reliability)
    if outside is None or labels is None:
        return replace(fitted, trees=trees)
    if plan.leaf_scores == "one_hot":
        held_out = vote_fractions(labels, data.n_classes)
    else:
        held_out = trees.composite_scores(data.matrix, data.gram.X, plan.leaf_scores, options.n_jobs, outside)
    return replace(fitted, trees=trees, labels=labels, held_out=held_out)


def _left_out(plan: CompositePlan, trees: CompositeTrees, plain: Grown | None) -> list[str]:
    """What the time limit left out of the plan."""
    notes = []
    if trees.n_trees < plan.n_trees:
        notes.append(f"{trees.n_trees} of {plan.n_trees} composite trees were fitted: time_limit")
    if plain is not None and plain.forest.n_trees < plan.n_plain:
        notes.append(f"{plain.forest.n_trees} of {plan.n_plain} plain trees were fitted: time_limit")
    return notes
