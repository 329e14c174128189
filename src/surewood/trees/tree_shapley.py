"""Exact Shapley values of a forest's mean class vectors: rows against background rows.

The value of some columns of a row is the mean prediction of mixed rows that have these columns of the row and
the others of a background row, over all background rows (the "interventional" value function). Values are
exact for every tree and background row (core/forest/forest_shapley.hpp), and sum to the prediction of the
row minus the mean prediction of the background.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from surewood import _core
from surewood.parallel import over_rows
from surewood.trees.binning import BinnedMatrix
from surewood.trees.flat_tree import FlatForest

_SECONDS_A_PAIR = 1e-7  # of a tree, roughly


def shapley_values(
    forest: FlatForest,
    rows: BinnedMatrix,
    background: BinnedMatrix,
    groups: Sequence[Sequence[int]] | None = None,
    n_jobs: int | None = 1,
) -> NDArray[np.float64]:
    """Shapley values, shape (n_rows, n_groups, n_classes).

    Parameters
    ----------
    forest : FlatForest
    rows, background : BinnedMatrix
        In the bins that the forest was grown on; at least one background row.
    groups : list of list of int, optional
        Columns that count as one; each column is in one group. By default every column is its own.
    n_jobs : int or None, default=1

    Examples
    --------
    >>> from surewood.trees.binning import bin_array
    >>> from surewood.trees.growing import TreeParams, grow_forest
    >>> matrix = bin_array(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
    >>> y = np.array([0, 0, 1, 1], dtype=np.int32)
    >>> forest = grow_forest(matrix, y, 2, TreeParams(max_features=2), n_trees=1, seed=0).forest
    >>> shapley_values(forest, matrix, matrix)[:, :, 1].tolist()
    [[-0.5, 0.0], [-0.5, 0.0], [0.5, 0.0], [0.5, 0.0]]
    """
    if background.n_rows == 0:
        raise ValueError("Shapley values need at least one background row.")
    positions = [[j] for j in range(forest.n_features)] if groups is None else groups
    group_of = np.zeros(forest.n_features, dtype=np.uint32)
    for g, columns in enumerate(positions):
        group_of[list(columns)] = g
    out = np.zeros((rows.n_rows, len(positions), forest.n_classes))
    blocks, others = list(rows.blocks), list(background.blocks)
    over_rows(
        _shapley_codes,
        (forest, others, group_of, len(positions)),
        lambda begin, end: (blocks, begin, end),
        [out],
        send=lambda begin, end: ([block[:, begin:end] for block in blocks], 0, end - begin),
        n_rows=rows.n_rows,
        rows_a_task=max(1, math.ceil(rows.n_rows / (4 * int(effective_n_jobs(n_jobs))))),
        n_jobs=n_jobs,
        seconds_a_row=_SECONDS_A_PAIR * forest.n_trees * background.n_rows,
        shared=forest.arrays,
    )
    out /= max(forest.n_trees, 1) * background.n_rows
    return out


def _shapley_codes(
    forest: FlatForest, others: list[Any], group_of: Any, n_groups: int, blocks: list[Any], *rest: Any
) -> None:
    begin, end, out = rest
    bins, background = _core.Bins(blocks), _core.Bins(others)
    _core.shapley_codes(forest.in_core, bins, begin, end, background, group_of, n_groups, out)
