"""What a saved model is and does: `describe`, `explain` for one prediction, `importances` of its columns."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from surewood._text import memory_text
from surewood.base.contributions import BACKGROUND_ROWS
from surewood.base.describing import ExplainsInSteps, sample_rows, step, take_rows
from surewood.base.notebook import bars, framed
from surewood.base.wording import because_lines, percent, plural
from surewood.certify.model_parts import memory_of
from surewood.inspect.explaining import contributions, plain_cell
from surewood.inspect.importance import Importances, permutation_importances
from surewood.report.facts import model_facts
from surewood.report.words import number, seconds
from surewood.tables import plain
from surewood.tables.table_file import TableFile
from surewood.workflow.certifying import labelled_rows
from surewood.workflow.errors import WorkflowError
from surewood.workflow.folders import SavedModel, open_model
from surewood.workflow.labelled_table import Source, read_rows

_COLUMN_KINDS = {
    "number": "numeric",
    "boolean": "yes/no",
    "category": "categorical",
    "date": "date",
    "duration": "duration",
    "text": "free text",
}


@dataclass(frozen=True)
class Step:
    """A step of an explanation: a heading, and lines of text."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Explanation:
    """Result of :func:`explain`.

    Attributes
    ----------
    row : int
        Number of the row in its file.
    file : str
        Its file, where the table has several.
    unit : {"line", "row"}
        What that number counts.
    name : str
        The value of the identifier column, where there is one.
    prediction : label
    probabilities : dict of str to float, or None
    steps : tuple of Step
        The decision in words.
    details : dict
        The whole explanation, as the estimator's ``explain`` gives it.
    notes : tuple of str

    Examples
    --------
    >>> from surewood import workflow
    >>> probabilities = {"no": 0.2, "yes": 0.8}
    >>> told = workflow.Explanation(7, "yes", probabilities, steps=(), details={}, notes=())
    >>> told.row, told.prediction
    (7, 'yes')
    """

    row: int
    prediction: Any
    probabilities: Mapping[str, float] | None
    steps: tuple[Step, ...]
    details: Mapping[str, Any]
    notes: tuple[str, ...]
    unit: str = "row"
    name: str = ""
    file: str = ""

    def __repr__(self) -> str:
        lines = [f"{self.unit} {self.row}: {self.prediction}", *(self.steps[0].lines if self.steps else ())]
        return "\n".join(lines[:9] + (["..."] if len(lines) > 9 or len(self.steps) > 1 else []))

    def _repr_html_(self) -> str:
        """The explanation with the page's look, for notebooks."""
        parts = [f'<p class="verdict">Prediction: {escape(str(self.prediction))}</p>']
        if self.probabilities:
            top = sorted(self.probabilities.items(), key=lambda pair: -pair[1])[:8]
            parts.append(bars([(str(name), 0.0, p, "leaf", percent(p, 1)) for name, p in top]))
        for one in self.steps:
            lines = "".join(f"<p>{escape(line)}</p>" for line in one.lines)
            parts.append(f"<h4>{escape(one.title)}</h4>{lines}")
        parts += [f"<p class='soft'>{escape(note)}</p>" for note in self.notes]
        of_file = f"of {self.file}" if self.file else ""
        title = " ".join(filter(None, (self.unit.capitalize(), str(self.row), of_file, self.name)))
        return framed(title, "".join(parts))


def explain(model: str | Path | SavedModel, table: Source, row: int | str | None = None) -> Explanation:
    """Explain the prediction of one row of a table.

    Parameters
    ----------
    model : str, Path or SavedModel
        A model file, or the folder that :func:`fit` wrote.
    table : str, Path or list of them
        A table file, several with the same columns, or the name of a bundled data set.
    row : int or str, optional
        Which row, by its number in the file: its line in a text file, else from 1. The first by default. Of
        several files ``"june.csv:17"``.

    Returns
    -------
    Explanation
        The prediction and what led to it, step by step.

    Examples
    --------
    >>> from surewood import workflow
    >>> fitted = workflow.fit("iris", model="rcf", out="iris-model")
    >>> [step.title for step in workflow.explain("iris-model", "iris", row=3).steps][:2]
    ['Because', 'Votes']
    """
    saved = open_model(model)
    read = read_rows(table, saved.reading())
    place = _place(read, row)
    one = read.frame.iloc[[place]]
    number, (file, unit) = int(read.rows.numbers[place]), read.rows.place(place)
    file = file if read.rows.are_several else ""
    estimator, prepared = saved.estimator, saved.prepare(one)
    if callable(getattr(estimator, "explain", None)):
        takes_groups = "groups" in inspect.signature(estimator.explain).parameters
        groups = {"groups": saved.preparer.parts_} if takes_groups else {}
        details = dict(estimator.explain(prepared, **groups)[0])
    else:
        details = _plain_explanation(saved, prepared)
    if details.get("because") is None:
        details["because"] = _because(saved, prepared, read.frame, details["prediction"])
    if details["because"] is not None:
        _show_cells(details["because"], one)
    told = estimator.__explanation_steps__(details) if isinstance(estimator, ExplainsInSteps) else []
    if details["because"] is not None:
        told = [step("Because", because_lines(details["because"])), *told]
    steps = tuple(Step(one["title"], (*one["lines"], *_support_lines(saved, one["support"]))) for one in told)
    probabilities = details.get("probabilities")
    name = ", ".join(str(one[c].iloc[0]) for c in saved.preparer.plan_.identifiers if c in one.columns)
    notes = tuple(saved.notes_about(one))
    return Explanation(number, details["prediction"], probabilities, steps, details, notes, unit, name, file)


