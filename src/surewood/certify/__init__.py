"""What is guaranteed about a fitted model, and whether it is still true (theory.md §6, §11).

issuing        `certify`: a holdout and a model's own evidence become a certificate
claims         `claims=[...]`: the table of what can be claimed on a holdout
from_evidence  what is known without a holdout: a model's structure and training sample
certificate    the entries and the verdict; wording: every sentence about a guarantee
holdout        reading labels, probabilities, groups and times
model_parts    looking into pipelines and searches; whether a model was changed since ([D-37])
thresholds     `find_threshold`: a threshold that meets a requirement (§11.4)
deciding       classifiers with a rule of their own: `CostClassifier`, `ThresholdedClassifier`
prediction_sets  `PredictionSets` (§11.5)
cross_fitted   `CrossFittedClassifier`: a Brier guarantee without a holdout ([D-44])
comparing      `compare_models`: two models on one holdout (§11.7)
monitoring     `Monitor` (§11.6); monitor_state: the file it resumes from

Which rows of a holdout count is decided in `surewood.base.counted_rows` ([D-33]).
"""

from surewood.bounds import Entry, Method, Withheld, rows_needed

from .certificate import Certificate
from .claims import Claim
from .comparing import compare_models
from .cross_fitted import CrossFittedClassifier
from .deciding import CostClassifier, ThresholdedClassifier
from .issuing import certify
from .monitor_state import MonitorStateError
from .monitoring import Look, Monitor
from .prediction_sets import PredictionSets
from .thresholds import NoThresholdError, find_threshold

__all__ = [
    "Certificate",
    "Claim",
    "CostClassifier",
    "CrossFittedClassifier",
    "Entry",
    "Look",
    "Method",
    "Monitor",
    "MonitorStateError",
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
    "surewood.certify.deciding.MetRequirement",
    "surewood.certify.deciding.Coverage",
    "surewood.certify.deciding.ThresholdProof",
    "surewood.certify.deciding.ThresholdedClassifier",
)
