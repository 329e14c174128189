"""When contrast machines are offered: to wide tables of numbers, in memory, of moderate length.

On narrow tables forests need no help, on small ones there is nothing to draw contrasts from, and on long ones
the machine would take more memory and time than all forests together.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from surewood.deepforest.contrast_machine import _ContrastMachine
from surewood.deepforest.members import Member
from surewood.tables import Table

_LEAST_COLUMNS = 100
_LEAST_ROWS, _MOST_ROWS = 1000, 200_000
_MOST_NUMBERS = 2**27  # the table as numbers: 1 GiB
_OPERATIONS_A_SECOND = 3e10  # of a thread, single precision


def suits_contrasts(table: Table) -> bool:
    """Whether a table has at least 100 columns, all numbers without gaps, and a length that suits."""
    if table.stream is not None or table.n_columns < _LEAST_COLUMNS or table.is_category.any():
        return False
    if not _LEAST_ROWS <= table.n_rows <= _MOST_ROWS or table.n_rows * table.n_columns > _MOST_NUMBERS:
        return False
    if sp.issparse(table.array):
        return False  # most likely words: numbers would fill the memory
    return not any(np.isnan(table.column(j)).any() for j in range(table.n_columns))


def machine_bytes(n_rows: int, n_columns: int, n_threads: int) -> int:
    """Memory that a contrast machine adds to a fit: the table as numbers, and a fold a thread."""
    machine = _ContrastMachine()
    fold = n_rows * (8 * n_columns + 4 * machine.n_kept) + 4 * machine.units_for(n_rows) ** 2
    return int(16 * n_rows * n_columns + n_threads * fold)


def machine_seconds(n_rows: int, n_folds: int, n_threads: int) -> float:
    """Time of the machines of a layer, from a count of operations."""
    machine = _ContrastMachine()
    n_units = machine.units_for(n_rows)
    each = n_rows * n_units * (n_units + 100.0 * machine.n_steps) + n_units**3 / 3.0
    return n_folds * each / _OPERATIONS_A_SECOND / min(n_threads, n_folds)


def has_machine(compositions: list[list[Member]]) -> bool:
    """Whether a block has a contrast machine."""
    return any(member.kind == "contrast" for members in compositions for member in members)
