"""Fitted forests of model files of format 1, where the state lay in attributes of the estimator."""

from __future__ import annotations

from typing import Any

from surewood.forest.model import ForestModel, OutOfBag


def translated(state: dict[str, Any]) -> dict[str, Any]:
    """A saved state with its fitted parts in one ``model_``; a state of today is returned as it is."""
    if "forest_" not in state:
        return state
    votes, accuracy = state.pop("oob_decision_function_", None), state.pop("oob_score_", None)
    state["model_"] = ForestModel(
        trees=state.pop("forest_"),
        mapper=state.pop("mapper_"),
        seed=state.pop("seed_"),
        importances=state.pop("_mean_importances"),
        calibrator=state.pop("calibrator_"),
        out_of_bag=None if votes is None else OutOfBag(votes, accuracy),
    )
    return state
