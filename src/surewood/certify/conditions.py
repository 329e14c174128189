"""What every guarantee from a holdout assumes: what the caller only states first, then what was checked."""

from __future__ import annotations

from surewood.bounds import Condition
from surewood.bounds.condition import CALLER, CHECKED

from .counting import Counted
from .training_rows import TrainingRows

__all__ = ["INDEPENDENT", "UNUSED", "holdout_conditions"]

UNUSED = "these rows were not used for training or tuning"
INDEPENDENT = "rows are independent draws from the population you care about"


def holdout_conditions(counted: Counted, training: TrainingRows) -> list[Condition]:
    """Conditions of a guarantee on these rows, in words."""
    stated = [UNUSED]
    if not training.known:
        stated.insert(0, "no row is a copy of a training row (not checked: give X_train)")
    if counted.grouped:
        stated.append("groups are independent draws, and none of them was in the training rows")
    else:
        stated.append(INDEPENDENT)
    conditions = [Condition(text, True, CALLER) for text in stated]
    if training.known and counted.rule == "exclude":
        conditions.append(Condition("no counted row is a copy of a training row", True, CHECKED))
    return conditions
