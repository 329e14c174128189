"""Is the guarantee of a saved model still true? `monitor`, one batch of new rows at a time (§11.6).

Its page shows the evidence over time and the limits of the error so far.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from surewood.base.counted_rows import AS_THEY_COME, COPIES
from surewood.base.wording import percent
from surewood.certify import Look, Monitor
from surewood.certify.wording import between_text, ends_text
from surewood.report import charts, render_template
from surewood.report.charts import Plot, fitted_axis
from surewood.report.page import page_title, write_text
from surewood.workflow.errors import WorkflowError
from surewood.workflow.folders import SavedModel, check_file, open_model
from surewood.workflow.holdout_scores import SCORES
from surewood.workflow.labelled_table import Source, read_labelled, read_rows

STATE = "monitor.json"
_ONE_ROW_PER_GROUP = (
    "the guarantee of this model is about new groups, and rows of one group are not independent: a table to "
    "watch must have one row of each new group, drawn at random."
)
_AS_THEY_COME = (
    "the guarantee of this model is about {population}, and a batch has rows as they come: certify the model "
    "on new rows, and give limit= the error that is guaranteed there."
)


@dataclass(frozen=True, repr=False)
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
    >>> from surewood.certify import Monitor
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

    def __repr__(self) -> str:
        lines = [f"{name}: {text}" for name, text in self.facts.items()]
        return "\n".join([self.verdict, *lines, f"state: {self.state}", *self.notes[:4]])

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.look.error_alarm and self.limit is not None:
            what = "the guaranteed" if self.guaranteed else "the limit of"
            return f"ALARM: the error is above {what} {ends_text(0.0, self.limit)[1]}."
        if self.look.shift_alarm:
            return "ALARM: new rows look different from the holdout; the error may have changed or not."
        return "No alarm."

    @property
    def facts(self) -> dict[str, str]:
        """What the verdict rests on, by name."""
        look, told = self.look, {}
        if self.limit is not None:
            name = "guaranteed error" if self.guaranteed else "limit of the error"
            told[name] = f"at most {ends_text(0.0, self.limit)[1]}"
        if look.n_labelled:
            observed, between = percent(look.n_errors / look.n_labelled), between_text(look.lower, look.upper)
            told["error so far"] = f"{observed} of {look.n_labelled:,} rows; limits {between}"
            told["evidence of more errors"] = f"{look.error_evidence:.3g} (alarm at {1 / look.alpha:g})"
        if look.n_scored:
            evidence = f"{look.shift_evidence:.3g} (alarm at {1 / look.alpha:g})"
            told["evidence of a shift"] = f"{evidence}, {look.n_scored:,} rows"
        return told

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
    table: Source | None = None,
    target: str | None = None,
    *,
    state: str | Path | None = None,
    limit: float | None = None,
    alpha: float = 0.05,
    copies: str = "check",
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
    table : str, Path or list of them, optional
        The batch. One that was seen before is refused; batches must not overlap. Without one, `page` is
        written from what was seen so far.
    target : str, optional
        The column of the classes; by default the model's own, where the batch has it.
    state : str or Path, optional
        The state file; by default monitor.json beside the model.
    limit : float, optional
        Error to watch; by default the guaranteed one of the model's certificate. Fixed by the first batch.
    alpha : float, default=0.05
        Probability of a false alarm. Fixed by the first batch.
    copies : {"check", "count", "leave_out"}
        Whether rows that equal a training row count; "check": as in the certificate of the model. Fixed by
        the first batch.
    page : str or Path, optional
        An .html file to write, with the evidence over time.

    Returns
    -------
    Monitoring
        Whether there is an alarm: ``verdict`` says so in a sentence.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from surewood import workflow
    >>> wine = load_wine(as_frame=True).frame.sample(frac=1, random_state=0)
    >>> wine[::2].to_csv("wine.csv", index=False)
    >>> wine[1::2].to_csv("later.csv", index=False)
    >>> settings = {"model": "rcf", "parameters": {"n_estimators": 5}}
    >>> fitted = workflow.fit("wine.csv", target="target", out="wine-model", **settings)
    >>> workflow.monitor("wine-model", "later.csv", limit=0.3).verdict
    'No alarm.'
    """
    saved = open_model(model)
    file = saved.path.parent / STATE if state is None else Path(state)
    path = None if page is None else Path(page)
    if path is not None:
        check_file(path, (".html",))
    if table is None:
        return _look_back(saved, file, path)
    X, y, notes = _read(saved, table, target)
    watched, more = _monitor(saved, file, limit, alpha, copies)
    try:
        look = watched.update(saved.prepare(X), y)
    except ValueError as error:
        raise WorkflowError(f"{_name(table)}: {error}.") from error
    watched.save(file)
    notes += [*saved.notes_about(X), *more]
    if look.n_left_out:
        notes.append(f"{look.n_left_out:,} rows equal training rows and are not counted.")
    return _result(saved, watched, Monitoring(look, None, len(X), y is not None, file, path, tuple(notes)))


