"""The page and the JSON beside a model: what `fit` hands to :mod:`surewood.report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from surewood import report
from surewood.certify import Certificate
from surewood.workflow.labelled_table import LabelledTable
from surewood.workflow.model_folder import DATA, PAGE
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
    """Write report.html and report.json."""
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
            "source": table.source,
            "notes": table.notes,
            "n_columns": len(preparer.columns_),
            "plan": [
                {"name": one.name, "kind": one.kind, "reason": one.reason} for one in preparer.plan_.columns
            ],
        },
        run=run,
        probabilities=None if held is None else held.probabilities,
        choice=choice,
        parts_of_columns=preparer.parts_,
        verbose=verbose,
    )
    report.write_page(summary, folder / PAGE)
    report.write_json(summary, folder / DATA)
