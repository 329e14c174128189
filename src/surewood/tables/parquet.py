"""Parquet data sets as tables: one file, a folder of parts, or a list of files, read batch by batch.

:class:`ParquetTable` says which file, which column is the target, and where scratch files may go. Every
estimator takes one in the place of ``X``. Parts are opened and compared before anything is read: whatever is
wrong with one of them is a sentence with its name and the column's.

A :class:`RowStream` reads rows again and again in the same order and never holds all of them. It knows the
data set, its schema and which rows count. Tables made from it (:class:`~surewood.tables.table.Table`) read a
column at a time, or all columns of some rows at a time.

:func:`read_training` is what a fit learns before it looks at the numbers: one pass over the target, the
weights and the category columns. Rows without a label are left out and counted in a warning; everything else
that is wrong is an error with the file and the column.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from surewood._text import first_line
from surewood.tables.mixing import GOLDEN, mixed
from surewood.tables.schema import TableSchema, category_counts, category_mask, refuse_another_kind
from surewood.tables.sources import (
    CATEGORY,
    NUMBER,
    ArrowSource,
    CategoryValues,
    encoded,
    is_text,
    refuse_infinity,
)
from surewood.tables.table import Table
from surewood.tables.workspace import Workspace

SUFFIXES = (".parquet", ".pq")
_BATCH_VALUES = 1 << 22  # values per batch: some 32 MB as numbers
_MOST_BATCH_ROWS = 1 << 17


@dataclass(frozen=True)
class Selection:
    """Which rows of a data set a table has: those whose number hashes into ``[low, high)``."""

    seed: int
    low: float
    high: float

    def mask(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Rows `start` to `stop`."""
        offset = np.uint64((self.seed + 1) * int(GOLDEN) % 2**64)
        words = mixed(np.arange(start, stop, dtype=np.uint64) + offset)
        place = (words >> np.uint64(11)) * 2.0**-53
        return np.asarray((place >= self.low) & (place < self.high))


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet data set in the place of ``X`` (and ``y``).

    Parameters
    ----------
    path : str, Path or list of them
        One file, a folder of parts (read in the order of their names), or some files.
    target : str, optional
        The column with the labels; needed to train, not to predict. Rows without a label are left out.
    weight : str, optional
        A column with sample weights.
    columns : list of str, optional
        The columns to learn from; all but `target` and `weight` by default.
    workdir : str or Path, optional
        Where scratch files may go while a fit runs: about two bytes per value of the table. By default the
        system's folder for temporary files.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> from surewood import BinnedForestClassifier
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = folder.name + "/toy.parquet"
    >>> pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": list("aabb")}).to_parquet(path)
    >>> table = ParquetTable(path, target="y")
    >>> model = BinnedForestClassifier(5, random_state=0).fit(table)  # or .fit(path, "y")
    >>> model.predict(path).tolist()
    ['a', 'a', 'b', 'b']
    >>> folder.cleanup()
    """

    path: Any
    target: str | None = None
    weight: str | None = None
    columns: Sequence[str] | None = None
    workdir: str | Path | None = None
    selection: Selection | None = None

    def split(self, fraction: float = 0.2, seed: int = 0) -> tuple[ParquetTable, ParquetTable]:
        """Two tables: one to train on, and about `fraction` of the rows that it does not have.

        A row's side depends on its number and the seed alone, so nothing is written and the division can be
        made again at any time. For a division by files, pass lists of files.
        """
        if not 0.0 < fraction < 1.0:
            raise ValueError(f"fraction must be between 0 and 1, got {fraction!r}.")
        low, high = (0.0, 1.0) if self.selection is None else (self.selection.low, self.selection.high)
        if self.selection is not None and self.selection.seed != seed:
            raise ValueError(f"a part of a split is split again with its own seed={self.selection.seed}.")
        cut = high - fraction * (high - low)
        sides = (Selection(seed, low, cut), Selection(seed, cut, high))
        return replace(self, selection=sides[0]), replace(self, selection=sides[1])

    def labelled(self) -> tuple[pd.DataFrame, pd.Series]:
        """The rows that have a label, in memory, and their labels.

        Examples
        --------
        >>> import tempfile, pandas as pd
        >>> path = tempfile.mkdtemp() + "/toy.parquet"
        >>> pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": ["a", None, "b"]}).to_parquet(path)
        >>> X, y = ParquetTable(path, target="y").labelled()
        >>> X["x"].tolist(), y.tolist()
        ([1.0, 3.0], ['a', 'b'])
        """
        if self.target is None:
            raise ValueError("a ParquetTable whose labels are needed must name its target")
        names = [*self.open().names, self.target]
        frames = []
        for _, _, source in replace(self, target=None, weight=None).open(names).batches():
            has_label = source.table.column(self.target).is_valid()
            frames.append(source.table.filter(has_label).to_pandas())
        frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=names)
        return frame.drop(columns=self.target), frame[self.target]

    def open(self, columns: Sequence[str] | None = None) -> OpenParquet:
        """Find and check the parts; `columns` are those to learn from, in this order."""
        paths = _part_paths(self.path)
        apart = {self.target, self.weight} - {None}
        schemas = [_schema_of(path) for path in paths]
        chosen = self.columns if columns is None else columns
        names = list(chosen) if chosen is not None else [n for n in schemas[0].names if n not in apart]
        _check_parts(paths, schemas, [*names, *apart], compare_all=chosen is None)
        if not names:
            raise ValueError(f"{paths[0]} has no column to learn from beside {sorted(map(str, apart))}.")
        fields = [_known_field(name, schemas) for name in names]
        return OpenParquet(paths, names, pa.schema(fields), self.selection)

    def read_target(self) -> NDArray[Any]:
        """The labels of all rows, in memory; rows without a label are None or NaN."""
        if self.target is None:
            raise ValueError(
                "this ParquetTable has no target; name the column: ParquetTable(path, target=...)."
            )
        opened = replace(self, target=None, weight=None).open([self.target])
        columns = [batch.table.column(0) for _, _, batch in opened.batches()]
        labels: NDArray[Any] = pa.chunked_array([c for part in columns for c in part.chunks]).to_numpy()
        return labels


@dataclass(frozen=True)
class OpenParquet:
    """A data set whose parts were found in order; iterate with :meth:`batches`."""

    paths: list[Path]
    names: list[str]
    schema: pa.Schema
    selection: Selection | None = None

    @property
    def n_rows(self) -> int:
        """Rows, those of the selection."""
        total = sum(int(pq.read_metadata(path).num_rows) for path in self.paths)
        if self.selection is None:
            return total
        starts = range(0, total, 1 << 20)
        return sum(int(self.selection.mask(a, min(a + (1 << 20), total)).sum()) for a in starts)

    def batches(self, columns: list[str] | None = None) -> Iterator[tuple[int, Path, ArrowSource]]:
        """(number of the first row, file, columns of some rows), in order.

        Column types are those of the data set, whatever a part wrote down for a column that is all missing.
        """
        names = self.names if columns is None else columns
        target = pa.schema([self.schema.field(name) for name in names])
        size = int(min(_MOST_BATCH_ROWS, max(1024, _BATCH_VALUES // max(len(names), 1))))
        read = at = 0  # row numbers before and after the selection
        for path in self.paths:
            for batch in _read_batches(path, names, size):
                rows = pa.Table.from_batches([batch]).select(names)
                if rows.schema != target:
                    rows = _as_schema(rows, target, path)
                if self.selection is not None:
                    kept = self.selection.mask(read, read + batch.num_rows)
                    rows = rows.filter(pa.array(kept))
                read += batch.num_rows
                if len(rows):
                    yield at, path, ArrowSource(rows)
                at += len(rows)


def as_parquet(X: Any, y: Any = None) -> ParquetTable | None:
    """`X` as a :class:`ParquetTable` where it is one, or the path of one; else None.

    This is the one door for paths: ``fit(path, "name of the target column")``.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.tables import as_parquet
    >>> as_parquet(np.zeros((2, 2))) is None
    True
    """
    if isinstance(X, ParquetTable):
        table = X
    elif isinstance(X, str | os.PathLike):
        table = ParquetTable(X)
    else:
        return None
    if y is None:
        return table
    if not isinstance(y, str):
        raise ValueError(
            "with a Parquet file in the place of X, y must be the name of the target column, "
            f"got {type(y).__name__}."
        )
    if table.target not in (None, y):
        raise ValueError(f"y={y!r}, but the ParquetTable has target={table.target!r}; give only one of them.")
    return replace(table, target=y)


def _part_paths(path: Any) -> list[Path]:
    if isinstance(path, list | tuple):
        paths = [part for item in path for part in _part_paths(item)]
        if not paths:
            raise ValueError("the list of Parquet files is empty.")
        return paths
    path = Path(path).expanduser()
    if path.is_dir():
        names = [p for p in path.iterdir() if p.name.lower().endswith(SUFFIXES) and p.name[0] not in "._"]
        if not names:
            raise ValueError(f"{path} is a folder without Parquet files (.parquet, .pq).")
        return sorted(names)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    return [path]


def _schema_of(path: Path) -> pa.Schema:
    try:
        metadata = pq.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(_unreadable(path, error)) from error
    if metadata.num_rows == 0:
        raise ValueError(f"{path} has no rows; leave it out.")
    # pandas writes the row numbers of a filtered frame beside its columns
    schema = pa.schema(field for field in schema if not field.name.startswith("__index_level_"))
    twice = sorted(name for name, count in Counter(schema.names).items() if count > 1)
    if twice:
        raise ValueError(
            f"{path} has more than one column called {', '.join(map(repr, twice))}; rename them."
        )
    return schema


def _check_parts(paths: list[Path], schemas: list[pa.Schema], used: list[Any], compare_all: bool) -> None:
    """All parts have the columns that are used, with one type each; and no others, where all are used."""
    for name in used:
        for path, schema in zip(paths, schemas):
            if name not in schema.names:
                hint = f", which {paths[0]} has" if name in schemas[0].names else ""
                raise ValueError(f"{path} has no column {name!r}{hint}.")
    first = schemas[0]
    for path, schema in zip(paths[1:], schemas[1:]):
        more = [name for name in schema.names if name not in first.names]
        if more and compare_all:
            raise ValueError(f"{path} has a column {more[0]!r}, which {paths[0]} has not.")
        for name in used:
            mine, theirs = _known_field(name, schemas).type, schema.field(name).type
            if not _same_type(mine, theirs):
                whose = next(p for p, s in zip(paths, schemas) if s.field(name).type == mine)
                raise ValueError(
                    f"column {name!r} is {theirs} in {path} and {mine} in {whose}; "
                    "write all parts with the same type."
                )


def _known_field(name: str, schemas: list[pa.Schema]) -> pa.Field:
    """The column in the first part that knows its type: one that is all missing may not."""
    fields = [schema.field(name) for schema in schemas]
    return next((f for f in fields if not pa.types.is_null(f.type)), fields[0]).remove_metadata()


def _same_type(mine: pa.DataType, theirs: pa.DataType) -> bool:
    return bool(mine == theirs or pa.types.is_null(theirs) or (is_text(mine) and is_text(theirs)))


def _as_schema(rows: pa.Table, schema: pa.Schema, path: Path) -> pa.Table:
    """Columns of a part in the types of the data set; ordered dictionaries stay as the part has them."""
    columns = []
    for field, column in zip(schema, rows.columns):
        same = column.type == field.type or pa.types.is_dictionary(column.type)
        try:
            columns.append(column if same else _cast(column, field.type))
        except pa.ArrowException as error:
            raise ValueError(
                f"column {field.name!r} of {path} is not {field.type} ({first_line(error)})."
            ) from error
    return pa.table(columns, names=schema.names)


def _cast(column: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_dictionary(type_):
        return column.cast(type_.value_type).dictionary_encode()
    return column.cast(type_)


def _read_batches(path: Path, names: list[str], size: int) -> Iterator[pa.RecordBatch]:
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=size, columns=names):
                batch.validate(full=True)  # text that is no UTF-8, say
                yield batch
    except (pa.ArrowException, OSError) as error:
        raise ValueError(_unreadable(path, error)) from error


def _unreadable(path: Path, error: BaseException) -> str:
    return f"{path} is not a readable Parquet file, or is cut short ({first_line(error)})."


class RowStream:
    """Batches of a data set as validated tables.

    Parameters
    ----------
    opened : OpenParquet
        Its columns are those of the schema, in this order.
    schema : TableSchema
    n_rows : int
        Rows that count.
    kept : ndarray of bool, one entry per row of the data set, optional
        Which rows count; all of them by default.
    workspace : Workspace
        Where engines may put arrays as long as the table.
    """

    def __init__(
        self,
        opened: OpenParquet,
        schema: TableSchema,
        n_rows: int,
        kept: NDArray[np.bool_] | None,
        workspace: Workspace,
    ) -> None:
        self.opened, self.schema, self.n_rows, self.kept = opened, schema, n_rows, kept
        self.workspace = workspace
        self.n_categories = category_counts(schema)

    def table(self) -> Table:
        """All rows that count."""
        return Table(
            self.n_rows,
            len(self.schema.kinds),
            self.schema.names,
            self.n_categories,
            encode=self.column,
            stream=self,
        )

    def batches(self, columns: list[int] | None = None) -> Iterator[tuple[int, Table]]:
        """(place of the first row, a table of some rows) until all rows have passed."""
        chosen = list(range(len(self.schema.kinds))) if columns is None else columns
        at = 0
        for start, path, source in self.opened.batches([self.opened.names[j] for j in chosen]):
            table = self._batch_table(source, chosen, str(path))
            if self.kept is not None:
                kept = self.kept[start : start + source.n_rows]
                table = table if kept.all() else table.take(kept)
            if table.n_rows:
                yield at, table
            at += table.n_rows

    def column(self, j: int) -> NDArray[np.float64]:
        """One column of all rows."""
        out = np.empty(self.n_rows)
        for at, table in self.batches([j]):
            out[at : at + table.n_rows] = table.column(0)
        return out

    def _batch_table(self, source: ArrowSource, chosen: list[int], path: str) -> Table:
        def encode(k: int) -> NDArray[np.float64]:
            values = self.schema.column(source, k, chosen[k])
            if self.schema.kinds[chosen[k]] == NUMBER:
                refuse_infinity(values, f"{source.label(k)} of {path}")
            return values

        for k, j in enumerate(chosen):
            kind = self.schema.kinds[j]
            if kind != CATEGORY and self.schema.form_of(source, k, j) is None:
                refuse_another_kind(source, k, kind, f"in {path}")
        names = None if self.schema.names is None else [self.schema.names[j] for j in chosen]
        return Table(source.n_rows, len(chosen), names, self.n_categories[chosen], encode=encode)


MAX_CLASSES = 65_535
MAX_CATEGORIES = 1_000_000


def read_training(
    parquet: ParquetTable, categorical_features: Any
) -> tuple[RowStream, NDArray[np.int32], NDArray[Any], NDArray[np.float64] | None]:
    """The first pass of a fit: the rows that have a label, their class codes, the labels, and weights."""
    if parquet.target is None:
        raise ValueError(
            "a fit on a Parquet file requires y to be passed: name the target column, "
            "fit(path, 'column') or ParquetTable(path, target='column')."
        )
    if parquet.target == parquet.weight:
        raise ValueError(f"target and weight are both {parquet.target!r}; they must be two columns.")
    opened = parquet.open()
    columns = _CollectedColumns(opened, parquet)
    chosen = category_mask(columns, categorical_features)
    collector = _Collector(opened, parquet, columns.of_categories(chosen))
    for _, path, source in parquet.open(columns=collector.wanted).batches():
        collector.add(path, source.table)
    y, classes, kept = collector.labels()
    columns.found = collector.found
    schema = TableSchema.learn(columns, categorical_features)
    stream = RowStream(opened, schema, len(y), kept, Workspace(parquet.workdir))
    return stream, y, classes, collector.weights()


class _CollectedColumns(ArrowSource):
    """The columns of a data set as a schema learns them, with the categories that a first pass found."""

    def __init__(self, opened: OpenParquet, parquet: ParquetTable) -> None:
        super().__init__(opened.schema.empty_table())
        self.opened, self.parquet = opened, parquet
        self.found: dict[str, CategoryValues] = {}

    def of_categories(self, chosen: NDArray[np.bool_] | None) -> list[str]:
        """Names of the columns of categories, by their types and the user's choice."""
        return [
            name
            for j, name in enumerate(self.opened.names)
            if self.kind(j) == CATEGORY or (chosen is not None and chosen[j])
        ]

    def categories(self, j: int) -> list[Any]:
        return self.found[self.opened.names[j]].in_order()

    def rounded_columns(self) -> list[int]:
        long = (pa.int64(), pa.uint64())
        names = [name for j, name in enumerate(self.opened.names) if self._type(j) in long]
        batches = self.parquet.open(columns=names).batches() if names else ()
        rounded = {names[j] for _, _, rows in batches for j in rows.rounded_columns()}
        return [j for j, name in enumerate(self.opened.names) if name in rounded]


