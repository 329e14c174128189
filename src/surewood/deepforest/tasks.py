"""The units of work of a block: picklable functions of arrays.

A :class:`TreeTask` says which trees to grow on which rows. `grow_and_predict` also predicts the rows that a
fold holds out, `grow_and_predict_out_of_bag` those outside the bag of each tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.deepforest.row_order import take_rows
from surewood.trees import BinnedMatrix, FlatForest, TreeParams, grow_forest, out_of_bag


class HeldRows:
    """Some rows of a matrix, gathered on first use; sent to another process as their numbers."""

    def __init__(self, matrix: BinnedMatrix, rows: NDArray[np.int64]) -> None:
        self.matrix, self.rows = matrix, rows
        self._gathered: BinnedMatrix | None = None

    def gathered(self) -> BinnedMatrix:
        if self._gathered is None:
            self._gathered = take_rows(self.matrix, self.rows)
        return self._gathered

    def __getstate__(self) -> dict[str, Any]:
        return {"matrix": self.matrix, "rows": self.rows, "_gathered": None}


@dataclass(frozen=True)
class TreeTask:
    """Trees `start` to `start + count` of one forest, grown on `rows`."""

    matrix: BinnedMatrix
    labels: NDArray[np.uint16]
    n_classes: int
    params: TreeParams
    weight: Floats | None
    rows: NDArray[np.int64]
    seed: int
    start: int
    count: int

    def grow(self) -> Any:
        """The grown trees; the rows are in canonical order already."""
        return grow_forest(
            self.matrix,
            self.labels,
            self.n_classes,
            self.params,
            n_trees=self.count,
            seed=self.seed,
            weight=self.weight,
            rows=self.rows,
            first_tree=self.start,
            by_content=False,
        )


@dataclass(frozen=True)
class HeldOutTrees:
    """Some trees of a fold, the sums of their class vectors on the held-out rows, and importances."""

    forest: FlatForest
    sums: Floats
    importances: Floats


@dataclass(frozen=True)
class OutOfBagTrees:
    """Some trees; for `rows` the sums and numbers of their out-of-bag class vectors; importances."""

    forest: FlatForest
    rows: NDArray[np.uint32]
    sums: Floats
    votes: NDArray[np.uint32]
    importances: Floats


def grow_and_predict(task: TreeTask, held: HeldRows) -> HeldOutTrees:
    """Grow trees on the training rows of a fold and predict its held-out rows."""
    grown = task.grow()
    sums = grown.forest.predict_proba(held.gathered()) * task.count
    return HeldOutTrees(grown.forest.with_short_nodes(), sums, grown.importances)


def grow_and_predict_out_of_bag(task: TreeTask) -> OutOfBagTrees:
    """Grow trees on bootstrap samples of all rows and predict the rows outside their bags."""
    grown = task.grow()
    sums, votes = out_of_bag(grown.forest, grown.bag, task.matrix, first_tree=task.start)
    return OutOfBagTrees(grown.forest.with_short_nodes(), grown.bag.rows, sums, votes, grown.importances)
