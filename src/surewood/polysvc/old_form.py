"""Fitted SVMs of model files of format 1, where the state lay in attributes of the estimator."""

from __future__ import annotations

from typing import Any

from surewood.polysvc.model import SupportVectors, SvmModel

_MOST_ITERATIONS = 10_000_000  # what max_iter=-1 meant in format 1


def translated(state: dict[str, Any]) -> dict[str, Any]:
    """A saved state with its fitted parts in one ``model_``; a state of today is returned as it is."""
    if "_predictor" not in state:
        return state
    options = {
        "tol": state["tol"],
        "max_iter": _MOST_ITERATIONS if state["max_iter"] == -1 else int(state["max_iter"]),
        "cache_size": int(state["cache_size"] * 2**20),
        "n_jobs": state["n_jobs"],
    }
    support = SupportVectors(
        rows=state.pop("support_"),
        vectors=state.pop("support_vectors_"),
        per_class=state.pop("n_support_"),
        dual_coef=state.pop("dual_coef_"),
        intercept=state.pop("intercept_"),
        kernel_scale=state.pop("kernel_scale_"),
    )
    state["model_"] = SvmModel(
        n_classes=len(state["classes_"]),
        encoder=state.pop("_encoder"),
        center=state.pop("_center"),
        predictor=state.pop("_predictor"),
        calibration=state.pop("_calibration"),
        support=support,
        support_origin=state.pop("_support_origin"),
        n_iter=state.pop("n_iter_"),
        converged=not state.pop("fit_status_"),
        C=float(state["C"]),
        C_given=True,
        solver_options=options,
        compression=tuple(state.pop("_compression")),
        fixed_design=state.pop("_fixed_design"),
        unweighted=state.pop("_unweighted"),
    )
    return state
