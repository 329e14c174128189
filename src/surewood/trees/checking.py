"""Checks of forests and bins before the core reads them: nothing in a model file is trusted.

The core follows every number of a forest without looking. So a forest is checked when it is made, unpickled
or loaded, once and in one pass: starts ascend and end where the arrays do, children lie after their parent
and inside its tree, features, bins, classes, leaf offsets and category entries are in range, probabilities
and thresholds are finite. Each function raises ValueError with one sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from surewood import _core
from surewood._arrays import ArrayTable, check_array, check_arrays

if TYPE_CHECKING:
    from surewood.trees.binning import BinMapper, BinnedMatrix
    from surewood.trees.flat_tree import FlatForest

_MOST_BINS = 255
_FOREST_ARRAYS: ArrayTable = {
    (np.uint32, None): ("nodes",),
    (np.uint16, 1): ("leaf_class",),
    (np.uint32, 1): ("leaf_weight", "category_left"),
    (np.uint64, 2): ("category_set",),
    (np.int64, 1): ("node_start", "leaf_start", "category_start"),
}
_MAPPER_ARRAYS: ArrayTable = {
    (np.int64, 1): ("offset",),
    (np.float64, 1): ("values", "edges"),
    (np.uint8, 1): ("is_category",),
}


def check_count(value: Any, name: str, least: int, most: int) -> None:
    """Refuse what is not an integer from `least` to `most`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not least <= value <= most:
        raise ValueError(f"{name} must be an integer from {least} to {most}, got {value!r}.")


def check_forest(forest: FlatForest) -> None:
    """Refuse a forest that the core could not read safely."""
    check_arrays(forest, _FOREST_ARRAYS)
    check_count(forest.n_classes, "n_classes", 1, 65535)
    check_count(forest.n_features, "n_features", 0, 2**22 - 2)
    check_count(forest.word_bits, "word_bits", 0, 31)
    try:
        _core.check_forest(forest.in_core)
    except TypeError as error:  # a wrong shape
        raise ValueError(f"forest: {error}.") from None


def check_mapper(mapper: BinMapper) -> None:
    """Refuse bins whose offsets, values or edges do not belong together."""
    check_arrays(mapper, _MAPPER_ARRAYS)
    offset, n_columns = mapper.offset, len(mapper.is_category)
    if len(offset) != n_columns + 1 or len(mapper.values) != len(mapper.edges):
        raise ValueError("offset must have one entry per column and the end, values one per edge.")
    sizes = np.diff(offset)
    if offset[0] != 0 or offset[-1] != len(mapper.edges) or (sizes < 1).any() or (sizes > _MOST_BINS).any():
        raise ValueError("offset must ascend by 1 to 255 bins per column, from 0 to the number of edges.")
    _check_edges(mapper)
    for j, bins in mapper.category_bins.items():
        check_count(j, "a column of category_bins", 0, n_columns - 1)
        check_array(bins, "category_bins", np.uint8, 1)
        if not mapper.is_category[j] or (len(bins) and bins.max() >= sizes[j]):
            raise ValueError(f"category_bins of column {j} name a bin that the column does not have.")


def _check_edges(mapper: BinMapper) -> None:
    """Values finite; edges finite but for the last of a number column, ascending within a column."""
    edges, last = mapper.edges, mapper.offset[1:] - 1
    open_end = last[mapper.is_category == 0]
    finite = np.isfinite(edges)
    finite[open_end] |= np.isinf(edges[open_end])
    if not finite.all() or not np.isfinite(mapper.values).all():
        raise ValueError("values and thresholds of bins must be finite.")
    falls = edges[1:] < edges[:-1]
    falls[last[:-1]] = False  # the next one is of another column
    if falls.any():
        raise ValueError("thresholds of a column must ascend.")


def check_bins(forest: FlatForest, mapper: BinMapper) -> None:
    """Refuse to compare raw numbers with bins that a column does not have."""
    if mapper.n_columns != forest.n_features:
        raise ValueError(f"forest: grown on {forest.n_features} columns, got bins of {mapper.n_columns}.")
    if (forest.last_bin >= np.diff(mapper.offset)).any():
        raise ValueError("forest: a split compares with a bin that its column does not have.")


def check_codes(matrix: BinnedMatrix) -> None:
    """Refuse to grow on codes that are no bins of their column."""
    if not _core.codes_fit(matrix.training_bins):
        raise ValueError("matrix: a code is no bin of its column.")
