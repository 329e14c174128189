"""Memory of an SVM before it is trained."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.estimators.cost import OBJECT_BYTES, CostEstimate
from surewood.polysvc.held_out import BLOCK_BYTES, decision_bytes
from surewood.polysvc.plan import C_GRID, SvmPlan
from surewood.svm.cost import SvmGroups, gram_limit, kernel_memory
from surewood.svm.gram import KernelSpec
from surewood.svm.support_probe import expected_support
from surewood.tables import DesignEncoder, FitInputs

CALIBRATION_FOLDS = 5
_NARROW = 32  # columns up to which forming an inner product is as quick as reading it
_CONTEST_BYTES = (33.0, 81.0)  # of a row against another class: kept, and while curves are fitted
_BLOCKS = 4.0  # of decisions that are there together while they become probabilities


def stored_limit(plan: SvmPlan, width: int) -> int:
    """Bytes for inner products: storing them pays when wide rows are multiplied many times."""
    many = plan.calibration is not None or plan.C is None
    return gram_limit(plan.max_memory) if many and width > _NARROW else 0


def estimate_cost(
    plan: SvmPlan, inputs: FitInputs, width: int, seconds: tuple[float, float] = (0.0, 0.0)
) -> CostEstimate:
    """Memory, part by part, of a fit whose design has `width` columns; `seconds` were measured elsewhere."""
    n_rows, limit = inputs.table.n_rows, stored_limit(plan, width)
    parts, notes = kernel_memory(n_rows, inputs.table.n_columns, width, limit=limit)
    support = support_fraction(plan, inputs)
    main = _groups(plan, inputs, width, 1.0, support, plan.C is None)
    folds = _groups(plan, inputs, width, CALIBRATION_FOLDS - 1.0, support, False)
    calling = [main.scratch(plan.n_jobs)]
    parts["SVMs"] = main.results()
    if plan.calibration is not None:
        calling.append(folds.scratch(plan.n_jobs))
        parts["SVMs"] += folds.results()
        parts["held-out decisions"] = _held_out_bytes(n_rows, inputs.n_classes)
    parts["kernel rows"] = max(calling)
    parts["objects"] = OBJECT_BYTES
    return CostEstimate.of(parts, seconds, *(notes if limit else ()))


def _groups(
    plan: SvmPlan, inputs: FitInputs, width: int, folds: float, support: float, search: bool
) -> SvmGroups:
    """The SVM on all rows (`folds` of 1), or those of the calibration; a search trains one per C and fold."""
    n_rows, per_group = inputs.table.n_rows, len(C_GRID) if search else 1
    counts = np.sort(np.bincount(inputs.y, minlength=2))[::-1]
    part = 1.0 if folds == 1.0 else folds / CALIBRATION_FOLDS
    n_groups = CALIBRATION_FOLDS if folds > 1.0 else 1 + CALIBRATION_FOLDS * search
    return SvmGroups(
        largest=part * n_rows,
        points=n_rows * (folds + (CALIBRATION_FOLDS - 1.0) * search),
        n_groups=n_groups,
        n_classes=inputs.n_classes,
        pair=part * float(counts[:2].sum()),
        width=width,
        per_group=per_group,
        support=support,
        cache_bytes=plan.cache_bytes,
    )


def _held_out_bytes(n_rows: int, n_classes: int) -> float:
    """Decisions at held-out rows and what is learned from them, see :mod:`surewood.polysvc.held_out`."""
    decisions = decision_bytes(n_rows, n_classes)
    block = min(decisions / CALIBRATION_FOLDS, BLOCK_BYTES)
    kept = decisions if decisions / CALIBRATION_FOLDS <= BLOCK_BYTES else 0.0
    contests = n_rows * max(n_classes - 1.0, 1.0)
    held, fitting = (size * contests for size in _CONTEST_BYTES)
    return kept + max(fitting, held + _BLOCKS * block + 4.0 * 8.0 * n_rows * n_classes)


def support_fraction(plan: SvmPlan, inputs: FitInputs) -> float:
    """Fraction of the rows that will be support vectors; with the smallest C of a search nearly all are."""
    if plan.C is None or inputs.n_classes < 2:
        return 1.0

    def design(rows: NDArray[np.int64]) -> Floats:
        part = inputs.table.take(rows)
        return DesignEncoder(scale=plan.scale).fit(part).transform(part)

    def kernel(design: Floats) -> KernelSpec:
        return plan.kernel_spec(design, None)

    return expected_support(design, inputs.y, kernel, plan.degree, plan.C, **plan.solver_options)
