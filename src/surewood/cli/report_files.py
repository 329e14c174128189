"""The page and the JSON beside a model: what ``fit`` hands to :mod:`surewood.report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from surewood import report
from surewood.certify import Certificate
from surewood.cli.input_table import InputTable
from surewood.cli.model_file import DATA, PAGE
from surewood.cli.training import Trained


def write_report(
    folder: Path, trained: Trained, table: InputTable, certificate: Certificate, run: dict[str, Any]
) -> None:
    """Write report.html and report.json."""
    holdout = None if table.holdout is None else (trained.prepared_holdout, table.holdout[1])
    summary = report.build_summary(
        trained.pipeline[-1],
        trained.prepared,
        table.y,
        holdout=holdout,
        certificate=certificate,
        dataset={"name": table.name, "source": table.source, "notes": table.notes},
        run=run,
        probabilities=trained.probabilities,
        verbose=1,
    )
    report.write_page(summary, folder / PAGE)
    report.write_json(summary, folder / DATA)
