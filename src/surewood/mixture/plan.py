"""Which classifiers a mixture is made of, in which order, from parameters and the size of a table.

Every member gives held-out probabilities of its training rows (out-of-bag or cross-fitted), so no outer loop
of folds is needed. Rules for tables on which a member cannot pay its cost have a reason each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surewood.base.base import ClassifierBase
from surewood.base.parameters import calibration_method
from surewood.base.time_limit import TimeLimit
from surewood.composite.estimator import RandomCompositeForestClassifier
from surewood.deepforest.estimator import MarginDeepForestClassifier
from surewood.tables import TrainingTable
from surewood.trees.boosted_trees import BoostedTreesClassifier
from surewood.trees.forest_estimator import BinnedForestClassifier

#: In the order of value per second, see `in_order`.
NAMES = ("random_forest", "composite_forest", "boosted_trees", "extra_trees", "margin_forest")
#: Plain forests are cheap: they have this many times the trees of the other members.
PLAIN_FACTOR = 3
#: Boosting, which stops by itself, has this many times as many rounds at most.
ROUNDS_FACTOR = 10
#: One-vs-one SVMs need a pair of classes each: beyond this many classes their number outgrows their use.
MANY_CLASSES = 60
#: Boosting keeps a histogram of every column at every leaf.
MANY_COLUMNS = 1000
#: Boosting needs all rows in memory, a table in a file included, two bytes per cell.
MANY_CELLS = 2_000_000_000
#: Beyond this many rows expensive members have fewer models, see `build`.
LARGE_TABLE = 50_000
LARGE_TABLE_FOLDS = 3
#: Members whose probabilities can keep monotone constraints.
MONOTONE_MEMBERS = ("random_forest", "boosted_trees", "extra_trees")
#: Cross-fitted layers need some rows of every class in every fold.
FEW_ROWS = 60


@dataclass(frozen=True)
class TableSize:
    """What the choice of members depends on."""

    n_rows: int
    n_columns: int
    n_classes: int

    @classmethod
    def of(cls, data: TrainingTable) -> TableSize:
        """The size of a training table whose equal rows are merged."""
        return cls(*data.table.shape, data.n_classes)


def in_order(n_rows: int) -> list[str]:
    """Members in the order of value per second: what a time limit leaves out is left out from the end.

    Boosting goes through all rows in every round at the same low cost per row, while the SVMs of a composite
    tree are limited to a part of a large table: there boosting comes first.

    Examples
    --------
    >>> in_order(1000)[1], in_order(1_000_000)[1]
    ('composite_forest', 'boosted_trees')
    """
    if n_rows <= LARGE_TABLE:
        return list(NAMES)
    names = [name for name in NAMES if name != "boosted_trees"]
    return [names[0], "boosted_trees", *names[1:]]


def suitable(name: str, size: TableSize) -> str:
    """Why a member is left out for a table of this size; empty where it is not.

    Examples
    --------
    >>> suitable("composite_forest", TableSize(1000, 10, 200))
    '200 classes make too many pairs for SVMs'
    >>> suitable("random_forest", TableSize(1000, 10, 200))
    ''
    """
    if name == "composite_forest" and size.n_classes > MANY_CLASSES:
        return f"{size.n_classes} classes make too many pairs for SVMs"
    if name == "margin_forest" and size.n_rows < FEW_ROWS:
        return f"{size.n_rows} rows are too few for layers"
    if name == "boosted_trees":
        return _unsuitable_for_boosting(size)
    return ""


def _unsuitable_for_boosting(size: TableSize) -> str:
    if size.n_columns > MANY_COLUMNS:
        return f"{size.n_columns} columns need too many histograms"
    if size.n_rows < FEW_ROWS:
        return f"{size.n_rows} rows are too few to stop in time"
    if size.n_rows * size.n_columns > MANY_CELLS:
        return f"{size.n_rows:,} rows of {size.n_columns} columns take too much memory"
    return ""


def build(
    name: str, n_estimators: int, leaf: float, shared: dict[str, Any], n_rows: int = 0, monotone: Any = None
) -> ClassifierBase[Any]:
    """A member with the parameters that all members share; `leaf` is the least weight of a leaf.

    On large tables the composite forest has one plain tree per composite tree (the random forest has enough
    of them), and the layers of the margin forest have three folds: held-out rows are many anyway.
    """
    large = n_rows > LARGE_TABLE
    if name == "composite_forest":
        study: dict[str, Any] = {"min_weight_fraction_leaf": leaf} if leaf else {}
        study |= {"n_plain_trees": n_estimators} if large else {}
        return RandomCompositeForestClassifier(n_estimators, study=study or None, **shared)
    if name == "margin_forest":
        folds: dict[str, Any] = {"cv": LARGE_TABLE_FOLDS} if large else {}
        return MarginDeepForestClassifier(n_estimators, min_weight_fraction_leaf=leaf, **folds, **shared)
    shared = {**shared, "monotonic_cst": monotone}
    if name == "boosted_trees":
        return BoostedTreesClassifier(
            ROUNDS_FACTOR * n_estimators, calibrate=True, min_weight_fraction_leaf=leaf, **shared
        )
    splitter = "best" if name == "random_forest" else "random"
    return BinnedForestClassifier(
        PLAIN_FACTOR * n_estimators,
        splitter=splitter,
        calibrate=True,
        min_weight_fraction_leaf=leaf,
        **shared,
    )


@dataclass(frozen=True)
class MemberPlan:
    """A member to be fitted."""

    name: str
    estimator: ClassifierBase[Any]


@dataclass(frozen=True)
class MixturePlan:
    """Everything that training needs to know besides the data."""

    #: In the order in which they are fitted.
    members: tuple[MemberPlan, ...]
    #: Members that do not suit the table, and why.
    left_out: dict[str, str]
    #: Method of the one calibration of the mixture; None for none.
    calibration: str | None
    time_limit: TimeLimit
    n_jobs: int | None
    verbose: int


def make_plan(parameters: Mapping[str, Any], data: TableSize, seed: int) -> MixturePlan:
    """The plan for a table.

    Examples
    --------
    >>> from surewood import SurewoodClassifier
    >>> from surewood.base.parameters import checked_parameters
    >>> plan = make_plan(checked_parameters(SurewoodClassifier()), TableSize(500, 5, 2), seed=0)
    >>> [member.name for member in plan.members]
    ['random_forest', 'composite_forest', 'boosted_trees', 'extra_trees', 'margin_forest']
    """
    asked = NAMES if parameters["members"] == "auto" else tuple(parameters["members"])
    wanted = [name for name in in_order(data.n_rows) if name in asked]
    left_out = {}
    monotone = parameters["monotonic_cst"]
    unable = [name for name in wanted if monotone is not None and name not in MONOTONE_MEMBERS]
    if parameters["members"] != "auto" and unable:
        raise ValueError(f"members names {unable[0]!r}, which cannot keep monotonic_cst.")
    if parameters["members"] == "auto":
        reasons = {name: suitable(name, data) for name in wanted}
        reasons |= dict.fromkeys(unable, "it cannot keep monotone constraints")
        left_out = {name: f"left out: {reason}" for name, reason in reasons.items() if reason}
    names = ("class_weight", "categorical_features", "n_jobs", "verbose")
    shared = {name: parameters[name] for name in names} | {"random_state": seed, "remember_rows": False}
    n_trees, leaf = int(parameters["n_estimators"]), float(parameters["min_weight_fraction_leaf"])
    return MixturePlan(
        members=tuple(
            MemberPlan(name, build(name, n_trees, leaf, shared, data.n_rows, monotone))
            for name in wanted
            if name not in left_out
        ),
        left_out=left_out,
        calibration=calibration_method(parameters["calibrate"]),
        time_limit=parameters["time_limit"],
        n_jobs=parameters["n_jobs"],
        verbose=int(parameters["verbose"]),
    )
