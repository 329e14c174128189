"""The tree engine, and the estimators that are forests of its trees.

The engine: :mod:`~surewood.trees.binning` (columns to at most 255 bins, whole-number weights),
:mod:`~surewood.trees.sketch` (quantiles of columns larger than memory), :mod:`~surewood.trees.growing` (bags
and trees), :mod:`~surewood.trees.flat_tree` (grown trees as arrays, prediction, paths) with the bits of their
nodes in :mod:`~surewood.trees.node_codec`, :mod:`~surewood.trees.tracing` (rows on their way through trees)
and :mod:`~surewood.trees.tree_shapley` (exact contributions of columns).

`BinnedForestClassifier`: ``forest_estimator``, ``forest_plan``, ``forest_training``, ``forest_model``.
`BoostedTreesClassifier`: ``boosted_trees``, ``boosting`` (rounds of trees), ``boosted_model``.
"""

# Public in surewood itself.
from surewood.trees.boosted_trees import BoostedTreesClassifier  # noqa: F401
from surewood.trees.forest_estimator import BinnedForestClassifier  # noqa: F401

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.trees.binning.BinMapper",
    "surewood.trees.boosted_model.BoostedModel",
    "surewood.trees.boosted_trees.BoostedTreesClassifier",
    "surewood.trees.flat_tree.FlatForest",
    "surewood.trees.forest_estimator.BinnedForestClassifier",
    "surewood.trees.forest_model.ForestModel",
)
