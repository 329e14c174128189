"""The page, its values as JSON and the model card: beside a new model, and anew by `report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from surewood import report as pages
from surewood.base.describing import take_rows
from surewood.certify import Certificate
from surewood.tables import TablePreparer
from surewood.workflow.certifying import CertifyOptions, certify_model
from surewood.workflow.errors import WorkflowError
from surewood.workflow.folders import CARD, DATA, PAGE, SavedModel, check_folder, reserved, whole_set
from surewood.workflow.labelled_table import LabelledTable, Source
from surewood.workflow.training import Trained


@dataclass(frozen=True)
class Reported:
    """Result of :func:`make_report`.

    Attributes
    ----------
    certificate : Certificate
        Of the rows of the table.
    summary : dict
        What the page shows, as plain values.
    notes : tuple of str
    files : dict of str to Path
        ``page``, ``data`` and ``card``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from surewood import workflow
    >>> wine = load_wine(as_frame=True).frame.sample(frac=1, random_state=0)
    >>> wine[::2].to_csv("wine.csv", index=False)
    >>> wine[1::2].to_csv("later.csv", index=False)
    >>> settings = {"model": "rcf", "parameters": {"n_estimators": 5}}
    >>> fitted = workflow.fit("wine.csv", target="target", out="wine-model", **settings)
    >>> workflow.make_report("wine-model", "later.csv").summary["data"]["n_rows"]
    71
    """

    certificate: Certificate
    summary: dict[str, Any]
    notes: tuple[str, ...]
    files: dict[str, Path]


def make_report(
    model: str | Path | SavedModel,
    table: Source,
    target: str | None = None,
    *,
    out: str | Path | None = None,
    verbose: int = 0,
    **options: Unpack[CertifyOptions],
) -> Reported:
    """Write the report of a saved model for another labeled table, not used for training or tuning.

    The page shows the rows that the certificate counts.

    Parameters
    ----------
    model, table, target
        As in :func:`certify_model`.
    out : str or Path, optional
        Folder for report.html, report.json and card.md; by default that of the model.
    verbose : int, default=0
        1: progress on standard error.
    **options
        Options of :func:`certify_model`: `claims`, `cost`, `copies`, `groups`, `time`, `delta`, `n_models`,
        `header_line`, `sheet`.

    Returns
    -------
    Reported

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from surewood import workflow
    >>> wine = load_wine(as_frame=True).frame.sample(frac=1, random_state=0)
    >>> wine[::2].to_csv("wine.csv", index=False)
    >>> wine[1::2].to_csv("later.csv", index=False)
    >>> settings = {"model": "rcf", "parameters": {"n_estimators": 5}}
    >>> fitted = workflow.fit("wine.csv", target="target", out="wine-model", **settings)
    >>> made = workflow.make_report("wine-model", "later.csv", claims=["accuracy"], out="wine-page")
    >>> sorted(path.name for path in made.files.values())
    ['card.md', 'report.html', 'report.json']
    """
    found = certify_model(model, table, target, **options)
    saved = found.model
    folder = saved.path.parent if out is None else Path(out)
    check_folder(folder)
    if len(found.counted) < 2:
        raise WorkflowError(f"{found.table}: {found.certificate.verdict}.")
    X, y = take_rows(found.X, found.counted), found.y.iloc[found.counted]
    notes = list(found.notes)
    if len(found.counted) < found.n_rows:
        left_out = found.n_rows - len(found.counted)
        notes.append(f"{left_out:,} rows equal training rows; the page leaves them out.")
    facts = saved.facts
    trained_on = facts.get("table", "another table")
    summary = _summary(
        saved.decider,
        saved.preparer,
        X,
        y,
        {
            "name": found.table,
            "source": f"Trained on {trained_on}; this page is about {found.table}.",
            "notes": notes,
            "described": "this table",
        },
        holdout=(X, y),
        certificate=found.certificate,
        run={name: facts.get(name) for name in ("seconds", "peak_memory_bytes", "seed", "command")},
        choice=facts.get("choice"),
        verbose=verbose,
    )
    summary["data"]["n_rows"] = facts.get("rows", 0)
    with reserved(folder), whole_set(folder) as place:
        write_files(summary, place)
    files = {"page": folder / PAGE, "data": folder / DATA, "card": folder / CARD}
    return Reported(found.certificate, summary, tuple(notes), files)


def _summary(
    model: Any, preparer: TablePreparer, X: Any, y: Any, dataset: dict[str, Any], **what: Any
) -> dict[str, Any]:
    """What the page of a prepared table shows; `what` goes to :func:`surewood.report.build_summary`."""
    plan = [{"name": one.name, "kind": one.kind, "reason": one.reason} for one in preparer.plan_.columns]
    dataset = {**dataset, "n_columns": len(preparer.columns_), "plan": plan}
    own: dict[str, Any] = {"parts_of_columns": preparer.parts_, "as_written": as_written(preparer)}
    return pages.build_summary(model, X, y, dataset=dataset, **own, **what)


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
    summary = _summary(
        trained.pipeline[-1],
        trained.preparer,
        trained.prepared,
        table.rows.y,
        {"name": table.name, "source": source_text(table.source), "notes": table.notes},
        holdout=None if held is None or table.holdout is None else (held.X, table.holdout.y),
        certificate=certificate,
        run=run,
        probabilities=None if held is None else held.probabilities,
        choice=choice,
        verbose=verbose,
    )
    write_files(summary, folder)


def source_text(source: str) -> str:
    """Where a table comes from, for a reader of the page.

    Examples
    --------
    >>> source_text("data/churn.csv"), source_text("scikit-learn")
    ('Read from data/churn.csv.', 'A bundled data set, from scikit-learn.')
    """
    return f"A bundled data set, from {source}." if source == "scikit-learn" else f"Read from {source}."


def as_written(preparer: TablePreparer) -> dict[str, dict[str, Any]]:
    """By column: units of numbers, days of dates and words of truth values, as the table has them."""
    found: dict[str, dict[str, Any]] = {}
    for column in preparer.plan_.used:
        if column.truth_words:
            spelled = {word.casefold(): word for word in column.examples}
            words = {truth: spelled.get(word, word) for word, truth in reversed(column.truth_words.items())}
            words |= {t: spelled[w] for w, t in column.truth_words.items() if w in spelled}
            found[column.name] = {"words": words}
        elif column.percent or column.unit:
            found[column.name] = {"unit": "%" if column.percent else column.unit}
        elif column.kind == "date":
            found[f"{column.name}: days"] = {"days": True}
    return found


def write_files(summary: dict[str, Any], folder: Path) -> None:
    """The page, its values as JSON, and the model card."""
    pages.write_page(summary, folder / PAGE)
    pages.write_json(summary, folder / DATA)
    pages.write_card(summary, folder / CARD)
