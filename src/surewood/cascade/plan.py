"""From parameters and data to one frozen plan: after it nothing is decided but by training.

`CascadeSettings` are the checked parameters in the form the search wants, `CascadePlan` adds the problems to
be solved, the folds and the seed, `SelectionPlan` what cross-validation needs beyond that. The rules of the
parameters that the SVM cascades share are here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from surewood._arrays import Codes, Floats
from surewood.cascade.penalty import Folds
from surewood.cascade.sample import Sample
from surewood.cascade.search import Budget
from surewood.cascade.splits import Fractions, as_fractions
from surewood.cascade.trainer import KERNELS, KernelChoice, Solver
from surewood.estimators.folds import splits_of, stratified_folds_by_class
from surewood.estimators.parameters import (
    COMMON,
    Switch,
    calibration_method,
    check_parameters,
    memory_bytes,
    study_settings,
)
from surewood.estimators.rules import Choice, Integer, Kind, ListOf, Nullable, Number, Rule

FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
DEGREES = (1, 2, 3, 4)
GAMMA_SCALE = 0.01
C_GRID = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
CALIBRATION_FOLDS = 5

_FRACTION = Kind("a number in (0, 1]", Number().is_kind, Number(above=0.0, most=1.0).holds)
FRACTION_LIST = ListOf(_FRACTION, "numbers in (0, 1]")

#: Parameters that both SVM cascades have.
SVM_RULES: Mapping[str, Rule] = {
    **COMMON,
    "max_leaves": Integer(1),
    "fractions": FRACTION_LIST,
    "kernel": Choice(*KERNELS),
    "multiclass": Choice("one_vs_rest", "native"),
}

#: Study switches that both SVM cascades have.
SVM_SWITCHES: Mapping[str, Switch] = {
    "C_grid": Switch(C_GRID, COMMON["C_grid"]),
    "growth": Switch("capped", Choice("capped", "sum")),
    "max_svms": Switch(None, Nullable(Integer(1))),
    "tol": Switch(1e-3, COMMON["tol"]),
    "max_iter": Switch(10_000, COMMON["max_iter"]),
}


@dataclass(frozen=True)
class CascadeSettings:
    """Checked parameters that do not depend on the data."""

    max_leaves: int
    fractions: Fractions
    degrees: tuple[int, ...]
    kernel: str
    growth: str
    multiclass: str
    #: None: chosen on held-out rows among `C_grid`. Shape (n_degrees,).
    C: Floats | None
    C_grid: Floats
    #: Of all searches of a fit together.
    budget: Budget
    tol: float
    max_iter: int
    #: Bytes.
    max_memory: int | None
    #: Method of calibration.
    calibration: str | None
    n_jobs: int | None
    verbose: int

    @property
    def solver(self) -> Solver:
        """How SVMs are solved."""
        return Solver(self.tol, self.max_iter, self.n_jobs)

    def kernels(self, n_features: int) -> KernelChoice:
        """The SVMs that a node may use on this many features."""
        return KernelChoice(self.kernel, self.degrees, n_features)


class Problem(NamedTuple):
    """A cascade to be fitted: class codes, their number, and the class set against the rest (-1: none)."""

    label: int
    codes: Codes
    n_classes: int


@dataclass(frozen=True, kw_only=True)
class FitPlan:
    """What a fit and a cross-validation both need to know besides the sample."""

    settings: CascadeSettings
    #: One, or one per class for one-vs-rest.
    problems: tuple[Problem, ...]
    calibration_folds: Folds


@dataclass(frozen=True, kw_only=True)
class CascadePlan(FitPlan):
    """Everything that a fit needs to know besides the sample."""

    #: On which C is chosen.
    penalty_folds: Folds
    gamma_scale: float
    #: Exact number of leaves.
    n_leaves: int | None = None


@dataclass(frozen=True, kw_only=True)
class SelectionPlan(FitPlan):
    """Everything that cross-validation needs to know besides the sample.

    `folds` serve the choice of C and of the cascade; without `refit` there is one, whose training part gives
    the model.
    """

    folds: Folds
    gamma_min: float
    leaf_gammas: tuple[float, ...]
    standard_errors: float
    refit: bool


def read_settings(estimator: Any) -> CascadeSettings:
    """Check all parameters of an SVM cascade and read those that both estimators share."""
    check_parameters(estimator)
    study = study_settings(estimator)
    degrees = read_degrees(estimator.degrees)
    return CascadeSettings(
        max_leaves=int(estimator.max_leaves),
        fractions=as_fractions(estimator.fractions),
        degrees=degrees,
        kernel=estimator.kernel,
        growth=study["growth"],
        multiclass=estimator.multiclass,
        C=_read_C(estimator.C, len(degrees)),
        C_grid=np.asarray(study["C_grid"], dtype=np.float64),
        budget=Budget(
            seconds=None if estimator.time_limit is None else float(estimator.time_limit),
            svms=None if study["max_svms"] is None else int(study["max_svms"]),
        ),
        tol=float(study["tol"]),
        max_iter=int(study["max_iter"]),
        max_memory=memory_bytes(estimator.max_memory),
        calibration=calibration_method(estimator.calibrate),
        n_jobs=estimator.n_jobs,
        verbose=int(estimator.verbose),
    )


def read_degrees(degrees: Any) -> tuple[int, ...]:
    """Kernel degrees, ascending, without repeats; "auto" stands for 1 to 4."""
    if isinstance(degrees, str):
        return DEGREES
    values = [degrees] if isinstance(degrees, Integral) else degrees
    return tuple(sorted({int(d) for d in values}))


def read_gamma(gamma_scale: Any) -> float:
    """γ as a number; "auto" stands for 0.01."""
    return GAMMA_SCALE if isinstance(gamma_scale, str) else float(gamma_scale)


def problems_of(sample: Sample, multiclass: str) -> tuple[Problem, ...]:
    """The cascades to be fitted."""
    if sample.n_classes <= 2 or multiclass == "native":
        return (Problem(-1, sample.codes, max(sample.n_classes, 2)),)
    return tuple(Problem(j, (sample.codes == j).astype(np.int32), 2) for j in range(sample.n_classes))


def plan_fit(estimator: Any, settings: CascadeSettings, sample: Sample, seed: int) -> CascadePlan:
    """The plan of a :class:`DeepCascadeSVMClassifier`."""
    study = study_settings(estimator)
    if study["C_selection"] == "cv":
        penalty_folds = deal_folds(sample.codes, int(study["C_folds"]), seed)
    else:
        n_parts = max(2, round(1.0 / float(study["validation_fraction"])))
        penalty_folds = deal_folds(sample.codes, n_parts, seed)[:1]
    return CascadePlan(
        **_shared_part(settings, sample, seed),
        penalty_folds=penalty_folds,
        gamma_scale=read_gamma(estimator.gamma_scale),
        n_leaves=None if estimator.n_leaves is None else int(estimator.n_leaves),
    )


def plan_selection(
    estimator: Any, settings: CascadeSettings, sample: Sample, folds: Folds | None, seed: int
) -> SelectionPlan:
    """The plan of a :class:`DeepCascadeSVMClassifierCV`; folds that the user did not give are dealt here."""
    if len(sample.codes) < 2:
        raise ValueError("n_samples=1: choosing on held-out rows needs at least two different rows.")
    if folds is None and isinstance(estimator.cv, Integral):
        folds = deal_folds(sample.codes, min(int(estimator.cv), len(sample.codes)), seed)
    elif folds is None:
        folds = deal_folds(sample.codes, max(2, round(1.0 / float(estimator.cv))), seed)[:1]
    return SelectionPlan(
        **_shared_part(settings, sample, seed),
        folds=folds,
        gamma_min=float(estimator.gamma_min),
        leaf_gammas=tuple(float(gamma) for gamma in estimator.leaf_gammas),
        standard_errors=float(study_settings(estimator)["standard_errors"]),
        refit=bool(estimator.refit),
    )


def _shared_part(settings: CascadeSettings, sample: Sample, seed: int) -> dict[str, Any]:
    """The fields of `FitPlan`."""
    problems = problems_of(sample, settings.multiclass)
    return {
        "settings": settings, "problems": problems, "calibration_folds": calibration_folds(sample, seed),
    }  # fmt: skip


def calibration_folds(sample: Sample, seed: int) -> Folds:
    """Folds on which held-out scores for the calibration are computed."""
    return deal_folds(sample.codes, min(CALIBRATION_FOLDS, len(sample.codes)), seed)


def deal_folds(codes: Codes, n_folds: int, seed: int) -> Folds:
    """Stratified (training, held-out) rows as the solver takes them."""
    splits = splits_of(stratified_folds_by_class(codes, n_folds, seed), n_folds)
    return [(train.astype(np.int32), held_out.astype(np.int32)) for train, held_out in splits]


def shared_budget(settings: CascadeSettings, n_parts: float) -> CascadeSettings:
    """Settings whose time limit is divided by `n_parts`; the limit of SVMs holds for every part."""
    seconds = settings.budget.seconds
    if seconds is None:
        return settings
    return replace(settings, budget=Budget(seconds / n_parts, settings.budget.svms))


def _read_C(C: Any, n_degrees: int) -> Floats | None:
    if isinstance(C, str):
        return None
    values = np.atleast_1d(np.asarray(C, dtype=np.float64))
    if len(values) not in (1, n_degrees):
        raise ValueError(f"C must be one number or one for each of the {n_degrees} degrees, got {C!r}.")
    return np.broadcast_to(values, (n_degrees,)).copy()
