"""From a plan and prepared data to a fitted model; nothing is decided here that the plan has not decided."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from surewood._arrays import Floats
from surewood.deepforest.block import BlockFit
from surewood.deepforest.cascade_growth import CascadeGrowth
from surewood.deepforest.data import PreparedData, TrainingSet
from surewood.deepforest.first_layer import choose_first_layer
from surewood.deepforest.growth_log import Grown
from surewood.deepforest.margin_growth import MarginGrowth
from surewood.deepforest.members import only_forests
from surewood.deepforest.model import CascadeForestModel, HeldOut, MarginForestModel
from surewood.deepforest.plan import CascadePlan, FitPlan, MarginPlan, SearchPlan
from surewood.deepforest.records import Comparisons
from surewood.deepforest.reweighting import CHOICES
from surewood.deepforest.search import SearchResult, search_settings
from surewood.deepforest.spilling import SpillFolder, in_memory
from surewood.estimators.calibration import ScoreCalibrator
from surewood.estimators.copies import copied_rows, labels_by_content, without_one_copy
from surewood.parallel.progress import stage


def train_margin_forest(plan: FitPlan[MarginPlan], data: PreparedData) -> MarginForestModel:
    """Compare the candidates at the first layer and grow the best one."""
    training, _ = _parts(plan, data)
    chosen, first = choose_first_layer(training, plan.candidates, plan.run)
    return _grow_chosen(plan, data, chosen, first, n_settings=1)


def search_margin_forest(plan: SearchPlan, data: PreparedData) -> SearchResult:
    """Compare all settings of a grid."""
    return search_settings(plan, *_parts(plan, data))


def train_best_setting(plan: SearchPlan, data: PreparedData, found: SearchResult) -> MarginForestModel:
    """Grow the best setting of a search."""
    return _grow_chosen(plan, data, found.plan, found.first, n_settings=len(found.settings))


def train_cascade_forest(plan: FitPlan[CascadePlan], data: PreparedData) -> CascadeForestModel:
    """Grow the one candidate."""
    training, validation = _parts(plan, data)
    spill = _spill_folder(plan)
    store = in_memory if spill is None else spill.store
    grown = CascadeGrowth(training, plan.candidates[0], plan.run, validation, store).grown()
    return CascadeForestModel(
        layers=grown.layers, reader=data.reader, spill=spill, **_evidence(plan, data, training, grown, 1)
    )


def _grow_chosen(
    plan: FitPlan[MarginPlan], data: PreparedData, chosen: MarginPlan, first: BlockFit, n_settings: int
) -> MarginForestModel:
    training, validation = _parts(plan, data)
    reader = data.reader
    if only_forests(chosen.members):  # another candidate may have needed the table as numbers
        training = training.without_numbers()
        validation = None if validation is None else validation.without_numbers()
        reader = replace(reader, numbers=None)
    spill = _spill_folder(plan)
    store = in_memory if spill is None else spill.store
    grown = MarginGrowth(training, chosen, plan.run, validation, store).grown(first)
    return MarginForestModel(
        layers=grown.layers,
        reader=reader,
        schedule=grown.plan.schedule,
        weights=grown.plan.weights,
        spill=spill,
        **_evidence(plan, data, training, grown, n_settings),
    )


def _parts(plan: FitPlan[Any], data: PreparedData) -> tuple[TrainingSet, TrainingSet | None]:
    """Rows to grow on and rows to validate on."""
    held = plan.validation_rows
    return data.training.take(plan.rows), None if held is None else data.training.take(held)


def _spill_folder(plan: FitPlan[Any]) -> SpillFolder | None:
    return SpillFolder(plan.run.spill_folder) if plan.run.spill else None


def _evidence(
    plan: FitPlan[Any], data: PreparedData, training: TrainingSet, grown: Grown[Any, Any], n_settings: int
) -> dict[str, Any]:
    """The fields that both models share: records, held-out scores, calibration, comparisons."""
    own = plan.candidates[0]
    chose_weights = isinstance(own, MarginPlan) and own.weights.kind == "chosen" and len(grown.records) > 1
    return {
        "records": grown.records,
        "forests": grown.plan.forests,
        "stop_reason": grown.stop_reason,
        "calibrator": _calibrator(plan, grown, training),
        "held_out": HeldOut(
            data.to_user_rows(grown.held_out, plan.rows),
            data.labels,
            tuple(data.to_user_rows(scores, plan.rows) for scores in grown.staged_held_out),
        ),
        "comparisons": Comparisons(
            first_layers=plan.n_first_layers,
            settings=n_settings,
            weight_rules=len(CHOICES) if chose_weights else 1,
            layers=len(grown.records),
            on_validation_rows=plan.validation_rows is not None,
        ),
    }


def _calibrator(plan: FitPlan[Any], grown: Grown[Any, Any], training: TrainingSet) -> ScoreCalibrator | None:
    """A calibrator fitted on the scores that rows like the training points would have."""
    if plan.calibration is None:
        return None
    with stage(plan.run.verbose, "calibrating", 1) as advance:
        scores = _population_scores(grown, training, plan.run.n_jobs)
        return ScoreCalibrator(plan.calibration).fit(
            scores, training.y, training.weight, advance, plan.run.n_jobs
        )


def _population_scores(grown: Grown[Any, Any], training: TrainingSet, n_jobs: int | None) -> Floats:
    """Held-out scores; of contents that occur more than once, those of models that saw the other copies."""
    rows = copied_rows(training.content)
    if training.content is None or not len(rows):
        return grown.held_out
    *_, seen = grown.layers.staged_scores(training.inputs.take(rows), n_jobs)
    scores = grown.held_out.copy()
    y = training.y[rows]
    copies = labels_by_content(y, training.content[rows], scores.shape[1])
    scores[rows] = without_one_copy(scores[rows], seen, y, copies, np.ones(len(rows)))
    return scores
