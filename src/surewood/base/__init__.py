"""What all families share.

* :mod:`~surewood.base.base`: the base class of the classifiers;
* :mod:`~surewood.base.family`: the roles that every family fills;
* :mod:`~surewood.base.rules`, :mod:`~surewood.base.parameters`: the one validator, with the rules and
  meanings of the parameters that several estimators have;
* :mod:`~surewood.base.folds`: seeds and folds;
* :mod:`~surewood.base.subsamples`: bags of forests that earn a guarantee on all rows;
* :mod:`~surewood.base.remembered`: hashes of the training rows, and signs that a table was copied;
* :mod:`~surewood.base.counted_rows`: which rows of a holdout count;
* :mod:`~surewood.base.copies`: predictions for rows that occur more than once;
* :mod:`~surewood.base.calibration`: probabilities from held-out scores;
* :mod:`~surewood.base.contributions`: how much each column adds to a prediction, with
  :mod:`~surewood.base.sampled_values`: Shapley values from random orders of the columns;
* :mod:`~surewood.base.describing`, :mod:`~surewood.base.wording`, :mod:`~surewood.base.notebook`: how models
  describe and explain themselves;
* :mod:`~surewood.base.time_limit`: how long a fit may take.
"""

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.base.calibration.ScoreCalibrator",
    "surewood.base.remembered.RememberedRows",
)
