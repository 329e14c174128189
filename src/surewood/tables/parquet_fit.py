"""What a fit learns from a Parquet data set before it looks at the numbers: labels, weights, categories.

One pass over the target, the weights and the category columns. Rows without a label are left out and counted
in a warning; everything else that is wrong is an error with the file and the column.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from surewood.tables.arrow_source import ArrowSource, CategoryValues, encoded, is_plain_text, is_text
from surewood.tables.parquet import OpenParquet, ParquetTable
from surewood.tables.row_stream import RowStream
from surewood.tables.schema import TableSchema, category_mask, warn_of_rounding
from surewood.tables.source import CATEGORY, LARGEST_EXACT, NUMBER
from surewood.tables.text_order import KIND_OF_FORM, text_form
from surewood.tables.workspace import Workspace

MAX_CLASSES = 65_535
MAX_CATEGORIES = 1_000_000


@dataclass(frozen=True)
class ParquetFit:
    """Training data of a Parquet data set."""

    #: The rows that have a label.
    stream: RowStream
    #: Class codes of these rows.
    y: NDArray[np.int32]
    #: Labels of the codes, sorted.
    classes: NDArray[Any]
    #: The weight column of these rows.
    weight: NDArray[np.float64] | None
    #: Which rows of the data set have a label; None: all of them.
    kept: NDArray[np.bool_] | None


def read_training(parquet: ParquetTable, categorical_features: Any) -> ParquetFit:
    """The first pass of a fit."""
    if parquet.target is None:
        raise ValueError(
            "a fit on a Parquet file requires y to be passed: name the target column, "
            "fit(path, 'column') or ParquetTable(path, target='column')."
        )
    if parquet.target == parquet.weight:
        raise ValueError(f"target and weight are both {parquet.target!r}; they must be two columns.")
    opened = parquet.open()
    kinds = column_kinds(opened, categorical_features)
    collector = _Collector(opened, parquet, kinds)
    for _, path, source in parquet.open(columns=collector.wanted).batches():
        collector.add(path, source.table)
    y, classes, kept = collector.labels()
    by_type = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    schema = _schema(opened, kinds, collector.categories(), by_type)
    warn_of_rounding(rounded_columns(parquet, opened, kinds))
    stream = RowStream(opened, schema, len(y), kept, Workspace(parquet.workdir))
    return ParquetFit(stream, y, classes, collector.weights(), kept)


def column_kinds(opened: OpenParquet, categorical_features: Any) -> list[str]:
    """Kind of every column, from its type and `categorical_features`."""
    source = opened.empty
    chosen = category_mask(source, categorical_features)
    kinds = [source.kind(j) for j in range(source.n_columns)]
    if chosen is None:
        return kinds
    for j, kind in enumerate(kinds):
        if kind == CATEGORY and not chosen[j]:
            raise ValueError(
                f"column {source.label(j)} holds text, but categorical_features does not name it; "
                "add it there or use categorical_features='from_dtype'."
            )
    return [CATEGORY if chosen[j] else kind for j, kind in enumerate(kinds)]


def _schema(
    opened: OpenParquet, kinds: list[str], categories: list[list[Any] | None], by_type: bool
) -> TableSchema:
    """The schema of the columns, text with an order of its own as numbers."""
    plain = [by_type and is_plain_text(opened.schema.field(name).type) for name in opened.names]
    forms = [text_form(values) if values and text else None for values, text in zip(categories, plain)]
    kinds = [kind if form is None else KIND_OF_FORM[form] for kind, form in zip(kinds, forms)]
    kept = [values if form is None else None for values, form in zip(categories, forms)]
    return TableSchema(kinds, opened.names, kept, forms if any(forms) else None)


def rounded_columns(parquet: ParquetTable, opened: OpenParquet, kinds: list[str]) -> list[str]:
    """Labels of the number columns with whole numbers beyond 2^53.

    Files say how large their numbers are; where one does not, the column is read.
    """
    long = (pa.int64(), pa.uint64())
    names = [
        n for n, kind in zip(opened.names, kinds) if kind == NUMBER and opened.schema.field(n).type in long
    ]
    largest = dict.fromkeys(names, 0)
    unknown: set[str] = set()
    for path in opened.paths if names else ():
        file = pq.read_metadata(path)
        for group in map(file.row_group, range(file.num_row_groups)):
            for part in map(group.column, range(group.num_columns)):
                name, ends = part.path_in_schema, part.statistics
                if name not in largest:
                    continue
                if ends is not None and ends.has_min_max:
                    largest[name] = max(largest[name], abs(int(ends.min)), abs(int(ends.max)))
                elif ends is None or not ends.has_null_count or ends.null_count < group.num_rows:
                    unknown.add(name)
    wanted = [name for name in names if name in unknown]
    for _, _, rows in parquet.open(columns=wanted).batches() if wanted else ():
        largest |= {wanted[j]: LARGEST_EXACT + 1 for j in rows.rounded_columns()}
    return [repr(name) for name in names if largest[name] > LARGEST_EXACT]


class _Collector:
    """Labels, weights and categories of the batches so far."""

    def __init__(self, opened: OpenParquet, parquet: ParquetTable, kinds: list[str]) -> None:
        assert parquet.target is not None
        self.target, self.weight = parquet.target, parquet.weight
        self.names = [name for name, kind in zip(opened.names, kinds) if kind == CATEGORY]
        self.found = {name: CategoryValues(opened.schema.field(name).type) for name in self.names}
        self.all_names = opened.names
        if self.target in self.all_names or self.weight in self.all_names:
            taken = min(name for name in self.all_names if name in (self.target, self.weight))
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
        known = codes >= 0
        if not known.all():
            rows = rows.filter(pa.array(known))
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
        given = self._as_array(list(self._place))
        check_classification_targets(given)
        order = np.argsort(given, kind="stable")
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return rank[codes], given[order], kept

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

    def categories(self) -> list[list[Any] | None]:
        return [self.found[name].in_order() if name in self.found else None for name in self.all_names]


__all__ = ["ParquetFit", "column_kinds", "read_training"]
