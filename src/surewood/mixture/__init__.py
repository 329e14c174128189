"""One classifier to start with: all families in one weighted, calibrated mixture.

* :mod:`~surewood.mixture.plan`: the classifiers that are combined, and which of them suit a table;
* :mod:`~surewood.mixture.weights`: weights of a mixture from held-out probabilities, and its calibration;
* :mod:`~surewood.mixture.training`, :mod:`~surewood.mixture.model`, :mod:`~surewood.mixture.estimator`: the
  skeleton of every family.
"""

from surewood.mixture.estimator import SurewoodClassifier  # noqa: F401 (public in surewood itself)

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.mixture.estimator.SurewoodClassifier",
    "surewood.mixture.model.MixtureMember",
    "surewood.mixture.model.MixtureModel",
    "surewood.mixture.model.MemberRecord",
)
