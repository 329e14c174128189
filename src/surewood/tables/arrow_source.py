"""Arrow columns as numbers and category codes, the way a pandas frame of the same file would be read.

An :class:`ArrowSource` is one batch of a Parquet file, or a whole ``pyarrow.Table``. What a column is follows
from its type alone, so all batches agree. Text is encoded by Arrow: Python sees each distinct value once per
batch, not once per row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from surewood.tables.source import CATEGORY, LARGEST_EXACT, NUMBER, TIME, Source

_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def arrow_kind(type_: pa.DataType, label: str) -> str:
    """Kind of a column of this type; `label` names the column in the error.

    Examples
    --------
    >>> arrow_kind(pa.int32(), "'age'"), arrow_kind(pa.string(), "'job'"), arrow_kind(pa.date32(), "'day'")
    ('number', 'category', 'time')
    """
    types = pa.types
    if types.is_dictionary(type_) or is_text(type_):
        return CATEGORY
    number = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    if any(check(type_) for check in number):
        return NUMBER
    if types.is_timestamp(type_) or types.is_date(type_) or types.is_duration(type_):
        return TIME
    raise ValueError(
        f"column {label} has type {type_}, which surewood cannot read; convert it or leave it out."
    )


def is_text(type_: pa.DataType) -> bool:
    """Whether values of this type are compared as text; times of day and bytes are, as in pandas."""
    types = pa.types
    if types.is_dictionary(type_):
        return is_text(type_.value_type)
    checks = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_time)
    view = getattr(types, "is_string_view", None)
    return any(check(type_) for check in checks) or bool(view and view(type_))


def is_plain_text(type_: pa.DataType) -> bool:
    """Whether a column of this type is text, and not declared to be categories."""
    types = pa.types
    return is_text(type_) and not (
        types.is_dictionary(type_)
        or types.is_time(type_)
        or types.is_binary(type_)
        or types.is_large_binary(type_)
    )


def is_number(type_: pa.DataType) -> bool:
    """Whether categories of this type are kept as numbers; all others are kept as their text."""
    types = pa.types
    if types.is_dictionary(type_):
        return is_number(type_.value_type)
    return any(
        check(type_) for check in (types.is_integer, types.is_floating, types.is_boolean, types.is_null)
    )


class ArrowSource(Source):
    """Columns of a record batch or an Arrow table."""

    array = None

    def __init__(self, batch: Any) -> None:
        self.table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        self.n_rows, self.n_columns = self.table.shape
        self.names: list[str] | None = [str(name) for name in self.table.column_names]

    def label(self, j: int) -> str:
        assert self.names is not None
        return repr(self.names[j])

    def _type(self, j: int) -> pa.DataType:
        return self.table.schema.field(j).type

    def kind(self, j: int) -> str:
        return arrow_kind(self._type(j), self.label(j))

    def is_plain_text(self, j: int) -> bool:
        return is_plain_text(self._type(j))

    def categories(self, j: int) -> list[Any]:
        found = CategoryValues(self._type(j))
        found.add(self.table.column(j), self.label(j))
        return found.in_order()

    def codes(self, j: int, index: pd.Index) -> NDArray[np.float64]:
        indices, values = encoded(self.table.column(j))
        known = index.get_indexer(pd.Index(values, dtype=object)).astype(np.float64)
        known[known < 0] = np.nan
        return np.append(known, np.nan)[indices]

    def numbers(self, j: int) -> NDArray[np.float64]:
        column, type_ = self.table.column(j), self._type(j)
        if self.kind(j) == TIME:
            return _seconds(column, type_)
        if pa.types.is_dictionary(type_):
            column = column.cast(type_.value_type)
        if is_text(column.type):
            raise ValueError(f"column {self.label(j)} holds text, not numbers; convert it first.")
        return _floats(column)

    def rounded_columns(self) -> list[int]:
        long = [j for j in range(self.n_columns) if self._type(j) in (pa.int64(), pa.uint64())]
        known = [j for j in long if self.table.column(j).null_count < self.n_rows]
        ends = {j: pc.min_max(self.table.column(j)) for j in known}
        return [
            j
            for j, end in ends.items()
            if end["max"].as_py() > LARGEST_EXACT or end["min"].as_py() < -LARGEST_EXACT
        ]

    def refuse_infinities(self, is_number: list[bool]) -> None:
        for j, number in enumerate(is_number):
            if number and pa.types.is_floating(self._type(j)) and np.isinf(self.numbers(j)).any():
                raise ValueError(
                    f"Input X contains infinity in column {self.label(j)}; "
                    "replace it by a finite value or NaN."
                )


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Float64 with NaN for nulls; whole numbers beyond 2^53 are rounded, as in pandas."""
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if column.type != pa.float64():
        column = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _seconds(column: pa.ChunkedArray, type_: pa.DataType) -> NDArray[np.float64]:
    if pa.types.is_date(type_):
        column, type_ = column.cast(pa.timestamp("s"), safe=False), pa.timestamp("s")
    return _floats(column.cast(pa.int64(), safe=False)) / _PER_SECOND[type_.unit]


def encoded(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], list[Any]]:
    """Positions in a list of distinct values (its length: missing), text as ``str``."""
    if not pa.types.is_dictionary(column.type):
        if pa.types.is_time(column.type):  # Arrow encodes no times of day
            column = pa.chunked_array([pa.array([None if v is None else str(v) for v in column.to_pylist()])])
        column = column.dictionary_encode()
    array = column.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], column.type)
    values = array.dictionary.to_pylist()
    if not is_number(column.type):
        values = [None if value is None else str(value) for value in values]
    indices = array.indices.cast(pa.int64()).fill_null(len(values))
    return np.asarray(indices.to_numpy(zero_copy_only=False)), values


class CategoryValues:
    """The values of a category column, collected over batches.

    An ordered category keeps the order of its dictionary; everything else is sorted.
    """

    def __init__(self, type_: pa.DataType) -> None:
        self.ordered = bool(pa.types.is_dictionary(type_) and type_.ordered)
        self.found: dict[Any, int] = {}  # value -> place in the order of an ordered category
        self.present: set[Any] = set()

    def __len__(self) -> int:
        return len(self.present)

    def add(self, column: pa.ChunkedArray, label: str) -> None:
        """Take in the values of a batch."""
        indices, values = encoded(column)
        seen = np.bincount(indices, minlength=len(values) + 1)[: len(values)] > 0
        known = [value is not None and value == value for value in values]
        self.present.update(value for value, here, ok in zip(values, seen, known) if here and ok)
        if self.ordered:
            self._keep_order([value for value, ok in zip(values, known) if ok], label)

    def _keep_order(self, values: list[Any], label: str) -> None:
        places = [self.found.get(value, len(self.found) + k) for k, value in enumerate(values)]
        if places != sorted(places):
            raise ValueError(
                f"the ordered category {label} lists its values in another order than the rows before; "
                "write all parts with the same categories."
            )
        for value in values:
            self.found.setdefault(value, len(self.found))

    def in_order(self) -> list[Any]:
        """The values that rows have, in code order."""
        if self.ordered:
            return [value for value in self.found if value in self.present]
        return sorted(self.present)
