"""The state of cascades that older versions saved, in today's form."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.stats import rankdata

#: Fitted attributes of format 1 that are now fields of ``model_``, without the underscore.
_FITTED = (
    *("cascades_", "search_", "gamma_scale_", "kernels_", "C_"),
    *("_encoder", "_calibrator", "_origin", "_is_affine", "_is_counted"),
)


def model_state_of_today(state: dict[str, Any]) -> dict[str, Any]:
    """Fields of a `CascadeModel` from the attributes of an estimator of format 1; they leave `state`."""
    old = {name.strip("_"): state.pop(name) for name in _FITTED}
    del state["n_iter_"]  # the cascades know it
    return {
        **old,
        "cascades": tuple(old["cascades"]),
        "search": tuple(old["search"]),
        "held_out": state.pop("out_of_fold_"),
        "growth": state["growth"],
        "max_leaves": int(state["max_leaves"]),
        "n_classes": len(state["classes_"]),
    }


def generic_state_of_today(state: dict[str, Any]) -> dict[str, Any]:
    """Fields of a `GenericModel` from the attributes of an estimator of format 1; they leave `state`."""
    return {
        "cascade": state.pop("cascade_"),
        "search": state.pop("search_"),
        "leaf_families": tuple(state.pop("leaf_families_")),
        "split_families": tuple(state.pop("question_families_")),
        "gamma_scale": float(state["gamma_scale"]),
        "held_out_error": state.pop("out_of_fold_error_"),
        "n_rows": state.pop("_n_rows"),
        "n_classes": len(state["classes_"]),
        "encoder": state.pop("_encoder"),
        "calibrator": state.pop("_calibrator"),
    }


def penalty_of_today(state: dict[str, Any], *, has_selection: bool) -> None:
    """``C="validation"`` and ``C="cv"`` of format 1 are ``C="auto"``, perhaps with a study switch."""
    if isinstance(state.get("C"), str) and state["C"] in ("validation", "cv"):
        if has_selection:
            state["C_selection"] = state["C"]
        state["C"] = "auto"


def constant_of_today(constant: Any, n_classes: int) -> float | tuple[float, ...]:
    """Scores of a constant node; format 1 kept the code of the class."""
    if not isinstance(constant, Integral):
        scores: float | tuple[float, ...] = constant
        return scores
    if n_classes == 2:
        return 2.0 * int(constant) - 1.0
    return tuple(1.0 if code == constant else -1.0 for code in range(n_classes))


def renamed(state: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """A state whose fields have today's names."""
    return {names.get(name, name): value for name, value in state.items()}


def results_of_today(results: dict[str, Any]) -> dict[str, Any]:
    """`cv_results_` with the columns that format 1 did not have."""
    if "params" in results:
        return results
    params: list[dict[str, Any]] = []
    for kind, degree, gamma, n_leaves in zip(
        results["kind"], results["degree"], results["gamma_scale"], results["n_leaves"]
    ):
        if kind == "plain":
            params.append({"max_leaves": 1, "degrees": (int(degree),)})
        elif kind == "path":
            params.append({"gamma_scale": float(gamma)})
        else:
            params.append({"gamma_scale": float(gamma), "n_leaves": round(float(n_leaves))})
    error = results["error"]
    rank = rankdata(error, method="min").astype(np.int32)
    return {**results, "params": params, "mean_test_score": 1.0 - error, "rank_test_score": rank}
