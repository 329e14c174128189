"""Fitted states of model files of format 1, as today's frozen models.

Then the parts of a fitted cascade were attributes of the estimator: the layers in ``model_``, and beside them
``reader_``, ``calibrator_``, ``spill_``, ``layers_``, held-out scores and, for margin forests, what was
chosen.
"""

from __future__ import annotations

from typing import Any

from surewood.deepforest.cascade_layers import CascadeLayers
from surewood.deepforest.members import parse_members
from surewood.deepforest.model import CascadeForestModel, HeldOut, MarginForestModel
from surewood.deepforest.records import Comparisons
from surewood.deepforest.search import SettingRecord
from surewood.deepforest.window_forests import ScannerModel


def model_of_old_state(state: dict[str, Any]) -> dict[str, Any]:
    """A state of today with one frozen ``model_``; parameters stay as they are."""
    state = dict(state)
    records = tuple(state.pop("layers_"))
    state.pop("n_layers_")
    settings: list[SettingRecord] = state.pop("settings_", [])
    shared = {
        "reader": state.pop("reader_"),
        "calibrator": state.pop("calibrator_"),
        "spill": state.pop("spill_"),
        "records": records,
        "held_out": HeldOut(
            state.pop("held_out_scores_"),
            state.pop("held_out_labels_"),
            tuple(state.pop("staged_held_out_scores_")),
        ),
        "comparisons": Comparisons(
            first_layers=_first_layers(state),
            settings=max(1, len(settings)),
            weight_rules=1,
            layers=len(records),
            on_validation_rows=state["validation_fraction"] is not None,
        ),
    }
    layers = state.pop("model_")
    if isinstance(layers, CascadeLayers):
        members = parse_members(state["forests"], state["n_estimators"])
        forests = tuple((member.kind, member.n_trees) for member in members)
        state["model_"] = CascadeForestModel(layers=layers, forests=forests, **shared)
        return state
    state["model_"] = MarginForestModel(
        layers=layers,
        forests=tuple(tuple(pair) for pair in state.pop("forests_")),
        schedule=tuple(state.pop("depth_schedule_")),
        weights=state.pop("reweighting_"),
        **shared,
    )
    if settings:
        state["settings"] = settings
    return state


def scanner_of_old_state(state: dict[str, Any]) -> dict[str, Any]:
    """A state of today of a scanner whose forests were in ``models_``."""
    state = dict(state)
    grains, members = state.pop("models_"), state.pop("members_")
    state.pop("grains_")
    state["model_"] = ScannerModel(grains, state["n_folds"], len(members))
    return state


def _first_layers(state: dict[str, Any]) -> int:
    """At least this many first layers were compared; what older fits did not record is not made up."""
    is_auto = isinstance(state["forests"], str) or state.get("depth_schedule") == "auto"
    return 2 if is_auto else 1
