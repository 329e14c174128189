"""Classes, and probabilities if wanted, of the rows of a table: `predict`.

`Answer` is what is reported about each row. A table that is larger than memory goes batch by batch from file
to file (:func:`predict_to_parquet`).

Spreadsheet programs run a cell of a CSV file that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, and
a formula can send data elsewhere or start programs. A table from a stranger can hold such cells; `write_csv`
can put a quote before them, which makes them text.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surewood.certify import PredictionSets
from surewood.certify.deciding import DecidingClassifier
from surewood.certify.prediction_sets import tie_breakers
from surewood.parallel.progress import stage
from surewood.persistence.leftovers import partial
from surewood.tables import ParquetTable, as_parquet, plain
from surewood.workflow.columns import names_of
from surewood.workflow.errors import WorkflowError
from surewood.workflow.folders import SavedModel, check_file, open_model
from surewood.workflow.holdout_scores import kept_sets
from surewood.workflow.labelled_table import Source, collecting, is_large, parquet_writer, read_rows
from surewood.workflow.training import predict_in_blocks

DECIMALS = 6  # of probabilities in text
PROBABILITY = "probability"  # of the predicted class


@dataclass(frozen=True, repr=False)
class Prediction:
    """Result of :func:`predict`.

    Attributes
    ----------
    n_rows : int
        Number of rows of the table.
    classes : ndarray
        The labels of the model.
    frame : DataFrame or None
        The line of each row where the file has lines, identifiers and columns to keep, ``prediction``, its
        ``probability`` and, if wanted, ``probability of LABEL`` for each class; None where the table was
        streamed from file to file.
    notes : tuple of str
        What the user should know about the table.
    file : Path or None
        The file that was written.

    Examples
    --------
    >>> import pandas as pd
    >>> from surewood import workflow
    >>> frame = pd.DataFrame({"prediction": ["yes", "no", "yes"]})
    >>> workflow.Prediction(3, classes=["no", "yes"], frame=frame, notes=(), file=None).counts
    {'yes': 2, 'no': 1}
    """

    n_rows: int
    classes: NDArray[Any]
    frame: pd.DataFrame | None
    notes: tuple[str, ...]
    file: Path | None

    def __repr__(self) -> str:
        counts = [f"{label} {count:,}" for label, count in self.counts.items()]
        shown = ", ".join([*counts[:8], *(["..."] if len(counts) > 8 else [])])
        where = ".frame" if self.file is None else str(self.file)
        lines = [f"{self.n_rows:,} predictions in {where}" + (f": {shown}" if shown else "")]
        return "\n".join([*lines, *self.notes[:8]])

    @property
    def counts(self) -> Mapping[str, int]:
        """Rows predicted as each class, most first; empty for a streamed table."""
        if self.frame is None:
            return {}
        return {str(label): int(n) for label, n in self.frame["prediction"].value_counts().items()}


def predict(
    model: str | Path | SavedModel,
    table: Source,
    *,
    proba: bool = False,
    coverage: float | None = None,
    sets_guarantee: str = "pac",
    sets_by: str | None = None,
    sets_score: str = "threshold",
    keep: str | Sequence[str] = (),
    out: str | Path | None = None,
    safe_csv: bool = False,
    header_line: int | None = None,
    sheet: str | None = None,
    verbose: int = 0,
) -> Prediction:
    """Predict the class of every row of a table, in the order of the rows.

    Columns are found by name; additional ones are ignored, with a note.

    Parameters
    ----------
    model : str, Path or SavedModel
        A model file, or the folder that :func:`fit` wrote.
    table : str, Path or list of them
        A table file, several with the same columns, a folder of Parquet files, or a bundled data set.
        Large Parquet tables are streamed; they need `out`.
    proba : bool, default=False
        Also give a column ``probability of LABEL`` for each class.
    coverage : float, optional
        Also give a column ``set`` with all labels that may be true, separated by "|": for at least this
        fraction of new rows the true one is among them. The notes say what is guaranteed.
    sets_guarantee : {"pac", "marginal"}
        ``"pac"``: with probability 0.95 over the holdout of the fit. ``"marginal"``: on average over
        holdouts; smaller sets.
    sets_by : {None, "class"}
        Whether the coverage is kept within each class.
    sets_score : {"threshold", "adaptive"}
        As in :class:`~surewood.certify.PredictionSets`.
    keep : str or list of str
        Columns of the table to put beside the predictions, or "all"; columns that training recognized as
        identifiers always are.
    out : str or Path, optional
        A .csv or .parquet file to write, all or nothing.
    safe_csv : bool, default=False
        In a .csv file, put a quote before text and names that a spreadsheet would run as a formula.
    header_line, sheet
        As in :func:`fit`; by default what the fit was given.
    verbose : int, default=0
        1: progress on standard error, for rows in blocks or batches.

    Returns
    -------
    Prediction
        The predictions as a frame, and the file where one was written.

    Examples
    --------
    >>> from surewood import workflow
    >>> fitted = workflow.fit("iris", model="rcf", out="iris-model")
    >>> workflow.predict("iris-model", "iris", proba=True).frame.shape
    (150, 5)
    """
    path = None if out is None else Path(out)
    if path is not None:
        check_file(path, (".csv", ".parquet"))
    kept = names_of(keep)
    if isinstance(table, str | Path) and is_large(str(table)):
        source = str(table)
        if path is None or path.suffix.lower() != ".parquet":
            raise WorkflowError(f"{source} is predicted batch by batch into a file: add out=NAME.parquet.")
        answer = Answer.of(open_model(model), proba, coverage, sets_guarantee, sets_by, sets_score)
        return _predict_streamed(answer, source, path, kept, verbose)
    saved = open_model(model)
    reading_notes: list[str] = []
    with collecting(reading_notes):
        read = read_rows(table, saved.reading(header_line, sheet))
    answer = Answer.of(saved, proba, coverage, sets_guarantee, sets_by, sets_score)
    found = predicted_frame(answer, read.frame, kept, verbose)
    rows, unit = read.rows, "line" if {*read.rows.units} == {"line"} else "row"
    if rows.are_several:
        if not {"file", "line", "row"} & {*found.columns}:
            found.insert(0, unit, rows.numbers)
            found.insert(0, "file", rows.file_of_each())
    elif read.numbered and unit not in found.columns:
        found.insert(0, unit, rows.numbers)
    if path is not None:
        write_table(found, path, safe_csv)
    notes = (*answer.notes, *reading_notes, *saved.notes_about(read.frame))
    return Prediction(len(found), saved.classes, found, notes, path)


@dataclass(frozen=True)
class Answer:
    """What is reported about each row."""

    saved: SavedModel
    #: Whether probabilities are wanted.
    proba: bool = False
    #: What makes sets of labels; None: none are wanted.
    sets: PredictionSets | None = None

    @classmethod
    def of(cls, saved: SavedModel, proba: bool, coverage: float | None, *options: Any) -> Answer:
        """What is wanted, with sets of this coverage; `options` are those of `kept_sets`."""
        sets = None if coverage is None else kept_sets(saved.estimator, saved.facts, coverage, *options)
        return cls(saved, proba, sets)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is guaranteed about the sets, and which of their parts had too few rows."""
        return () if self.sets is None else (self.sets.statement_, *self.sets.notes_)

    def about(self, frame: pd.DataFrame, verbose: int = 0) -> pd.DataFrame:
        """Decisions, then sets and probabilities if wanted."""
        saved = self.saved
        prepared = saved.prepare(frame)
        probabilities = predict_in_blocks(saved.estimator, prepared, verbose)
        decider = saved.decider
        decided = (
            decider.decide(probabilities)
            if isinstance(decider, DecidingClassifier)
            else saved.classes[probabilities.argmax(axis=1)]
        )
        places = {label: k for k, label in enumerate(saved.classes.tolist())}
        chosen = np.array([places.get(label, -1) for label in np.asarray(decided).tolist()], dtype=np.intp)
        own = np.where(chosen < 0, np.nan, probabilities[np.arange(len(chosen)), chosen])
        parts = [pd.DataFrame({"prediction": decided, PROBABILITY: own})]
        if self.sets is not None:
            names, ties = saved.classes.astype(str), tie_breakers(prepared, self.sets.score)
            inside = self.sets.sets_from(probabilities, ties, self.sets.thresholds_[None, :])
            parts.append(pd.DataFrame({"set": ["|".join(names[row]) for row in inside]}))
        if self.proba:
            named = [probability_column(label) for label in saved.classes]
            parts.append(pd.DataFrame(probabilities, columns=named))
        return pd.concat(parts, axis=1)


