"""The fitted mixture: members with their weights, one calibrator, explanations and facts for the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats, check_number
from surewood.base import describing
from surewood.base.calibration import ScoreCalibrator
from surewood.base.describing import Facts, ReportRows, step
from surewood.base.wording import probabilities_text
from surewood.bounds.evidence import EstimateEvidence, Evidence
from surewood.tables import Table, by_label

_ROUNDING = 1e-6  # of a sum of weights


def in_words(name: str) -> str:
    """A member is typed as an identifier and shown as words.

    Examples
    --------
    >>> in_words("random_forest")
    'random forest'
    """
    return name.replace("_", " ")


@dataclass(frozen=True)
class MixtureMember:
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
class MixtureModel:
    """A fitted mixture."""

    #: With positive weights, which sum to 1.
    members: tuple[MixtureMember, ...]
    #: All members that were considered.
    records: tuple[MemberRecord, ...]
    calibrator: ScoreCalibrator | None
    classes: NDArray[np.generic]
    #: Of the mixture (ESTIMATE); NaN without held-out rows.
    held_out_error: float
    held_out_log_loss: float
    n_held_out: int
    #: What the members' held-out probabilities gave is recorded above.
    held_out: None = None

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

    def mixed(self, rows: Table, n_jobs: int | None) -> Floats:
        """Weighted mean of the members' probabilities."""
        rows = rows.read_once()
        total = np.zeros((rows.n_rows, len(self.classes)))
        for member in self.members:
            total += member.weight * member.estimator.model_.probabilities(rows, n_jobs)
        return total

    def calibrated(self, mixed: Floats) -> Floats:
        """Probabilities of the mixture."""
        return mixed if self.calibrator is None else self.calibrator.transform(mixed)

    def probabilities(self, rows: Table, n_jobs: int | None) -> Floats:
        """Class probabilities of a table in memory."""
        return self.calibrated(self.mixed(rows, n_jobs))

    @property
    def importances(self) -> Floats:
        """Weighted mean of the members' impurity importances."""
        parts = [member.weight * member.estimator.feature_importances_ for member in self.members]
        return np.asarray(np.sum(parts, axis=0))

    def explain(self, rows: Table, n_jobs: int | None) -> list[dict[str, Any]]:
        """One dictionary per row: probabilities and explanation of every member, heaviest first."""
        members = sorted(self.members, key=lambda member: -member.weight)
        probabilities = [member.estimator.model_.probabilities(rows, n_jobs) for member in members]
        explained = [member.estimator.explain(rows) for member in members]
        return [
            {
                "members": [
                    {
                        "member": member.name,
                        "weight": member.weight,
                        "probabilities": by_label(self.classes, probabilities[k][row]),
                        "explanation": explained[k][row],
                    }
                    for k, member in enumerate(members)
                ]
            }
            for row in range(rows.n_rows)
        ]

    def evidence(self) -> Iterator[Evidence]:
        """The held-out error; weights and calibration were chosen on it, so it is a biased ESTIMATE."""
        if self.n_held_out:
            yield EstimateEvidence(
                name="held-out error of the mixture",
                value=self.held_out_error,
                n=self.n_held_out,
                used_for_selection=True,
            )


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """What each member says, then the steps of the member with the largest weight."""
    members = explained["members"]
    lines = [
        f"{in_words(one['member'])}, weight {one['weight']:.2f}  {probabilities_text(one['probabilities'])}"
        for one in members
    ]
    steps = [step("Members", lines)]
    heaviest = max(model.model_.members, key=lambda member: member.weight).estimator
    for one in heaviest.__explanation_steps__(members[0]["explanation"]):
        steps.append({**one, "title": f"{in_words(members[0]['member']).capitalize()}: {one['title']}"})
    return steps


DESCRIPTION = (
    "A weighted mean of several classifiers. Each is judged on rows it did not see; weights are chosen there."
)
COLUMNS = (
    describing.column("member", "text"),
    describing.column("weight", digits=2),
    describing.column("held-out error", digits=4),
    describing.column("held-out log-loss", digits=4),
    describing.column("seconds", digits=2),
    describing.column("note", "text", wide=True),
)


def report_facts(model: Any, rows: ReportRows | None = None) -> Facts:
    """Title, key figures, members, and the pages of the members that predict."""
    fitted = model.model_
    figures = [
        describing.figure("members", len(fitted.members)),
        describing.figure("error on held-out rows", fitted.held_out_error, "percent", "ESTIMATE"),
    ]
    for member in fitted.members:
        figures.append(
            describing.figure(f"weight of the {in_words(member.name)}", member.weight, "percent", digits=0)
        )
    if rows is None:
        return describing.report_facts(describing.title_of(type(model)), DESCRIPTION, figures)
    table = describing.table(
        "Members",
        COLUMNS,
        [
            [in_words(one.name), one.weight, one.held_out_error, one.held_out_log_loss, one.seconds, one.note]
            for one in fitted.records
        ],
    )
    sections = [describing.section("The mixture", [table])]
    for member in fitted.members:
        facts = member.estimator.__report_facts__(rows)
        for one in facts["sections"]:
            title = f": {one['title']}" if one["title"] else ""
            sections.append({**one, "title": f"{in_words(member.name).capitalize()}{title}"})
    return describing.report_facts(describing.title_of(type(model)), DESCRIPTION, figures, sections)
