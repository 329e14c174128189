"""One forest out of batches of trees that come one after another."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.tables.growing_array import GrowingArray
from surewood.trees.flat_tree import FlatForest, join_starts


class ForestJoiner:
    """A forest out of batches of trees that come one after another, each copied when it comes.

    The batches need not stay, and there is no moment at which all trees are in memory twice.

    Parameters
    ----------
    n_trees : int
        Trees to come, more or less.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees import ForestJoiner, TreeParams, bin_array, grow_forest
    >>> matrix, y = bin_array(np.array([[0.0], [1.0]])), np.array([0, 1])
    >>> joiner = ForestJoiner(n_trees=4, n_classes=2, n_features=1)
    >>> for first in (0, 2):
    ...     joiner.add(grow_forest(matrix, y, 2, TreeParams(), n_trees=2, seed=0, first_tree=first).forest)
    >>> joiner.forest().n_trees
    4
    """

    def __init__(self, n_trees: int, n_classes: int, n_features: int) -> None:
        self._n_trees, self._n_classes, self._n_features = n_trees, n_classes, n_features
        self._pools: list[GrowingArray] = []
        self._starts: list[list[NDArray[np.int64]]] = [[], [], []]
        self._word_bits = 0

    def add(self, batch: FlatForest) -> None:
        """The next trees."""
        if not self._pools:
            self._word_bits = batch.word_bits
            self._pools = [GrowingArray(batch.n_trees / max(self._n_trees, 1)) for _ in range(5)]
        elif self._word_bits != batch.word_bits:  # some trees are too large for short nodes
            batch, before = batch.with_whole_nodes(), self.forest().with_whole_nodes()
            self._pools, self._starts = [], [[], [], []]
            self.add(before)
        arrays: list[NDArray[Any]] = list(batch.arrays)
        for pool, array in zip(self._pools, arrays):
            pool.add(array)
        for starts, array in zip(self._starts, arrays[5:]):
            starts.append(array)

    def forest(self) -> FlatForest:
        """All trees so far."""
        arrays: list[Any] = [pool.joined() for pool in self._pools]
        arrays += [join_starts(starts) for starts in self._starts]
        names = [field.name for field in fields(FlatForest)]
        return FlatForest(
            **dict(zip(names, arrays)),
            n_classes=self._n_classes,
            n_features=self._n_features,
            word_bits=self._word_bits,
        )
