"""Values that JSON knows: what explanations are made of.

:func:`plain` turns a scalar of any library into a Python one; :func:`by_label` names one number a class;
:class:`ColumnReader` gives names, actual values and categories of a table's columns as a user would say them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood.tables.schema import TableSchema
from surewood.tables.table import Table


def plain(value: Any) -> Any:
    """A scalar as JSON has it: text, int, float, bool or None (missing and infinite values are None).

    Examples
    --------
    >>> import numpy as np
    >>> plain(np.int32(3)), plain(np.nan), plain(np.str_("no")), plain(np.datetime64("2024-01-02"))
    (3, None, 'no', '2024-01-02')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    return str(value)


def by_label(classes: Any, values: ArrayLike) -> dict[Any, Any]:
    """One number a class, by its label.

    Examples
    --------
    >>> by_label(np.array(["no", "yes"]), np.array([0.25, 0.75]))
    {'no': 0.25, 'yes': 0.75}
    """
    return {plain(label): plain(value) for label, value in zip(classes, np.asarray(values))}


class ColumnReader:
    """Names and values of the columns of a table that a fitted estimator reads."""

    def __init__(self, table: Table, schema: TableSchema) -> None:
        self._table, self._schema = table, schema
        self._columns: dict[int, NDArray[np.float64]] = {}
        self.names = column_names(schema, table.n_columns)

    def actual(self, row: int, column: int) -> Any:
        """What stands in a cell: a number, a category, or None where it is missing or was never seen."""
        if column not in self._columns:
            self._columns[column] = self._table.column(column)
        value = float(self._columns[column][row])
        categories = self._schema.categories[column]
        if math.isnan(value):
            return None
        return plain(value) if categories is None else plain(categories[int(value)])

    def categories(self, column: int) -> list[Any]:
        """The categories of a column, in the order of their codes."""
        return [plain(value) for value in self._schema.categories[column] or []]


def column_names(schema: TableSchema, n_columns: int) -> list[str]:
    """Names of the columns, x0, x1, ... where the training table had none."""
    return [f"x{j}" for j in range(n_columns)] if schema.names is None else list(schema.names)
