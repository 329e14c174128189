"""Classes, and probabilities if wanted, of the rows of a table: `predict`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from surewood.parallel.progress import stage
from surewood.tables import ParquetTable, plain
from surewood.workflow.errors import WorkflowError
from surewood.workflow.labelled_table import read_rows
from surewood.workflow.large_table import is_large
from surewood.workflow.model_folder import SavedModel, open_model
from surewood.workflow.output_place import check_file
from surewood.workflow.parquet_prediction import ParquetSink, probability_column
from surewood.workflow.training import predict_in_blocks


@dataclass(frozen=True)
class Prediction:
    """Result of :func:`predict`.

    Attributes
    ----------
    n_rows : int
    classes : ndarray
        The labels of the model.
    frame : DataFrame or None
        Column ``prediction`` and, if wanted, ``probability of LABEL`` for each class; None where the table
        was streamed from file to file.
    notes : tuple of str
        What the owner of the table should know.
    file : Path or None
        The file that was written.
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
    table: str | Path,
    *,
    proba: bool = False,
    out: str | Path | None = None,
    verbose: int = 0,
) -> Prediction:
    """Predict the class of every row of a table, in the order of the rows.

    Columns are found by name; additional ones are ignored, with a note.

    Parameters
    ----------
    model : str, Path or SavedModel
        A model file, or the folder that :func:`fit` wrote.
    table : str or Path
        A CSV or Parquet file, a folder of Parquet files, or the name of a built-in data set. Large Parquet
        tables are streamed; they need `out`.
    proba : bool, default=False
        Also give a column ``probability of LABEL`` for each class.
    out : str or Path, optional
        A .csv or .parquet file to write, all or nothing.
    verbose : int, default=0

    Returns
    -------
    Prediction

    Examples
    --------
    >>> import tempfile
    >>> from surewood import workflow
    >>> folder = tempfile.TemporaryDirectory()
    >>> small = {"n_estimators": 5, "max_layers": 1}
    >>> fitted = workflow.fit("iris", model="mddf", parameters=small, n_jobs=1, out=folder.name)
    >>> workflow.predict(folder.name, "iris", proba=True).frame.shape
    (150, 4)
    >>> folder.cleanup()
    """
    path = None if out is None else Path(out)
    if path is not None:
        check_file(path, (".csv", ".parquet"))
    source = str(table)
    if is_large(source):
        if path is None or path.suffix.lower() != ".parquet":
            raise WorkflowError(f"{source} is predicted batch by batch into a file: add out=NAME.parquet.")
        return _predict_streamed(open_model(model), source, path, proba, verbose)
    saved = open_model(model)
    frame = read_rows(source)
    found = predicted_frame(saved, frame, proba, verbose)
    if path is not None:
        write_table(found, path)
    return Prediction(len(found), saved.classes, found, tuple(saved.notes_about(frame)), path)


def predicted_frame(saved: SavedModel, frame: pd.DataFrame, proba: bool, verbose: int = 0) -> pd.DataFrame:
    """Predictions of a frame, and probabilities if wanted."""
    probabilities = predict_in_blocks(saved.estimator, saved.prepare(frame), verbose)
    found = pd.DataFrame({"prediction": saved.classes[probabilities.argmax(axis=1)]})
    if not proba:
        return found
    named = [probability_column(label) for label in saved.classes]
    return pd.concat([found, pd.DataFrame(probabilities, columns=named)], axis=1)


def _predict_streamed(saved: SavedModel, source: str, out: Path, proba: bool, verbose: int) -> Prediction:
    """Predict a streamed table into a Parquet file, all or nothing."""
    opened = ParquetTable(source).open()
    notes: list[str] | None = None
    out.parent.mkdir(parents=True, exist_ok=True)
    with stage(verbose, "predicting", opened.n_rows) as advance, ParquetSink(out) as sink:
        for _, _, rows in opened.batches():
            frame = rows.table.to_pandas()
            sink.write_frame(predicted_frame(saved, frame, proba))
            if notes is None:
                notes = saved.notes_about(frame)
            advance(len(frame))
    if not sink.n_rows:
        raise WorkflowError(f"{source} has no row to predict.")
    return Prediction(sink.n_rows, saved.classes, None, tuple(notes or ()), out)


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a CSV or Parquet file, with its folder, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.suffix.lower() == ".parquet":
            frame.to_parquet(partial, index=False)
        else:
            frame.to_csv(partial, index=False)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def records(prediction: Prediction) -> list[dict[str, Any]]:
    """Predictions as plain values, one dictionary per row."""
    if prediction.frame is None:
        return []
    rows: list[dict[str, Any]] = [{"prediction": plain(label)} for label in prediction.frame["prediction"]]
    if prediction.frame.shape[1] > 1:
        for row, values in zip(rows, prediction.frame.iloc[:, 1:].to_numpy().tolist()):
            row["probabilities"] = {str(label): value for label, value in zip(prediction.classes, values)}
    return rows
