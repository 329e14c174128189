"""What a fit will take before it starts: the sum of its members' times, the largest of their memories."""

from __future__ import annotations

from typing import Any

from surewood.blend.plan import BlendPlan
from surewood.estimators.cost import CostEstimate


def estimate_cost(plan: BlendPlan, X: Any, y: Any, sample_weight: Any) -> CostEstimate:
    """Memory and time of a fit (ESTIMATE)."""
    costs = [(one.name, one.estimator.estimate_cost(X, y, sample_weight)) for one in plan.members]
    low, high = (sum(cost.seconds[k] for _, cost in costs) for k in (0, 1))
    if plan.time_limit is not None:
        low, high = min(low, plan.time_limit), min(high, 1.5 * plan.time_limit)
    largest = max(costs, key=lambda one: one[1].memory_bytes)
    notes = tuple(f"{name}: {reason}" for name, reason in plan.left_out.items())
    return CostEstimate.of({largest[0]: float(largest[1].memory_bytes)}, (low, high), *notes)
