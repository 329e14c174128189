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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from surewood._text import listed
from surewood.base.counted_rows import COPIED
from surewood.base.wording import plural
from surewood.datasets import load
from surewood.parallel.progress import stage
from surewood.persistence.leftovers import partial
from surewood.tables import ParquetTable, TablePreparer, plan
from surewood.tables.planning.column_plan import read_column
from surewood.tables.planning.labels import labels_alike, read_bins, settle_quantity
from surewood.tables.table_file import (
    PARQUET_ENDINGS,
    FileRows,
    TableFile,
    looks_like_a_file,
    read_table_file,
)
from surewood.tables.text_file import AS_FOUND, Reading
from surewood.workflow.columns import ColumnOptions
from surewood.workflow.dividing import (
    DEFAULT_HOLDOUT,
    OTHER,
    Sampling,
    check_classes,
    check_holdout,
    divide,
    first_of_equal_rows,
    occurs_several_times,
    settle_rare,
    side_notes,
)
from surewood.workflow.errors import WorkflowError

Source = str | Path | Sequence[str | Path]


class TableOptions(TypedDict, total=False):
    """How a table is read and divided: the options that `fit`, `plan_table` and `compare` share.

    Attributes
    ----------
    holdout : float or None
        Fraction of rows held out for the certificate; 0: none. By default 0.2.
    drop_duplicates : bool
        Remove repeated rows (equal features and target) before the rows are divided.
    groups : str or list of str, or None
        Column that names the group of a row (a patient, a device): whole groups are held out, and kept whole
        in folds. The guarantee is about new groups. Not a feature.
    time : str or None
        Column with the time of a row: the last rows are held out, and every fold is predicted from earlier
        rows. The error is an estimate, because the future may differ. Not a feature.
    columns : ColumnOptions or None
        Decisions about columns: an edited plan, columns to drop, identifiers, kinds, missing codes.
    rare : {"drop", "merge", "keep"}
        What becomes of classes of one row: left out, merged as "other", or kept among the training rows.
    classes : bool
        Take the values of a target that looks like a quantity as classes.
    bins : str or list of float, or None
        Make classes of a quantity: ``"0,100,1000"`` divides it at these values.
    header_line : int or None
        Line of a text file, or row of a sheet, with the names of the columns, from 1; detected by default.
    sheet : str or None
        Sheet of an Excel file; by default the first one that holds a table.
    random_state : int
        The same seed divides the same rows.

    Examples
    --------
    >>> from surewood import workflow
    >>> options: workflow.TableOptions = {"holdout": 0.4, "random_state": 1}
    >>> workflow.plan_table("iris", **options)["petal width (cm)"].kind
    'number'
    """

    holdout: float | None
    drop_duplicates: bool
    groups: str | Sequence[str] | None
    time: str | None
    columns: ColumnOptions | None
    rare: str
    classes: bool
    bins: str | Sequence[float] | None
    header_line: int | None
    sheet: str | None
    random_state: int