def predicted_frame(
    answer: Answer, frame: pd.DataFrame, keep: Sequence[str] = (), verbose: int = 0
) -> pd.DataFrame:
    """Answers about a frame beside its identifiers and the columns to keep."""
    identifiers = [name for name in answer.saved.preparer.plan_.naming if name in frame.columns]
    if list(keep) == ["all"] and "all" not in frame.columns:
        identifiers, keep = [], list(frame.columns)
    absent = [name for name in keep if name not in frame.columns]
    if absent:
        raise WorkflowError(f"keep={absent[0]}: the table has no such column.")
    kept = frame[list(dict.fromkeys([*identifiers, *keep]))].reset_index(drop=True)
    answers = answer.about(frame, verbose)
    return pd.concat([kept.drop(columns=answers.columns, errors="ignore"), answers], axis=1)


def _predict_streamed(
    answer: Answer, source: str, out: Path, keep: Sequence[str], verbose: int
) -> Prediction:
    """Predict a streamed table into a Parquet file, all or nothing."""
    opened, saved = ParquetTable(source).open(), answer.saved
    notes, n_rows = list(answer.notes), 0
    out.parent.mkdir(parents=True, exist_ok=True)
    with stage(verbose, "predicting", opened.n_rows) as advance, parquet_writer(out) as write:
        for _, _, rows in opened.batches():
            frame = rows.table.to_pandas()
            write(pa.Table.from_pandas(predicted_frame(answer, frame, keep), preserve_index=False))
            notes += saved.notes_about(frame) if n_rows == 0 else []
            n_rows += len(frame)
            advance(len(frame))
        if not n_rows:
            raise WorkflowError(f"{source} has no row to predict.")
    return Prediction(n_rows, saved.classes, None, tuple(notes), out)


