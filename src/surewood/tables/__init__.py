"""Tables as they come: what every estimator does first with ``X``, ``y`` and weights.

* :mod:`~surewood.tables.schema` learns what the columns are (number, category, time) and reads later
  tables the same way;
* :mod:`~surewood.tables.table` is the validated table the engines read, column by column or as a matrix;
* :mod:`~surewood.tables.duplicates` merges equal rows and puts rows into an order of their own;
* :mod:`~surewood.tables.validation` holds ``begin_fit`` and ``begin_predict``;
* :mod:`~surewood.tables.design` turns a table into the all-numeric form that kernel machines see;
* :mod:`~surewood.tables.plain` gives labels, names and values as JSON has them.
"""

from surewood.tables.design import DesignEncoder
from surewood.tables.duplicates import merge_equal_rows
from surewood.tables.plain import ColumnReader, by_label, column_names, plain
from surewood.tables.schema import TableSchema
from surewood.tables.table import Table
from surewood.tables.validation import FitInputs, begin_fit, begin_predict

__all__ = [
    "ColumnReader",
    "DesignEncoder",
    "FitInputs",
    "Table",
    "TableSchema",
    "begin_fit",
    "begin_predict",
    "by_label",
    "column_names",
    "merge_equal_rows",
    "plain",
]
