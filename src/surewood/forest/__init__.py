"""The forest engine as an estimator: random forests, extra-trees and completely random forests on bins."""

from surewood.forest.estimator import BinnedForestClassifier

__all__ = ["BinnedForestClassifier"]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.forest.estimator.BinnedForestClassifier",
    "surewood.forest.model.ForestModel",
    "surewood.forest.model.OutOfBag",
)
