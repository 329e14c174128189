"""Parquet data sets as tables: one file, a folder of parts, or a list of files, read batch by batch.

:class:`ParquetTable` says which file, which column is the target, and where scratch files may go. Every
estimator takes one in the place of ``X``. Parts are opened and compared before anything is read: whatever is
wrong with one of them is a sentence with its name and the column's.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from surewood.tables.arrow_source import ArrowSource, arrow_kind, is_text
from surewood.tables.mixing import GOLDEN, mixed

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
        parts = [batch.table.column(0) for _, _, batch in opened.batches()]
        labels: NDArray[Any] = pa.chunked_array([c for part in parts for c in part.chunks]).to_numpy()
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

    @property
    def empty(self) -> ArrowSource:
        """The columns without a row: their names and types."""
        return ArrowSource(self.schema.empty_table())

    def batches(self, columns: list[str] | None = None) -> Iterator[tuple[int, Path, ArrowSource]]:
        """(number of the first row, file, columns of some rows), in order.

        Column types are those of the data set, whatever a part wrote down for a column that is all missing.
        """
        names = self.names if columns is None else columns
        target = pa.schema([self.schema.field(name) for name in names])
        size = int(min(_MOST_BATCH_ROWS, max(1024, _BATCH_VALUES // max(len(names), 1))))
        given = at = 0  # row numbers before and after the selection
        for path in self.paths:
            for batch in _read_batches(path, names, size):
                rows = pa.Table.from_batches([batch]).select(names)
                if rows.schema != target:
                    rows = _as_schema(rows, target, path)
                if self.selection is not None:
                    kept = self.selection.mask(given, given + batch.num_rows)
                    rows = rows.filter(pa.array(kept))
                given += batch.num_rows
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
        paths = [found for item in path for found in _part_paths(item)]
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
                f"column {field.name!r} of {path} is not {field.type} ({_line(error)})."
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
    return f"{path} is not a readable Parquet file, or is cut short ({_line(error)})."


def _line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


__all__ = ["OpenParquet", "ParquetTable", "Selection", "arrow_kind", "as_parquet"]
