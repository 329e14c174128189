"""Composite forests whose votes are guaranteed on all rows, without a holdout ([D-43], theory.md §11.9).

Every composite tree is a function of its in-bag rows alone. Bins, scaling and what is tuned (by the pilot, or
C by cross-validation) come from the preparation part, which is in the bag of every tree; degrees are chosen
leaf by leaf on the bag; a tree votes for one class, and nothing is chosen on out-of-bag votes: there are no
plain trees and no calibration. Parameters that the proof does not cover are refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base.folds import Subsamples, draw_subsamples, vote_evidence
from surewood.composite.data import CompositeData, Reader, rows_of
from surewood.composite.growing import Setting, TreeRange
from surewood.composite.model import CompositeModel, held_out_estimate
from surewood.composite.plan import (
    CompositePlan,
    Parameters,
    default_depth,
    is_auto,
    make_plan,
    most_rows_per_leaf,
)
from surewood.composite.training import FittedParts, labels_by_blocks, recorded
from surewood.composite.trees import fit_trees, join_trees
from surewood.parallel.progress import stage
from surewood.svm.gram import Gram
from surewood.tables import DesignEncoder, TrainingTable
from surewood.trees.binning import learn_bins

KEEPS_VOTES = "certifiable=True keeps the votes as they are: use"


def refuse_unproved(parameters: Parameters) -> None:
    """One sentence for what the proof does not cover."""
    if isinstance(parameters.calibrate, str):
        raise ValueError(f"{KEEPS_VOTES} calibrate=False.")
    if not is_auto(parameters.plain_weight) and float(parameters.plain_weight) > 0.0:
        raise ValueError(f"{KEEPS_VOTES} plain_weight=0.")
    if parameters.leaf_scores != "one_hot":
        raise ValueError(f"{KEEPS_VOTES} study={{'leaf_scores': 'one_hot'}}.")
    if parameters.bootstrap:
        raise ValueError("certifiable=True draws rows without replacement: use study={'bootstrap': False}.")
    if parameters.limit.seconds is not None:
        raise ValueError("certifiable=True needs a fixed number of trees: use time_limit=None.")


def train_certifiable(parameters: Parameters, inputs: TrainingTable, seed: int) -> CompositeModel:
    """Fit trees that are functions of their in-bag rows alone ([D-43])."""
    refuse_unproved(parameters)
    prepared = prepare_certifiable(parameters, inputs, seed)
    plan = plan_certifiable(parameters, prepared, seed)
    fitted, data = fit_certifiable(plan, prepared), prepared.data
    assert fitted.labels is not None
    has_categories = bool(data.reader.mapper.is_category.any())
    evidence, votes = vote_evidence(fitted.labels, inputs, prepared.drawn, has_categories)
    return CompositeModel(
        **recorded(plan, data, fitted.trees),
        part_of_tree=fitted.part_of_tree,
        importances=fitted.importances,
        calibrator=None,
        held_out=votes,
        estimate=held_out_estimate(votes, inputs.y, inputs.weight, "out-of-bag", plan.searched),
        votes=evidence,
        notes=plan.notes,
    )


@dataclass(frozen=True)
class Preparation:
    """What all trees share: the bags, and the table as the preparation part reads it."""

    drawn: Subsamples
    data: CompositeData
    #: Sample weights, by row of the merged table.
    weight: Floats | None = None

    @property
    def n_bag(self) -> int:
        """Rows that a tree sees."""
        return int(self.drawn.prepares.sum()) + self.drawn.n_drawn

    def of_tree(self, tree: int) -> tuple[CompositeData, NDArray[np.int64]]:
        """The data of a tree, and the rows in its bag: copies in the bag are its weights."""
        return self._part(self.drawn.counts(self.drawn.in_bag(tree)))

    def _part(self, counts: Floats) -> tuple[CompositeData, NDArray[np.int64]]:
        rows = np.flatnonzero(counts)
        total = counts if self.weight is None else counts * self.weight
        # rows outside the bag have a weight that nobody reads; solvers want positive ones
        weight = None if (total[rows] == 1.0).all() else np.where(counts > 0, total, 1.0)
        seen = len(np.unique(self.data.y[rows]))
        return replace(self.data, weight=weight, criterion_classes=seen), rows

    def prepared_alone(self) -> CompositeData:
        """The preparation part as a sample of its own, with the classes that it has."""
        data, rows = self._part(self.drawn.counts(self.drawn.prepares))
        classes, codes = np.unique(data.y[rows], return_inverse=True)
        return replace(
            data,
            matrix=rows_of(data.matrix, rows),
            gram=Gram(np.ascontiguousarray(data.gram.X[rows])),
            y=codes.astype(np.int32),
            n_classes=len(classes),
            weight=None if data.weight is None else data.weight[rows],
            criterion_classes=None,
        )


def prepare_certifiable(parameters: Parameters, inputs: TrainingTable, seed: int) -> Preparation:
    """Draw the bags; learn bins and scaling on the preparation part."""
    if inputs.table.stream is not None:
        raise ValueError("certifiable=True needs a table in memory.")
    options, max_samples = parameters.options, parameters.max_samples
    drawn = draw_subsamples(inputs, None if is_auto(max_samples) else max_samples, seed)
    counts = drawn.counts(drawn.prepares)
    rows = np.flatnonzero(counts)
    part, weight = inputs.table.take(rows), counts[rows]
    reader = Reader(learn_bins(part, weight), DesignEncoder().fit(part, weight))
    # Whether a column has missing values outside the bag must not be known to a tree.
    matrix = reader.matrix(inputs.table)
    blind = replace(matrix, has_missing=np.ones_like(matrix.has_missing))
    gram = Gram(reader.design(inputs.table), max_memory=options.max_gram, n_jobs=options.n_jobs)
    data = CompositeData(inputs, reader, blind, gram, inputs.y, inputs.n_classes, None)
    return Preparation(drawn, data, inputs.weight if inputs.weighted else None)


def plan_certifiable(parameters: Parameters, prepared: Preparation, seed: int) -> CompositePlan:
    """The plan that the preparation part alone decides on, for trees that see more rows."""
    alone = prepared.prepared_alone()
    # sampling within the plan: a tree sees its whole bag
    fixed = replace(parameters, plain_weight=0.0, calibrate=False, max_samples=None)
    if alone.n_classes < 2:
        fixed = replace(fixed, selection="exact", C=1.0 if is_auto(parameters.C) else parameters.C)
    plan = make_plan(fixed, alone, seed)
    ratio = prepared.n_bag / int(prepared.drawn.prepares.sum())
    parts = tuple((_for_bags(setting, fixed, prepared, ratio), n) for setting, n in plan.parts)
    searched = replace(plan.searched, n_settings=1)  # what was compared were rows of every bag
    notes = plan.notes
    if parameters.calibrate is not False:
        notes = (*notes, "certifiable: votes are not calibrated")
    return replace(plan, parts=parts, searched=searched, out_of_fold=False, notes=notes)


def _for_bags(setting: Setting, parameters: Parameters, prepared: Preparation, ratio: float) -> Setting:
    """A setting of the preparation part for bags of `ratio` times the rows."""
    by_pilot = parameters.selection == "auto"
    depth = setting.max_depth
    if is_auto(parameters.max_depth):
        depth = depth + round(math.log2(ratio)) if by_pilot else default_depth(prepared.n_bag)
    scaled = by_pilot and is_auto(parameters.C)  # same sizes of leaves, same C_k
    return replace(
        setting,
        max_depth=depth,
        C=tuple(c * math.sqrt(ratio) for c in setting.C) if scaled else setting.C,
        max_size=most_rows_per_leaf(parameters, prepared.n_bag) if by_pilot else setting.max_size,
        sampling="subsample",
        n_draws=prepared.n_bag,
    )


def fit_certifiable(plan: CompositePlan, prepared: Preparation) -> FittedParts:
    """The composite trees, each fitted to its own bag, and their labels of all rows."""
    trees, importances = [], []
    silent = replace(plan.options, verbose=0)
    settings = [setting for setting, n_trees in plan.parts for _ in range(n_trees)]
    with stage(plan.options.verbose, "fitting composite trees", plan.n_trees) as advance:
        for tree, setting in enumerate(settings):
            data, rows = prepared.of_tree(tree)
            whole = replace(setting, sampling="all", n_draws=None)
            fitted = fit_trees(data, whole, TreeRange(1, plan.seed, tree, rows), silent)
            trees.append(fitted.trees)
            importances.append(fitted.importances)
            advance(1)
    joined = join_trees(trees)
    return FittedParts(
        trees=joined,
        importances=np.mean(importances, axis=0),
        part_of_tree=np.repeat(np.arange(len(plan.parts)), [n for _, n in plan.parts]),
        labels=labels_by_blocks(joined, prepared.data, plan.options),
    )
