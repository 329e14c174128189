"""The page of a saved model made anew from a labelled table: `report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from surewood import report as pages
from surewood.certify import Certificate
from surewood.estimators.describing import take_rows
from surewood.workflow.certifying import CertifyOptions, certify
from surewood.workflow.errors import WorkflowError
from surewood.workflow.labelled_table import Source
from surewood.workflow.model_folder import CARD, DATA, PAGE, SavedModel
from surewood.workflow.output_place import check_folder
from surewood.workflow.report_files import plan_facts, write_files
from surewood.workflow.result_folder import reserved, whole_set


@dataclass(frozen=True)
class Reported:
    """Result of :func:`report`.

    Attributes
    ----------
    certificate : Certificate
        Of those rows of the table that are new to the model.
    summary : dict
        What the page shows, as plain values.
    notes : tuple of str
    files : dict of str to Path
        ``page``, ``data`` and ``card``.

    Examples
    --------
    >>> from surewood import workflow
    >>> fitted = workflow.fit("wine", model="rcf", parameters={"n_estimators": 5}, out="wine-model")
    >>> workflow.report("wine-model", "wine").summary["data"]["n_rows"]
    142
    """

    certificate: Certificate
    summary: dict[str, Any]
    notes: tuple[str, ...]
    files: dict[str, Path]


def report(
    model: str | Path | SavedModel,
    table: Source,
    target: str | None = None,
    *,
    out: str | Path | None = None,
    verbose: int = 0,
    **options: Unpack[CertifyOptions],
) -> Reported:
    """Make the page of a saved model anew from a labelled table that was not used for training or tuning.

    Rows that are equal to training rows are left out of everything that the page shows.

    Parameters
    ----------
    model, table, target
        As in :func:`certify`.
    out : str or Path, optional
        Folder for report.html, report.json and card.md; by default that of the model.
    verbose : int, default=0
        1: progress on standard error.
    **options
        Options of :func:`certify`: `claims`, `cost`, `copies`, `groups`, `time`, `delta`, `n_models`.

    Returns
    -------
    Reported

    Examples
    --------
    >>> from surewood import workflow
    >>> fitted = workflow.fit("wine", model="rcf", parameters={"n_estimators": 5}, out="wine-model")
    >>> made = workflow.report("wine-model", "wine", claims=["accuracy"], out="wine-page")
    >>> sorted(path.name for path in made.files.values())
    ['card.md', 'report.html', 'report.json']
    """
    found = certify(model, table, target, **options)
    saved = found.model
    folder = saved.path.parent if out is None else Path(out)
    check_folder(folder)
    new = np.flatnonzero(~found.is_seen)
    if len(new) < 2:
        raise WorkflowError(f"{found.table}: (nearly) all rows are copies of training rows; give other rows.")
    X, y = take_rows(found.X, new), found.y.iloc[new]
    notes = list(found.notes)
    if len(new) < found.n_rows:
        notes.append(
            f"{found.n_rows - len(new):,} rows are equal to training rows; the page leaves them out."
        )
    summary = _summary(saved, X, y, found, notes, verbose)
    with reserved(folder), whole_set(folder) as place:
        write_files(summary, place)
    files = {"page": folder / PAGE, "data": folder / DATA, "card": folder / CARD}
    return Reported(found.certificate, summary, tuple(notes), files)


def _summary(saved: SavedModel, X: Any, y: Any, found: Any, notes: list[str], verbose: int) -> dict[str, Any]:
    facts = saved.facts
    run = {name: facts.get(name) for name in ("seconds", "peak_memory_bytes", "seed", "command")}
    summary = pages.build_summary(
        saved.decider,
        X,
        y,
        holdout=(X, y),
        certificate=found.certificate,
        dataset={
            "name": found.table,
            "source": f"Trained on {facts.get('table', 'another table')}; this page is about {found.table}.",
            "notes": notes,
            "n_columns": len(saved.preparer.columns_),
            "plan": plan_facts(saved.preparer),
            "described": "this table",
        },
        run=run,
        choice=facts.get("choice"),
        parts_of_columns=saved.preparer.parts_,
        verbose=verbose,
    )
    summary["data"]["n_rows"] = facts.get("rows", 0)
    return summary
