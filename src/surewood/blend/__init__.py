"""All families together: :class:`SurewoodClassifier` (theory.md §12).

* :mod:`~surewood.blend.members`: the classifiers that are combined, and which of them suit a table;
* :mod:`~surewood.blend.weights`: weights of a mixture from held-out probabilities;
* :mod:`~surewood.blend.plan`, :mod:`~surewood.blend.training`, :mod:`~surewood.blend.model`: the skeleton;
* :mod:`~surewood.blend.estimator`: the public class.
"""

from surewood.blend.estimator import SurewoodClassifier

__all__ = ["SurewoodClassifier"]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.blend.estimator.SurewoodClassifier",
    "surewood.blend.model.BlendMember",
    "surewood.blend.model.BlendModel",
    "surewood.blend.model.MemberRecord",
)
