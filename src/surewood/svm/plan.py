"""From parameters to one frozen plan of an SVM: nothing is decided later but what the data decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from surewood._arrays import Floats
from surewood.base.parameters import COMMON, MAX_DEGREE, calibration_method, memory_bytes
from surewood.base.rules import Boolean, Choice, Either, Integer, Number, Rule
from surewood.svm.gram import KernelSpec
from surewood.svm.penalty import C_list
from surewood.tables import TrainingTable

RULES: Mapping[str, Rule] = {
    **COMMON,
    "kernel": Choice("poly", "normalized_poly", "rbf", "linear"),
    "degree": Integer(0, MAX_DEGREE),
    "gamma": Either(Choice("scale", "auto"), Number(above=0.0)),
    "coef0": Number(),
    "scale": Boolean(),
    "decision_function_shape": Choice("ovr", "ovo"),
    "cache_size": Number(above=0.0, what="a number of MB"),
}

POLYNOMIAL = ("poly", "normalized_poly")

_MOST_ITERATIONS = 10_000_000  # of a pair of classes, where max_iter is -1


@dataclass(frozen=True)
class SvmPlan:
    """How an SVM is trained."""

    #: "poly", "normalized_poly", "rbf" or "linear".
    kernel: str
    #: 1 unless the kernel is polynomial.
    degree: int
    gamma: float | str
    coef0: float
    tol: float
    #: None: chosen from :data:`~surewood.svm.penalty.C_GRID` by cross-validation.
    C: float | None
    max_iter: int
    cache_bytes: int
    scale: bool
    #: The method that turns decision values into probabilities.
    calibration: str | None
    #: Bytes that the fit may take.
    max_memory: int | None
    n_jobs: int | None
    verbose: int

    @property
    def solver_options(self) -> dict[str, Any]:
        """What `solve_many` takes besides the problem."""
        solver = {"tol": self.tol, "max_iter": self.max_iter, "cache_size": self.cache_bytes}
        return {**solver, "n_jobs": self.n_jobs}

    def kernel_spec(self, design: Floats, weight: Floats | None) -> KernelSpec:
        """The kernel of a design matrix; "scale" looks at the variance of its entries."""
        if self.kernel == "linear":
            return KernelSpec("poly", 1.0, 0.0)
        gamma = self.gamma
        if gamma == "scale":
            mean = np.average(design, axis=0, weights=weight).mean()
            variance = np.average(((design - mean) ** 2).mean(axis=1), weights=weight)
            gamma = 1.0 / (design.shape[1] * variance) if variance > 0 else 1.0
        elif gamma == "auto":
            gamma = 1.0 / design.shape[1]
        return KernelSpec("rbf" if self.kernel == "rbf" else "poly", float(gamma), self.coef0)


def make_plan(parameters: Mapping[str, Any], data: TrainingTable | None = None, seed: int = 0) -> SvmPlan:
    """What the parameters mean; for an SVM neither the table nor a seed changes it."""
    if parameters["kernel"] == "normalized_poly" and parameters["coef0"] < 0:
        raise ValueError(
            f'kernel="normalized_poly" needs a coef0 of at least 0, got {parameters["coef0"]!r}.'
        )
    max_iter, degree = int(parameters["max_iter"]), int(parameters["degree"])
    return SvmPlan(
        kernel=parameters["kernel"],
        degree=degree if parameters["kernel"] in POLYNOMIAL else 1,
        gamma=parameters["gamma"],
        coef0=float(parameters["coef0"]),
        tol=float(parameters["tol"]),
        C=None if isinstance(parameters["C"], str) else C_list(parameters["C"], 1)[0],
        max_iter=_MOST_ITERATIONS if max_iter == -1 else max_iter,
        cache_bytes=int(parameters["cache_size"] * 2**20),
        scale=bool(parameters["scale"]),
        calibration=calibration_method(parameters["calibrate"]),
        max_memory=memory_bytes(parameters["max_memory"]),
        n_jobs=parameters["n_jobs"],
        verbose=int(parameters["verbose"]),
    )
