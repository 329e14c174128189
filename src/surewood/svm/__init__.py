"""Kernel SVMs by the thousand from one matrix of inner products, and `PolySVC`.

The engine (docs/internals/svm-engine.md): :mod:`~surewood.svm.gram` (inner products),
:mod:`~surewood.svm.dual` (solving), :mod:`~surewood.svm.one_vs_one` (predicting),
:mod:`~surewood.svm.penalty` (choosing C),
:mod:`~surewood.svm.path` (grids of degrees and C).
The estimator: :mod:`~surewood.svm.estimator`, ``plan``, ``training``, ``model``, and
:mod:`~surewood.svm.coupling` for its probabilities.
"""

from surewood.svm.estimator import PolySVC  # noqa: F401 (public in surewood itself)

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.svm.coupling.PairCoupling",
    "surewood.svm.coupling.ScoreCoupling",
    "surewood.svm.estimator.PolySVC",
    "surewood.svm.gram.KernelSpec",
    "surewood.svm.model.SupportVectors",
    "surewood.svm.model.SvmModel",
    "surewood.svm.one_vs_one.Predictor",
)
