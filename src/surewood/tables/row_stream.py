"""Rows of a Parquet data set, read again and again in the same order, never held as a whole.

A :class:`RowStream` knows the data set, its schema and which rows count. Tables made from it
(:class:`~surewood.tables.table.Table`) read a column at a time, or all columns of some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from surewood.tables.arrow_source import ArrowSource
from surewood.tables.parquet import OpenParquet
from surewood.tables.schema import TableSchema, category_counts, category_index
from surewood.tables.source import CATEGORY, NUMBER
from surewood.tables.table import Table
from surewood.tables.text_order import ordered_column
from surewood.tables.workspace import Workspace


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
        self._indexes = [category_index(values) for values in schema.categories]

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
            index = self._indexes[chosen[k]]
            if index is not None:
                return source.codes(k, index)
            form = self.schema.form_of(source, k, chosen[k])
            if form is not None:
                return ordered_column(source, k, form)
            values = source.numbers(k)
            if self.schema.kinds[chosen[k]] == NUMBER and np.isinf(values).any():
                raise ValueError(
                    f"Input X contains infinity in column {source.label(k)} of {path}; "
                    "replace it by a finite value or NaN."
                )
            return values

        for k, j in enumerate(chosen):
            as_text = source.kind(k) == CATEGORY and self.schema.form_of(source, k, j) is None
            if self.schema.kinds[j] != CATEGORY and as_text:
                raise ValueError(
                    f"column {source.label(k)} held numbers in training and holds text in {path}; "
                    "convert it first."
                )
        names = None if self.schema.names is None else [self.schema.names[j] for j in chosen]
        return Table(source.n_rows, len(chosen), names, self.n_categories[chosen], encode=encode)
