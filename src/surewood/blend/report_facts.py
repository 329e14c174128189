"""A mixture as pages and the command line show it: its members with their weights, then each member."""

from __future__ import annotations

from typing import Any

from surewood.estimators import describing
from surewood.estimators.describing import Facts, ReportRows

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
        figures.append(describing.figure(f"weight of the {member.name}", member.weight, "percent", digits=0))
    if rows is None:
        return describing.report_facts(describing.title_of(type(model)), DESCRIPTION, figures)
    table = describing.table(
        "Members",
        COLUMNS,
        [
            [one.name, one.weight, one.held_out_error, one.held_out_log_loss, one.seconds, one.note]
            for one in fitted.records
        ],
    )
    sections = [describing.section("The mixture", [table])]
    for member in fitted.members:
        facts = member.estimator.__report_facts__(rows)
        for one in facts["sections"]:
            title = (
                f"{member.name.capitalize()}: {one['title']}" if one["title"] else member.name.capitalize()
            )
            sections.append({**one, "title": title})
    return describing.report_facts(describing.title_of(type(model)), DESCRIPTION, figures, sections)
