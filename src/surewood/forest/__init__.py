"""The forest engine as an estimator: random forests, extra-trees and completely random forests on bins."""

from surewood.forest.estimator import BinnedForestClassifier

__all__ = ["BinnedForestClassifier"]
