"""The classifiers that a mixture is made of, cheapest first, and which of them suit a table.

Every member gives held-out probabilities of its training rows (out-of-bag or cross-fitted), so no outer loop
of folds is needed. Rules for tables on which a member cannot pay its cost have a reason each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surewood.boosting import BoostedTreesClassifier
from surewood.composite import RandomCompositeForestClassifier
from surewood.deepforest import MarginDeepForestClassifier
from surewood.estimators.base import ClassifierBase
from surewood.forest import BinnedForestClassifier

#: In the order of value per second, see `in_order`.
NAMES = ("random forest", "composite forest", "boosted trees", "extra-trees", "margin forest")
#: Members that stop at a time limit and use what is there.
LIMITED = ("composite forest", "margin forest")
#: Members that have fewer rounds where their time is short.
SHORTENED = ("boosted trees",)
#: Plain forests are cheap: they have this many times the trees of the other members. Boosting, which stops by
#: itself, has as many rounds at most.
PLAIN_FACTOR = 3
#: One-vs-one SVMs need a pair of classes each: beyond this many classes their number outgrows their use.
MANY_CLASSES = 60
#: A round of boosting grows a tree for every class: beyond this many it takes longer than all the others.
MANY_BOOSTED_CLASSES = 6
#: Boosting keeps a histogram of every column at every leaf.
MANY_COLUMNS = 1000
#: Boosting needs all rows in memory, a table in a file included, 18 bytes per cell and model.
MANY_CELLS = 200_000_000
#: Beyond this many rows expensive members have fewer models, see `build`.
LARGE_TABLE = 50_000
LARGE_TABLE_FOLDS = 3
#: Cross-fitted layers need some rows of every class in every fold.
FEW_ROWS = 60


@dataclass(frozen=True)
class TableSize:
    """What the choice of members depends on."""

    n_rows: int
    n_columns: int
    n_classes: int


def in_order(n_rows: int) -> list[str]:
    """Members in the order of value per second: what a time limit leaves out is left out from the end.

    Boosting goes through all rows in every round at the same low cost per row, while the SVMs of a composite
    tree are limited to a part of a large table: there boosting comes first.

    Examples
    --------
    >>> in_order(1000)[1], in_order(1_000_000)[1]
    ('composite forest', 'boosted trees')
    """
    if n_rows <= LARGE_TABLE:
        return list(NAMES)
    names = [name for name in NAMES if name != "boosted trees"]
    return [names[0], "boosted trees", *names[1:]]


def suitable(name: str, size: TableSize) -> str:
    """Why a member is left out for a table of this size; empty where it is not.

    Examples
    --------
    >>> suitable("composite forest", TableSize(1000, 10, 200))
    '200 classes make too many pairs for SVMs'
    >>> suitable("random forest", TableSize(1000, 10, 200))
    ''
    """
    if name == "composite forest" and size.n_classes > MANY_CLASSES:
        return f"{size.n_classes} classes make too many pairs for SVMs"
    if name == "margin forest" and size.n_rows < FEW_ROWS:
        return f"{size.n_rows} rows are too few for layers"
    if name == "boosted trees":
        return _unsuitable_for_boosting(size)
    return ""


def _unsuitable_for_boosting(size: TableSize) -> str:
    if size.n_classes > MANY_BOOSTED_CLASSES:
        return f"{size.n_classes} classes need as many trees in every round"
    if size.n_columns > MANY_COLUMNS:
        return f"{size.n_columns} columns need too many histograms"
    if size.n_rows < FEW_ROWS:
        return f"{size.n_rows} rows are too few to stop in time"
    if size.n_rows * size.n_columns > MANY_CELLS:
        return f"{size.n_rows:,} rows of {size.n_columns} columns take too much memory"
    return ""


def build(
    name: str, n_estimators: int, leaf: float, shared: dict[str, Any], n_rows: int = 0
) -> ClassifierBase:
    """A member with the parameters that all members share; `leaf` is the least weight of a leaf.

    On large tables the composite forest has one plain tree per composite tree (the random forest has enough
    of them), and the layers of the margin forest have three folds: held-out rows are many anyway.
    """
    large = n_rows > LARGE_TABLE
    if name == "composite forest":
        study = {"min_weight_fraction_leaf": leaf} if leaf else {}
        study |= {"n_plain_trees": n_estimators} if large else {}
        return RandomCompositeForestClassifier(n_estimators, study=study or None, **shared)
    if name == "margin forest":
        folds: dict[str, Any] = {"cv": LARGE_TABLE_FOLDS} if large else {}
        return MarginDeepForestClassifier(n_estimators, min_weight_fraction_leaf=leaf, **folds, **shared)
    if name == "boosted trees":  # stopped by log-loss: calibration adds noise only
        return BoostedTreesClassifier(
            PLAIN_FACTOR * n_estimators, calibrate=False, min_weight_fraction_leaf=leaf, **shared
        )
    splitter = "best" if name == "random forest" else "random"
    return BinnedForestClassifier(
        PLAIN_FACTOR * n_estimators,
        splitter=splitter,
        calibrate=True,
        min_weight_fraction_leaf=leaf,
        **shared,
    )
