"""Choosing block and depth by the first few trees of every candidate (successive halving).

Candidates share one pool of forests per depth. They are compared by the held-out loss of ten trees per forest
(:mod:`.tree_noise`), which is enough to tell blocks apart that differ; those that do not get more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from surewood._arrays import Floats
from surewood.deepforest.block import BlockFit
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.forest_pool import forests_of, places_of, pool_of
from surewood.deepforest.layer_task import LayerTask, first_trees, with_at_most
from surewood.deepforest.plan import MarginPlan, PilotRule, RunOptions
from surewood.deepforest.tree_noise import FewTrees, mean_and_error


def race(
    training: TrainingSet, plans: Sequence[MarginPlan], run: RunOptions, pilot: PilotRule
) -> tuple[MarginPlan, BlockFit]:
    """The plan whose first few trees have the least held-out loss, and its first layer.

    All blocks start with few trees at the first of the depths; the better half of them also try the others.
    Where the two best differ by no more than noise, both get as many trees again before one is chosen.
    The winner gets as many trees as these show to be worth growing; its later layers at most as many.
    """
    entrants: list[_Entrant] = []
    for rates in dict.fromkeys(frozenset(plan.schedule) for plan in plans):
        sharing = [plan for plan in plans if frozenset(plan.schedule) == rates]
        if entrants and run.time_limit.is_over:
            break
        if entrants:
            sharing = _still_in(sharing, plans, entrants)
        entrants += _enter(training, sharing, run, pilot)
    best, n_trees = _final(training, entrants, run, pilot.n_trees)
    task = best.task.with_trees_needed(best.few, pilot)
    fit, n_trees = task.grow(best.fit, n_trees)
    return with_at_most(task.plan, n_trees), fit


@dataclass(frozen=True)
class _Entrant:
    """A plan in the race: its first trees, what they tell, and the held-out loss of every row."""

    task: LayerTask
    fit: BlockFit
    few: FewTrees
    losses: Floats

    @property
    def loss(self) -> float:
        return mean_and_error(self.losses, self.task.training.weight)[0]


def _final(
    training: TrainingSet, entrants: Sequence[_Entrant], run: RunOptions, n_trees: int
) -> tuple[_Entrant, int]:
    """The best entrant and its trees per forest."""
    best, *others = sorted(entrants, key=lambda entrant: entrant.loss)
    twice = min(2 * n_trees, max(member.n_trees for member in best.task.plan.members))
    if not others or twice <= n_trees or run.time_limit.is_over:
        return best, n_trees
    gap, noise = mean_and_error(others[0].losses - best.losses, training.weight)
    if gap > noise:
        return best, n_trees
    finalists = [_extended(entrant, n_trees, twice) for entrant in (best, others[0])]
    return min(finalists, key=lambda entrant: entrant.loss), twice


def _extended(entrant: _Entrant, n_trees: int, more: int) -> _Entrant:
    """The entrant with `more` instead of `n_trees` trees per forest."""
    halves = entrant.fit.vectors.copy()
    fit = entrant.task.extend(entrant.fit, n_trees, more)
    few = first_trees(halves, fit, n_trees, more)
    training = entrant.task.training
    return _Entrant(entrant.task, fit, few, few.losses(training.y, training.weight))


def _enter(
    training: TrainingSet, plans: Sequence[MarginPlan], run: RunOptions, pilot: PilotRule
) -> list[_Entrant]:
    """The first trees of plans of one depth, out of one pool."""
    if not plans:
        return []
    pool = pool_of([forests_of(plan) for plan in plans])
    members, schedule = tuple(member for member, _ in pool), tuple(rate for _, rate in pool)
    whole = replace(plans[0], members=members, schedule=schedule)
    half = pilot.n_trees // 2
    task = LayerTask(training, training.inputs, None, whole, 1, run)
    first = task.train_first(half)
    halves = first.vectors.copy()
    fit = task.extend(first, half, pilot.n_trees)
    entrants = []
    for plan in plans:
        places = places_of(forests_of(plan), pool)
        taken = fit.take(places)
        few = first_trees(halves[places], taken, half, pilot.n_trees)
        own = LayerTask(training, training.inputs, None, plan, 1, run, places)
        entrants.append(_Entrant(own, taken, few, few.losses(training.y, training.weight)))
    return entrants


def _still_in(
    sharing: Sequence[MarginPlan], plans: Sequence[MarginPlan], entrants: Sequence[_Entrant]
) -> list[MarginPlan]:
    """The plans whose block has not been tried or is in the better half of those that have."""
    losses: dict[Any, float] = {}
    for entrant in entrants:
        forests = entrant.task.plan.forests
        losses[forests] = min(entrant.loss, losses.get(forests, math.inf))
    n_blocks = len({plan.forests for plan in plans})
    better = sorted(losses, key=lambda forests: losses[forests])[: max(1, n_blocks // 2)]
    return [plan for plan in sharing if plan.forests not in losses or plan.forests in better]