def _place(read: TableFile, row: int | str | None) -> int:
    """Position of a row, given by its number in the file, or by its file and its number there."""
    rows = read.rows
    if len(rows.numbers) == 0:
        raise WorkflowError(f"{read.origin} has no row to explain.")
    if row is None:
        return 0
    file, _, number = str(row).rpartition(":")
    if not number.isdecimal():
        raise WorkflowError(f"row={row}: write a number, or of several files for example june.csv:17.")
    origin, here = read.origin, np.arange(len(rows.numbers))
    if rows.are_several:
        files = rows.file_of_each()
        file = file if file in files else Path(file).name
        if file not in files:
            known = ", ".join(dict.fromkeys(files))
            raise WorkflowError(
                f"row={row}: there are several files; write for example {files[0]}:{number} ({known})."
            )
        origin, here = file, np.flatnonzero(np.asarray(files) == file)
    elif file:
        raise WorkflowError(f"row={row}: there is one file, so the number alone is enough.")
    own, unit = rows.numbers[here], rows.place(int(here[0]))[1]
    if int(number) not in own:
        raise WorkflowError(
            f"there is no row on line {number} of {origin}; "
            f"its {len(own):,} rows stand on lines {own[0]} to {own[-1]}."
            if unit == "line"
            else f"there is no row {number}; {origin} has {len(own):,} rows."
        )
    return int(here[np.flatnonzero(own == int(number))[0]])


def _show_cells(because: Mapping[str, Any], row: pd.DataFrame) -> None:
    """Put what stands in the user's table in the place of what the estimator sees."""
    for one in because["columns"]:
        if one["column"] in row.columns:
            one["value"] = plain_cell(row[one["column"]].iloc[0])


def _because(saved: SavedModel, prepared: Any, frame: pd.DataFrame, label: Any) -> dict[str, Any] | None:
    """Contributions of a model that keeps no rows to compare with: the table itself is compared with."""
    if len(frame) < 2 or not hasattr(saved.estimator, "predict_proba"):
        return None
    background = saved.prepare(take_rows(frame, sample_rows(len(frame), BACKGROUND_ROWS)))
    groups = saved.preparer.parts_
    return contributions(saved.estimator, prepared, background, groups=groups).because(0, label)


def _plain_explanation(saved: SavedModel, prepared: Any) -> dict[str, Any]:
    """Prediction and probabilities of a model that explains no more than these."""
    values = saved.estimator.predict_proba(prepared)[0]
    return {
        "prediction": plain(saved.classes[int(values.argmax())]),
        "probabilities": {str(label): float(value) for label, value in zip(saved.classes, values)},
    }


def _support_lines(saved: SavedModel, support: list[Mapping[str, Any]]) -> list[str]:
    """Training rows that an SVM remembers, named as their table numbers them."""
    lines = []
    for point in support:
        row = point.get("row")
        name = "a training row" if row is None else saved.row_name(int(row))
        lines.append(f"{name}: {point['label']}, at distance {point['distance']:.3g}")
    return lines


def describe(model: str | Path | SavedModel) -> dict[str, str]:
    """A saved model as a whole: kind, training table, columns, holdout error, key figures, file.

    Parameters
    ----------
    model : str, Path or SavedModel
        A model file, or the folder that :func:`fit` wrote.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> from surewood import workflow
    >>> fitted = workflow.fit("wine", model="rcf", parameters={"n_estimators": 5}, out="wine-model")
    >>> workflow.describe("wine-model")["trained on"]
    "142 rows of wine, target 'target'"
    """
    saved = open_model(model)
    facts = saved.facts
    told = model_facts(saved.estimator)
    about = {
        "model": str(saved.path),
        "kind": str(facts.get("title", told["title"])),
        "trained on": _trained_on(facts),
        "classes": _classes(saved),
        "columns": _columns(saved),
    }
    if facts.get("holdout"):
        of = " of the most probable class" if facts["holdout"].get("has_rule") else ""
        error = percent(facts["holdout"]["error"])
        about["holdout"] = f"error{of} {error} on {plural(facts['holdout']['rows'], 'row')} (ESTIMATE)"
    for figure in told["figures"]:
        word = f" ({figure['word']})" if figure["word"] else ""
        about[figure["label"]] = f"{_figure_text(figure)}{word}"
    if "seconds" in facts:
        about["fitted"] = f"in {seconds(facts['seconds'])}, seed {facts['seed']}, {facts['created']}"
    size = memory_text(saved.path.stat().st_size)
    about["file"] = f"{size}, format {saved.card['format']}, surewood {saved.card['surewood']}"
    return about


