"""When contrast classifiers are offered: for wide tables of numbers, in memory, of moderate length.

On narrow tables forests need no help, on small ones there are too few rows to draw contrasts from, and on
long ones the classifier would take more memory and time than all forests together.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from surewood.deepforest.contrast_classifier import _ContrastClassifier
from surewood.tables import Table

_LEAST_COLUMNS = 100
_LEAST_ROWS, _MOST_ROWS = 1000, 200_000
_MOST_NUMBERS = 2**27  # the table as numbers: 1 GiB
_OPERATIONS_PER_SECOND = 3e10  # per thread, single precision


def suits_contrasts(table: Table) -> bool:
    """Whether a table has at least 100 columns, all numbers without gaps, and a length that suits."""
    if table.stream is not None or table.n_columns < _LEAST_COLUMNS or table.is_category.any():
        return False
    if not _LEAST_ROWS <= table.n_rows <= _MOST_ROWS or table.n_rows * table.n_columns > _MOST_NUMBERS:
        return False
    if sp.issparse(table.array):
        return False  # most likely words: numbers would fill the memory
    return not any(np.isnan(table.column(j)).any() for j in range(table.n_columns))


def contrast_bytes(n_rows: int, n_columns: int, n_threads: int) -> int:
    """Memory that a contrast classifier adds to a fit: the table as numbers, and one fold per thread."""
    classifier = _ContrastClassifier()
    fold = n_rows * (8 * n_columns + 4 * classifier.n_kept) + 4 * classifier.units_for(n_rows) ** 2
    return int(16 * n_rows * n_columns + n_threads * fold)


def contrast_seconds(n_rows: int, n_folds: int, n_threads: int) -> float:
    """Time of the contrast classifiers of one layer, from a count of operations."""
    classifier = _ContrastClassifier()
    n_units = classifier.units_for(n_rows)
    each = n_rows * n_units * (n_units + 100.0 * classifier.n_steps) + n_units**3 / 3.0
    return n_folds * each / _OPERATIONS_PER_SECOND / min(n_threads, n_folds)
