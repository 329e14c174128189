"""Classes, and probabilities if wanted, of the rows of a table: `predict`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from surewood.certify import PredictionSets
from surewood.certify.deciding import DecidingClassifier
from surewood.certify.set_scores import tie_breakers
from surewood.parallel.progress import stage
from surewood.persistence.leftovers import partial
from surewood.tables import ParquetTable, plain
from surewood.workflow.column_options import names_of
from surewood.workflow.errors import WorkflowError
from surewood.workflow.holdout_scores import kept_sets
from surewood.workflow.labelled_table import Source, read_rows
from surewood.workflow.large_table import is_large
from surewood.workflow.model_folder import SavedModel, open_model
from surewood.workflow.output_place import check_file
from surewood.workflow.parquet_prediction import ParquetSink, probability_column
from surewood.workflow.spreadsheet import write_csv
from surewood.workflow.training import predict_in_blocks

DECIMALS = 6  # of probabilities in text


@dataclass(frozen=True)
class Prediction:
    """Result of :func:`predict`.

    Attributes
    ----------
    n_rows : int
        Number of rows of the table.
    classes : ndarray
        The labels of the model.
    frame : DataFrame or None
        The line of each row where the file has lines, identifiers and columns to keep, ``prediction`` and,
        if wanted, ``probability of LABEL`` for each class; None where the table was streamed from file to
        file.
    notes : tuple of str
        What the owner of the table should know.
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
    sets: float | None = None,
    sets_guarantee: str = "pac",
    sets_by: str | None = None,
    sets_score: str = "threshold",
    keep: str | Sequence[str] = (),
    out: str | Path | None = None,
    safe_csv: bool = False,
    verbose: int = 0,
) -> Prediction:
    """Predict the class of every row of a table, in the order of the rows.

    Columns are found by name; additional ones are ignored, with a note.

    Parameters
    ----------
    model : str, Path or SavedModel
        A model file, or the folder that :func:`fit` wrote.
    table : str, Path or list of them
        A table file, several with the same columns, a folder of Parquet files, or a built-in data set.
        Large Parquet tables are streamed; they need `out`.
    proba : bool, default=False
        Also give a column ``probability of LABEL`` for each class.
    sets : float, optional
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
        Columns of the table to put beside the predictions; identifiers of the model always are.
    out : str or Path, optional
        A .csv or .parquet file to write, all or nothing.
    safe_csv : bool, default=False
        In a .csv file, put a quote before text and names that a spreadsheet would run as a formula.
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
    (150, 4)
    """
    path = None if out is None else Path(out)
    if path is not None:
        check_file(path, (".csv", ".parquet"))
    kept = names_of(keep)
    if isinstance(table, str | Path) and is_large(str(table)):
        source = str(table)
        if path is None or path.suffix.lower() != ".parquet":
            raise WorkflowError(f"{source} is predicted batch by batch into a file: add out=NAME.parquet.")
        answer = Answer.of(open_model(model), proba, sets, sets_guarantee, sets_by, sets_score)
        return _predict_streamed(answer, source, path, kept, verbose)
    saved = open_model(model)
    read = read_rows(table, saved.text_columns)
    answer = Answer.of(saved, proba, sets, sets_guarantee, sets_by, sets_score)
    found = predicted_frame(answer, read.frame, kept, verbose)
    if read.numbered and read.unit not in found.columns:
        found.insert(0, read.unit, read.row_numbers)
    if read.files is not None and not {"file", "line", "row"} & {*found.columns}:
        found.insert(0, "line" if {*read.files.units} == {"line"} else "row", read.files.numbers)
        found.insert(0, "file", read.files.file_of_each())
    if path is not None:
        write_table(found, path, safe_csv)
    notes = (*answer.notes, *saved.notes_about(read.frame))
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
        parts = [pd.DataFrame({"prediction": decided})]
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
    identifiers = [name for name in answer.saved.preparer.plan_.identifiers if name in frame.columns]
    absent = [name for name in keep if name not in frame.columns]
    if absent:
        raise WorkflowError(f"keep={absent[0]}: the table has no such column.")
    kept = frame[list(dict.fromkeys([*identifiers, *keep]))].reset_index(drop=True)
    return pd.concat([kept, answer.about(frame, verbose)], axis=1)


def _predict_streamed(
    answer: Answer, source: str, out: Path, keep: Sequence[str], verbose: int
) -> Prediction:
    """Predict a streamed table into a Parquet file, all or nothing."""
    opened, saved = ParquetTable(source).open(), answer.saved
    notes: list[str] | None = None
    out.parent.mkdir(parents=True, exist_ok=True)
    with stage(verbose, "predicting", opened.n_rows) as advance, ParquetSink(out) as sink:
        for _, _, rows in opened.batches():
            frame = rows.table.to_pandas()
            sink.write_frame(predicted_frame(answer, frame, keep))
            if notes is None:
                notes = saved.notes_about(frame)
            advance(len(frame))
    if not sink.n_rows:
        raise WorkflowError(f"{source} has no row to predict.")
    return Prediction(sink.n_rows, saved.classes, None, (*answer.notes, *(notes or ())), out)


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
    return frame.round(dict.fromkeys(named, DECIMALS))


def records(prediction: Prediction) -> list[dict[str, Any]]:
    """Predictions as plain values, one dictionary per row."""
    if prediction.frame is None:
        return []
    named = [probability_column(label) for label in prediction.classes]
    has_probabilities = set(named) <= set(prediction.frame.columns)
    others = prediction.frame.drop(columns=named) if has_probabilities else prediction.frame
    rows: list[dict[str, Any]] = [plain(row) for row in others.to_dict("records")]
    if has_probabilities:
        for row, values in zip(rows, prediction.frame[named].to_numpy().tolist()):
            row["probabilities"] = {
                str(label): round(value, DECIMALS) for label, value in zip(prediction.classes, values)
            }
    return rows
