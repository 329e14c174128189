"""The units of work of a block: picklable functions of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.deepforest.row_order import take_rows
from surewood.trees import BinnedMatrix, FlatForest, TreeParams, grow_forest, out_of_bag


class HeldRows:
    """Some rows of a matrix, gathered when first asked for; sent to another process as their numbers."""

    def __init__(self, matrix: BinnedMatrix, rows: NDArray[np.int64]) -> None:
        self.matrix, self.rows = matrix, rows
        self._gathered: BinnedMatrix | None = None

    def gathered(self) -> BinnedMatrix:
        if self._gathered is None:
            self._gathered = take_rows(self.matrix, self.rows)
        return self._gathered

    def __getstate__(self) -> dict[str, Any]:
        return {"matrix": self.matrix, "rows": self.rows, "_gathered": None}


def _grown(
    matrix: BinnedMatrix,
    labels: NDArray[np.uint16],
    n_classes: int,
    params: TreeParams,
    weight: Floats | None,
    rows: NDArray[np.int64],
    seed: int,
    start: int,
    count: int,
) -> Any:
    """Trees `start` to `start + count` of a member; rows have their order already."""
    return grow_forest(matrix, labels, n_classes, params, n_trees=count, seed=seed, weight=weight, rows=rows,
                       first_tree=start, by_content=False)  # fmt: skip


def grow_and_predict(
    matrix: BinnedMatrix,
    held: HeldRows,
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
    grown = _grown(matrix, labels, n_classes, params, weight, rows, seed, start, count)
    vectors = grown.forest.predict_proba(held.gathered()) * count
    return grown.forest.with_short_nodes(), vectors, grown.importances


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
) -> tuple[FlatForest, NDArray[np.uint32], NDArray[np.uint32], Floats, Floats]:
    """Some trees of a member, the numbers and sums of their out-of-bag vectors, importances."""
    grown = _grown(matrix, labels, n_classes, params, weight, rows, seed, start, count)
    sums, votes = out_of_bag(grown.forest, grown.bag, matrix, first_tree=start)
    return grown.forest.with_short_nodes(), grown.bag.rows, votes, sums, grown.importances
