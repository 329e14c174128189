"""Checks of a composite forest that was read from a file: every number that a prediction follows.

Splits and SVMs check themselves; here it is what connects them. Each function raises ValueError with one
sentence.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from surewood._arrays import check_number, check_values

if TYPE_CHECKING:
    from surewood.composite.trees import CompositeTrees, LeafTable

__all__ = ["check_leaves", "check_trees"]

_REAL = ("C", "correct", "total")
_MOST_CLASSES = 65535


def check_leaves(leaves: LeafTable) -> None:
    """Refuse columns of different lengths or types."""
    n_leaves = len(leaves.tree) if isinstance(leaves.tree, np.ndarray) and leaves.tree.ndim == 1 else 0
    for field in fields(leaves):
        kinds = "f" if field.name in _REAL else "b" if field.name == "converged" else "iu"
        check_values(field.name, getattr(leaves, field.name), kinds, (n_leaves,))


def check_trees(trees: CompositeTrees) -> None:
    """Refuse leaves, SVMs and classes that do not belong together."""
    check_number("n_classes", trees.n_classes, 1, _MOST_CLASSES, whole=True)
    check_number("plain_weight", trees.plain_weight, 0.0, 1.0)
    leaves, forest, n_classes = trees.leaves, trees.forest, trees.n_classes
    n_svms = 0 if trees.predictor is None else trees.predictor.n_svms
    # First trees of a larger forest share the arrays of all trees.
    if len(trees.leaf_of_node) < int(forest.node_start[-1]):
        raise ValueError("leaf_of_node must have an entry for every node.")
    check_values("leaf_of_node", trees.leaf_of_node, "i", (None,), -1, len(leaves) - 1)
    check_values("svm", leaves.svm, "i", (len(leaves),), -1, n_svms - 1)
    check_values("constant", leaves.constant, "i", (len(leaves),), -1, n_classes - 1)
    if ((leaves.svm >= 0) == (leaves.constant >= 0)).any():
        raise ValueError("a leaf must have either an SVM or a constant.")
    if n_svms and trees.predictor is not None and trees.predictor.classes.max(initial=0) >= n_classes:
        raise ValueError("an SVM knows a class that the forest does not have.")
    for other in (forest, trees.plain):
        if other is not None and (other.n_features, other.n_classes) != (forest.n_features, n_classes):
            raise ValueError("trees must have the same features and classes.")
    if trees.reliability is not None:
        check_values("accuracy", trees.reliability.accuracy, "f", (len(leaves),), 0.0, 1.0)
        check_values("error_classes", trees.reliability.error_classes, "f", (n_classes, n_classes), 0.0)
