"""The table that a command reads, with its target: training rows, holdout and weights.

A folder of Parquet files, or one file of more than `STREAM_BYTES` as numbers, is streamed (`read_large`).
Columns are learned, families compared and the page drawn on a random sample of the training rows; the
holdout is a random part of at most `HELD_ROWS`; the model is trained on all other rows, which
`prepared_table` prepares batch by batch into a temporary file.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base.wording import plural
from surewood.datasets import load
from surewood.parallel.progress import stage
from surewood.tables import ParquetTable, TablePreparer, plan
from surewood.tables.planning.column_plan import read_column
from surewood.tables.reading.file_format import PARQUET_ENDINGS, looks_like_a_file
from surewood.tables.reading.table_file import (
    AS_FOUND,
    FileRows,
    Reading,
    TableFile,
    read_table_file,
    row_name,
)
from surewood.workflow.dividing import (
    DEFAULT_HOLDOUT,
    OTHER,
    Sampling,
    check_classes,
    check_holdout,
    divide,
    first_of_equal_rows,
    settle_rare,
    side_notes,
)
from surewood.workflow.errors import WorkflowError
from surewood.workflow.quantities import settle_quantity

Source = str | Path | Sequence[str | Path]


@dataclass
class LabelledTable:
    """A labelled table divided into training rows and a holdout.

    Attributes
    ----------
    X, y : frame and series of the training rows
    row_numbers : ndarray of int
        The numbers that the file gives the training rows: their lines, or rows from 1.
    row_unit : {"line", "row"}
        What these numbers count.
    files : FileRows or None
        Which row stands where, of several files.
    holdout : (frame, series) or None
    holdout_rows : ndarray of int or None
        The numbers of its rows.
    weight : ndarray of float or None
        Weights of the training rows.
    weight_name : str or None
        The column they came from.
    target, name, source : str
    notes : list of str
        What was done to the table that its owner should know.
    stream : ParquetTable or None
        All training rows, where the table is too large to read; `X` and `y` are a sample of them then.
    n_streamed : int
        Number of these.
    sampling : Sampling
        What the owner says about how rows were sampled.
    groups : ndarray of str or None
        Group of each training row.
    times : ndarray of float or None
        Time of each training row.
    holdout_groups : ndarray of str or None
    holdout_times : ndarray of float or None
    holdout_places : ndarray of int
        Positions of the holdout among the labelled rows.
    """

    name: str
    source: str
    target: str
    X: pd.DataFrame
    y: pd.Series
    row_numbers: NDArray[np.int64]
    holdout: tuple[pd.DataFrame, pd.Series] | None = None
    notes: list[str] = field(default_factory=list)
    stream: ParquetTable | None = None
    n_streamed: int = 0
    row_unit: str = "row"
    files: FileRows | None = None
    holdout_rows: NDArray[np.int64] | None = None
    weight: Floats | None = None
    weight_name: str | None = None
    sampling: Sampling = field(default_factory=Sampling)
    groups: NDArray[Any] | None = None
    times: NDArray[np.float64] | None = None
    holdout_groups: NDArray[Any] | None = None
    holdout_times: NDArray[np.float64] | None = None
    holdout_places: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return len(self.y) if self.stream is None else self.n_streamed

    @property
    def n_holdout(self) -> int:
        """Number of rows that are held out."""
        return 0 if self.holdout is None else len(self.holdout[1])

    def keep(self, rows: NDArray[Any]) -> None:
        """Go on with some of the training rows."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        self.X, self.y = self.X.iloc[rows].reset_index(drop=True), self.y.iloc[rows].reset_index(drop=True)
        self.row_numbers = self.row_numbers[rows]
        self.weight = None if self.weight is None else self.weight[rows]
        self.groups = None if self.groups is None else self.groups[rows]
        self.times = None if self.times is None else self.times[rows]
        self.stream = None

    def take_weights(self, name: str) -> None:
        """Weights from a column, which is then no feature."""
        if name not in self.X.columns:
            raise WorkflowError(f"weight={name}: {self.name} has no such column.")
        self.weight = row_weights(self.X[name], self.row_numbers, self.row_unit, self.files)
        self.weight_name = name
        self.X = self.X.drop(columns=[name])

    def hold_out(self, rows: NDArray[np.bool_]) -> None:
        """Hold some of the rows out."""
        self.holdout = self.X[rows].reset_index(drop=True), self.y[rows].reset_index(drop=True)
        self.holdout_rows = self.row_numbers[rows]
        self.keep(~rows)

    def row_names(self, identifiers: Sequence[str] = (), held_out: bool = False) -> pd.Index:
        """What to call the rows: their numbers in the file, and their identifiers where there are some."""
        numbers = self.holdout_rows if held_out else self.row_numbers
        X = self.holdout[0] if held_out and self.holdout is not None else self.X
        if numbers is None or len(numbers) != len(X):
            return X.index
        names = [row_name(number, self.row_unit, self.files) for number in numbers]
        for column in identifiers:
            if column in X.columns:
                names = [f"{name}, {value}" for name, value in zip(names, X[column])]
        return pd.Index(names)


