"""Training the forests of one layer, all at once or by and by.

A tree depends on its number, its forest's place in the block, the fold and the seed. So a forest of ten trees
to which thirty are added is the forest of forty, and a layer can begin with few trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from surewood._arrays import Floats
from surewood.deepforest.block import Block, BlockFit, BlockPlan, train_block
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.fold_classifiers import FoldClassifier
from surewood.deepforest.folds import layer_seed
from surewood.deepforest.layer_input import LayerInput
from surewood.deepforest.plan import MarginPlan, PilotRule, RunOptions
from surewood.deepforest.tree_noise import FewTrees
from surewood.trees import FlatForest, ForestJoiner


@dataclass(frozen=True)
class LayerTask:
    """One layer of a margin forest.

    `places` are the positions of the plan's members in the block they were taken out of (None: 0, 1, ...).
    """

    training: TrainingSet
    inputs: LayerInput
    weight: Floats | None
    plan: MarginPlan
    layer: int
    run: RunOptions
    places: Sequence[int] | None = None

    def train(self) -> BlockFit:
        """Every member with all its trees."""
        return self._trees(range(len(self.plan.members)), 0, None)

    def train_first(self, n_trees: int) -> BlockFit:
        """The first trees of every forest, and classifiers."""
        return self._trees(range(len(self.plan.members)), 0, n_trees)

    def begin(self, n_trees: int) -> tuple[BlockFit, FewTrees]:
        """The first trees of every forest, and classifiers; with what their halves tell."""
        half = n_trees // 2
        first = self.train_first(half)
        halves = first.vectors.copy()
        fit = self.extend(first, half, n_trees)
        return fit, first_trees(halves, fit, half, n_trees)

    def with_trees_needed(self, few: FewTrees, pilot: PilotRule) -> LayerTask:
        """The same with no more trees per forest than its first ones show to be worth growing."""
        plan, training = self.plan, self.training
        n_folds = 1 if plan.cross_fit == "oob" else plan.n_folds
        needed = few.trees_needed(training.y, training.weight, pilot.tolerance, n_folds)
        return replace(self, plan=with_at_most(plan, max(pilot.least_trees, needed)))

    def grow(self, fit: BlockFit, n_trees: int) -> tuple[BlockFit, int]:
        """All remaining trees, in batches that double (a time limit is noticed), and how many there are."""
        most = max((member.n_trees for member in self.plan.members if member.is_forest), default=0)
        while n_trees < most and not self.run.time_limit.is_over:
            stop = min(2 * n_trees, most)
            fit, n_trees = self.extend(fit, n_trees, stop), stop
        return fit, n_trees

    def extend(self, fit: BlockFit, start: int, stop: int) -> BlockFit:
        """`fit` with the trees `start` to `stop` added to the forests that have as many."""
        members = self.plan.members
        numbers = [k for k, member in enumerate(members) if member.is_forest and member.n_trees > start]
        if not numbers:
            return fit
        more = self._trees(numbers, start, stop)
        added = [min(members[k].n_trees, stop) - start for k in numbers]
        return joined(fit, more, numbers, start, added)

    def _trees(self, numbers: Sequence[int], start: int, stop: int | None) -> BlockFit:
        plan, training = self.plan, self.training
        seed, depths = layer_seed(plan.seed, self.layer), plan.depths(self.layer)
        members = [plan.members[k] for k in numbers]
        if stop is not None:
            members = [
                replace(m, n_trees=min(m.n_trees, stop) - start) if m.is_forest else m for m in members
            ]
        block_plan = BlockPlan(
            members,
            [depths[k] for k in numbers],
            plan.trees,
            len(training.classes),
            plan.cross_fit,
            first_tree=start,
            places=[k if self.places is None else self.places[k] for k in numbers],
        )
        return train_block(
            self.inputs,
            training.y,
            training.deal(plan.n_folds, seed),
            block_plan,
            seed=seed,
            weight=training.weight if self.weight is None else self.weight,
            n_jobs=self.run.n_jobs,
            verbose=self.run.verbose,
            name=f"layer {self.layer}",
        )


def with_at_most(plan: MarginPlan, n_trees: int) -> MarginPlan:
    """The plan with at most this many trees per forest."""
    members = tuple(replace(member, n_trees=min(member.n_trees, n_trees)) for member in plan.members)
    return replace(plan, members=members)


def first_trees(halves: Floats, fit: BlockFit, n_first: int, n_trees: int) -> FewTrees:
    """What the first `n_first` trees, with member vectors `halves`, tell about all `n_trees` of `fit`."""
    first, both = halves.mean(axis=0), fit.vectors.mean(axis=0)
    second = (n_trees * both - n_first * first) / (n_trees - n_first)
    return FewTrees.of_halves(first, second, n_first, n_trees - n_first)


def joined(
    fit: BlockFit, more: BlockFit, numbers: Sequence[int], n_before: int, n_added: Sequence[int]
) -> BlockFit:
    """The block of all trees: member j of `more` has `n_added[j]` further trees of member ``numbers[j]``.

    The vectors of `fit` are overwritten.
    """
    models: list[FlatForest | list[FoldClassifier]] = list(fit.block.models)
    vectors, importances, votes = fit.vectors, fit.member_importances.copy(), fit.votes
    for j, k in enumerate(numbers):
        before, after = models[k], more.block.models[j]
        assert isinstance(before, FlatForest)
        assert isinstance(after, FlatForest)
        joiner = ForestJoiner(before.n_trees + after.n_trees, before.n_classes, before.n_features)
        joiner.add(before)
        joiner.add(after)
        models[k] = joiner.forest()
        part = n_added[j] / (n_before + n_added[j])
        importances[k] += part * (more.member_importances[j] - importances[k])
        if votes is None or more.votes is None:
            vectors[k] += part * (more.vectors[j] - vectors[k])
        else:
            counted = np.maximum(votes[k] + more.votes[j], 1.0)
            vectors[k] += (more.votes[j] / counted)[:, None] * (more.vectors[j] - vectors[k])
            votes[k] += more.votes[j]
    block = Block(models, fit.block.n_classes)
    return BlockFit(block, vectors, importances, fit.seconds + more.seconds, votes)
