"""Grown trees and the cut that makes leaves of them, nested in depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.data import TrainingData
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.leaves import MAX_DEPTH, Topology, cut
from surewood.composite.setting import Setting
from surewood.trees import Bag, FlatForest, Grown, grow_forest, make_bag


@dataclass(frozen=True)
class Grove:
    """Grown trees before they are cut into leaves."""

    #: What the engine returned.
    grown: Grown
    topology: Topology
    #: Node, within its tree, in which each row of the table ends. Shape (n_rows, n_trees).
    assigned: NDArray[np.uint32]
    #: Rows that each tree saw, ascending.
    bags: list[NDArray[np.int32]]
    #: Number of the first of these trees in the forest.
    first_tree: int = 0

    @property
    def forest(self) -> FlatForest:
        return self.grown.forest

    def sample_size(self, data: TrainingData) -> Floats:
        """Weight that each tree saw, m of theory.md §2 (distinct rows, [D-14])."""
        return np.array([data.total(rows) for rows in self.bags])


@dataclass(frozen=True)
class TreeRange:
    """Some trees of the forest with this seed, and the rows that they may see (by default all)."""

    n_trees: int
    seed: int
    first_tree: int = 0
    rows: NDArray[Any] | None = None


def grow(
    data: TrainingData,
    setting: Setting,
    trees: TreeRange,
    options: SolverOptions,
    depth: int | None = None,
    only_leaves: bool = False,
) -> Grove:
    """Trees grown to this depth (default: the setting's), or no further than to the setting's leaves."""
    depth = setting.max_depth if depth is None else depth
    # The engine makes at least one split; a tree of depth 0 is cut at its root.
    grown = grow_forest(
        data.matrix,
        data.y,
        max(data.n_classes, 1),
        setting.tree_params(max(depth, 1), only_leaves),
        **vars(trees),
        weight=data.weight,
        n_jobs=options.n_jobs,
        verbose=options.verbose,
    )
    bags = [_in_bag(grown.bag, trees.first_tree + tree) for tree in range(trees.n_trees)]
    assigned = grown.forest.apply(data.matrix, n_jobs=options.n_jobs)
    return Grove(grown, Topology.of(grown.forest), assigned, bags, trees.first_tree)


def _in_bag(bag: Bag, tree: int) -> NDArray[np.int32]:
    if bag.sampling == "all":
        return bag.rows.astype(np.int32)
    return np.sort(bag.rows[bag.counts(tree) > 0]).astype(np.int32)


def mean_sample_size(data: TrainingData, setting: Setting, n_trees: int, seed: int, first_tree: int) -> float:
    """Mean weight that trees will see, before they are grown."""
    labels = data.y.astype(np.uint16)
    bag = make_bag(data.matrix, labels, setting.sampling, setting.n_draws, seed, data.weight)
    trees = range(first_tree, first_tree + (1 if setting.sampling == "all" else n_trees))
    return float(np.mean([data.total(_in_bag(bag, tree)) for tree in trees]))


def grow_to_size(
    data: TrainingData, setting: Setting, trees: TreeRange, options: SolverOptions
) -> tuple[Grove, NDArray[np.int64]]:
    """Trees and their cut; leaves beyond the size limit go deeper, as far as splits tell rows apart."""
    if setting.max_size is None:
        grove = grow(data, setting, trees, options)
        return grove, cut(grove.topology, setting.max_depth)
    grove = grow(data, setting, trees, options, MAX_DEPTH, only_leaves=True)
    sizes = grove.topology.sizes(grove.assigned, grove.bags)
    return grove, cut(grove.topology, setting.max_depth, setting.max_size, sizes)


def split_importances(data: TrainingData, grove: Grove, stop: NDArray[np.int64]) -> Floats:
    """Impurity importances of the splits above the leaves, mean over the trees.

    Those of a tree sum to 1, or are all 0 where the tree is cut at its root: splits that the engine made
    below the cut belong to no composite tree.
    """
    split = ~grove.topology.terminal
    if not (split & (stop >= 0)).any():  # nothing was grown below the cut
        return grove.grown.importances
    sums = np.zeros(data.n_splitting)
    for tree in range(grove.forest.n_trees):
        decrease = _entropy_decreases(data, grove, tree)
        begin, end = grove.topology.start[tree], grove.topology.start[tree + 1]
        feature = grove.forest.table(tree)["feature"]
        kept = np.flatnonzero(split[begin:end] & (stop[begin:end] < 0))
        own = np.bincount(feature[kept], np.maximum(decrease[kept], 0.0), minlength=data.n_splitting)
        if own.sum() > 0:
            sums += own / own.sum()
    return np.asarray(sums / max(grove.forest.n_trees, 1))


def _entropy_decreases(data: TrainingData, grove: Grove, tree: int) -> Floats:
    """Weight times decrease of the entropy at each node of a tree; 0 at terminal nodes."""
    begin, end = grove.topology.start[tree], grove.topology.start[tree + 1]
    bag = grove.grown.bag
    weight = np.ones(len(bag.rows)) if bag.weights is None else bag.weights.astype(np.float64)
    if bag.sampling != "all":
        weight = weight * bag.counts(grove.first_tree + tree)
    rows = bag.rows.astype(np.int64)
    cell = grove.assigned[rows, tree].astype(np.int64) * data.n_classes + data.y[rows]
    mass = np.bincount(cell, weight, (end - begin) * data.n_classes).reshape(-1, data.n_classes)
    parent, depth = grove.topology.parent[begin:end] - begin, grove.topology.depth[begin:end]
    for level in range(int(depth.max(initial=0)), 0, -1):
        at = np.flatnonzero(depth == level)
        np.add.at(mass, parent[at], mass[at])
    total = mass.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.where(mass > 0, -mass * np.log(mass / total[:, None]), 0.0).sum(axis=1)
    decrease = np.where(grove.topology.terminal[begin:end], 0.0, entropy)
    below = np.flatnonzero(depth > 0)
    np.subtract.at(decrease, parent[below], entropy[below])
    return np.asarray(decrease)
