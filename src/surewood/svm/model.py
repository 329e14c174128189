"""The fitted SVM: votes, decisions and probabilities of rows, evidence for a certificate, explanations.

What the support vectors guarantee is sample compression (theory.md §6.4): :func:`reproduces_itself` trains an
SVM on them alone and compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base import describing
from surewood.base.calibration import lift
from surewood.base.describing import Facts, ReportRows, step, support_steps
from surewood.bounds.evidence import CompressionEvidence, EstimateEvidence, Evidence
from surewood.bounds.without_holdout import probe_points, rebuilt_alike
from surewood.svm.coupling import PairCoupling, ScoreCoupling
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram, unit_rows
from surewood.svm.one_vs_one import Predictor, class_scores, class_votes, nearest_support
from surewood.tables import DesignEncoder, Table, by_label, plain

DESCRIPTION = "A support vector machine with a polynomial kernel for each pair of classes."
_PAIRS_SHOWN = 6
_ALIKE = 10.0  # largest change of a decision value at a support vector, in units of the solver's tolerance


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

    #: Labels by class code.
    classes: NDArray[Any]
    #: Of the polynomial kernel; None for other kernels.
    degree: int | None
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
    #: Training rows, and errors of the SVM on those that are not support vectors.
    n_samples: int
    errors_of_others: int
    #: Whether neither encoding nor kernel looked at the training rows.
    fixed_design: bool
    unweighted: bool
    #: γ and c₀ where rows are scaled to norm 1 in feature space.
    unit: tuple[float, float] | None = None
    #: Probabilities are learned pair by pair: no class has held-out scores of its own.
    held_out: None = None

    def design(self, rows: Table) -> Floats:
        """Rows in the coordinates of the kernel."""
        design = np.ascontiguousarray(self.encoder.transform(rows) - self.center)
        return design if self.unit is None else unit_rows(design, *self.unit)

    def winners(self, rows: Table, n_jobs: int | None) -> NDArray[np.int32]:
        """Class with the most pairwise votes, the first on ties."""
        codes: NDArray[np.int32] = self.predictor.predict(self.design(rows), n_jobs=n_jobs)[:, 0]
        return codes

    def decisions(self, rows: Table, shape: str, n_jobs: int | None) -> Floats:
        """Decision values: (n,) for two classes, else one per class, or one per pair for "ovo"."""
        decisions = self.predictor.decisions(self.design(rows), n_jobs=n_jobs)
        classes, n_classes = self.predictor.classes, len(self.classes)
        if n_classes <= 2:
            constant = np.full(rows.n_rows, 1.0 if classes[0] == 1 else -1.0)
            return -decisions[:, 0] if len(classes) == 2 else constant
        if shape == "ovo" and len(classes) == n_classes:
            return decisions
        return class_scores(decisions, classes, n_classes)

    def probabilities(self, rows: Table, n_jobs: int | None) -> Floats:
        """Calibrated probabilities; the largest is that of the class with the most votes."""
        if self.calibration is None:
            raise AttributeError("this PolySVC was fitted with calibrate=False")
        decisions, winners = self.predictor.decisions_and_codes(self.design(rows), n_jobs=n_jobs)
        return lift(self.calibration.probabilities(decisions, self.predictor.classes), winners)

    @property
    def is_calibrated(self) -> bool:
        return self.calibration is not None

    def evidence(self) -> Iterator[Evidence]:
        """Sample compression (theory.md §6.4) where C was given, and the out-of-fold error.

        Compression is a guarantee only where the features were not scaled with the training rows:
        ``scale=False`` and a `gamma` that does not look at them, numbers only, no weights, no equal rows.
        """
        if self.C_given:
            yield CompressionEvidence(
                n_samples=self.n_samples,
                n_compressed=len(self.support.rows),
                errors=self.errors_of_others,
                reproduces=reproduces_itself(self.predictor, self.C, self.solver_options),
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

    def explain(self, rows: Table, n_jobs: int | None) -> list[dict[str, Any]]:
        """Pairwise decisions, votes and the nearest support vectors of each row."""
        design, classes = self.design(rows), self.predictor.classes
        decisions = self.predictor.decisions(design, n_jobs=n_jobs)
        votes = np.zeros((len(design), len(self.classes)), dtype=np.int64)
        votes[:, classes] = class_votes(decisions, len(classes))
        labels = [plain(label) for label in self.classes]
        pairs = [(labels[classes[a]], labels[classes[b]]) for a, b in zip(*np.triu_indices(len(classes), 1))]
        return [
            {
                "degree": self.degree,
                "votes": by_label(labels, votes[row]),
                "pairs": [
                    {"first": first, "second": second, "decision": plain(value)}
                    for (first, second), value in zip(pairs, decisions[row])
                ],
                "support": nearest_support(self.predictor, design[row], labels, self.support_origin),
            }
            for row in range(len(design))
        ]


def reproduces_itself(predictor: Predictor, C: float, options: dict[str, Any]) -> bool:
    """Whether an SVM trained on the support vectors alone is the same classifier ([D-40]).

    It must give the same labels on the support vectors and on probe points around them, and decision values
    that agree up to the solver's tolerance.
    """
    if len(predictor.classes) < 2:
        return True
    if len(predictor.support_rows) == 0:  # a solver so loose that it stopped before the first step
        return False
    rows, probes = predictor.support_rows, probe_points(predictor.support_rows)
    again = solve_many(
        Gram(rows),
        [np.arange(len(rows))],
        predictor.support_classes,
        [int(predictor.degree[0])],
        [C],
        kernel=predictor.kernel,
        **options,
    ).predictor()
    before, after = ((p.predict(rows), p.predict(probes), p.decisions(rows)) for p in (predictor, again))
    return rebuilt_alike(before, after, tolerance=_ALIKE * options["tol"])


def report_facts(model: Any, rows: ReportRows | None = None) -> Facts:
    """Title and size of a fitted SVM."""
    n_classes = len(model.classes_)
    figures = [
        describing.figure("pairs of classes", n_classes * (n_classes - 1) // 2),
        describing.figure("support vectors", len(model.support_)),
    ]
    return describing.report_facts("Polynomial SVM", DESCRIPTION, figures)


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """Pairwise decisions, the clearest first, and the nearest support vectors."""
    pairs = sorted(explained["pairs"], key=lambda pair: -abs(pair["decision"]))[:_PAIRS_SHOWN]
    lines = [
        f"{pair['first']} against {pair['second']}: {pair['decision']:.3g}, "
        f"for {pair['first'] if pair['decision'] > 0 else pair['second']}"
        for pair in pairs
    ]
    return [step("Decision for each pair of classes", lines), *support_steps(explained)]
