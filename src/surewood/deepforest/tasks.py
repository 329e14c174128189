"""The units of work of a block: picklable functions of arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surewood.trees import BinnedMatrix, FlatForest, TreeParams, grow_forest, out_of_bag

Floats = NDArray[np.float64]


def grow_and_predict(
    matrix: BinnedMatrix,
    held_matrix: BinnedMatrix,
    labels: NDArray[np.uint16],
    n_classes: int,
    params: TreeParams,
    weight: Floats | None,
    rows: NDArray[np.int64],
    seed: int,
    start: int,
    count: int,
) -> tuple[FlatForest, Floats, Floats]:
    """Some trees of a member on a fold, the sums of their vectors on the held-out points, importances."""
    grown = grow_forest(
        matrix,
        labels,
        n_classes,
        params,
        n_trees=count,
        seed=seed,
        weight=weight,
        rows=rows,
        first_tree=start,
        by_content=False,
    )
    return grown.forest, grown.forest.predict_proba(held_matrix) * count, grown.importances


def grow_and_predict_out_of_bag(
    matrix: BinnedMatrix,
    labels: NDArray[np.uint16],
    n_classes: int,
    params: TreeParams,
    weight: Floats | None,
    rows: NDArray[np.int64],
    seed: int,
    start: int,
    count: int,
) -> tuple[FlatForest, NDArray[np.uint32], Floats, NDArray[np.uint32], Floats]:
    """Some trees of a member, the sums and numbers of their out-of-bag vectors, importances."""
    grown = grow_forest(
        matrix,
        labels,
        n_classes,
        params,
        n_trees=count,
        seed=seed,
        weight=weight,
        rows=rows,
        first_tree=start,
        by_content=False,
    )
    sums, votes = out_of_bag(grown.forest, grown.bag, matrix, first_tree=start)
    return grown.forest, grown.bag.rows, sums, votes, grown.importances
