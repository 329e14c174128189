"""Random composite forests: trees whose leaves hold machines of chosen degrees (theory.md §2).

* :mod:`~surewood.composite.data`, :mod:`~surewood.composite.leaves`, :mod:`~surewood.composite.machines`: the
  sample, the leaves of all trees, and one machine a (row set, degree);
* :mod:`~surewood.composite.selection`: degrees from counts;
* :mod:`~surewood.composite.fitting`, :mod:`~surewood.composite.model`: one setting fitted, and what it
  predicts;
* :mod:`~surewood.composite.rules`, :mod:`~surewood.composite.portfolio`,
  :mod:`~surewood.composite.tuning`: what "auto" means;
* :mod:`~surewood.composite.ensemble`, :mod:`~surewood.composite.accounting`: the whole forest and its books;
* :mod:`~surewood.composite.tree`, :mod:`~surewood.composite.forest`: the estimators.
"""

from surewood.composite.forest import RandomCompositeForestClassifier
from surewood.composite.model_selection import RandomCompositeForestClassifierCV
from surewood.composite.tree import CompositeTreeClassifier

__all__ = ["CompositeTreeClassifier", "RandomCompositeForestClassifier", "RandomCompositeForestClassifierCV"]
