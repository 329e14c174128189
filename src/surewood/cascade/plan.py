"""From parameters and sample to one frozen plan: after it nothing is decided but by training.

`CascadePlan` is what a :class:`DeepCascadeSVMClassifier` does, `SelectionPlan` adds what cross-validation
needs beyond that. The rules of the parameters that the SVM cascades share, and the settings that suit a size
of sample, are here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from surewood._arrays import Codes, Floats
from surewood.base.folds import splits_of, stratified_folds_by_class
from surewood.base.parameters import COMMON, Switch, calibration_method, memory_bytes
from surewood.base.rules import Choice, Integer, ListOf, Nullable, Number, Rule
from surewood.base.time_limit import TimeLimit
from surewood.cascade.chain import as_fractions
from surewood.cascade.data import CascadeData, Folds
from surewood.cascade.svm_trainer import KERNELS, KernelChoice
from surewood.svm.penalty import C_GRID, C_list, degree_list

FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
DEGREES = (1, 2, 3, 4)
GAMMA_SCALE = 0.01
CALIBRATION_FOLDS = 5
C_FOLDS, VALIDATION_PARTS = 5, 4  # folds on which C is chosen; or one of these parts

MAX_TRAINING_ROWS = 4000
MANY_CLASSES = 5  # above it one cascade for all classes instead of one per class
_MOST_SVMS, _FEWEST_SVMS = 2000, 30  # of a search, where the size of the sample decides
_SEARCH_WORK = _MOST_SVMS * 600**2  # SVMs of a search times the square of the rows

_FRACTION = Rule("a number in (0, 1]", Number().is_kind, Number(above=0.0, most=1.0).holds)
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
    "growth": Switch("capped", Choice("capped", "sum", "raw")),
    "max_svms": Switch(None, Nullable(Integer(1))),
}


class Problem(NamedTuple):
    """A cascade to be fitted: class codes, and their number."""

    codes: Codes
    n_classes: int


@dataclass(frozen=True, kw_only=True)
class CascadePlan:
    """Everything that a fit needs to know besides the sample."""

    max_leaves: int
    fractions: tuple[Fraction, ...]
    kernels: KernelChoice
    #: Form of the growth function Λ.
    growth: str
    #: One, or one per class for one-vs-rest.
    problems: tuple[Problem, ...]
    #: None: chosen on held-out rows among `C_grid`. Shape (n_degrees,).
    C: Floats | None
    C_grid: Floats
    #: On which C is chosen; in cross-validation the cascade too.
    folds: Folds
    n_jobs: int | None
    #: Of the whole fit, from its beginning.
    time_limit: TimeLimit
    #: SVMs after which a search returns the best cascade so far.
    max_svms: int | None
    #: Bytes.
    max_memory: int | None
    #: Method of calibration.
    calibration: str | None
    calibration_folds: Folds
    #: Two folds, for when the time limit leaves too little for the others.
    few_calibration_folds: Folds
    verbose: int
    gamma_scale: float | None
    #: Exact number of leaves.
    n_leaves: int | None

    def until(self, fraction: float) -> TimeLimit:
        """The time limit of what has to end when a fraction of the fit's time has passed."""
        seconds = self.time_limit.seconds
        return TimeLimit(None if seconds is None else fraction * seconds, self.time_limit.started)


@dataclass(frozen=True, kw_only=True)
class SelectionPlan(CascadePlan):
    """Everything that cross-validation needs to know besides the sample.

    Without `refit` there is one fold, whose training part gives the model.
    """

    gamma_min: float
    leaf_gammas: tuple[float, ...]
    #: The only candidates, compared by their held-out errors; None: the whole γ path.
    gammas: tuple[float, ...] | None
    standard_errors: float
    refit: bool


def make_plan(parameters: Mapping[str, Any], data: CascadeData, seed: int) -> CascadePlan:
    """The plan of a :class:`DeepCascadeSVMClassifier`."""
    n_leaves, max_leaves = parameters["n_leaves"], parameters["max_leaves"]
    if n_leaves is not None and n_leaves > max_leaves:
        raise ValueError(f"n_leaves={n_leaves} is more than max_leaves={max_leaves}.")
    is_cv = parameters["C_selection"] == "cv"
    folds = deal_folds(data, C_FOLDS, seed) if is_cv else deal_folds(data, VALIDATION_PARTS, seed)[:1]
    return CascadePlan(
        **_shared_part(parameters, data, seed),
        folds=folds,
        gamma_scale=read_gamma(parameters["gamma_scale"]),
        n_leaves=None if n_leaves is None else int(n_leaves),
    )


