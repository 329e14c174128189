"""The page and the JSON beside a model: what `fit` hands to :mod:`surewood.report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from surewood import report
from surewood.certify import Certificate
from surewood.tables import TablePreparer
from surewood.workflow.labelled_table import LabelledTable
from surewood.workflow.model_folder import CARD, DATA, PAGE
from surewood.workflow.training import Trained


def write_report(
    folder: Path,
    trained: Trained,
    table: LabelledTable,
    certificate: Certificate,
    run: dict[str, Any],
    choice: dict[str, Any] | None = None,
    verbose: int = 0,
) -> None:
    """Write report.html, report.json and card.md."""
    held = trained.holdout
    preparer = trained.preparer
    summary = report.build_summary(
        trained.pipeline[-1],
        trained.prepared,
        table.y,
        holdout=None if held is None or table.holdout is None else (held.X, table.holdout[1]),
        certificate=certificate,
        dataset={
            "name": table.name,
            "source": source_text(table.source),
            "notes": table.notes,
            "n_columns": len(preparer.columns_),
            "plan": plan_facts(preparer),
        },
        run=run,
        probabilities=None if held is None else held.probabilities,
        choice=choice,
        parts_of_columns=preparer.parts_,
        verbose=verbose,
    )
    write_files(summary, folder)


def source_text(source: str) -> str:
    """Where a table comes from, for a reader of the page.

    Examples
    --------
    >>> source_text("data/churn.csv"), source_text("cache")
    ('Read from data/churn.csv.', 'A built-in data set.')
    """
    if source in ("SUREWOOD_DATA", "cache"):
        return "A built-in data set."
    return (
        f"A built-in data set, from {source}."
        if source in ("scikit-learn", "OpenML")
        else f"Read from {source}."
    )


def plan_facts(preparer: TablePreparer) -> list[dict[str, str]]:
    """Name, kind and reason of each column of the table."""
    return [{"name": one.name, "kind": one.kind, "reason": one.reason} for one in preparer.plan_.columns]


def write_files(summary: dict[str, Any], folder: Path) -> None:
    """The page, its values as JSON, and the model card."""
    report.write_page(summary, folder / PAGE)
    report.write_json(summary, folder / DATA)
    report.write_card(summary, folder / CARD)
