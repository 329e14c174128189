"""Contents that occur more than once in a training table.

Equal rows are merged on entry, and no model that is held out from one of them has seen the others. That is
right for *new* contents. Where a table has copies, rows to come will have copies in it too, and the models
that predict those have seen them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.tables import FitInputs
from surewood.tables.row_hashes import row_hashes


def copied_contents(inputs: FitInputs) -> NDArray[np.bool_]:
    """Which merged rows have values that occur more than once, whatever their labels.

    Weight 2 is the row twice, so occurrences are read from the weights: they are counts where all are whole
    numbers, or whole multiples of the smallest weight of their class. Other weights say nothing of copies,
    and a table in which every content has copies (or weights that only scale) is taken to have none.
    """
    counts = _counts(inputs.weight, inputs.y, inputs.table.n_rows)
    hashes = row_hashes(inputs.table, np.zeros(inputs.table.n_rows, dtype=np.int32))
    content = np.unique(hashes, return_inverse=True)[1]
    copied = np.bincount(content, counts)[content] > 1.5
    return np.zeros_like(copied) if copied.all() else copied


def _counts(weight: Floats | None, y: NDArray[np.int32], n_rows: int) -> Floats:
    """How often each merged row occurs.

    Examples
    --------
    >>> _counts(np.array([1.0, 2.0]), np.array([0, 0]), 2).tolist()
    [1.0, 2.0]
    >>> _counts(np.array([0.5, 1.0, 3.3]), np.array([0, 0, 1]), 3).tolist()
    [1.0, 2.0, 1.0]
    >>> _counts(np.array([0.5, 0.7]), np.array([0, 0]), 2).tolist()
    [1.0, 1.0]
    """
    if weight is None:
        return np.ones(n_rows)
    least = np.full(int(y.max(initial=0)) + 1, np.inf)
    np.minimum.at(least, y, weight)
    for counts in (weight, weight / least[y]):
        if (np.abs(counts - np.rint(counts)) <= 1e-9 * counts).all():
            return np.rint(counts)
    return np.ones(n_rows)
