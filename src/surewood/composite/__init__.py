"""Random composite forests: trees whose leaves hold SVMs of chosen degrees (theory.md §2).

In the order of a fit:

* :mod:`~surewood.composite.estimator`, :mod:`~surewood.composite.model_selection`: the public classes;
* :mod:`~surewood.composite.data`: what a fit reads;
* :mod:`~surewood.composite.plan`: from parameters and data to a plan, with
  :mod:`~surewood.composite.pilot` for what "auto" means;
* :mod:`~surewood.composite.training`: from plan and data to a fitted model, with plain trees beside the
  composite ones and votes on the training rows;
* :mod:`~surewood.composite.trees`: the published algorithm, composite trees of one setting, from trees of
  :mod:`~surewood.composite.growing`, classifiers of :mod:`~surewood.composite.leaves` and degrees of
  :mod:`~surewood.composite.degrees`;
* :mod:`~surewood.composite.grid`: the grid of a search for the price of one fit;
* :mod:`~surewood.composite.model`, :mod:`~surewood.composite.report_facts`: the fitted model, and what pages
  show of it.
"""

# Public in surewood itself.
from surewood.composite.estimator import CompositeTreeClassifier, RandomCompositeForestClassifier  # noqa: F401
from surewood.composite.model_selection import RandomCompositeForestClassifierCV  # noqa: F401

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.composite.data.Reader",
    "surewood.composite.estimator.CompositeTreeClassifier",
    "surewood.composite.estimator.RandomCompositeForestClassifier",
    "surewood.composite.growing.Setting",
    "surewood.composite.leaves.Members",
    "surewood.composite.model.CompositeModel",
    "surewood.composite.model_selection.RandomCompositeForestClassifierCV",
    "surewood.composite.plan.Searched",
    "surewood.composite.trees.CompositeTrees",
    "surewood.composite.trees.LeafTable",
)