def write_table(frame: pd.DataFrame, path: Path, safe_csv: bool = False) -> None:
    """Write a CSV or Parquet file, with its folder, all or nothing; `safe_csv`: without formulas."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with partial(path) as unfinished:
        if path.suffix.lower() == ".parquet":
            frame.to_parquet(unfinished, index=False)
        else:
            write_csv(rounded(frame), unfinished, safe_csv)
        os.replace(unfinished, path)


def rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Predictions with as many decimals of probabilities as are worth writing."""
    named = [name for name in frame.columns if str(name).startswith(probability_column(""))]
    named += [PROBABILITY] if PROBABILITY in frame.columns else []
    return frame.round(dict.fromkeys(named, DECIMALS))


def records(prediction: Prediction) -> list[dict[str, Any]]:
    """Predictions as plain values, one dictionary per row."""
    if prediction.frame is None:
        return []
    named = [probability_column(label) for label in prediction.classes]
    has_probabilities = set(named) <= set(prediction.frame.columns)
    others = prediction.frame.drop(columns=named) if has_probabilities else prediction.frame
    rows: list[dict[str, Any]] = [plain(row) for row in rounded(others).to_dict("records")]
    if has_probabilities:
        for row, values in zip(rows, prediction.frame[named].to_numpy().tolist()):
            row["probabilities"] = {
                str(label): round(value, DECIMALS) for label, value in zip(prediction.classes, values)
            }
    return rows


