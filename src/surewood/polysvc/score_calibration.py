"""Probabilities from one score per class: the methods that all estimators share, for `PolySVC`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.estimators.calibration import ScoreCalibrator
from surewood.polysvc.held_out import HeldOut, held_out_error
from surewood.svm.class_scores import class_scores


@dataclass(frozen=True)
class ScoreCoupling:
    """A calibrator of class scores, learned on decisions at rows that the SVMs did not see."""

    n_classes: int
    calibrator: ScoreCalibrator
    #: Of the SVMs it was fitted on.
    held_out_error: float
    #: Rows that the error was measured on.
    n_held_out: int

    @classmethod
    def fit(
        cls, method: str, held_out: HeldOut, codes: NDArray[Any], weight: Floats, n_classes: int
    ) -> ScoreCoupling:
        """Fit one of the methods of :class:`~surewood.estimators.calibration.ScoreCalibrator`."""
        held_out = [held for held in held_out if held.is_known]
        rows = np.concatenate([np.empty(0, dtype=np.int64), *(held.rows for held in held_out)])
        parts = [class_scores(d, held.known, n_classes) for held in held_out for _, d in held.blocks()]
        scores = np.concatenate([np.empty((0, n_classes)), *parts])
        calibrator = ScoreCalibrator(method, "decisions").fit(scores, codes[rows], weight[rows])
        error, n_held_out = held_out_error(held_out, codes, weight) if held_out else (0.0, 0)
        return cls(n_classes, calibrator, error, n_held_out)

    def probabilities(self, decisions: Floats, classes: NDArray[Any]) -> Floats:
        """Rows that sum to 1, over all classes; `classes` are those that the SVM knows."""
        return self.calibrator.transform(class_scores(decisions, classes, self.n_classes))
