"""RCF(B, r, gamma, M) of theory.md §2.11 for one setting: grow, train, count, choose, assemble.

:func:`fit_trees` is a function of (data, setting, seed, tree numbers): it depends neither on threads nor on
the other trees of the forest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surewood._arrays import Floats
from surewood.composite.data import TrainingData
from surewood.composite.growing import Grove, TreeRange, grow_to_size, split_importances
from surewood.composite.leaf_choice import LeafChoice
from surewood.composite.leaf_svms import LeafSVMs, SolverOptions, train
from surewood.composite.leaves import IndexSets, collect_leaves
from surewood.composite.setting import Setting
from surewood.composite.trees import CompositeTrees, LeafTable


@dataclass(frozen=True)
class FittedTrees:
    """Composite trees, the grown trees they were cut from, and the importances of their splits."""

    trees: CompositeTrees
    grove: Grove
    importances: Floats


def fit_trees(
    data: TrainingData,
    setting: Setting,
    wanted: TreeRange,
    options: SolverOptions,
    base: float | None = None,
) -> FittedTrees:
    """Composite trees of one setting, and the grown trees behind them with their cut.

    `base` is the sample size that C refers to (2.12), by default the mean of what these trees saw. Give it
    where the trees are fitted in several steps.
    """
    grove, stop = grow_to_size(data, setting, wanted, options)
    sets = IndexSets(data.y, data.weight, data.n_classes)
    leaves = collect_leaves(grove.topology, stop, grove.assigned, grove.bags, sets)
    choice = LeafChoice(data, setting, leaves, sets, grove.sample_size(data), wanted.seed, wanted.first_tree)
    ids = np.unique(leaves.set_id[~sets.pure[leaves.set_id]])
    correct = np.zeros((len(sets), len(setting.degrees)))
    C = np.array(setting.C, dtype=np.float64)[:, None]
    svms = LeafSVMs()
    base = float(choice.m.mean()) if base is None else base
    for chunk in train(data, sets, ids, np.array(setting.degrees), C, base, options):
        correct[chunk.ids] = chunk.correct[:, :, 0]
        at = np.flatnonzero(np.isin(leaves.set_id, chunk.ids))
        svms.keep(chunk, choice.wanted(at, choice.candidates(at, correct)))
    table = _leaf_table(choice, correct, svms, base)
    trees = CompositeTrees(grove.forest, leaves.of_node(stop), table, svms.predictor(), data.n_classes)
    return FittedTrees(trees, grove, split_importances(data, grove, stop))


def _leaf_table(choice: LeafChoice, correct: Floats, svms: LeafSVMs, base: float) -> LeafTable:
    """The final choice and its counts, leaf by leaf."""
    setting, leaves, sets = choice.setting, choice.leaves, choice.sets
    n, zero = len(leaves), int(setting.constant_leaves)
    mixed = np.flatnonzero(~sets.pure[leaves.set_id])
    column = choice.columns(mixed, correct)
    by_svm = column >= zero
    at, place = mixed[by_svm], column[by_svm] - zero
    svm = np.full(n, -1, dtype=np.int32)
    svm[at] = [svms.number(s, p) for s, p in zip(leaves.set_id[at].tolist(), place.tolist())]
    constant = sets.majority[leaves.set_id]
    constant[at] = -1
    degree = np.zeros(n, dtype=np.int64)
    degree[at] = np.array(setting.degrees)[place]
    total = sets.total[leaves.set_id]
    C = np.zeros(n)
    C[at] = np.sqrt(total[at] / base) * np.array(setting.C)[place]  # theory.md (2.12)
    right = sets.majority_total[leaves.set_id]
    right[at] = correct[leaves.set_id[at], place]
    converged = np.ones(n, dtype=bool)
    converged[at] = svms.converged[svm[at]]
    iterations = np.zeros(n, dtype=np.int64)
    iterations[at] = svms.iterations[svm[at]]
    return LeafTable.of(
        leaves, degree=degree, C=C, correct=right, total=total, constant=constant, svm=svm,
        converged=converged, iterations=iterations,
    )  # fmt: skip
