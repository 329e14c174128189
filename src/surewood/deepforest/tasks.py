"""The units of work of a block: picklable functions of arrays.

Each is given a picklable call of `grow_forest` that waits to be made. `grow_and_predict` also predicts the
rows that a fold holds out, `grow_and_predict_out_of_bag` those outside the bag of each tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.deepforest.row_order import take_rows
from surewood.trees import BinnedMatrix, FlatForest, Grown, out_of_bag

Grow: TypeAlias = Callable[[], Grown]


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


class HeldOutTrees(NamedTuple):
    """Some trees of a fold, the sums of their class vectors on the held-out rows, and importances."""

    forest: FlatForest
    sums: Floats
    importances: Floats


class OutOfBagTrees(NamedTuple):
    """Some trees; for `rows` the sums and numbers of their out-of-bag class vectors; importances."""

    forest: FlatForest
    rows: NDArray[np.uint32]
    sums: Floats
    votes: NDArray[np.uint32]
    importances: Floats


def grow_and_predict(grow: Grow, held: HeldRows) -> HeldOutTrees:
    """Grow trees on the training rows of a fold and predict its held-out rows."""
    grown = grow()
    sums = grown.forest.predict_proba(held.gathered()) * grown.forest.n_trees
    return HeldOutTrees(grown.forest.with_short_nodes(), sums, grown.importances)


def grow_and_predict_out_of_bag(grow: Grow, matrix: BinnedMatrix, first_tree: int) -> OutOfBagTrees:
    """Grow trees on bootstrap samples of all rows and predict the rows outside their bags."""
    grown = grow()
    sums, votes = out_of_bag(grown.forest, grown.bag, matrix, first_tree=first_tree)
    return OutOfBagTrees(grown.forest.with_short_nodes(), grown.bag.rows, sums, votes, grown.importances)
