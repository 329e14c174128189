"""How a mixture classified single rows: what each member says, and its own explanation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surewood._arrays import Floats
from surewood.blend.model import BlendModel
from surewood.estimators.describing import Facts, step
from surewood.estimators.wording import probabilities_text
from surewood.tables import Table, by_label


def explain_rows(model: BlendModel, table: Table, probabilities: Floats, X: Any) -> list[dict[str, Any]]:
    """One dictionary per row: probabilities and explanation of every member, heaviest first."""
    members = sorted(model.members, key=lambda member: -member.weight)
    own = [member.estimator.model_.probabilities(table, None) for member in members]
    explained = [member.estimator.explain(X) for member in members]
    return [
        {
            "members": [
                {
                    "member": member.name,
                    "weight": member.weight,
                    "probabilities": by_label(model.classes, own[k][row]),
                    "explanation": explained[k][row],
                }
                for k, member in enumerate(members)
            ]
        }
        for row in range(len(probabilities))
    ]


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """What each member says, then the steps of the member with the largest weight."""
    members = explained["members"]
    lines = [
        f"{one['member']}, weight {one['weight']:.2f}  {probabilities_text(one['probabilities'])}"
        for one in members
    ]
    steps = [step("Members", lines)]
    heaviest = max(model.model_.members, key=lambda member: member.weight).estimator
    for one in heaviest.__explanation_steps__(members[0]["explanation"]):
        steps.append({**one, "title": f"{members[0]['member'].capitalize()}: {one['title']}"})
    return steps
