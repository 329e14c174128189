"""Random composite forests: trees whose leaves hold SVMs of chosen degrees (theory.md §2).

* :mod:`~surewood.composite.estimator`, :mod:`~surewood.composite.model_selection`,
  :mod:`~surewood.composite.base`: the public classes and what they share;
* :mod:`~surewood.composite.parameters`, :mod:`~surewood.composite.plan`: from parameters and data to a plan,
  with :mod:`~surewood.composite.pilot`, :mod:`~surewood.composite.tuning` and
  :mod:`~surewood.composite.depths` for what "auto" means;
* :mod:`~surewood.composite.training`: from plan and data to a fitted model, with
  :mod:`~surewood.composite.tree_fitting` for the trees of one :mod:`~surewood.composite.setting` and
  :mod:`~surewood.composite.out_of_bag` for held-out votes;
* :mod:`~surewood.composite.model`: the fitted model, with :mod:`~surewood.composite.trees`,
  :mod:`~surewood.composite.votes`, :mod:`~surewood.composite.ledgers`, :mod:`~surewood.composite.evidence`;
* :mod:`~surewood.composite.data`, :mod:`~surewood.composite.growing`, :mod:`~surewood.composite.leaves`,
  :mod:`~surewood.composite.leaf_svms`: the sample, grown trees, the leaves of all trees, one SVM per
  (row set, degree);
* :mod:`~surewood.composite.selection`, :mod:`~surewood.composite.leaf_choice`: degrees from counts;
* :mod:`~surewood.composite.splits`, :mod:`~surewood.composite.search`, :mod:`~surewood.composite.grid`: the
  grid for the price of one fit.
"""

from surewood.composite.estimator import CompositeTreeClassifier, RandomCompositeForestClassifier
from surewood.composite.model_selection import RandomCompositeForestClassifierCV

__all__ = ["CompositeTreeClassifier", "RandomCompositeForestClassifier", "RandomCompositeForestClassifierCV"]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.composite.data.Reader",
    "surewood.composite.estimator.CompositeTreeClassifier",
    "surewood.composite.estimator.RandomCompositeForestClassifier",
    "surewood.composite.evidence.SampleFacts",
    "surewood.composite.model.CompositeModel",
    "surewood.composite.model.HeldOutError",
    "surewood.composite.model_selection.RandomCompositeForestClassifierCV",
    "surewood.composite.plan.Searched",
    "surewood.composite.setting.Setting",
    "surewood.composite.trees.CompositeTrees",
    "surewood.composite.trees.LeafTable",
    "surewood.composite.votes.LeafReliability",
)