def _figure_text(figure: Mapping[str, Any]) -> str:
    if figure["style"] == "percent":
        return percent(figure["value"], figure["digits"])
    return number(figure["value"])


def _trained_on(facts: Mapping[str, Any]) -> str:
    if "rows" not in facts:
        return ""
    return f"{plural(facts['rows'], 'row')} of {facts['table']}, target {facts['target']!r}"


def _classes(saved: SavedModel) -> str:
    labels = [str(label) for label in saved.classes]
    shown = ", ".join(labels[:8])
    return f"{shown}, ... ({len(labels)} in all)" if len(labels) > 8 else shown


def _columns(saved: SavedModel) -> str:
    kinds = [rule["kind"] for rule in saved.preparer.columns_.values()]
    counted = [f"{kinds.count(kind)} {word}" for kind, word in _COLUMN_KINDS.items() if kind in kinds]
    dropped = len(saved.preparer.dropped_)
    return ", ".join(counted) + (f"; {dropped} not used" if dropped else "")


MOST_ROWS = 1000
_ENOUGH_NEW_ROWS = 20


@dataclass(frozen=True, repr=False)
class ColumnImportances:
    """Result of :func:`importances`.

    Attributes
    ----------
    importances : Importances
        How much worse the predictions get when a column is shuffled.
    table : str
        Name of the table.
    n_rows : int
        Rows that were used.
    notes : tuple of str

    Examples
    --------
    >>> found = Importances(["age"], np.array([0.2]), np.array([0.1]), np.array([0.3]), "log_loss", 0.4, 0.95)
    >>> ColumnImportances(found, "churn.csv", 100, ()).n_rows
    100
    """

    importances: Importances
    table: str
    n_rows: int
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        columns = repr(self.importances).splitlines()
        shown = columns[:8] + (["..."] if len(columns) > 8 else [])
        return "\n".join([f"{self.table}: {self.n_rows:,} rows", *shown])


def importances(
    model: str | Path | SavedModel,
    table: Source,
    target: str | None = None,
    *,
    metric: str = "log_loss",
    n_repeats: int = 5,
    max_rows: int = MOST_ROWS,
) -> ColumnImportances:
    """Permutation importances of the columns of a labeled table, with intervals (ESTIMATE).

    Rows that the model was trained with are left out where enough others remain.

    Parameters
    ----------
    model : str, Path or SavedModel
        A model file, or the folder that :func:`fit` wrote.
    table : str, Path or list of them
        A table file, several of one shape, or the name of a bundled data set.
    target : str, optional
        The column of the classes; by default the one the model was trained with.
    metric : {"log_loss", "brier", "error"}, default="log_loss"
        What gets worse when a column is shuffled.
    n_repeats : int, default=5
        Shuffles per column.
    max_rows : int, default=1000
        More rows are sampled.

    Returns
    -------
    ColumnImportances
        Named as the table names its columns.

    Examples
    --------
    >>> from surewood import workflow
    >>> fitted = workflow.fit("iris", model="rcf", out="iris-model")
    >>> found = workflow.importances("iris-model", "iris").importances
    >>> found.frame()["column"].iloc[0].startswith("petal")
    True
    """
    saved = open_model(model)
    labelled = labelled_rows(saved, table, target)
    X, y_all = labelled.rows.X, labelled.rows.y
    notes = [*labelled.notes, *saved.notes_about(X)]
    rows = np.flatnonzero(y_all.isin(saved.classes.tolist()))
    if len(rows) < len(y_all):
        missing = plural(len(y_all) - len(rows), "row")
        notes.append(f"{missing} of other classes than the model's left out.")
    prepared = saved.prepare(take_rows(X, rows))
    memory = memory_of(saved.estimator)
    new = rows if memory is None else rows[~memory.contains(prepared)]
    if len(new) >= min(_ENOUGH_NEW_ROWS, len(rows)):
        if len(new) < len(rows):
            notes.append(f"{plural(len(rows) - len(new), 'row')} equal to training rows left out.")
        rows = new
    else:
        notes.append(
            f"{plural(len(rows) - len(new), 'row')} of {len(rows):,} equal to training rows: on these, "
            "columns look more important than they are for new rows."
        )
    rows = rows[sample_rows(len(rows), max_rows)]
    y = saved.classes[[saved.classes.tolist().index(label) for label in y_all.iloc[rows].tolist()]]
    try:
        found = permutation_importances(saved, take_rows(X, rows), y, n_repeats, metric)
    except ValueError as error:
        raise WorkflowError(str(error)) from error
    return ColumnImportances(found, labelled.name, len(rows), tuple(notes))
