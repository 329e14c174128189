"""Plan and data to a fitted SVM: encode, choose C where asked, solve, calibrate on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats
from surewood.base.folds import folds_in_order, given_splits, splits_among, splits_of
from surewood.parallel.progress import stage
from surewood.svm.coupling import HeldOut, HeldOutRows, PairCoupling, ScoreCoupling
from surewood.svm.dual import SvmBatch, solve_many
from surewood.svm.gram import Gram, KernelSpec, unit_rows
from surewood.svm.model import SupportVectors, SvmModel
from surewood.svm.one_vs_one import Predictor, first_rows
from surewood.svm.path import DegreePath, solve_path
from surewood.svm.penalty import C_GRID, best_C, held_out_errors
from surewood.svm.plan import POLYNOMIAL, SvmPlan
from surewood.tables import DesignEncoder, Table, TrainingTable

CALIBRATION_FOLDS = 5
_NARROW = 32  # columns up to which forming an inner product is as quick as reading it


@dataclass(frozen=True)
class SvmProblem:
    """A training set as the solver sees it."""

    #: Shape (d,).
    center: Floats
    gram: Gram
    spec: KernelSpec
    #: γ and c₀ where rows are scaled to norm 1 in feature space.
    unit: tuple[float, float] | None
    codes: NDArray[np.int32]
    weight: Floats | None
    #: Rows that are held out together.
    groups: NDArray[np.int64] | None

    def solve(self, plan: SvmPlan, groups: list[NDArray[Any]]) -> SvmBatch:
        """One SVM for each group of rows; C is settled by now."""
        assert plan.C is not None
        return solve_many(
            self.gram,
            groups,
            self.codes,
            [plan.degree],
            [plan.C],
            kernel=self.spec,
            weights=self.weight,
            **plan.solver_options,
        )


def train(plan: SvmPlan, data: TrainingTable) -> SvmModel:
    """Train the SVM on all rows, and five more for its probabilities."""
    encoder = DesignEncoder(scale=plan.scale).fit(data.table, data.weight)
    # Storing inner products pays when wide rows are multiplied many times.
    many_solves = plan.calibration is not None or plan.C is None
    limit = plan.max_memory if many_solves and encoder.n_columns_ > _NARROW else 0
    problem = _posed(plan, encoder, data.table, data.y, data.weight, limit, data.groups)
    C_given = plan.C is not None
    calibration = None
    with stage(plan.verbose, "training the SVM", 2 + int(plan.calibration is not None)) as advance:
        if not C_given:
            plan = replace(plan, C=_chosen_penalty(plan, problem))
        advance(1)
        svms = problem.solve(plan, [np.arange(problem.gram.n_rows)])
        advance(1)
        if plan.calibration is not None:
            calibration = _calibration(plan, problem, data.n_classes)
            advance(1)
    assert data.inverse is not None  # equal rows were merged
    assert plan.C is not None
    rows, predictor = first_rows(data), svms.predictor()
    # An encoder that only passes numbers through has learned nothing from the rows.
    plain_numbers = not (plan.scale or encoder.learned_)
    wrong = svms.predicted(0) != data.y  # group 0 has all rows in their order
    return SvmModel(
        classes=data.classes,
        degree=plan.degree if plan.kernel in POLYNOMIAL else None,
        encoder=encoder,
        center=problem.center,
        unit=problem.unit,
        predictor=predictor,
        calibration=calibration,
        support=_support(svms, predictor, rows, problem.center, data.n_classes, plan.kernel),
        support_origin=rows[predictor.support_index],
        n_iter=svms.pair("iterations", 0).astype(np.int32),
        converged=bool(svms.converged.all()),
        C=plan.C,
        C_given=C_given,
        solver_options=plan.solver_options,
        n_samples=len(wrong),
        errors_of_others=int(np.delete(wrong, svms.support(0)).sum()),
        fixed_design=bool(plain_numbers and (plan.kernel == "linear" or plan.gamma != "scale")),
        unweighted=data.weight is None and not data.weighted,
    )


def train_path(
    plan: SvmPlan,
    data: TrainingTable,
    degrees: ArrayLike,
    Cs: ArrayLike,
    cv: Any,
) -> DegreePath:
    """Every (degree, C) of a grid on one Gram matrix; equal rows were not merged."""
    kept = np.arange(len(data.y)) if data.weight is None else np.flatnonzero(data.weight > 0)
    weight = None if data.weight is None else data.weight[kept]
    table, codes = data.table.take(kept), np.ascontiguousarray(data.y[kept])
    encoder = DesignEncoder(scale=plan.scale).fit(table, weight)
    problem = _posed(plan, encoder, table, codes, weight, plan.max_memory, None)
    splits = [] if cv is None else given_splits(cv, data.y)
    folds = splits_among(splits, kept, len(data.y))
    return solve_path(
        problem.gram,
        codes,
        degrees,
        Cs,
        kernel=problem.spec,
        folds=folds,
        weights=weight,
        **plan.solver_options,
    )


def _posed(
    plan: SvmPlan,
    encoder: DesignEncoder,
    table: Table,
    codes: NDArray[np.int32],
    weight: Floats | None,
    limit: int | None,
    groups: NDArray[np.int64] | None,
) -> SvmProblem:
    """Encode a table and form its inner products, stored where they fit into `limit` bytes."""
    design = encoder.transform(table)
    spec, center = plan.kernel_spec(design, weight), _center(plan.kernel, design, weight)
    design -= center
    unit = None
    if plan.kernel == "normalized_poly":
        unit, spec = (spec.gamma, spec.coef0), KernelSpec("poly", 1.0, 0.0)
        design = unit_rows(design, *unit)
    gram = Gram(design, max_memory=limit, n_jobs=plan.n_jobs)
    return SvmProblem(center, gram, spec, unit, codes, weight, groups)


def _center(kernel: str, design: Floats, weight: Floats | None) -> Floats:
    """The origin, moved into the data where the kernel does not mind: float32 then loses nothing."""
    if kernel in POLYNOMIAL:
        return np.zeros(design.shape[1])
    return np.asarray(np.average(design, axis=0, weights=weight))


def _chosen_penalty(plan: SvmPlan, problem: SvmProblem) -> float:
    """The C of smallest cross-validated error, the smaller one on ties ([D-12])."""
    splits = splits_of(folds_in_order(problem.codes, CALIBRATION_FOLDS, problem.groups))
    if not splits:
        return 1.0
    codes, gram = problem.codes, problem.gram
    weight = np.ones(len(codes)) if problem.weight is None else problem.weight
    folds = [(train, (gram.X[held], codes[held], weight[held])) for train, held in splits]
    options = {"kernel": problem.spec, "weights": problem.weight, "warm_start": True, **plan.solver_options}
    errors = held_out_errors(gram, codes, folds, [plan.degree], C_GRID, **options)
    fractions = errors[:, 0] / [[weight[held].sum()] for _, held in splits]
    # Equal sums may differ in the last bit.
    return float(best_C(fractions.mean(axis=0, keepdims=True).round(12), C_GRID)[0])


def _calibration(plan: SvmPlan, problem: SvmProblem, n_classes: int) -> PairCoupling | ScoreCoupling:
    """Learn probabilities from rows that the scoring SVM did not see."""
    splits = splits_of(folds_in_order(problem.codes, CALIBRATION_FOLDS, problem.groups))
    svms = problem.solve(plan, [train for train, _ in splits])
    held_out: HeldOut = []
    for k, (_, held) in enumerate(splits):
        classes = svms.classes(k)
        rows = held[np.isin(problem.codes[held], classes)]
        held_out.append(HeldOutRows.of_svm(svms.predictor(k), problem.gram.X, rows, classes, plan.n_jobs))
    weight = np.ones(len(problem.codes)) if problem.weight is None else problem.weight
    if plan.calibration in (None, "auto"):
        return PairCoupling.fit(held_out, problem.codes, weight, n_classes)
    return ScoreCoupling.fit(str(plan.calibration), held_out, problem.codes, weight, n_classes)


def _support(
    svms: SvmBatch,
    predictor: Predictor,
    rows: NDArray[Any],
    center: Floats,
    n_classes: int,
    kernel: str,
) -> SupportVectors:
    """Support vectors and coefficients in the layout of `SVC`."""
    classes = svms.classes(0)
    support = rows[svms.support(0)]
    owner = np.repeat(classes, svms.arrays["class_support"])
    order = np.lexsort((support, owner))  # by class, then by training row
    sign = -1.0 if n_classes == 2 else 1.0  # SVC turns the two-class SVM around
    bias = svms.pair("bias", 0)
    if kernel == "linear" and len(classes) > 1:  # in the user's coordinates: the decision at zero
        bias = predictor.decisions(-center[None, :])[0]
    return SupportVectors(
        rows=support[order].astype(np.int32),
        vectors=svms.gram.X[svms.support(0)][order] + (0.0 if kernel in POLYNOMIAL else center),
        per_class=np.bincount(owner, minlength=n_classes).astype(np.int32),
        dual_coef=sign * np.ascontiguousarray(svms.coef(0)[order].T),
        intercept=sign * bias,
        kernel_scale=float(svms.scale.ravel()[0]),
    )