def make_selection_plan(parameters: Mapping[str, Any], data: CascadeData, seed: int) -> SelectionPlan:
    """The plan of a :class:`DeepCascadeSVMClassifierCV`; folds that the user did not give are dealt here."""
    folds, cv = data.folds, parameters["cv"]
    if len(data.codes) < 2:
        raise ValueError("n_samples=1: choosing on held-out rows needs at least two different rows.")
    if folds is None and isinstance(cv, Integral):
        folds = deal_folds(data, min(int(cv), len(data.codes)), seed)
    elif folds is None:
        folds = deal_folds(data, max(2, round(1.0 / float(cv))), seed)[:1]
    return SelectionPlan(
        **_shared_part(parameters, data, seed),
        folds=folds,
        gamma_scale=None,
        n_leaves=None,
        gamma_min=float(parameters["gamma_min"]),
        leaf_gammas=tuple(float(gamma) for gamma in parameters["leaf_gammas"]),
        gammas=None
        if parameters["gammas"] is None
        else tuple(sorted(map(float, parameters["gammas"]), reverse=True)),
        standard_errors=float(parameters["standard_errors"]),
        refit=bool(parameters["refit"]),
    )


def _shared_part(parameters: Mapping[str, Any], data: CascadeData, seed: int) -> dict[str, Any]:
    """The fields of a plan that both estimators read alike."""
    degrees, C = degree_list(parameters["degrees"], DEGREES), parameters["C"]
    problems = _problems(data, parameters["multiclass"])
    return {
        "time_limit": parameters["time_limit"],
        "max_leaves": int(parameters["max_leaves"]),
        "fractions": as_fractions(parameters["fractions"]),
        "kernels": KernelChoice(parameters["kernel"], degrees, data.design.shape[1]),
        "growth": parameters["growth"],
        "problems": problems,
        "C": None if isinstance(C, str) else np.array(C_list(C, len(degrees))),
        "C_grid": np.asarray(parameters["C_grid"], dtype=np.float64),
        "n_jobs": parameters["n_jobs"],
        "max_svms": _read_max_svms(parameters["max_svms"], len(data.codes), len(problems)),
        "max_memory": memory_bytes(parameters["max_memory"]),
        "calibration": calibration_method(parameters["calibrate"]),
        "calibration_folds": calibration_folds(data, seed),
        "few_calibration_folds": deal_folds(data, min(2, len(data.codes)), seed),
        "verbose": int(parameters["verbose"]),
    }


def _problems(sample: CascadeData, multiclass: str) -> tuple[Problem, ...]:
    """The cascades to be fitted."""
    if sample.n_classes <= 2 or multiclass == "native":
        return (Problem(sample.codes, max(sample.n_classes, 2)),)
    return tuple(Problem((sample.codes == j).astype(np.int32), 2) for j in range(sample.n_classes))


def _read_max_svms(max_svms: Any, n_rows: int, n_problems: int) -> int | None:
    """SVMs of a search; "auto" is 2000 up to 600 rows, and fewer for more rows or problems.

    An SVM's cost grows with the square of its rows, and the number of SVMs that a search would like to train
    grows too: with a fixed number the time of a fit grew with the fourth power of the rows.
    """
    if max_svms != "auto":
        return None if max_svms is None else int(max_svms)
    return int(min(max(_SEARCH_WORK / n_rows**2 / n_problems, _FEWEST_SVMS), _MOST_SVMS))


def read_gamma(gamma_scale: Any) -> float:
    """γ as a number; "auto" stands for 0.01."""
    return GAMMA_SCALE if isinstance(gamma_scale, str) else float(gamma_scale)


def calibration_folds(sample: CascadeData, seed: int) -> Folds:
    """Folds on which held-out scores for the calibration are computed."""
    return deal_folds(sample, min(CALIBRATION_FOLDS, len(sample.codes)), seed)


def deal_folds(data: CascadeData, n_folds: int, seed: int) -> Folds:
    """Stratified (training, held-out) rows as the solver takes them."""
    splits = splits_of(stratified_folds_by_class(data.codes, n_folds, seed, data.groups), n_folds)
    return [(train.astype(np.int32), held_out.astype(np.int32)) for train, held_out in splits]


def settings_for(n_rows: int, n_classes: int) -> dict[str, Any]:
    """Parameters for a sample of this size: one cascade for all classes where there are many of them.

    Examples
    --------
    >>> settings_for(1200, 2), settings_for(1200, 8)
    ({}, {'multiclass': 'native'})
    """
    return {"multiclass": "native"} if n_classes > MANY_CLASSES else {}