@dataclass(frozen=True)
class LabelledRows:
    """Rows with their labels and what else is known about each."""

    X: pd.DataFrame
    y: pd.Series
    #: Their positions among all rows of the table that have a label.
    places: NDArray[np.int64]
    #: Named as the column that they came from.
    weight: pd.Series | None = None
    groups: NDArray[Any] | None = None
    times: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.y)

    def weights(self) -> dict[str, Any]:
        """What `fit` of an estimator gets of them."""
        return {} if self.weight is None else {"sample_weight": self.weight.to_numpy()}

    def take(self, rows: NDArray[Any]) -> LabelledRows:
        """Some of the rows, by their positions or a mask."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows

        def of_frame(values: Any) -> Any:
            return None if values is None else values.iloc[rows].reset_index(drop=True)

        groups, times = (None if values is None else values[rows] for values in (self.groups, self.times))
        X, y, weight = map(of_frame, (self.X, self.y, self.weight))
        return LabelledRows(X, y, self.places[rows], weight, groups, times)


@dataclass
class LabelledTable:
    """A labeled table, divided into training rows and a holdout.

    Attributes
    ----------
    name, source, target : str
    rows : LabelledRows
        The training rows; a sample of them where the table is streamed.
    where : FileRows or None
        Where its rows that have a label stand; None where the table is streamed.
    notes : list of str
        What the user should know about the table and what was done to it.
    sampling : Sampling
        What the owner says about how rows were sampled.
    holdout : LabelledRows or None
    holdout_notes : list of str
        Classes that it, or the training rows, lack.
    stream : ParquetTable or None
        All training rows, where the table is too large to read.
    n_streamed : int
        Number of these.
    rows_chosen : bool
        Whether training rows were left out, or their labels merged, for what their labels are.
    """

    name: str
    source: str
    target: str
    rows: LabelledRows
    where: FileRows | None = None
    notes: list[str] = field(default_factory=list)
    sampling: Sampling = field(default_factory=Sampling)
    holdout: LabelledRows | None = None
    holdout_notes: list[str] = field(default_factory=list)
    stream: ParquetTable | None = None
    n_streamed: int = 0
    rows_chosen: bool = False

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return len(self.rows) if self.stream is None else self.n_streamed

    @property
    def n_holdout(self) -> int:
        """Number of rows that are held out."""
        return 0 if self.holdout is None else len(self.holdout)

    def keep(self, rows: NDArray[Any]) -> None:
        """Go on with some of the training rows."""
        self.rows, self.stream = self.rows.take(rows), None

    def take_weights(self, name: str) -> None:
        """Weights from a column, then no feature; a missing or negative one is refused with its row."""
        X = self.rows.X
        if name not in X.columns:
            raise WorkflowError(f"weight={name}: {self.name} has no such column.")
        weight = read_column(plan(X[[name]], kinds={name: "number"})[name], X[name]).astype(float)
        bad = np.flatnonzero(~(weight >= 0))
        if len(bad):
            value = str(X[name].iloc[bad[0]])
            row = self.row_names(self.rows.take(bad[:1]))[0]
            raise WorkflowError(f"weight={name}: {row} has {value!r}, which is not a weight.")
        self.rows = replace(self.rows, X=X.drop(columns=[name]), weight=weight.rename(name))

    def row_names(self, rows: LabelledRows, identifiers: Sequence[str] = ()) -> pd.Index:
        """What to call rows: their numbers in the file, and their identifiers where there are some."""
        if self.where is None:
            return rows.X.index
        names = self.where.names(rows.places)
        for column in identifiers:
            if column in rows.X.columns:
                names = [f"{name}, {value}" for name, value in zip(names, rows.X[column])]
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
    name, y = str(data.y.name) if target is None else target, data.y
    if check or classes or bins:
        y = settle_quantity(y, name, classes=classes, bins=bins, decimal=decimal)
    if check and bins:
        sizes = ", ".join(f"{label} ({plural(n, 'row')})" for label, n in y.value_counts().items())
        notes.append(f"classes of {name!r}: {sizes}.")
    if check:
        check_classes(y, name)
        if alike := labels_alike(y):
            notes.append(
                f"classes of {name!r} differ in upper and lower case only: {listed(alike, 8)}; give them one "
                "name if they mean the same."
            )
    rows = LabelledRows(data.X, y, np.arange(len(y)))
    table = LabelledTable(data.name, data.source, name, rows, data.rows, notes)
    if weight is not None:
        table.take_weights(weight)
    return table


def read_for_training(
    source: Source,
    target: str | None = None,
    *,
    copies: str = "check",
    weight: str | None = None,
    **options: Unpack[TableOptions],
) -> LabelledTable:
    """Read a table and hold rows out; one too large for memory as a sample and a stream.

    Examples
    --------
    >>> table = read_for_training("iris", holdout=0.4)
    >>> table.n_rows, table.n_holdout
    (90, 60)
    """
    sampling = Sampling.of(
        copies, options.get("groups"), options.get("time"), options.get("drop_duplicates", False)
    )
    check_holdout(options.get("holdout"))
    if isinstance(source, str | Path) and is_large(str(source)):
        return _read_large(str(source), target, sampling, weight, **options)
    columns = options.get("columns") or ColumnOptions()
    table = read_labelled(
        source,
        target,
        weight=weight,
        reading=Reading(header_line=options.get("header_line"), sheet=options.get("sheet")),
        classes=options.get("classes", False),
        bins=read_bins(options.get("bins")),
        decimal=columns.decimal,
    )
    table.sampling = sampling
    sampling.check_columns(table.rows.X.columns, table.name, table.target)
    _hold_out(table, columns.ignored, options.get("holdout"), options.get("random_state", 0))
    settle_training(table, options.get("rare", "drop"))
    return table


def _hold_out(
    table: LabelledTable, ignored: Sequence[str], fraction: float | None, random_state: int
) -> None:
    """Divide the rows of a table; columns that only say how rows were sampled are no features.

    Rows that differ in nothing but `ignored` columns are equal.
    """
    sampling = table.sampling
    X = table.rows.X.drop(columns=table.rows.X.columns.intersection(list(ignored)))
    if sampling == Sampling() and occurs_several_times(X, table.rows.y):
        table.sampling = sampling = replace(sampling, copies=COPIED)
    if sampling.drop_duplicates:
        first, copies = first_of_equal_rows(X, table.rows.y, sampling)
        table.keep(first)
        table.notes.append(f"{plural(int((~first).sum()), 'repeated row')} removed before dividing the rows.")
        table.sampling = sampling = replace(sampling, copies=copies)
    X, y = table.rows.X, table.rows.y
    groups, times = sampling.group_of_rows(X), sampling.times_of_rows(X)
    table.rows = replace(table.rows, X=X.drop(columns=sampling.columns), groups=groups, times=times)
    for name in sampling.columns:
        table.notes.append(f"column {name!r} divides the rows; it is not used as a feature.")
    fraction = DEFAULT_HOLDOUT if fraction is None else fraction
    if fraction == 0:
        return
    held_out = divide(X, sampling, fraction, random_state)
    if not held_out.any() or held_out.all():
        raise _too_small(fraction, len(held_out))
    if y[~held_out].nunique() < 2:
        raise WorkflowError("the training rows have only one class; take a smaller holdout.")
    table.holdout_notes = side_notes(y, held_out)
    table.holdout = table.rows.take(held_out)
    table.keep(~held_out)


def _too_small(fraction: float, n_rows: int) -> WorkflowError:
    return WorkflowError(f"holdout={fraction:g} of {n_rows:,} rows is less than one row; take more, or 0.")


def settle_training(table: LabelledTable, rare: str) -> None:
    """Deal with classes of one training row; a row is never taken from the holdout by its label ([D-36]).

    Merged classes are "other", and so is each label of the holdout that training does not know.
    """
    y, kept, notes = settle_rare(table.rows.y, rare)
    if y[kept].nunique() < 2:
        return
    table.rows, table.rows_chosen = replace(table.rows, y=y), bool(notes)
    if not kept.all():
        table.keep(kept)
    table.notes += notes
    held, y = table.holdout, table.rows.y
    if held is None:
        return
    if (y == OTHER).any() and rare == "merge":
        labels = held.y.astype(str)
        held = table.holdout = replace(held, y=labels.where(labels.isin(set(y)), OTHER))
    if not held.y.isin(y.unique()).any():
        raise WorkflowError(
            "no row of the holdout has a class that is left in the training rows, where classes of one row "
            "are dropped; take rare=keep, or holdout=0."
        )


def read_rows(source: Source, reading: Reading = AS_FOUND) -> TableFile:
    """Rows to predict: all columns of a file, or the features of a bundled data set; there may be none."""
    if not isinstance(source, str) or looks_like_a_file(source):
        return read_table_file(source, reading)
    data = load(source)
    return TableFile(data.X, source, data.rows, numbered=False)


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


def _read_large(
    source: str,
    target: str | None,
    sampling: Sampling,
    weight: str | None,
    **options: Unpack[TableOptions],
) -> LabelledTable:
    """A sample of the training rows and the holdout in memory; ``stream`` has all training rows."""
    if sampling.columns:
        option = "groups" if sampling.groups else "time"
        raise WorkflowError(
            f"{option}= is not possible for a streamed Parquet table, whose rows are divided one by one; "
            "read a sample of it into one smaller file, or fit on a part of your own and certify on the rest."
        )
    for option in ("drop_duplicates", "classes", "bins"):
        if options.get(option):
            raise WorkflowError(f"{option}= is not possible for a streamed Parquet table.")
    if target is None:
        raise WorkflowError(f"{source} needs target=...: the column to predict.")
    whole, seed = ParquetTable(source, target=target), options.get("random_state", 0)
    n_rows, fraction = whole.open().n_rows, options.get("holdout")
    fraction = DEFAULT_HOLDOUT if fraction is None else fraction
    notes = [f"{n_rows:,} rows are streamed from {source}; columns were learned from a sample."]
    if fraction * n_rows > HELD_ROWS:
        fraction = HELD_ROWS / n_rows
        notes.append(f"the holdout is {fraction:.2%} of the rows: at most {HELD_ROWS:,}.")
    train, held = whole.split(fraction, seed) if fraction > 0 else (whole, None)
    n_train = train.open().n_rows
    sample = train if n_train <= SAMPLE_ROWS else train.split(SAMPLE_ROWS / n_train, seed)[1]
    rows = _in_order(*sample.labelled())
    settle_quantity(rows.y, target)
    check_classes(rows.y, target)
    table = LabelledTable(Path(source).name, source, target, rows, notes=notes, sampling=sampling)
    if weight is not None:
        table.take_weights(weight)
    if held is not None:
        table.holdout = _in_order(*held.labelled())
        if not len(table.holdout):
            raise _too_small(fraction, n_rows)
    table.stream, table.n_streamed = train, n_train
    return table


def _in_order(X: pd.DataFrame, y: pd.Series) -> LabelledRows:
    return LabelledRows(X, y, np.arange(len(y)))


@contextmanager
def parquet_writer(out: Path) -> Iterator[Callable[[pa.Table], None]]:
    """Writes rows to a Parquet file, all or nothing: it appears when the block ends without an error.

    The first rows decide the types of the columns.
    """
    writer: Any = None
    with partial(out) as unfinished:

        def write(rows: pa.Table) -> None:
            nonlocal writer
            writer = writer or pq.ParquetWriter(unfinished, rows.schema)
            writer.write_table(rows.cast(writer.schema))

        try:
            yield write
        finally:
            if writer is not None:
                writer.close()
        os.replace(unfinished, out)


@contextmanager
def prepared_table(table: LabelledTable, preparer: TablePreparer, verbose: int) -> Iterator[ParquetTable]:
    """All training rows as the estimator sees them, in a temporary file that is removed when the fit ends."""
    assert table.stream is not None
    opened = table.stream.open()
    stream = ParquetTable(table.stream.path, selection=table.stream.selection).open(
        [*opened.names, table.target]
    )
    label = _unused(table.target, preparer)
    given = table.rows.weight
    weight = None if given is None else _unused(f"{label} weight", preparer)
    with tempfile.TemporaryDirectory(prefix="surewood-") as folder:
        path = Path(folder, "prepared.parquet")
        with stage(verbose, "preparing rows", table.n_rows) as advance, parquet_writer(path) as write:
            for _, _, source in stream.batches():
                frame = preparer.prepare(source.table.drop_columns([table.target]).to_pandas())
                rows = pa.Table.from_pandas(frame, preserve_index=False)
                rows = rows.append_column(label, source.table.column(table.target))
                if given is not None and weight is not None:
                    rows = rows.append_column(weight, source.table.column(given.name))
                write(rows)
                advance(len(frame))
        yield ParquetTable(path, target=label, weight=weight, workdir=folder)


def _unused(target: str, preparer: TablePreparer) -> str:
    """A name for the labels that no prepared column has."""
    names = set(preparer.get_feature_names_out().tolist())
    while target in names:
        target += "_"
    return target


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
