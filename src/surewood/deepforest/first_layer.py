"""First layers of several plans, each forest trained once; the best one decides block and depth.

The first layer depends on forests and depths only, and the forests of a block do not know of each other. So
plans that differ in their blocks take their forests out of one pool, and the plan whose first layer has the
best held-out score goes on.

With a pilot the first few trees of every forest decide (`race`, by successive halving): plans are compared by
the held-out loss of ten trees per forest, which is enough to tell blocks apart that differ; those that do not
get more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from surewood._arrays import Floats
from surewood.deepforest.blocks import BlockFit
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.margin_growth import (
    FewTrees,
    LayerTask,
    few_trees,
    first_layer_task,
    with_at_most,
)
from surewood.deepforest.plan import MarginGrowthPlan, RunOptions
from surewood.deepforest.stopping import held_out_score, mean_and_error


def choose_first_layer(
    training: TrainingSet, plans: Sequence[MarginGrowthPlan], run: RunOptions
) -> tuple[MarginGrowthPlan, BlockFit]:
    """The plan whose first layer has the best held-out score, the first of equal ones, and that layer."""
    if plans[0].pilot_trees is not None:
        return race(training, plans, run, plans[0].pilot_trees)
    best: tuple[float, MarginGrowthPlan, BlockFit] | None = None
    for plan, fit in first_layers(training, plans, run):
        if len(plans) == 1:
            return plan, fit
        vectors = fit.vectors.mean(axis=0)
        score = held_out_score(plan.monitor, vectors, training.y, training.classes, training.weight)
        if best is None or score > best[0]:
            best = (score, plan, fit)
    assert best is not None
    return best[1], best[2]


def first_layers(
    training: TrainingSet, plans: Sequence[MarginGrowthPlan], run: RunOptions
) -> Iterator[tuple[MarginGrowthPlan, BlockFit]]:
    """Every plan with its first layer, in the order of the depths and then of the plans.

    Plans may differ in their blocks and depths, not in anything else that a first layer depends on. One pool
    of forests is in memory at a time.
    """
    for sharing in _by_depths(plans):
        pool, places = _pooled(sharing)
        fit = first_layer_task(training, pool, run).train()
        for plan, members in zip(sharing, places):
            yield plan, fit.take(members)


def _by_depths(plans: Sequence[MarginGrowthPlan]) -> list[list[MarginGrowthPlan]]:
    """The plans that can share a pool."""
    groups: dict[Any, list[MarginGrowthPlan]] = {}
    for plan in plans:
        groups.setdefault(frozenset(plan.schedule), []).append(plan)
    return list(groups.values())


def _pooled(plans: Sequence[MarginGrowthPlan]) -> tuple[MarginGrowthPlan, list[list[int]]]:
    """One plan whose block has the forests of all plans, and the places of each plan's forests in it."""
    # Member and growth rate are all that a forest of the first layer depends on.
    blocks = [list(zip(plan.members, plan.schedule)) for plan in plans]
    pool = pool_of(blocks)
    members, schedule = tuple(member for member, _ in pool), tuple(rate for _, rate in pool)
    places = [places_of(block, pool) for block in blocks]
    return replace(plans[0], members=members, schedule=schedule), places


def pool_of(blocks: Sequence[list[Any]]) -> list[Any]:
    """The smallest list that has every block's forests.

    Examples
    --------
    >>> pool_of([["r", "r", "c"], ["e", "e", "c"]])
    ['r', 'r', 'c', 'e', 'e']
    """
    pool: list[Any] = []
    for block in blocks:
        lacking = Counter(block) - Counter(pool)
        pool += list(lacking.elements())
    return pool


def places_of(block: Sequence[Any], pool: Sequence[Any]) -> list[int]:
    """Where the pool has a block's forests, each place used once.

    Examples
    --------
    >>> places_of(["e", "e", "c"], ["r", "r", "c", "e", "e"])
    [3, 4, 2]
    """
    free = {forest: [k for k, other in enumerate(pool) if other == forest] for forest in pool}
    return [free[forest].pop(0) for forest in block]


