"""The SVM engine as an estimator: `PolySVC`, and whole grids of degrees and C in one call."""

from surewood.polysvc.estimator import PolySVC

__all__ = ["PolySVC"]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.polysvc.coupling.PairCoupling",
    "surewood.polysvc.estimator.PolySVC",
    "surewood.polysvc.model.SupportVectors",
    "surewood.polysvc.model.SvmModel",
    "surewood.polysvc.score_calibration.ScoreCoupling",
)
