"""``load``: a table of one's own, or one that comes with scikit-learn, ready for an estimator."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.tables.planning.column_plan import is_text, read_column
from surewood.tables.planning.labels import clean_labels
from surewood.tables.planning.table_plan import plan
from surewood.tables.sources import DataError
from surewood.tables.table_file import (
    FileRows,
    TableFile,
    check_frame,
    looks_like_a_file,
    read_table,
    read_table_file,
    refuse_address,
)
from surewood.tables.text_file import Reading

__all__ = ["DataError", "Dataset", "load"]

#: Name of a bundled table -> its loader in ``sklearn.datasets``.
BUNDLED = {
    "digits": "load_digits",
    "iris": "load_iris",
    "wdbc": "load_breast_cancer",
    "wine": "load_wine",
}
_LABELS_AS_TEXT = {"datetime64", "datetime", "date", "time", "timedelta64", "timedelta", "period", "bytes"}


@dataclass(repr=False)
class Dataset:
    """Features, classes, and what is known about them.

    Attributes
    ----------
    name : str
    X : pandas.DataFrame
        Numbers as numbers, categories as categories, missing as missing.
    y : pandas.Series
        The class of each row.
    source : str
        Where it came from.
    rows : FileRows
        Where its rows stand in its files.

    Examples
    --------
    >>> from surewood.datasets import load
    >>> data = load("wine")
    >>> data.X.shape, len(data.y)
    ((178, 13), 178)
    """

    name: str
    X: pd.DataFrame
    y: pd.Series
    source: str
    rows: FileRows

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}: {len(self.X)} rows, {self.X.shape[1]} columns, "
            f"{self.y.nunique()} classes, from {self.source})"
        )


def load(
    source: str | Path | pd.DataFrame | Sequence[str | Path],
    target: str | None = None,
    *,
    raw: bool = False,
    decimal: str | None = None,
    as_text: Collection[str] = (),
    header_line: int | None = None,
    sheet: str | None = None,
) -> Dataset:
    """Load a table with a target column, or a bundled one by name.

    Parameters
    ----------
    source : str, Path, DataFrame or list of files
        A table file (see :func:`surewood.tables.read_table`), several files with the same columns, a frame,
        or the name of a bundled table (``surewood datasets`` lists them).
    target : str, optional
        The class column of your table; not needed for a bundled one.
    raw : bool, default=False
        Leave the columns of a file as they stand in it, for :func:`surewood.tables.plan`; by default text
        that means numbers, dates or durations is read as such.
    decimal : {".", ","}, optional
        The decimal mark of a file, where its numbers leave it open.
    as_text, header_line, sheet
        Of a file, as in :func:`surewood.tables.read_table`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = load("wine")
    >>> data
    Dataset('wine': 178 rows, 13 columns, 3 classes, from scikit-learn)
    >>> import pandas as pd
    >>> own = load(pd.DataFrame({"height": [1.7, 1.8], "team": ["red", "blue"]}), target="team")
    >>> own.X.columns.tolist(), own.y.tolist()
    (['height'], ['red', 'blue'])
    """
    if isinstance(source, pd.DataFrame):
        return _own_table(TableFile.of(check_frame(source, "the frame"), "table", "row"), target)
    reading = Reading(as_text=as_text, header_line=header_line, sheet=sheet)
    if isinstance(source, Path) or (isinstance(source, str) and looks_like_a_file(source)):
        table = read_table_file(source, reading)
        check_frame(table.frame, table.origin)
        table = replace(table, origin=str(source)) if source != "-" else table
        return _own_table(table, target, raw, decimal)
    if isinstance(source, Sequence) and not isinstance(source, str) and source:
        return _own_table(read_table_file(source, reading), target, raw, decimal)
    if not isinstance(source, str):
        raise DataError(f"expected a name, a file or a DataFrame, got {type(source).__name__}.")
    return _bundled(source, target)


def _bundled(name: str, target: str | None) -> Dataset:
    """A bundled table; any other name gets the sentence that fits what it stands for."""
    refuse_address(name)
    if name not in BUNDLED:
        if Path(name).expanduser().exists():
            read_table(name)  # refuses a folder, and a file that is no table by its name
        if target is not None:
            raise DataError(
                f"there is no file {name}; the name of a table ends in .csv, .parquet or the like."
            )
        near = difflib.get_close_matches(name.lower(), BUNDLED, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "`surewood datasets` lists the names."
        raise DataError(f"there is no data set called {name!r}; {hint}")
    if target is not None and target != "target":
        raise DataError(f"{name!r} is a bundled data set, whose target is known; leave `target` out.")
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, BUNDLED[name])(as_frame=True)
    classes = pd.Series(bunch.target_names).map(str)
    y = pd.Series(classes.iloc[bunch.target.to_numpy()].to_numpy(), name="target")
    rows = FileRows.of([(name, "row", np.arange(1, len(y) + 1))])
    return Dataset(name, bunch.data, _labels(y), "scikit-learn", rows)


def _labels(target: pd.Series) -> pd.Series:
    """Labels as plain values: numbers, truth values, text.

    A category dtype would only remember classes that are gone. Dates are names here: neither a page nor a
    model file could hold them.
    """
    if isinstance(target.dtype, pd.CategoricalDtype):
        target = target.astype(target.cat.categories.dtype)
    if target.dtype == object and pd.api.types.infer_dtype(target) == "string":
        target = target.astype(str)
    kind = pd.api.types.infer_dtype(target)
    if kind == "decimal":
        target = _whole(target.astype("float64"))
    elif kind in _LABELS_AS_TEXT:
        target = target.astype(str)
    return target.rename("target") if target.name is None else target


def _whole(target: pd.Series) -> pd.Series:
    """Whole numbers that missing labels had turned into floats are whole numbers again."""
    if pd.api.types.is_float_dtype(target.dtype) and (target % 1 == 0).all():
        return target.astype("int64")
    return target


def _own_table(table: TableFile, target: str | None, raw: bool = True, decimal: str | None = None) -> Dataset:
    frame, name = table.frame, table.origin
    columns = [str(c) for c in frame.columns]
    if target is None:
        raise DataError(f"say which column of {name} is the class: target=... (columns: {_listed(columns)}).")
    if target not in frame.columns:
        close = _close(target, columns)
        hint = f"did you mean {' or '.join(close)}?" if close else f"its columns are {_listed(columns)}."
        raise DataError(f"{name} has no column {target!r}; {hint}")
    if len(columns) == 1:
        raise DataError(f"{name} has no column besides the target {target!r}.")
    y, labelled = _own_labels(table, target)
    if not labelled.all():
        frame, y = frame[labelled].reset_index(drop=True), _whole(y[labelled].reset_index(drop=True))
    X = frame.drop(columns=[target])
    return Dataset(
        name=name,
        X=X if raw else _measured_columns(X, decimal),
        y=_labels(y),
        source=name,
        rows=table.rows.take(np.flatnonzero(labelled)),
    )


def _measured_columns(X: pd.DataFrame, decimal: str | None) -> pd.DataFrame:
    """Text that means numbers, dates or durations as what it means."""
    made = plan(X, decimal=decimal)
    read = {
        column.name: read_column(column, X[column.name])
        for column in made.used
        if column.kind in ("number", "date", "duration") and is_text(X[column.name])
    }
    return X.assign(**read)


def _own_labels(table: TableFile, target: str) -> tuple[pd.Series, NDArray[np.bool_]]:
    """Labels without white space around them, and which rows have one; what was done is reported."""
    labels, n_trimmed, codes = clean_labels(table.frame[target])
    labelled = labels.notna().to_numpy()
    if not labelled.any():
        stands, last = table.rows, len(table.frame) - 1
        where = stands.name(0)
        if stands.are_several:
            where += f" to {stands.name(last)}"
        elif last > 0:
            where = f"{stands.units[0]}s {stands.numbers[0]} to {stands.numbers[last]}"
        raise DataError(f"the target {target!r} of {table.origin} has no value at all ({where}).")
    if n_trimmed:
        warnings.warn(
            f"{n_trimmed} labels of {target!r} had white space around them, which was removed.",
            stacklevel=4,
        )
    missing = int((~labelled).sum())
    if missing:
        coded = f" (or {', '.join(map(repr, codes))})" if codes else ""
        rows, were = ("rows", "were") if missing > 1 else ("row", "was")
        warnings.warn(
            f"{missing} {rows} of {table.origin} {'have' if missing > 1 else 'has'} no {target!r}{coded} and "
            f"{were} dropped.",
            stacklevel=4,
        )
    return labels, labelled


def _close(target: str, columns: list[str]) -> list[str]:
    """Columns whose names are near, whatever their case."""
    by_fold = {column.casefold(): column for column in columns}
    close = difflib.get_close_matches(target.casefold(), list(by_fold), n=3, cutoff=0.7)
    return [repr(by_fold[name]) for name in close]


def _listed(columns: list[str]) -> str:
    shown = ", ".join(columns[:12])
    return shown if len(columns) <= 12 else f"{shown}, ... ({len(columns)} in all)"
