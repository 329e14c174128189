"""The fitted state of model files of format 1, where it lay in many attributes of the estimator."""

from __future__ import annotations

from typing import Any

from surewood.composite.evidence import SampleFacts
from surewood.composite.model import CompositeModel, HeldOutError
from surewood.composite.plan import Searched, largest_depth

_READ = (
    "reader_",
    "settings_",
    "n_iter_",
    "plain_share_",
    "calibrator_",
    "n_design_",
    "held_out_error_",
    "_support_origin",
    "_part_of_tree",
    "_importances",
    "_n_degrees",
    "_tuned",
    "_votes",
    "_growth",
    "_affine",
    "_held_out_kind",
    "_held_out_rows",
    "_unweighted",
)


def model_of_old_state(state: dict[str, Any]) -> dict[str, Any]:
    """The state of an estimator with its fitted attributes gathered in one model; a newer state as it is.

    The number of settings compared was not recorded: 2 stands for "tuned", so that an estimate is still
    reported as one that was used for selection.
    """
    if state.get("calibrate") == "auto":
        state["calibrate"] = True
    if "reader_" not in state:
        return state
    old = {name: state.pop(name) for name in _READ if name in state}
    settings = old["settings_"]
    state["model_"] = CompositeModel(
        trees=state["model_"],
        reader=old["reader_"],
        classes=state["classes_"],
        schema=state["schema_"],
        settings=settings,
        part_of_tree=old["_part_of_tree"],
        leaf_scores=state["leaf_scores"],
        importances=old["_importances"],
        calibrator=old["calibrator_"],
        held_out=HeldOutError(
            str(old["_held_out_kind"]), float(old["held_out_error_"]), int(old["_held_out_rows"])
        ),
        votes=old["_votes"],
        searched=Searched(
            int(old["_n_degrees"]),
            max([largest_depth(setting) for setting in settings] + _offered_depths(state)),
            2 if old["_tuned"] or "cv_results_" in state else 1,
        ),
        sample=SampleFacts(
            n_features=int(old["n_design_"]),
            n_splitting=int(state["n_features_in_"]),
            split_growth=old["_growth"],
            unweighted=bool(old["_unweighted"]),
            affine_features=bool(old["_affine"]),
        ),
        support_origin=old["_support_origin"],
    )
    return state


def _offered_depths(state: dict[str, Any]) -> list[int]:
    """Depths that a search compared."""
    results = state.get("cv_results_")
    return [] if results is None else [int(depth) for depth in results["param_max_depth"]]
