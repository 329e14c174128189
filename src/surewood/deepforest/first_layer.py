"""First layers of several plans, each forest trained once.

The first layer depends on forests and depths only, and the forests of a block do not know of each other. So
plans that differ in their blocks take their forests out of one pool, and the plan whose first layer has the
best held-out score goes on. With a pilot the first few trees of every forest decide (:mod:`.race`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from surewood.deepforest.block import BlockFit
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.forest_pool import forests_of, places_of, pool_of
from surewood.deepforest.growth_log import score_of
from surewood.deepforest.margin_growth import train_first_layer
from surewood.deepforest.plan import MarginPlan, RunOptions
from surewood.deepforest.race import race


def first_layers(
    training: TrainingSet, plans: Sequence[MarginPlan], run: RunOptions
) -> Iterator[tuple[MarginPlan, BlockFit]]:
    """Every plan with its first layer, in the order of the depths and then of the plans.

    Plans may differ in their blocks and depths, not in anything else that a first layer depends on. One pool
    of forests is in memory at a time.
    """
    for rates in dict.fromkeys(frozenset(plan.schedule) for plan in plans):
        sharing = [plan for plan in plans if frozenset(plan.schedule) == rates]
        pool = pool_of([forests_of(plan) for plan in sharing])
        members, schedule = tuple(member for member, _ in pool), tuple(rate for _, rate in pool)
        whole = replace(sharing[0], members=members, schedule=schedule)
        fit = train_first_layer(training, whole, run)
        for plan in sharing:
            yield plan, fit.take(places_of(forests_of(plan), pool))


def choose_first_layer(
    training: TrainingSet, plans: Sequence[MarginPlan], run: RunOptions
) -> tuple[MarginPlan, BlockFit]:
    """The plan whose first layer has the best held-out score, the first of equal ones, and that layer."""
    if plans[0].pilot is not None:
        return race(training, plans, run, plans[0].pilot)
    best: tuple[float, MarginPlan, BlockFit] | None = None
    for plan, fit in first_layers(training, plans, run):
        if len(plans) == 1:
            return plan, fit
        score = score_of(plan, fit.vectors.mean(axis=0), training)
        if best is None or score > best[0]:
            best = (score, plan, fit)
    assert best is not None
    return best[1], best[2]
