"""From a plan and prepared data to a fitted model; nothing is decided here that the plan has not decided."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from surewood._arrays import Floats
from surewood.base.calibration import ScoreCalibrator
from surewood.base.copies import copied_rows, labels_by_content, without_one_copy
from surewood.deepforest.blocks import BlockFit
from surewood.deepforest.cascade_growth import CascadeGrowth
from surewood.deepforest.data import DeepForestData, TrainingSet
from surewood.deepforest.margin_growth import MarginGrowth, choose_first_layer
from surewood.deepforest.model import CascadeForestModel, DeepForestModel, MarginForestModel
from surewood.deepforest.plan import CascadeSetting, DeepForestPlan, MarginSetting
from surewood.parallel.progress import stage


def train(plan: DeepForestPlan[Any], data: DeepForestData) -> DeepForestModel:
    """Compare the candidates at the first layer and grow the best one."""
    if isinstance(plan.candidates[0], CascadeSetting):
        return _train_cascade_forest(plan, data)
    chosen, first = choose_first_layer(data.training, plan.candidates, plan.run)
    return train_margin_forest(plan, data, chosen, first, n_settings=1)


def train_margin_forest(
    plan: DeepForestPlan[MarginSetting],
    data: DeepForestData,
    chosen: MarginSetting,
    first: BlockFit,
    n_settings: int,
) -> MarginForestModel:
    """Grow the chosen candidate from its first layer; `n_settings` were compared by more than that."""
    training, reader = data.training, data.reader
    if all(member.is_forest for member in chosen.members):
        # Another candidate may have needed the table as numbers.
        training, reader = training.without_numbers(), replace(reader, has_numbers=False, encoder=None)
    grown = MarginGrowth(training, chosen, plan.run).grown(first)
    return MarginForestModel(
        layers=grown.layers,
        reader=reader,
        schedule=grown.setting.schedule,
        **_shared_fields(plan, data, training, grown, n_settings),
    )


def _train_cascade_forest(plan: DeepForestPlan[CascadeSetting], data: DeepForestData) -> CascadeForestModel:
    grown = CascadeGrowth(data.training, plan.candidates[0], plan.run).grown()
    return CascadeForestModel(
        layers=grown.layers,
        reader=data.reader,
        **_shared_fields(plan, data, data.training, grown, n_settings=1),
    )


def _shared_fields(
    plan: DeepForestPlan[Any],
    data: DeepForestData,
    training: TrainingSet,
    grown: MarginGrowth | CascadeGrowth,
    n_settings: int,
) -> dict[str, Any]:
    """The fields that both models share: records, held-out scores, calibration, number of comparisons."""
    candidate = plan.candidates[0]
    is_held_out = candidate.cross_fit != "in_fold"
    population = _population_scores(grown, training, plan.run.n_jobs) if is_held_out else None
    compared = [n for n in (plan.n_first_layers, n_settings) if n > 1]
    return {
        "schema": data.schema,
        "classes": training.classes,
        "records": tuple(grown.records),
        "forests": grown.setting.forests,
        "stop_reason": grown.stop_reason,
        "spill": grown.spill,
        "calibrator": None if population is None else _calibrator(plan, population, training),
        "is_held_out": is_held_out,
        "held_out": data.to_user_rows(grown.held_out) if is_held_out else None,
        "population": None if population is None else data.to_user_rows(population),
        "labels": data.labels,
        "staged_held_out": tuple(data.to_user_rows(scores) for scores in grown.staged_held_out),
        "n_compared": sum(compared) + len(grown.records),
    }


def _calibrator(plan: DeepForestPlan[Any], scores: Floats, training: TrainingSet) -> ScoreCalibrator | None:
    """A calibrator fitted on the scores that rows like the training points would have."""
    if plan.calibration is None:
        return None
    with stage(plan.run.verbose, "calibrating", 1) as advance:
        is_short = plan.calibration == "auto" and plan.run.time_limit.is_over
        calibrator = ScoreCalibrator("temperature" if is_short else plan.calibration)
        calibrator.fit(scores, training.y, training.weight, training.groups)
        advance(1)
        return calibrator


def _population_scores(
    grown: MarginGrowth | CascadeGrowth, training: TrainingSet, n_jobs: int | None
) -> Floats:
    """Held-out scores; of contents that occur more than once, those of models that saw the other copies."""
    rows = copied_rows(training.content)
    if training.content is None or training.groups is not None or not len(rows):
        return grown.held_out
    *_, (_, _, _, seen) = grown.layers.walk(training.inputs.take(rows), n_jobs)
    scores = grown.held_out.copy()
    y = training.y[rows]
    copies = labels_by_content(y, training.content[rows], scores.shape[1])
    scores[rows] = without_one_copy(scores[rows], seen, y, copies, np.ones(len(rows)))
    return scores