def predict_to_parquet(
    model: Any, path: Any, out: str | Path, *, proba: bool = False, keep: Sequence[str] = ()
) -> int:
    """Predict the rows of a Parquet data set and write the predictions to a Parquet file, in their order.

    Parameters
    ----------
    model : fitted classifier
        Trained on a table with column names; the file may have more columns.
    path : str, Path or ParquetTable
        One file, a folder of parts, or a :class:`~surewood.ParquetTable`.
    out : str or Path
        The file to write. It appears when all rows are predicted, and not before.
    proba : bool, default=False
        Also write a column ``probability of <label>`` for each class.
    keep : list of str, optional
        Columns to copy from the input, such as an identifier.

    Returns
    -------
    int
        Number of rows written.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> from surewood import BinnedForestClassifier
    >>> folder = tempfile.TemporaryDirectory()
    >>> data, out = folder.name + "/data.parquet", folder.name + "/out.parquet"
    >>> pd.DataFrame({"id": [7, 8], "x": [1.0, 2.0], "y": ["a", "b"]}).to_parquet(data)
    >>> model = BinnedForestClassifier(5, study={"bootstrap": False})
    >>> model = model.fit(pd.DataFrame({"x": [1.0, 2.0]}), ["a", "b"])
    >>> predict_to_parquet(model, data, out, keep=["id"])
    2
    >>> pd.read_parquet(out).to_dict("list")
    {'id': [7, 8], 'prediction': ['a', 'b']}
    >>> folder.cleanup()
    """
    check_is_fitted(model)
    parquet = as_parquet(path)
    if parquet is None:
        raise ValueError(f"path must be a Parquet file or a ParquetTable, got {type(path).__name__}.")
    features = _features(model)
    opened = ParquetTable(parquet.path, selection=parquet.selection).open(
        columns=[*features, *(name for name in keep if name not in features)]
    )
    out = Path(out)
    if any(out.exists() and out.samefile(part) for part in opened.paths):
        raise ValueError(f"{out} is one of the files to predict; name another one.")
    n_rows = 0
    with parquet_writer(out) as write:
        for _, _, source in opened.batches():
            write(_predicted(model, source.table, features, list(keep), proba))
            n_rows += len(source.table)
        if not n_rows:
            raise ValueError(f"{parquet.path} has no row to predict.")
    return n_rows


def probability_column(label: Any) -> str:
    """Name of the column with the probability of a class.

    Examples
    --------
    >>> probability_column("yes")
    'probability of yes'
    """
    return f"probability of {label}"


def _features(model: Any) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            "the model was trained without column names, which a Parquet file is read by; "
            "train it on a frame or on a Parquet file."
        )
    return [str(name) for name in names]


def _predicted(model: Any, rows: pa.Table, features: list[str], keep: list[str], proba: bool) -> pa.Table:
    """The kept columns and the predictions of some rows."""
    X = rows.select(features)
    if not hasattr(model, "schema_"):  # a pipeline, or another library's model
        X = X.to_pandas()
    columns: dict[str, Any] = {name: rows.column(name) for name in keep}
    values: NDArray[np.float64] | None = model.predict_proba(X) if proba else None
    labels = model.predict(X) if values is None else np.asarray(model.classes_)[values.argmax(axis=1)]
    columns["prediction"] = pa.array(labels)
    if values is not None:
        for k, label in enumerate(np.asarray(model.classes_).tolist()):
            columns[probability_column(label)] = pa.array(np.ascontiguousarray(values[:, k]))
    return pa.table(columns)


_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe_cell(value: Any) -> Any:
    """The value; a text that would be a formula with a quote before it.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("yes"), safe_cell(-1.5)
    ("'=1+1", 'yes', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_BEGINS_FORMULA) else value


def safe_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A table whose texts and names are no formulas; numbers and dates stay what they are."""
    safe = frame.copy(deep=False)
    for place, dtype in enumerate(frame.dtypes):
        if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_datetime64_any_dtype(dtype):
            continue
        safe.isetitem(place, frame.iloc[:, place].astype(object).map(safe_cell).array)
    safe.columns = pd.Index([safe_cell(name) for name in frame.columns])
    return safe


def write_csv(frame: pd.DataFrame, path: Path | None = None, safe: bool = False) -> str:
    """Write a table as CSV, without formulas if `safe`; without a path it is returned as a text.

    Python's writer leaves a text with a carriage return unquoted, and readers begin a new row there, with
    whatever follows as its first cell. Where there is such a text, all texts are quoted.

    Examples
    --------
    >>> write_csv(pd.DataFrame({"a": ["x"], "b": ["=1+1"]}), safe=True).split()
    ['a,b', "x,'=1+1"]
    """
    shown = safe_frame(frame) if safe else frame
    texts = [
        shown.iloc[:, k] for k, dtype in enumerate(shown.dtypes) if not pd.api.types.is_numeric_dtype(dtype)
    ]
    cells = (cell for column in (shown.columns, *texts) for cell in column)
    broken = any("\r" in cell for cell in cells if isinstance(cell, str))
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if broken else csv.QUOTE_MINIMAL
    if path is None:
        return shown.to_csv(index=False, lineterminator="\n", quoting=quoting)
    shown.to_csv(path, index=False, quoting=quoting)
    return ""
