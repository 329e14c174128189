"""Boosted trees as an estimator: grown by scikit-learn's histogram boosting on our bins, kept as our arrays.

* :mod:`~surewood.boosting.plan`, :mod:`~surewood.boosting.training`, :mod:`~surewood.boosting.model`: the
  skeleton; a model is the mean of a few boosted models, each trained without one fold;
* :mod:`~surewood.boosting.growing`: one boosted model of some rows;
* :mod:`~surewood.boosting.converting`: its trees as a :class:`~surewood.trees.flat_tree.FlatForest`.
"""

from surewood.boosting.estimator import BoostedTreesClassifier

__all__ = ["BoostedTreesClassifier"]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.boosting.estimator.BoostedTreesClassifier",
    "surewood.boosting.model.BoostedModel",
)