def _result(saved: SavedModel, watched: Monitor, found: Monitoring) -> Monitoring:
    """The result with the error that is watched, and its page."""
    limit = watched.state.limit
    guaranteed = limit == guaranteed_error(saved.facts.get("certificate"))
    found = replace(found, limit=limit, guaranteed=guaranteed)
    if found.page is not None:
        write_monitor_page(watched, found, _title(saved))
    return found


def _look_back(saved: SavedModel, file: Path, path: Path | None) -> Monitoring:
    """The page of what was seen so far, without a new batch."""
    if path is None:
        raise WorkflowError("without a batch there is nothing to do; page=monitor.html writes the page.")
    if not file.exists():
        raise WorkflowError(f"there is no state file {file}: no batch was looked at yet.")
    name = str(saved.card.get("sha256", ""))[:16]
    watched = Monitor.load(file, model=saved.decider, name=name)
    return _result(saved, watched, Monitoring(watched.look(), None, 0, False, file, path, ()))


def _name(table: Source) -> str:
    return str(table) if isinstance(table, str | Path) else f"{len(table)} files"


def _title(saved: SavedModel) -> str:
    return page_title(f"Monitor of {saved.facts.get('title', 'a model')}", saved.facts.get("table"))


def _read(
    saved: SavedModel, table: Source, target: str | None
) -> tuple[pd.DataFrame, pd.Series | None, list[str]]:
    """Rows, labels where the batch has them, and notes."""
    rows = read_rows(table, saved.reading())
    column = saved.facts.get("target") if target is None else target
    if column is None or (column not in rows.frame.columns and target is None):
        if len(rows.frame) == 0:
            raise WorkflowError(f"{_name(table)} has no row.")
        return rows.frame, None, ["no labels in this batch: only whether rows look different is watched."]
    labelled = read_labelled(table, column, check=False, reading=saved.reading(), **saved.quantity)
    return labelled.rows.X, labelled.rows.y, list(labelled.notes)


def _monitor(
    saved: SavedModel, file: Path, limit: float | None, alpha: float, copies: str
) -> tuple[Monitor, list[str]]:
    """The monitor of the state file, or a new one."""
    name = str(saved.card.get("sha256", ""))[:16]
    if file.exists():
        return Monitor.load(file, model=saved.decider, name=name), []
    notes = []
    if copies == "check":
        certified = (saved.facts.get("certificate") or {}).get("copies")
        copies = certified if certified in COPIES else "check"
    watched = guaranteed_error(saved.facts.get("certificate")) if limit is None else limit
    other = next((e for e in _error_limits(saved.facts.get("certificate")) if not _can_be_watched(e)), None)
    if other is not None:
        of_groups = other["unit"] == "groups"
        text = _ONE_ROW_PER_GROUP if of_groups else _AS_THEY_COME.format(population=other["population"])
        notes.append(text)
        if watched is None:
            value = f" Then give limit={math.ceil(1e4 * other['value']) / 1e4:g}." if of_groups else ""
            raise WorkflowError(f"{text}{value}")
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


