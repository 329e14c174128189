"""Tables as they come: what every estimator does first with ``X``, ``y`` and weights.

* :mod:`~surewood.tables.source` is how any input is seen, column by column;
  :mod:`~surewood.tables.frame_source`, :mod:`~surewood.tables.array_source` and
  :mod:`~surewood.tables.arrow_source` read what holds it;
* :mod:`~surewood.tables.schema` learns what the columns are (number, category, time) and reads later
  tables the same way;
* :mod:`~surewood.tables.table` is the validated table the engines read, column by column or as a matrix;
* :mod:`~surewood.tables.parquet`, :mod:`~surewood.tables.parquet_fit` and
  :mod:`~surewood.tables.row_stream` do the same for Parquet data sets larger than memory, with
  :mod:`~surewood.tables.workspace` for scratch files;
* :mod:`~surewood.tables.duplicates` merges equal rows and puts rows into an order of their own;
* :mod:`~surewood.tables.validation` holds ``begin_fit`` and ``begin_predict``;
* :mod:`~surewood.tables.design` turns a table into the all-numeric form that kernel machines see;
* :mod:`~surewood.tables.plain` gives labels, names and values as JSON has them.
"""

from surewood.tables.design import DesignEncoder
from surewood.tables.duplicates import merge_equal_rows
from surewood.tables.parquet import ParquetTable, as_parquet
from surewood.tables.plain import ColumnReader, by_label, column_names, plain
from surewood.tables.schema import TableSchema
from surewood.tables.table import Table
from surewood.tables.validation import FitInputs, begin_fit, begin_predict, by_batches
from surewood.tables.workspace import Workspace, alongside, is_mapped

__all__ = [
    "ColumnReader",
    "DesignEncoder",
    "FitInputs",
    "ParquetTable",
    "Table",
    "TableSchema",
    "Workspace",
    "alongside",
    "as_parquet",
    "begin_fit",
    "begin_predict",
    "by_batches",
    "by_label",
    "column_names",
    "is_mapped",
    "merge_equal_rows",
    "plain",
]