def race(
    training: TrainingSet, plans: Sequence[MarginGrowthPlan], run: RunOptions, n_pilot: int
) -> tuple[MarginGrowthPlan, BlockFit]:
    """The plan whose first few trees have the least held-out loss, and its first layer.

    All blocks start with few trees at the first of the depths; the better half of them also try the others.
    Where the two best differ by no more than noise, both get as many trees again before one is chosen.
    The winner gets as many trees as these show to be worth growing; its later layers at most as many.
    """
    entrants: list[_Entrant] = []
    for sharing in _by_depths(plans):
        if entrants and run.time_limit.is_over:
            break
        if entrants:
            sharing = _still_in(sharing, plans, entrants)
        entrants += _enter(training, sharing, run, n_pilot)
    best, n_trees = _final(entrants, run, n_pilot)
    task = best.task.with_trees_needed(best.few)
    fit, n_trees = task.grow(best.fit, n_trees)
    return with_at_most(task.plan, n_trees), fit


@dataclass(frozen=True)
class _Entrant:
    """A plan in the race, with its first trees and what they tell."""

    task: LayerTask
    fit: BlockFit
    few: FewTrees
    #: Held-out loss of every row.
    losses: Floats

    @classmethod
    def of(cls, task: LayerTask, fit: BlockFit, halves: Floats, n_first: int, n_trees: int) -> _Entrant:
        """With `n_trees` trees per forest, the first `n_first` of which have the vectors `halves`."""
        few = few_trees(halves, fit, n_first, n_trees)
        return cls(task, fit, few, few.losses(task.training.y, task.training.weight))

    @property
    def loss(self) -> float:
        return mean_and_error(self.losses, self.task.training.weight)[0]


def _enter(
    training: TrainingSet, plans: Sequence[MarginGrowthPlan], run: RunOptions, n_pilot: int
) -> list[_Entrant]:
    """The first trees of plans of one depth, out of one pool."""
    if not plans:
        return []
    pool, places = _pooled(plans)
    fit, halves = first_layer_task(training, pool, run).begin(n_pilot)
    entrants = []
    for plan, members in zip(plans, places):
        task = replace(first_layer_task(training, plan, run), places=members)
        entrants.append(_Entrant.of(task, fit.take(members), halves[members], n_pilot // 2, n_pilot))
    return entrants


def _still_in(
    sharing: Sequence[MarginGrowthPlan], plans: Sequence[MarginGrowthPlan], entrants: Sequence[_Entrant]
) -> list[MarginGrowthPlan]:
    """The plans whose block has not been tried or is in the better half of those that have."""
    losses: dict[Any, float] = {}
    for entrant in entrants:
        forests = entrant.task.plan.forests
        losses[forests] = min(entrant.loss, losses.get(forests, math.inf))
    n_blocks = len({plan.forests for plan in plans})
    better = sorted(losses, key=lambda forests: losses[forests])[: max(1, n_blocks // 2)]
    return [plan for plan in sharing if plan.forests not in losses or plan.forests in better]


def _final(entrants: Sequence[_Entrant], run: RunOptions, n_trees: int) -> tuple[_Entrant, int]:
    """The best entrant and its trees per forest."""
    best, *others = sorted(entrants, key=lambda entrant: entrant.loss)
    twice = min(2 * n_trees, max(member.n_trees for member in best.task.plan.members))
    if not others or twice <= n_trees or run.time_limit.is_over:
        return best, n_trees
    gap, noise = mean_and_error(others[0].losses - best.losses, best.task.training.weight)
    if gap > noise:
        return best, n_trees
    finalists = []
    for entrant in (best, others[0]):
        halves = entrant.fit.vectors.copy()
        fit = entrant.task.extend(entrant.fit, n_trees, twice)
        finalists.append(_Entrant.of(entrant.task, fit, halves, n_trees, twice))
    return min(finalists, key=lambda entrant: entrant.loss), twice