@contextmanager
def collecting(notes: list[str]) -> Iterator[None]:
    """Warnings meant for the user become notes; all others stay silent."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        text = " ".join(str(warning.message).split())
        if warning.category is UserWarning and text not in notes:
            notes.append(text)


def read_labelled(
    source: Source,
    target: str | None,
    *,
    check: bool = True,
    weight: str | None = None,
    reading: Reading = AS_FOUND,
    classes: bool = False,
    bins: Sequence[float] = (),
    decimal: str | None = None,
) -> LabelledTable:
    """Read a table with its target, columns as they stand in it.

    Parameters
    ----------
    source : str, Path or list of them
        A table file, several with the same columns, or the name of a bundled data set.
    target : str or None
        The column of the classes; not needed for bundled data sets.
    check : bool, default=True
        Refuse a target that cannot be learned.
    weight : str, optional
        The column of row weights, which is not a feature.
    reading : Reading
        What is known about how the file is written: `SavedModel.reading`, for a table that a model reads.
    classes, bins, decimal
        What becomes of a target that is a quantity, as in `settle_quantity`.

    Examples
    --------
    >>> table = read_labelled("wine", None)
    >>> table.n_rows, table.target
    (178, 'target')
    """
    notes: list[str] = []
    with collecting(notes):
        data = load(
            source,
            target,
            raw=True,
            as_text=reading.as_text,
            header_line=reading.header_line,
            sheet=reading.sheet,
        )
    name = str(data.y.name) if target is None else target
    rows = np.arange(1, len(data.y) + 1) if data.row_numbers is None else data.row_numbers
    table = LabelledTable(data.name, data.source, name, data.X, data.y, rows, None, notes)
    table.row_unit, table.files = data.row_unit, data.files
    if weight is not None:
        table.take_weights(weight)
    if check or classes or bins:
        table.y = settle_quantity(table.y, name, classes=classes, bins=bins, decimal=decimal)
    if check:
        check_classes(table.y, name)
    return table


@dataclass(frozen=True)
class TrainingTable:
    """A table to train on, and how to divide it."""

    source: Source
    target: str | None = None
    #: Fraction of rows; None: a fifth.
    holdout: float | None = None
    random_state: int = 0
    rare: str = "drop"
    weight: str | None = None
    sampling: Sampling = field(default_factory=Sampling)
    #: Columns that are no features: rows that differ in nothing else are equal.
    ignored: tuple[str, ...] = ()
    reading: Reading = field(default_factory=Reading)
    #: Of a target that is a quantity: take its values as classes, or cut it at these values.
    classes: bool = False
    bins: tuple[float, ...] = ()
    #: The decimal mark, where the user says it.
    decimal: str | None = None


def read_for_training(wanted: TrainingTable) -> LabelledTable:
    """Read a table and hold rows out: a random fifth, or as `sampling` says."""
    holdout, random_state = wanted.holdout, wanted.random_state
    check_holdout(holdout)
    table = read_labelled(
        wanted.source,
        wanted.target,
        weight=wanted.weight,
        reading=wanted.reading,
        classes=wanted.classes,
        bins=wanted.bins,
        decimal=wanted.decimal,
    )
    table.sampling = wanted.sampling
    table.sampling.check_columns(table.X.columns, table.name, table.target)
    hold_out(table, DEFAULT_HOLDOUT if holdout is None else holdout, random_state, wanted.ignored)
    settle_training(table, wanted.rare)
    return table


def hold_out(table: LabelledTable, fraction: float, random_state: int, ignored: Sequence[str] = ()) -> None:
    """Divide the rows of a table; columns that only say how rows were sampled are no features."""
    sampling, places = table.sampling, np.arange(len(table.y))
    if sampling.drop_duplicates:
        names = [name for name in ignored if name in table.X]
        first, copies = first_of_equal_rows(table.X.drop(columns=names), table.y, sampling)
        places = places[first]
        table.keep(first)
        table.notes.append(f"{plural(int((~first).sum()), 'repeated row')} removed before dividing the rows.")
        table.sampling = sampling = replace(sampling, copies=copies)
    X, y = table.X, table.y
    groups, times = sampling.group_of_rows(X), sampling.times_of_rows(X)
    table.X, table.groups, table.times = X.drop(columns=sampling.columns), groups, times
    for name in sampling.columns:
        table.notes.append(f"column {name!r} divides the rows; it is not used as a feature.")
    if fraction == 0:
        return
    held_out = divide(X, sampling, fraction, random_state)
    if not held_out.any() or held_out.all():
        raise WorkflowError(
            f"holdout={fraction:g} of {len(held_out):,} rows is less than one row; take more, or 0."
        )
    if y[~held_out].nunique() < 2:
        raise WorkflowError("the training rows have only one class; take a smaller holdout.")
    table.notes += side_notes(y, held_out)
    table.hold_out(held_out)
    table.holdout_places = places[held_out]
    table.holdout_groups = None if groups is None else groups[held_out]
    table.holdout_times = None if times is None else times[held_out]


def settle_training(table: LabelledTable, rare: str) -> None:
    """Deal with classes of one training row; a row is never taken from the holdout by its label ([D-36]).

    Merged classes are "other", and so is each label of the holdout that training does not know.
    """
    y, kept, notes = settle_rare(table.y, rare)
    if y[kept].nunique() < 2:
        return
    table.y = y
    if not kept.all():
        table.keep(kept)
    table.notes += notes
    if table.holdout is not None and (table.y == OTHER).any() and rare == "merge":
        labels = table.holdout[1].astype(str)
        known = labels.isin(set(table.y)).to_numpy()
        table.holdout = table.holdout[0], labels.where(known, OTHER)
    if table.holdout is not None and not table.holdout[1].isin(table.y.unique()).any():
        raise WorkflowError(
            "no row of the holdout has a class that is left in the training rows, where classes of one row "
            "are dropped; take rare=keep, or holdout=0."
        )


def read_rows(source: Source, reading: Reading = AS_FOUND) -> TableFile:
    """Rows to predict: all columns of a file, or the features of a bundled data set; there may be none."""
    if not isinstance(source, str) or looks_like_a_file(source):
        return read_table_file(source, reading)
    X = load(source).X
    return TableFile(X, source, np.arange(1, len(X) + 1), "row", numbered=False)


STREAM_BYTES = 1 << 30
SAMPLE_ROWS = 50_000
HELD_ROWS = 100_000


def is_large(source: str) -> bool:
    """Whether a table is a Parquet table to be streamed."""
    path = Path(source).expanduser()
    if path.is_dir():
        return any(file.name.lower().endswith(PARQUET_ENDINGS) for file in path.iterdir())
    if not path.is_file() or not source.lower().endswith(PARQUET_ENDINGS):
        return False
    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return False  # the reader of small tables reports what is wrong
    return int(metadata.num_rows) * int(metadata.num_columns) * 8 > STREAM_BYTES


def read_large(wanted: TrainingTable) -> LabelledTable:
    """A sample of the training rows and the holdout in memory; ``stream`` has all training rows."""
    source, target, sampling = str(wanted.source), wanted.target, wanted.sampling
    check_holdout(wanted.holdout)
    if sampling.columns:
        option = "groups" if sampling.groups else "time"
        raise WorkflowError(
            f"{option}= is not possible for a streamed Parquet table, whose rows are divided one by one; "
            "read a sample of it into one smaller file, or fit on a part of your own and certify on the rest."
        )
    if sampling.drop_duplicates:
        raise WorkflowError(
            "drop_duplicates=True is not possible for a streamed Parquet table; remove repeated rows from it."
        )
    if target is None:
        raise WorkflowError(f"{source} needs target=...: the column to predict.")
    whole = ParquetTable(source, target=target)
    n_rows = whole.open().n_rows
    fraction = DEFAULT_HOLDOUT if wanted.holdout is None else wanted.holdout
    notes = [f"{n_rows:,} rows are streamed from {source}; columns were learned from a sample."]
    if fraction * n_rows > HELD_ROWS:
        fraction = HELD_ROWS / n_rows
        notes.append(f"the holdout is {fraction:.2%} of the rows: at most {HELD_ROWS:,}.")
    train, held = whole.split(fraction, wanted.random_state) if fraction > 0 else (whole, None)
    n_train = train.open().n_rows
    sample = train if n_train <= SAMPLE_ROWS else train.split(SAMPLE_ROWS / n_train, wanted.random_state)[1]
    X, y = sample.labelled()
    if wanted.classes or wanted.bins:
        raise WorkflowError("classes= and bins= are not possible for a streamed Parquet table.")
    settle_quantity(y, target)
    check_classes(y, target)
    table = LabelledTable(Path(source).name, source, target, X, y, np.arange(1, len(y) + 1), None, notes)
    if wanted.weight is not None:
        table.take_weights(wanted.weight)
    if held is not None:
        table.holdout = held.labelled()
        if not len(table.holdout[1]):
            raise WorkflowError(
                f"holdout={fraction:g} of {n_rows:,} rows is less than one row; take more, or 0."
            )
    table.stream, table.n_streamed = train, n_train
    table.sampling = sampling
    return table


@contextmanager
def prepared_table(table: LabelledTable, preparer: TablePreparer, verbose: int) -> Iterator[ParquetTable]:
    """All training rows as the estimator sees them, in a temporary file that is removed when the fit ends."""
    assert table.stream is not None
    opened = table.stream.open()
    stream = ParquetTable(table.stream.path, selection=table.stream.selection).open(
        [*opened.names, table.target]
    )
    label = _unused(table.target, preparer)
    weight = None if table.weight_name is None else _unused(f"{label} weight", preparer)
    with tempfile.TemporaryDirectory(prefix="surewood-") as folder:
        path = os.path.join(folder, "prepared.parquet")
        writer: Any = None
        try:
            with stage(verbose, "preparing rows", table.n_rows) as advance:
                for _, _, source in stream.batches():
                    frame = preparer.transform(source.table.drop_columns([table.target]).to_pandas())
                    rows = pa.Table.from_pandas(frame, preserve_index=False)
                    rows = rows.append_column(label, source.table.column(table.target))
                    if weight is not None:
                        rows = rows.append_column(weight, source.table.column(table.weight_name))
                    writer = writer or pq.ParquetWriter(path, rows.schema)
                    writer.write_table(rows.cast(writer.schema))
                    advance(len(frame))
        finally:
            if writer is not None:
                writer.close()
        yield ParquetTable(path, target=label, weight=weight, workdir=folder)


def _unused(target: str, preparer: TablePreparer) -> str:
    """A name for the labels that no prepared column has."""
    names = set(preparer.get_feature_names_out().tolist())
    while target in names:
        target += "_"
    return target


def row_weights(
    column: pd.Series, numbers: NDArray[np.int64], unit: str, files: FileRows | None = None
) -> Floats:
    """The weights in a column; a missing or negative one is refused with its row.

    Examples
    --------
    >>> row_weights(pd.Series(["1", "2.5"], name="w"), np.array([2, 3]), "line").tolist()
    [1.0, 2.5]
    """
    name = str(column.name)
    made = plan(column.to_frame(), kinds={name: "number"})[name]
    weights = read_column(made, column).to_numpy(dtype=np.float64)
    bad = ~(weights >= 0)
    if bad.any():
        place = int(np.flatnonzero(bad)[0])
        where = row_name(numbers[place], unit, files)
        raise WorkflowError(f"weight={name}: {where} has {str(column.iloc[place])!r}, which is not a weight.")
    return weights


def class_weights(given: str | Mapping[Any, float] | None, labels: NDArray[Any]) -> Any:
    """Class weights for an estimator: "balanced", or a weight by label, which may be written as text.

    Examples
    --------
    >>> class_weights({"1": 2.0}, np.array([0, 1])), class_weights("no=1,yes=5", np.array(["no", "yes"]))
    ({1: 2.0}, {'no': 1.0, 'yes': 5.0})
    """
    if given is None or given == "balanced":
        return given
    pairs = _pairs(given) if isinstance(given, str) else given
    known = {str(label): label for label in labels.tolist()}
    unknown = [str(label) for label in pairs if str(label) not in known]
    if unknown:
        raise WorkflowError(
            f"class_weight={unknown[0]}: there is no such class; classes are {', '.join(list(known)[:8])}."
        )
    return {known[str(label)]: float(weight) for label, weight in pairs.items()}


def _pairs(text: str) -> dict[str, float]:
    pairs: dict[str, float] = {}
    for word in text.split(","):
        label, mark, weight = word.rpartition("=")
        try:
            pairs[label.strip()] = float(weight)
        except ValueError:
            mark = ""
        if not mark or not label.strip():
            raise WorkflowError(
                f"class_weight={text} is neither balanced nor of the form no=1,yes=5 with a number per class."
            )
    return pairs
