"""Tables and arrays coded in one call: bins learned, then the codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.tables import Table
from surewood.trees.binning import BinnedMatrix, learn_bins


def bin_table(
    table: Table, weight: Floats | None = None, max_bins: int = 255, n_jobs: int | None = 1
) -> BinnedMatrix:
    """Learn bins on a table and code it.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees import as_table, bin_table
    >>> bin_table(as_table(np.array([[5.0], [np.nan], [7.0]]))).blocks[0].tolist()  # missing is 255
    [[0, 255, 1]]
    """
    if table.stream is not None:
        mapper = learn_bins(table, weight, max_bins, n_jobs)
        return BinnedMatrix.of(mapper.codes(table, n_jobs), mapper)
    codes = np.empty((table.n_columns, table.n_rows), dtype=np.uint8)
    mapper = learn_bins(table, weight, max_bins, n_jobs, codes)
    return BinnedMatrix.of(codes, mapper)


def bin_array(
    X: NDArray[Any], weight: Floats | None = None, max_bins: int = 255, n_jobs: int | None = 1
) -> BinnedMatrix:
    """Learn bins on a two-dimensional array of numbers (class vectors of a layer, say) and code it.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees import bin_array
    >>> bin_array(np.array([[0.5], [0.1], [0.9]])).blocks[0].tolist()
    [[1, 0, 2]]
    """
    return bin_table(as_table(X), weight, max_bins, n_jobs)


def as_table(X: NDArray[Any]) -> Table:
    """An array of numbers as a table without names or categories.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees import as_table
    >>> as_table(np.zeros((3, 2))).shape
    (3, 2)
    """
    n_rows, n_columns = X.shape
    return Table(n_rows, n_columns, None, np.zeros(n_columns, dtype=np.int64), X)
