"""Tables as they come: what every estimator does first with ``X``, ``y`` and weights.

* :mod:`~surewood.tables.sources` is how any input is seen, column by column;
* :mod:`~surewood.tables.schema` learns what the columns are (number, category, time) and reads later
  tables the same way;
* :mod:`~surewood.tables.table` is the validated table the engines read, column by column or as a matrix;
* :mod:`~surewood.tables.parquet` does the same for Parquet data sets larger than memory, with
  :mod:`~surewood.tables.workspace` for scratch files;
* :mod:`~surewood.tables.row_hashes` hashes the contents of rows, merges equal rows and puts rows into an
  order of their own;
* :mod:`~surewood.tables.validation` holds ``begin_fit`` and ``begin_predict``;
* :mod:`~surewood.tables.design` turns a table into the all-numeric form that SVMs see;
* :mod:`~surewood.tables.table_file` and :mod:`~surewood.tables.text_file` read table files of any origin,
  :mod:`~surewood.tables.planning` finds out what their columns are, :mod:`~surewood.tables.preparing` makes a
  frame ready for an estimator, in training and later alike;
* :mod:`~surewood.tables.plain_values` gives labels, names and values as JSON has them.
"""

from surewood.tables.design import DesignEncoder
from surewood.tables.parquet import ParquetTable, as_parquet
from surewood.tables.plain_values import ColumnReader, by_label, column_names, plain
from surewood.tables.planning.column_plan import ColumnPlan
from surewood.tables.planning.table_plan import TablePlan, plan
from surewood.tables.preparing import TablePreparer
from surewood.tables.row_hashes import content_hashes, merge_equal_rows, table_content_hashes
from surewood.tables.schema import TableSchema
from surewood.tables.sources import DataError
from surewood.tables.table import Table
from surewood.tables.table_file import read_table
from surewood.tables.validation import (
    TrainingTable,
    begin_fit,
    begin_predict,
    by_batches,
    joint_codes,
    merged_inputs,
)
from surewood.tables.workspace import Workspace, alongside, is_mapped

# Public, beside ParquetTable of surewood itself; the other names of this package are for estimators.
__all__ = ["ColumnPlan", "TablePlan", "TablePreparer", "plan", "read_table"]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.tables.design.DesignEncoder",
    "surewood.tables.planning.column_plan.ColumnPlan",
    "surewood.tables.preparing.TextEncoding",
    "surewood.tables.planning.table_plan.TablePlan",
    "surewood.tables.preparing.TablePreparer",
    "surewood.tables.preparing.TrainingRows",
    "surewood.tables.table_file.FileRows",
    "surewood.tables.schema.TableSchema",
)
