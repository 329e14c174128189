"""From parameters and the size of a table to one frozen plan: which members, in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surewood.blend.members import NAMES, TableSize, build, in_order, suitable
from surewood.estimators.base import ClassifierBase
from surewood.estimators.parameters import calibration_method, memory_bytes


@dataclass(frozen=True)
class MemberPlan:
    """A member to be fitted."""

    name: str
    estimator: ClassifierBase


@dataclass(frozen=True)
class BlendPlan:
    """Everything that training needs to know besides the data."""

    #: In the order in which they are fitted.
    members: tuple[MemberPlan, ...]
    #: Members that do not suit the table, and why.
    left_out: dict[str, str]
    #: Method of the one calibration of the mixture; None for none.
    calibration: str | None
    #: Seconds and bytes that the fit may take.
    time_limit: float | None
    max_memory: float | None
    n_jobs: int | None
    verbose: int


def make_plan(parameters: dict[str, Any], size: TableSize, seed: int) -> BlendPlan:
    """The plan for a table.

    Examples
    --------
    >>> from surewood import SurewoodClassifier
    >>> plan = make_plan(SurewoodClassifier().get_params(), TableSize(500, 5, 2), seed=0)
    >>> [member.name for member in plan.members]
    ['random forest', 'composite forest', 'boosted trees', 'extra-trees', 'margin forest']
    """
    asked = NAMES if parameters["members"] == "auto" else tuple(parameters["members"])
    wanted = [name for name in in_order(size.n_rows) if name in asked]
    left_out = {}
    if parameters["members"] == "auto":
        left_out = {name: reason for name in wanted if (reason := suitable(name, size))}
    names = ("class_weight", "categorical_features", "n_jobs", "verbose")
    shared = {name: parameters[name] for name in names} | {"random_state": seed, "remember_rows": False}
    n_trees, leaf = int(parameters["n_estimators"]), float(parameters["min_weight_fraction_leaf"])
    return BlendPlan(
        members=tuple(
            MemberPlan(name, build(name, n_trees, leaf, shared, size.n_rows))
            for name in wanted
            if name not in left_out
        ),
        left_out=left_out,
        calibration=calibration_method(parameters["calibrate"]),
        time_limit=parameters["time_limit"],
        max_memory=memory_bytes(parameters["max_memory"]),
        n_jobs=parameters["n_jobs"],
        verbose=int(parameters["verbose"]),
    )
