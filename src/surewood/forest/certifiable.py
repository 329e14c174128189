"""Forests whose votes are guaranteed on all rows, without a holdout ([D-43], theory.md §11.9).

Every tree is a function of its in-bag rows alone: bins are learned on the preparation part, which is in the
bag of every tree, and leaves vote for one class. :mod:`~surewood.estimators.subsamples` draws the bags.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from joblib import delayed

from surewood._arrays import Floats
from surewood.estimators.subsamples import Subsamples
from surewood.forest.plan import ForestPlan
from surewood.parallel import in_threads
from surewood.parallel.progress import stage
from surewood.tables import FitInputs
from surewood.trees.binning import BinMapper, BinnedMatrix, learn_bins
from surewood.trees.flat_tree import FlatForest
from surewood.trees.growing import grow_forest
from surewood.trees.hard_votes import with_hard_votes


def prepared_bins(plan: ForestPlan, inputs: FitInputs, drawn: Subsamples) -> BinMapper:
    """Bins of the preparation part."""
    counts = drawn.counts(drawn.prepares)
    rows = np.flatnonzero(counts)
    return learn_bins(inputs.table.take(rows), counts[rows], plan.max_bins, plan.n_jobs)


def grow_certifiable(
    plan: ForestPlan, matrix: BinnedMatrix, inputs: FitInputs, drawn: Subsamples
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
