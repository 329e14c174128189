"""Searching a grid of settings, layer by layer, with the first layers shared ([D-31]).

The first layer depends on the block and its depths only, so the 72 settings of the paper need four first
layers. Later layers differ in their weights and have to be grown; `halving` drops the worse settings after
each layer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from surewood.deepforest.block import BlockFit
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.depth_schedules import short
from surewood.deepforest.first_layer import choose_first_layer
from surewood.deepforest.margin_growth import MarginGrowth
from surewood.deepforest.plan import MarginPlan, RunOptions, SearchPlan


@dataclass(frozen=True)
class SettingRecord:
    """One setting of the grid and how far it came."""

    forests: tuple[str, ...]
    theta: float
    mu_loss: float
    schedule: Any
    #: Best monitored score over its layers (ESTIMATE, biased by the choice).
    score: float
    #: Layers it was grown to before it was dropped or stopped.
    n_layers: int


class SearchResult(NamedTuple):
    """All settings in the order of the grid, the best of them, and what it takes to grow it again."""

    settings: tuple[SettingRecord, ...]
    #: The setting with the best score, the first of equal ones.
    best_index: int
    plan: MarginPlan
    #: Its first layer.
    first: BlockFit


def search_settings(plan: SearchPlan, training: TrainingSet, validation: TrainingSet | None) -> SearchResult:
    """Choose a block for each depth schedule by its first layer, then search the grid."""
    firsts: dict[Any, BlockFit] = {}
    candidates: list[MarginPlan] = []
    for schedule in dict.fromkeys(candidate.schedule for candidate in plan.candidates):
        if firsts and plan.run.time_limit.is_over:
            break
        sharing = [one for one in plan.candidates if one.schedule == schedule]
        blocks = {one.first_key: one for one in sharing}
        chosen, fit = choose_first_layer(training, list(blocks.values()), plan.run)
        firsts[chosen.first_key] = fit
        # The chosen block may have got fewer trees than it was planned with.
        candidates += [replace(one, members=chosen.members) for one in sharing if one.kinds == chosen.kinds]
    settings = compare(training, validation, candidates, firsts, plan.run, plan.halving)
    best = max(range(len(settings)), key=lambda i: (settings[i].score, -i))
    return SearchResult(settings, best, candidates[best], firsts[candidates[best].first_key])


def compare(
    training: TrainingSet,
    validation: TrainingSet | None,
    plans: Sequence[MarginPlan],
    firsts: dict[Any, BlockFit],
    run: RunOptions,
    halving: float | None,
) -> tuple[SettingRecord, ...]:
    """Grow all settings side by side, layer by layer, dropping the worse ones.

    Trees are dropped as soon as their layer has been judged, so that memory holds one layer per schedule. Of
    a time limit the comparison takes half of what is left: the best setting is grown again.
    """
    run = replace(run, keep_held_out=False, verbose=0, time_limit=run.time_limit.divided(2))
    growths = [MarginGrowth(training, plan, run, validation) for plan in plans]
    for growth in growths:
        growth.add_first(firsts[growth.plan.first_key])
        growth.drop_trees()
    alive = [i for i, growth in enumerate(growths) if not growth.log.finished]
    while alive:
        for i in alive:
            growths[i].add_next()
            growths[i].drop_trees()
        scores = [growth.log.best_score for growth in growths]
        if halving is not None:
            leaders = sorted(alive, key=lambda i: (-scores[i], i))
            alive = leaders[: max(1, math.ceil(len(alive) / halving))]
        alive = sorted(i for i in alive if not growths[i].log.finished)
        if len(alive) == 1 and halving is not None and scores[alive[0]] >= max(scores):
            break  # the one setting left leads already: more layers cannot change the choice
    return tuple(_record(growth) for growth in growths)


def _record(growth: MarginGrowth) -> SettingRecord:
    plan, log = growth.plan, growth.log
    return SettingRecord(
        tuple(member.kind for member in plan.members),
        plan.step.theta,
        plan.step.mu_loss,
        short(plan.schedule),
        log.best_score,
        len(log.records),
    )
