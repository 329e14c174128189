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


def suitable(name: str, n_rows: int, n_columns: int, n_classes: int) -> str:
    """Why a member is left out for a table of this size; empty where it is not.

    Examples
    --------
    >>> suitable("composite_forest", 1000, 10, 200)
    '200 classes make too many pairs for SVMs'
    >>> suitable("random_forest", 1000, 10, 200)
    ''
    """
    if name == "composite_forest" and n_classes > MANY_CLASSES:
        return f"{n_classes} classes make too many pairs for SVMs"
    if name == "margin_forest" and n_rows < FEW_ROWS:
        return f"{n_rows} rows are too few for layers"
    if name == "boosted_trees":
        if n_columns > MANY_COLUMNS:
            return f"{n_columns} columns need too many histograms"
        if n_rows < FEW_ROWS:
            return f"{n_rows} rows are too few to stop in time"
        if n_rows * n_columns > MANY_CELLS:
            return f"{n_rows:,} rows of {n_columns} columns take too much memory"
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
class MixturePlan:
    """Everything that training needs to know besides the data."""

    #: Classifiers by name, in the order in which they are fitted.
    members: dict[str, ClassifierBase[Any]]
    #: Members that do not suit the table, and why.
    left_out: dict[str, str]
    #: Method of the one calibration of the mixture; None for none.
    calibration: str | None
    time_limit: TimeLimit
    n_jobs: int | None
    verbose: int


def make_plan(parameters: Mapping[str, Any], data: TrainingTable, seed: int) -> MixturePlan:
    """The plan for a training table, whose equal rows are merged."""
    n_rows, n_columns = data.table.shape
    every, monotone = parameters["members"] == "auto", parameters["monotonic_cst"]
    left_out = {}
    for name in NAMES if every else ():
        reason = suitable(name, n_rows, n_columns, data.n_classes)
        if monotone is not None and name not in MONOTONE_MEMBERS:
            reason = "it cannot keep monotone constraints"
        if reason:
            left_out[name] = f"left out: {reason}"
    asked = [name for name in NAMES if name not in left_out] if every else parameters["members"]
    if monotone is not None and (unable := [name for name in asked if name not in MONOTONE_MEMBERS]):
        raise ValueError(f"members names {unable[0]!r}, which cannot keep monotonic_cst.")
    names = ("class_weight", "categorical_features", "n_jobs", "verbose")
    shared = {name: parameters[name] for name in names} | {"random_state": seed, "remember_rows": False}
    n_trees, leaf = int(parameters["n_estimators"]), float(parameters["min_weight_fraction_leaf"])
    return MixturePlan(
        members={
            name: build(name, n_trees, leaf, shared, n_rows, monotone)
            for name in in_order(n_rows)
            if name in asked
        },
        left_out=left_out,
        calibration=calibration_method(parameters["calibrate"]),
        time_limit=parameters["time_limit"],
        n_jobs=parameters["n_jobs"],
        verbose=int(parameters["verbose"]),
    )
