"""Is the guarantee of a saved model still true? `monitor`, one batch of new rows at a time (§11.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from surewood.monitor import Look, Monitor
from surewood.workflow.errors import WorkflowError
from surewood.workflow.holdout_scores import SCORES
from surewood.workflow.labelled_table import Source, read_labelled, read_rows
from surewood.workflow.model_folder import SavedModel, open_model
from surewood.workflow.monitoring_page import write_monitor_page
from surewood.workflow.output_place import check_file

STATE = "monitor.json"
_ONE_ROW_PER_GROUP = (
    "the guarantee of this model is about new groups, and rows of one group are not independent: a table to "
    "watch must have one row of each new group, drawn at random."
)


@dataclass(frozen=True)
class Monitoring:
    """Result of :func:`monitor`.

    Attributes
    ----------
    look : Look
        Alarms, counts and limits after the batch.
    limit : float or None
        The error that is watched.
    n_rows : int
        Rows of the batch.
    labelled : bool
        Whether the batch had labels.
    state, page : Path or None
        Files that were written.
    notes : tuple of str
    guaranteed : bool
        Whether the limit is the guaranteed error; False: one that the caller gave.

    Examples
    --------
    >>> from surewood import workflow
    >>> from surewood.monitor import Monitor
    >>> look = Monitor(0.1).add(errors=[True] * 60)
    >>> workflow.Monitoring(look, 0.1, 60, True, state=None, page=None, notes=()).verdict
    'ALARM: the error is above the guaranteed 10 %.'
    """

    look: Look
    limit: float | None
    n_rows: int
    labelled: bool
    state: Path
    page: Path | None
    notes: tuple[str, ...]
    guaranteed: bool = True

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.look.error_alarm and self.limit is not None:
            what = "the guaranteed" if self.guaranteed else "the limit of"
            return f"ALARM: the error is above {what} {100 * self.limit:.3g} %."
        if self.look.shift_alarm:
            return "ALARM: new rows look different from the holdout; the error may have changed or not."
        return "No alarm."

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "verdict": self.verdict,
            "alarm": self.look.alarm,
            **asdict(self.look),
            "limit": self.limit,
            "limit_is_guaranteed": self.guaranteed,
            "rows": self.n_rows,
            "labelled": self.labelled,
            "state": str(self.state),
            "page": None if self.page is None else str(self.page),
            "notes": list(self.notes),
        }


def monitor(
    model: str | Path | SavedModel,
    table: Source,
    target: str | None = None,
    *,
    state: str | Path | None = None,
    limit: float | None = None,
    alpha: float = 0.05,
    copies: str = "auto",
    page: str | Path | None = None,
) -> Monitoring:
    """Look at a batch of new rows with a saved model.

    With labels the error is watched, without only whether the rows look different from the holdout. What was
    seen is kept in a state file; the next call goes on from it. You may look as often as you like: the
    probability of a false alarm stays at most `alpha`, for each of the two alarms.

    Parameters
    ----------
    model : str, Path or SavedModel
        A model file, or the folder that :func:`fit` wrote.
    table : str, Path or list of them
        The batch. One that was seen before is refused, and rows of earlier batches are not counted again.
    target : str, optional
        The column of the classes; by default the model's own, where the batch has it.
    state : str or Path, optional
        The state file; by default monitor.json beside the model.
    limit : float, optional
        Error to watch; by default the guaranteed one of the model's certificate. Fixed by the first batch.
    alpha : float, default=0.05
        Probability of a false alarm. Fixed by the first batch.
    copies : {"auto", "natural", "exclude"}
        Whether equal rows count each time, as in `Monitor`. Fixed by the first batch.
    page : str or Path, optional
        An .html file to write, with the path of the evidence.

    Returns
    -------
    Monitoring
        Whether there is an alarm: ``verdict`` says so in a sentence.

    Examples
    --------
    >>> from surewood import workflow
    >>> fitted = workflow.fit("wine", model="rcf", out="wine-model")
    >>> workflow.monitor("wine-model", "wine", limit=0.3).verdict
    'No alarm.'
    """
    saved = open_model(model)
    file = saved.path.parent / STATE if state is None else Path(state)
    path = None if page is None else Path(page)
    if path is not None:
        check_file(path, (".html",))
    X, y, notes = _read(saved, table, target)
    watched, more = _monitor(saved, file, limit, alpha, copies)
    try:
        look = watched.update(saved.prepare(X), y)
    except ValueError as error:
        raise WorkflowError(f"{_name(table)}: {error}.") from error
    watched.save(file)
    if path is not None:
        write_monitor_page(watched, _title(saved), path)
    notes += [*saved.notes_about(X), *more]
    if look.n_left_out:
        notes.append(f"{look.n_left_out:,} rows are copies of training rows; not counted.")
    if look.n_seen_before:
        notes.append(f"{look.n_seen_before:,} rows were seen before; not counted again.")
    if watched.state.copies == "natural":
        notes.append('equal rows all count (copies="natural"), so batches must not overlap.')
    limit = watched.state.limit
    guaranteed = limit == guaranteed_error(saved.facts.get("certificate"))
    return Monitoring(look, limit, len(X), y is not None, file, path, tuple(notes), guaranteed)


def _name(table: Source) -> str:
    return str(table) if isinstance(table, str | Path) else f"{len(table)} files"


def _title(saved: SavedModel) -> str:
    return f"{saved.facts.get('title', 'model')} on {saved.facts.get('table', 'a table')}"


def _read(
    saved: SavedModel, table: Source, target: str | None
) -> tuple[pd.DataFrame, pd.Series | None, list[str]]:
    """Rows, labels where the batch has them, and notes."""
    rows = read_rows(table, saved.text_columns)
    column = saved.facts.get("target") if target is None else target
    if column is None or (column not in rows.frame.columns and target is None):
        if len(rows.frame) == 0:
            raise WorkflowError(f"{_name(table)} has no row.")
        return rows.frame, None, ["no labels in this batch: only whether rows look different is watched."]
    labelled = read_labelled(table, column, check=False, as_text=saved.text_columns)
    return labelled.X, labelled.y, list(labelled.notes)


def _monitor(
    saved: SavedModel, file: Path, limit: float | None, alpha: float, copies: str
) -> tuple[Monitor, list[str]]:
    """The monitor of the state file, or a new one."""
    name = str(saved.card.get("sha256", ""))[:16]
    if file.exists():
        return Monitor.load(file, model=saved.decider, name=name), []
    notes = []
    watched = guaranteed_error(saved.facts.get("certificate")) if limit is None else limit
    grouped = guaranteed_error(saved.facts.get("certificate"), unit="groups")
    if grouped is not None:
        notes.append(_ONE_ROW_PER_GROUP)
        if watched is None:
            raise WorkflowError(f"{_ONE_ROW_PER_GROUP} Then give limit={grouped:.4g}.")
    if watched is None:
        notes.append("the model has no guaranteed error: no error alarm; limit= gives one.")
    scores = (saved.facts.get(SCORES) or {}).get("largest") or None
    if scores is None:
        notes.append("the model file has no holdout scores: no shift alarm.")
    if watched is None and scores is None:
        raise WorkflowError("the model has neither a guaranteed error nor a holdout; give limit=...")
    try:
        made = Monitor(
            watched, model=saved.decider, holdout_scores=scores, alpha=alpha, name=name, copies=copies
        )
    except ValueError as error:
        raise WorkflowError(f"{error}.") from error
    return made, notes


def guaranteed_error(certificate: Mapping[str, Any] | None, unit: str = "") -> float | None:
    """The smallest guaranteed error of a certificate's dict; of accepted rows where the model abstains.

    That of new groups only with ``unit="groups"``: rows of one group are not independent.

    Examples
    --------
    >>> entry = {"status": "GUARANTEE", "quantity": "error", "value": 0.1}
    >>> guaranteed_error({"entries": [entry]}), guaranteed_error(None)
    (0.1, None)
    """
    entries = [] if certificate is None else certificate["entries"]
    values = [
        float(entry["value"])
        for entry in entries
        if entry["status"] == "GUARANTEE"
        and entry.get("quantity") in ("error", "error among accepted rows")
        and (entry.get("unit") == "groups") == (unit == "groups")
    ]
    return min((value for value in values if 0 < value < 1), default=None)
