"""First layers of several plans, each forest trained once.

The first layer depends on forests and depths only, and the forests of a block do not know of each other. So
plans that differ in their blocks take their forests out of one pool, and the plan whose first layer has the
best held-out score goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from surewood.deepforest.block import BlockFit
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.growth_log import score_of
from surewood.deepforest.margin_growth import train_first_layer
from surewood.deepforest.plan import MarginPlan, RunOptions


def first_layers(
    training: TrainingSet, plans: Sequence[MarginPlan], run: RunOptions
) -> Iterator[tuple[MarginPlan, BlockFit]]:
    """Every plan with its first layer, in the order of the depths and then of the plans.

    Plans may differ in their blocks and depths, not in anything else that a first layer depends on. One pool
    of forests is in memory at a time.
    """
    for rates in dict.fromkeys(frozenset(plan.schedule) for plan in plans):
        sharing = [plan for plan in plans if frozenset(plan.schedule) == rates]
        pool = _pool([_forests(plan) for plan in sharing])
        members, schedule = tuple(member for member, _ in pool), tuple(rate for _, rate in pool)
        whole = replace(sharing[0], members=members, schedule=schedule)
        fit = train_first_layer(training, whole, run)
        for plan in sharing:
            yield plan, fit.take(_places(_forests(plan), pool))


def choose_first_layer(
    training: TrainingSet, plans: Sequence[MarginPlan], run: RunOptions
) -> tuple[MarginPlan, BlockFit]:
    """The plan whose first layer has the best held-out score, the first of equal ones, and that layer."""
    best: tuple[float, MarginPlan, BlockFit] | None = None
    for plan, fit in first_layers(training, plans, run):
        if len(plans) == 1:
            return plan, fit
        score = score_of(plan, fit.vectors.mean(axis=0), training)
        if best is None or score > best[0]:
            best = (score, plan, fit)
    assert best is not None
    return best[1], best[2]


def _forests(plan: MarginPlan) -> list[tuple[Any, int | None]]:
    """Each member with its growth rate: all that its first layer depends on."""
    return list(zip(plan.members, plan.schedule))


def _pool(blocks: Sequence[list[Any]]) -> list[Any]:
    """The smallest list that has every block's forests.

    Examples
    --------
    >>> _pool([["r", "r", "c"], ["e", "e", "c"]])
    ['r', 'r', 'c', 'e', 'e']
    """
    pool: list[Any] = []
    for block in blocks:
        lacking = Counter(block) - Counter(pool)
        pool += list(lacking.elements())
    return pool


def _places(block: Sequence[Any], pool: Sequence[Any]) -> list[int]:
    """Where the pool has a block's forests, each place used once.

    Examples
    --------
    >>> _places(["e", "e", "c"], ["r", "r", "c", "e", "e"])
    [3, 4, 2]
    """
    free = {forest: [k for k, other in enumerate(pool) if other == forest] for forest in pool}
    return [free[forest].pop(0) for forest in block]