class _Collector:
    """Labels, weights and categories of the batches so far."""

    def __init__(self, opened: OpenParquet, parquet: ParquetTable, categories: list[str]) -> None:
        assert parquet.target is not None
        self.target, self.weight, self.names = parquet.target, parquet.weight, categories
        self.found = {name: CategoryValues(opened.schema.field(name).type) for name in categories}
        if self.target in opened.names or self.weight in opened.names:
            taken = min(name for name in opened.names if name in (self.target, self.weight))
            raise ValueError(f"columns names {taken!r}, which is the target or the weight; leave it out.")
        self._codes: list[NDArray[np.int32]] = []
        self._weights: list[NDArray[np.float64]] = []
        self._place: dict[Any, int] = {}
        self._type: pa.DataType | None = None
        self.path = parquet.path

    @property
    def wanted(self) -> list[str]:
        extra = [] if self.weight is None else [self.weight]
        return [self.target, *extra, *self.names]

    def add(self, path: Path, rows: pa.Table) -> None:
        """Take in a batch."""
        codes = self._label_codes(path, rows.column(self.target))
        self._codes.append(codes)
        has_label = codes >= 0
        if not has_label.all():
            rows = rows.filter(pa.array(has_label))
        if self.weight is not None:
            self._weights.append(self._checked_weights(path, rows))
        for name in self.names:
            values = self.found[name]
            values.add(rows.column(name), f"{name!r} of {path}")
            if len(values) > MAX_CATEGORIES:
                raise ValueError(
                    f"column {name!r} has more than {MAX_CATEGORIES:,} different values up to {path}: it "
                    "looks like an identifier; leave it out with ParquetTable(columns=[...])."
                )

    def _label_codes(self, path: Path, column: pa.ChunkedArray) -> NDArray[np.int32]:
        """Codes in the order of appearance, -1 where the label is missing."""
        self._type = column.type
        indices, values = encoded(column)
        places = np.full(len(values) + 1, -1, dtype=np.int32)
        for k, value in enumerate(values):
            if value is not None and value == value:
                places[k] = self._place.setdefault(value, len(self._place))
        if len(self._place) > MAX_CLASSES:
            raise ValueError(
                f"column {self.target!r} has more than {MAX_CLASSES:,} different values up to {path}; "
                "is it the target?"
            )
        return places[indices]

    def _checked_weights(self, path: Path, rows: pa.Table) -> NDArray[np.float64]:
        assert self.weight is not None
        column = rows.column(self.weight)
        if is_text(column.type) or pa.types.is_dictionary(column.type):
            raise ValueError(f"the weight column {self.weight!r} of {path} holds text; it must hold numbers.")
        weight = ArrowSource(pa.table([column], names=[self.weight])).numbers(0)
        if not (np.isfinite(weight).all() and (weight >= 0).all()):
            raise ValueError(
                f"the weight column {self.weight!r} of {path} has missing, infinite or negative values."
            )
        return weight

    def labels(self) -> tuple[NDArray[np.int32], NDArray[Any], NDArray[np.bool_] | None]:
        """Class codes of the rows with a label, sorted labels, and which rows have one."""
        codes = np.concatenate(self._codes) if self._codes else np.zeros(0, dtype=np.int32)
        self._codes.clear()
        kept = None
        if (codes < 0).any():
            kept = codes >= 0
            missing = int((~kept).sum())
            if missing == len(codes):
                raise ValueError(f"column {self.target!r} of {self.path} has no label in any row.")
            warnings.warn(
                f"{missing:,} of {len(codes):,} rows have no label in column {self.target!r} "
                "and were left out.",
                UserWarning,
                stacklevel=6,
            )
            codes = codes[kept]
        if len(codes) == 0:
            raise ValueError(f"{self.path} has no row to learn from.")
        labels = self._as_array(list(self._place))
        check_classification_targets(labels)
        order = np.argsort(labels, kind="stable")
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return rank[codes], labels[order], kept

    def _as_array(self, values: list[Any]) -> NDArray[Any]:
        assert self._type is not None
        type_ = self._type.value_type if pa.types.is_dictionary(self._type) else self._type
        if is_text(type_) or not (
            pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_boolean(type_)
        ):
            return np.array(values, dtype=object)
        return np.array(values, dtype=type_.to_pandas_dtype())

    def weights(self) -> NDArray[np.float64] | None:
        return np.concatenate(self._weights) if self._weights else None
