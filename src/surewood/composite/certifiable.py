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
from surewood.composite.data import Reader, TrainingData
from surewood.composite.depths import default_depth
from surewood.composite.growing import TreeRange
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.out_of_bag import labels_by_blocks, rows_of
from surewood.composite.parameters import is_auto
from surewood.composite.part_fitting import FittedParts
from surewood.composite.plan import Parameters, Plan, make_plan, most_rows_per_leaf
from surewood.composite.setting import Setting
from surewood.composite.tree_fitting import fit_trees
from surewood.composite.trees import join_trees
from surewood.estimators.subsamples import Subsamples, draw_subsamples
from surewood.parallel.progress import stage
from surewood.svm import Gram
from surewood.tables import FitInputs

KEEPS_VOTES = "certifiable=True keeps the votes as they are: use"


@dataclass(frozen=True)
class Preparation:
    """What all trees share: the bags, and the table as the preparation part reads it."""

    drawn: Subsamples
    data: TrainingData
    #: Weights given by the caller, by row of the merged table.
    weight: Floats | None = None

    @property
    def n_bag(self) -> int:
        """Rows that a tree sees."""
        return int(self.drawn.prepares.sum()) + self.drawn.n_drawn

    def of_tree(self, tree: int) -> tuple[TrainingData, NDArray[np.int64]]:
        """The data of a tree, and the rows in its bag: copies in the bag are its weights."""
        return self._part(self.drawn.counts(self.drawn.in_bag(tree)))

    def _part(self, counts: Floats) -> tuple[TrainingData, NDArray[np.int64]]:
        rows = np.flatnonzero(counts)
        total = counts if self.weight is None else counts * self.weight
        # rows outside the bag have a weight that nobody reads; solvers want positive ones
        weight = None if (total[rows] == 1.0).all() else np.where(counts > 0, total, 1.0)
        seen = len(np.unique(self.data.y[rows]))
        return replace(self.data, weight=weight, criterion_classes=seen), rows

    def prepared_alone(self) -> TrainingData:
        """The preparation part as a sample of its own, with the classes that it has."""
        data, rows = self._part(self.drawn.counts(self.drawn.prepares))
        classes, codes = np.unique(data.y[rows], return_inverse=True)
        return TrainingData(
            reader=data.reader,
            matrix=rows_of(data.matrix, rows),
            gram=Gram(np.ascontiguousarray(data.gram.X[rows])),
            y=codes.astype(np.int32),
            n_classes=len(classes),
            weight=None if data.weight is None else data.weight[rows],
        )


def refuse_unproved(given: Parameters, time_limit: float | None, weighted_plain: bool) -> None:
    """One sentence for what the proof does not cover."""
    if isinstance(given.calibrate, str):
        raise ValueError(f"{KEEPS_VOTES} calibrate=False.")
    if weighted_plain:
        raise ValueError(f"{KEEPS_VOTES} plain_weight=0.")
    if given.leaf_scores != "one_hot":
        raise ValueError(f"{KEEPS_VOTES} study={{'leaf_scores': 'one_hot'}}.")
    if given.bootstrap:
        raise ValueError("certifiable=True draws rows without replacement: use study={'bootstrap': False}.")
    if time_limit is not None:
        raise ValueError("certifiable=True needs a fixed number of trees: use time_limit=None.")


def prepare_certifiable(
    inputs: FitInputs, given: Parameters, seed: int, max_memory: int | None, n_jobs: int | None
) -> Preparation:
    """Draw the bags; learn bins and scaling on the preparation part."""
    if inputs.table.stream is not None:
        raise ValueError("certifiable=True needs a table in memory.")
    wanted = None if is_auto(given.max_samples) else given.max_samples
    drawn = draw_subsamples(inputs, wanted, seed)
    counts = drawn.counts(drawn.prepares)
    rows = np.flatnonzero(counts)
    reader = Reader.learn(inputs.table.take(rows), counts[rows])
    # Whether a column has missing values outside the bag must not be known to a tree.
    matrix = reader.matrix(inputs.table)
    blind = replace(matrix, has_missing=np.ones_like(matrix.has_missing))
    gram = Gram(reader.design(inputs.table), max_memory=max_memory, n_jobs=n_jobs)
    data = TrainingData(reader, blind, gram, inputs.y, inputs.n_classes, None)
    return Preparation(drawn, data, inputs.weight if inputs.weighted else None)


def plan_certifiable(given: Parameters, prepared: Preparation, seed: int, options: SolverOptions) -> Plan:
    """The plan that the preparation part alone decides on, for trees that see more rows."""
    alone = prepared.prepared_alone()
    # sampling within the plan: a tree sees its whole bag
    quiet = replace(given, plain_weight=0.0, calibrate=False, max_samples=None)
    if alone.n_classes < 2:
        quiet = replace(quiet, selection="exact", C=1.0 if is_auto(given.C) else given.C)
    plan = make_plan(quiet, alone, seed, options)
    ratio = prepared.n_bag / int(prepared.drawn.prepares.sum())
    parts = tuple((_for_bags(setting, quiet, prepared, ratio), n) for setting, n in plan.parts)
    searched = replace(plan.searched, n_settings=1)  # what was compared were rows of every bag
    notes = plan.notes if given.calibrate is False else (*plan.notes, "certifiable: votes are not calibrated")
    return replace(plan, parts=parts, searched=searched, out_of_fold=False, notes=notes)


def _for_bags(setting: Setting, given: Parameters, prepared: Preparation, ratio: float) -> Setting:
    """A setting of the preparation part for bags of `ratio` times the rows."""
    by_pilot = given.selection == "auto"
    depth = setting.max_depth
    if is_auto(given.max_depth):
        depth = depth + round(math.log2(ratio)) if by_pilot else default_depth(prepared.n_bag)
    scaled = by_pilot and is_auto(given.C)  # same sizes of leaves, same C_k
    return replace(
        setting,
        max_depth=depth,
        C=tuple(c * math.sqrt(ratio) for c in setting.C) if scaled else setting.C,
        max_size=most_rows_per_leaf(given, prepared.n_bag) if by_pilot else setting.max_size,
        sampling="subsample",
        n_draws=prepared.n_bag,
    )


def fit_certifiable(plan: Plan, prepared: Preparation, options: SolverOptions) -> FittedParts:
    """The composite trees, each fitted to its own bag, and their labels of all rows."""
    trees, importances = [], []
    silent = replace(options, verbose=0)
    settings = [setting for setting, n_trees in plan.parts for _ in range(n_trees)]
    with stage(options.verbose, "fitting composite trees", plan.n_trees) as advance:
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
        labels=labels_by_blocks(joined, prepared.data, options),
    )
