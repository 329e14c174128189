"""What all families share.

* :mod:`~surewood.estimators.base`: the base class of the classifiers;
* :mod:`~surewood.estimators.rules`, :mod:`~surewood.estimators.parameters`: the one validator, with the
  rules and meanings of the parameters that several estimators have;
* :mod:`~surewood.estimators.seeds`, :mod:`~surewood.estimators.folds`: seeds and folds;
* :mod:`~surewood.estimators.remembered`: hashes of the training rows, to recognise copies;
* :mod:`~surewood.estimators.calibration`: probabilities from held-out scores;
* :mod:`~surewood.estimators.subsamples`: bags of forests that are guaranteed without a holdout;
* :mod:`~surewood.estimators.cost`, :mod:`~surewood.estimators.time_limit`: memory and time, before and during
  a fit.
"""

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.estimators.calibration.ScoreCalibrator",
    "surewood.estimators.remembered.RememberedRows",
)
