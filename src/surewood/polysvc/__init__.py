"""The SVM engine as an estimator: `PolySVC`, and whole grids of degrees and C in one call."""

from surewood.polysvc.estimator import PolySVC

__all__ = ["PolySVC"]
