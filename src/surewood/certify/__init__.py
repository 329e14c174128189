"""What is guaranteed about a fitted model (theory.md §6, §11).

issuing        `certify`
holdout        reading a holdout: predictions, baseline, claims
counting       which rows count and what counts as one ([D-33])
training_rows  what is known about the training rows ([D-34])
fitted_state   whether a model was changed or fitted again since ([D-37])
columns        columns of a user's table
claims         `claims=[...]`: error, rates per class, cost, Brier score, groups
thresholds     `find_threshold`: a threshold that meets a requirement (§11.4)
requirements   what it may be asked to keep; prior_scores: what may be looked at before the holdout
prediction_sets  `PredictionSets` (§11.5); set_scores: how labels suit rows; set_coverage: sets measured
cross_fitted   `CrossFittedClassifier`: a Brier guarantee without a holdout ([D-44])
comparing      `compare_models`: two models on one holdout (§11.7)
deciding       classifiers with a rule of their own: `CostClassifier`; thresholded: `ThresholdedClassifier`
from_evidence  what a model's own structure and training sample allow
reading        guarantees waiting for their part of delta
certificate    the entries, the verdict, and their forms
rendering      text and HTML
"""

from surewood.bounds import Entry, Method, Withheld, rows_needed

from .certificate import Certificate
from .claims import Claim
from .comparing import compare_models
from .cross_fitted import CrossFittedClassifier
from .deciding import CostClassifier
from .issuing import certify
from .prediction_sets import PredictionSets
from .thresholded import ThresholdedClassifier
from .thresholds import NoThresholdError, find_threshold

__all__ = [
    "Certificate",
    "Claim",
    "CostClassifier",
    "CrossFittedClassifier",
    "Entry",
    "Method",
    "NoThresholdError",
    "PredictionSets",
    "ThresholdedClassifier",
    "Withheld",
    "certify",
    "compare_models",
    "find_threshold",
    "rows_needed",
]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.certify.cross_fitted.CrossFittedClassifier",
    "surewood.certify.deciding.CostClassifier",
    "surewood.certify.prediction_sets.PredictionSets",
    "surewood.certify.requirements.MetRequirement",
    "surewood.certify.thresholded.Coverage",
    "surewood.certify.thresholded.ThresholdProof",
    "surewood.certify.thresholded.ThresholdedClassifier",
)