def guaranteed_error(certificate: Mapping[str, Any] | None) -> float | None:
    """The smallest guaranteed error of a certificate's dict; of accepted rows where the model abstains.

    Not that of new groups, whose rows are not independent.

    Examples
    --------
    >>> entry = {"status": "GUARANTEE", "quantity": "error", "value": 0.1}
    >>> guaranteed_error({"entries": [entry]}), guaranteed_error(None)
    (0.1, None)
    """
    values = [float(entry["value"]) for entry in _error_limits(certificate) if _can_be_watched(entry)]
    return min((value for value in values if 0 < value < 1), default=None)


def _error_limits(certificate: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    entries = [] if certificate is None else certificate["entries"]
    errors = ("error", "error among accepted rows")
    return [one for one in entries if one["status"] == "GUARANTEE" and one.get("quantity") in errors]


def _can_be_watched(entry: Mapping[str, Any]) -> bool:
    """Whether it is about rows as they come, one by one."""
    return entry.get("unit") != "groups" and entry.get("population", "") in AS_THEY_COME


_TITLES = {"error": "Evidence that the error rose", "shift": "Evidence that rows look different"}


def write_monitor_page(monitor: Monitor, found: Monitoring, title: str) -> None:
    """Write the page of a result as one file that needs no other."""
    assert found.page is not None
    state = monitor.state
    figures = [
        _evidence(kind, [point for point in state.path if point["kind"] == kind], state.alpha)
        for kind in _TITLES
        if any(point["kind"] == kind for point in state.path)
    ]
    limits = [point for point in state.path if "lower" in point]
    if limits and state.limit is not None:
        figures.append(_limits(limits, state.limit))
    values = {"title": title, "found": found, "look": found.look, "figures": figures}
    write_text(render_template("monitor.html", values, package="surewood.workflow"), found.page)


def _evidence(kind: str, points: list[dict[str, Any]], alpha: float) -> dict[str, Any]:
    rows = [point["rows"] for point in points]
    height = [max(-6.0, point["log_evidence"] / math.log(10.0)) for point in points]
    alarm = -math.log10(alpha)
    across = fitted_axis(rows, title="rows since the start", include=(0.0,))
    up = fitted_axis([*height, alarm], title="evidence, powers of 10")
    plot = Plot(across, up)
    plot.mark(y=alarm, color="warn", name="alarm")
    plot.line(rows, height, "leaf", name="evidence")
    plot.points(rows, height, "leaf", size=5, tips=[f"row {n:,}: 10^{h:.2f}" for n, h in zip(rows, height)])
    caption = f"Alarm at the dashed line, 1/{alpha:g} = {1 / alpha:.3g}. A path that falls is good news."
    alt = f"{_TITLES[kind]}: ends at 10 to the power of {height[-1]:.2f}, the alarm is at {alarm:.2f}"
    return charts.figure(_TITLES[kind], plot.render(), caption=caption, alt=alt)


def _limits(points: list[dict[str, Any]], limit: float) -> dict[str, Any]:
    rows = [point["rows"] for point in points]
    lower, upper = ([point[side] for point in points] for side in ("lower", "upper"))
    across = fitted_axis(rows, title="labeled rows since the start", include=(0.0,))
    up = fitted_axis([*upper, limit], "percent", "error", include=(0.0,), limits=(0.0, 1.0))
    plot = Plot(across, up)
    plot.band(rows, lower, upper, "peer-soft")
    for name, values in (("lower limit", lower), ("upper limit", upper)):
        plot.line(rows, values, "sky", name=name)
        told = [f"row {n:,}: {name} {100 * v:.2f} %" for n, v in zip(rows, values)]
        plot.points(rows, values, "sky", size=6, tips=told)
    plot.mark(y=limit, color="warn", name="watched")
    caption = "The true error lies between the limits at all times together; dashed: the error watched."
    alt = f"Limits of the error so far: {between_text(lower[-1], upper[-1])}"
    return charts.figure("Limits of the error so far", plot.render(), caption=caption, alt=alt)
