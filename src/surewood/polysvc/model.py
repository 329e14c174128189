"""The fitted SVM: encoder, support vectors, calibration and what a certificate may use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.bounds import EstimateEvidence, Evidence
from surewood.estimators.calibration import lift
from surewood.polysvc.compression import compression_evidence, rebuilt_alike
from surewood.polysvc.coupling import PairCoupling
from surewood.polysvc.score_calibration import ScoreCoupling
from surewood.svm.class_scores import class_scores
from surewood.svm.one_vs_one import Predictor
from surewood.tables import DesignEncoder, Table


@dataclass(frozen=True)
class SupportVectors:
    """The support vectors and coefficients in the layout and with the signs of scikit-learn's `SVC`."""

    #: Training rows, the first of equal ones, class by class. Shape (n_SV,).
    rows: NDArray[np.int32]
    #: Encoded and scaled. Shape (n_SV, d).
    vectors: Floats
    #: Shape (n_classes,).
    per_class: NDArray[np.int32]
    #: Shape (n_classes - 1, n_SV).
    dual_coef: Floats
    #: Shape (n_pairs,).
    intercept: Floats
    #: 1, or what the kernel was divided by to keep a high degree finite.
    kernel_scale: float


@dataclass(frozen=True)
class SvmModel:
    """A fitted SVM."""

    n_classes: int
    #: From tables to design matrices.
    encoder: DesignEncoder
    #: The origin of the kernel's coordinates. Shape (d,).
    center: Floats
    predictor: Predictor
    calibration: PairCoupling | ScoreCoupling | None
    support: SupportVectors
    #: Training row of each support vector, in the order of the predictor.
    support_origin: NDArray[Any]
    #: Shape (n_pairs,).
    n_iter: NDArray[np.int32]
    converged: bool
    C: float
    #: Whether C was a parameter; False where it was chosen on the data.
    C_given: bool
    solver_options: dict[str, Any]
    #: Rows, support vectors, errors on the other rows.
    compression: tuple[int, int, int]
    #: Whether neither encoding nor kernel looked at the training rows.
    fixed_design: bool
    unweighted: bool

    def design(self, table: Table) -> Floats:
        """A table in the coordinates of the kernel."""
        return np.ascontiguousarray(self.encoder.transform(table) - self.center)

    def winners(self, design: Floats, n_jobs: int | None) -> NDArray[np.int32]:
        """Class with the most pairwise votes, the first on ties."""
        found: NDArray[np.int32] = self.predictor.predict(design, n_jobs=n_jobs)[:, 0]
        return found

    def decisions(self, design: Floats, shape: str, n_jobs: int | None) -> Floats:
        """Decision values: (n,) for two classes, else one per class, or one per pair for "ovo"."""
        decisions = self.predictor.decisions(design, n_jobs=n_jobs)
        known = self.predictor.classes
        if self.n_classes <= 2:
            constant = np.full(len(design), 1.0 if known[0] == 1 else -1.0)
            return -decisions[:, 0] if len(known) == 2 else constant
        if shape == "ovo" and len(known) == self.n_classes:
            return decisions
        return class_scores(decisions, known, self.n_classes)

    def probabilities(self, design: Floats, n_jobs: int | None) -> Floats:
        """Calibrated probabilities; the largest is that of the class with the most votes."""
        if self.calibration is None:
            raise AttributeError("this PolySVC was fitted with calibrate=False")
        decisions = self.predictor.decisions(design, n_jobs=n_jobs)
        proba = self.calibration.probabilities(decisions, self.predictor.classes)
        return lift(proba, self.winners(design, n_jobs))

    def evidence(self) -> Iterator[Evidence]:
        """Sample compression (theory.md §6.4) where C was given, and the out-of-fold error.

        Compression is a guarantee only where the features were not scaled with the training rows:
        ``scale=False`` and a `gamma` that does not look at them, numbers only, no weights, no equal rows.
        """
        if self.C_given:
            yield compression_evidence(
                self.compression,
                reproduces=rebuilt_alike(self.predictor, self.C, self.solver_options),
                scaling_fixed=self.fixed_design,
                unweighted=self.unweighted,
            )
        if self.calibration is not None and self.calibration.n_held_out:
            yield EstimateEvidence(
                name="out-of-fold error of SVMs with these parameters",
                value=self.calibration.held_out_error,
                n=self.calibration.n_held_out,
                used_for_selection=not self.C_given,
            )
