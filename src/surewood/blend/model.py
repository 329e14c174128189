"""The frozen fitted mixture: members with their weights, one calibrator, and what the held-out rows told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats, check_number
from surewood.bounds import EstimateEvidence, Evidence
from surewood.estimators.calibration import ScoreCalibrator
from surewood.tables import Table

_ROUNDING = 1e-6  # of a sum of weights


@dataclass(frozen=True)
class BlendMember:
    """A fitted member that predicts."""

    name: str
    estimator: Any
    #: In the mixture.
    weight: float


@dataclass(frozen=True)
class MemberRecord:
    """What became of a member that was considered."""

    name: str
    #: 0 where it was dropped or left out.
    weight: float
    #: Of the member alone (ESTIMATE); NaN where it was not fitted.
    held_out_log_loss: float
    held_out_error: float
    #: Of its fit.
    seconds: float
    #: Why it was left out, stopped early or dropped; empty otherwise.
    note: str


@dataclass(frozen=True)
class BlendModel:
    """A fitted mixture."""

    #: With positive weights, which sum to 1.
    members: tuple[BlendMember, ...]
    #: All members that were considered.
    records: tuple[MemberRecord, ...]
    calibrator: ScoreCalibrator | None
    classes: NDArray[np.generic]
    #: Of the mixture (ESTIMATE); NaN without held-out rows.
    held_out_error: float
    held_out_log_loss: float
    n_held_out: int
    #: Held-out gain in log-loss of the optimal mixture over that of the chances, and its standard error.
    gain: float
    standard_error: float

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Refuse members that do not belong together: a file may hold anything."""
        self.__dict__.update(state)
        if not self.members:
            raise ValueError("a mixture needs at least one member.")
        for member in self.members:
            check_number("weight", member.weight, 0.0, 1.0)
            if not np.array_equal(member.estimator.classes_, self.classes):
                raise ValueError(f"member {member.name!r} knows other classes than the mixture.")
        if abs(sum(member.weight for member in self.members) - 1.0) > _ROUNDING:
            raise ValueError("weights of the members must sum to 1.")

    def mixed(self, table: Table, n_jobs: int | None) -> Floats:
        """Weighted mean of the members' probabilities."""
        table = table.read_once()
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
