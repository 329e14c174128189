"""Values that JSON knows: what explanations and reports are made of.

:func:`plain` turns values of any library into Python ones; :func:`by_label` names one number per class;
:class:`ColumnReader` gives names, actual values and categories of a table's columns as a user would say them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood.tables.schema import TableSchema
from surewood.tables.table import Table


def plain(value: Any) -> Any:
    """A value as JSON has it: text, number, bool, None, lists and dictionaries of them.

    Missing and infinite numbers are None; what JSON does not know is its text.

    Examples
    --------
    >>> import numpy as np
    >>> plain(np.int32(3)), plain(np.nan), plain(np.str_("no")), plain(np.datetime64("2024-01-02"))
    (3, None, 'no', '2024-01-02')
    >>> plain({"a": np.float64("nan"), 3: np.arange(2), "t": (True, None)})
    {'a': None, '3': [0, 1], 't': [True, None]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value)


def by_label(classes: Any, values: ArrayLike) -> dict[Any, Any]:
    """One number per class, by its label.

    Examples
    --------
    >>> by_label(np.array(["no", "yes"]), np.array([0.25, 0.75]))
    {'no': 0.25, 'yes': 0.75}
    """
    return {plain(label): plain(value) for label, value in zip(classes, np.asarray(values))}


class ColumnReader:
    """Names and values of the columns of a table that a fitted estimator reads.

    Examples
    --------
    >>> import pandas as pd
    >>> from surewood.tables import ColumnReader, TableSchema
    >>> frame = pd.DataFrame({"age": [31, None], "job": ["clerk", "baker"]})
    >>> schema = TableSchema.learn(frame)
    >>> reader = ColumnReader(schema.read(frame), schema)
    >>> reader.names, reader.actual(0, 1), reader.actual(1, 0)
    (['age', 'job'], 'clerk', None)
    """

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
    """Names of the columns, x0, x1, ... where the training table had none.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.tables import TableSchema, column_names
    >>> column_names(TableSchema.learn(np.zeros((2, 2))), 2)
    ['x0', 'x1']
    """
    return [f"x{j}" for j in range(n_columns)] if schema.names is None else list(schema.names)
