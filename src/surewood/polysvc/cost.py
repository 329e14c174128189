"""Memory of an SVM before it is trained."""

from __future__ import annotations

from surewood.estimators.cost import CostEstimate
from surewood.polysvc.plan import SvmPlan
from surewood.svm.cost import gram_limit, kernel_memory
from surewood.tables import FitInputs

CALIBRATION_FOLDS = 5
_NARROW = 32  # columns up to which forming an inner product is as quick as reading it


def stored_limit(plan: SvmPlan, width: int) -> int:
    """Bytes for inner products: storing them pays when wide rows are multiplied many times."""
    many = plan.calibration is not None or plan.C is None
    return gram_limit(plan.max_memory) if many and width > _NARROW else 0


def estimate_cost(
    plan: SvmPlan, inputs: FitInputs, width: int, seconds: tuple[float, float] = (0.0, 0.0)
) -> CostEstimate:
    """Memory, part by part, of a fit whose design has `width` columns; `seconds` were measured elsewhere."""
    n_rows, n_classes = inputs.table.n_rows, inputs.n_classes
    limit = stored_limit(plan, width)
    parts, notes = kernel_memory(
        n_rows, inputs.table.n_columns, width, limit=limit, cache_bytes=plan.cache_bytes, n_jobs=plan.n_jobs
    )
    folds = 0 if plan.calibration is None else CALIBRATION_FOLDS
    parts["SVMs"] = (1 + folds) * n_rows * (8.0 * max(n_classes - 1, 1) + 12.0)
    parts["SVMs"] += folds * n_rows / 5 * 8.0 * max(n_classes * (n_classes - 1) // 2, 1)
    return CostEstimate.of(parts, seconds, *(notes if limit else ()))
