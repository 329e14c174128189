"""The frozen fitted mixture: members with their weights, one calibrator, and what the held-out rows told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.bounds import EstimateEvidence, Evidence
from surewood.estimators.calibration import ScoreCalibrator
from surewood.tables import Table


@dataclass(frozen=True)
class BlendMember:
    """A fitted member that predicts.

    Attributes
    ----------
    name : str
    estimator : classifier
    weight : float
        In the mixture.
    """

    name: str
    estimator: Any
    weight: float


@dataclass(frozen=True)
class MemberRecord:
    """What became of a member that was considered.

    Attributes
    ----------
    name : str
    weight : float
        0 where it was dropped or left out.
    held_out_log_loss, held_out_error : float
        Of the member alone (ESTIMATE); NaN where it was not fitted.
    seconds : float
        Of its fit.
    note : str
        Why it was left out, stopped early or dropped; empty otherwise.
    """

    name: str
    weight: float
    held_out_log_loss: float
    held_out_error: float
    seconds: float
    note: str


@dataclass(frozen=True)
class BlendModel:
    """A fitted mixture.

    Attributes
    ----------
    members : tuple of BlendMember
        With positive weights, which sum to 1.
    records : tuple of MemberRecord
        All members that were considered.
    calibrator : ScoreCalibrator or None
    classes : ndarray
    held_out_error, held_out_log_loss : float
        Of the mixture (ESTIMATE); NaN without held-out rows.
    n_held_out : int
    gain, standard_error : float
        Held-out gain in log-loss of the optimal mixture over the best member, and its standard error.
    """

    members: tuple[BlendMember, ...]
    records: tuple[MemberRecord, ...]
    calibrator: ScoreCalibrator | None
    classes: NDArray[np.generic]
    held_out_error: float
    held_out_log_loss: float
    n_held_out: int
    gain: float
    standard_error: float

    def mixed(self, table: Table, n_jobs: int | None) -> Floats:
        """Weighted mean of the members' probabilities."""
        total = np.zeros((table.n_rows, len(self.classes)))
        for member in self.members:
            total += member.weight * member.estimator.model_.probabilities(table, n_jobs)
        return total

    def calibrated(self, mixed: Floats) -> Floats:
        """Probabilities of the mixture."""
        return mixed if self.calibrator is None else self.calibrator.transform(mixed)

    def probabilities(self, table: Table, n_jobs: int | None) -> Floats:
        """Class probabilities of a table in memory."""
        return self.calibrated(self.mixed(table, n_jobs))

    @property
    def importances(self) -> Floats:
        """Weighted mean of the members' impurity importances."""
        parts = [member.weight * member.estimator.feature_importances_ for member in self.members]
        return np.asarray(np.sum(parts, axis=0))

    def evidence(self) -> Iterator[Evidence]:
        """The held-out error; weights and calibration were chosen on it, so it is a biased ESTIMATE."""
        if self.n_held_out:
            yield EstimateEvidence(
                name="held-out error of the mixture",
                value=self.held_out_error,
                n=self.n_held_out,
                used_for_selection=True,
            )
