"""Predictions from one Parquet file into another, batch by batch: neither is ever held in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surewood.persistence.leftovers import partial
from surewood.tables import ParquetTable, as_parquet

if TYPE_CHECKING:
    import pandas as pd


def predict_to_parquet(
    model: Any, path: Any, out: str | Path, *, proba: bool = False, keep: Sequence[str] = ()
) -> int:
    """Predict the rows of a Parquet data set and write the predictions to a Parquet file, in their order.

    Parameters
    ----------
    model : fitted classifier
        Trained on a table with column names; the file may have more columns.
    path : str, Path or ParquetTable
        One file, a folder of parts, or a :class:`~surewood.tables.ParquetTable`.
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
    >>> model = BinnedForestClassifier(5, bootstrap=False).fit(pd.DataFrame({"x": [1.0, 2.0]}), ["a", "b"])
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
    with ParquetSink(out) as sink:
        for _, _, source in opened.batches():
            sink.write(_predicted(model, source.table, features, list(keep), proba))
        if not sink.n_rows:
            raise ValueError(f"{parquet.path} has no row to predict.")
    return sink.n_rows


def probability_column(label: Any) -> str:
    """Name of the column with the probability of a class.

    Examples
    --------
    >>> probability_column("yes")
    'probability of yes'
    """
    return f"probability of {label}"


class ParquetSink:
    """A Parquet file written batch by batch, all or nothing: it appears when the block ends without an error.

    Attributes
    ----------
    n_rows : int
        Rows written so far.
    """

    def __init__(self, out: Path) -> None:
        self.out, self.n_rows = out, 0
        self._writer: Any = None

    def __enter__(self) -> Self:
        self._unfinished = partial(self.out)
        self._path = self._unfinished.__enter__()
        return self

    def write(self, rows: pa.Table) -> None:
        """Append rows; the first ones decide the column types."""
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, rows.schema)
        self._writer.write_table(rows.cast(self._writer.schema))
        self.n_rows += len(rows)

    def write_frame(self, rows: pd.DataFrame) -> None:
        """Append the rows of a frame."""
        self.write(pa.Table.from_pandas(rows, preserve_index=False))

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        try:
            if self._writer is not None:
                self._writer.close()
                if kind is None:
                    os.replace(self._path, self.out)
        finally:
            self._unfinished.__exit__(None, None, None)


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
