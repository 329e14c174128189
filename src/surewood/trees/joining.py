"""One forest out of batches of trees that come one after another."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.trees.flat_tree import FlatForest, join_starts


class ForestJoiner:
    """A forest out of batches of trees that come one after another, each copied when it comes.

    The first batch tells how much room all trees will need; pages that nobody writes cost no memory. So the
    batches need not stay, and there is no moment at which all trees are in memory twice.

    Parameters
    ----------
    n_trees : int
        Trees to come, more or less.
    """

    def __init__(self, n_trees: int, n_classes: int, n_features: int) -> None:
        self._n_trees, self._n_classes, self._n_features = n_trees, n_classes, n_features
        self._pools: list[NDArray[Any]] = []
        self._filled = [0] * 5
        self._starts: list[list[NDArray[np.int64]]] = [[], [], []]
        self._word_bits = 0

    def add(self, batch: FlatForest) -> None:
        """The next trees."""
        if not self._pools:
            self._word_bits = batch.word_bits
        elif self._word_bits != batch.word_bits:  # some trees are too large for short nodes
            self._widen()
            batch = batch.with_whole_nodes()
        pools: list[NDArray[Any]] = list(batch.arrays[:5])
        if not self._pools:
            share_of_all = 1.06 * max(1.0, self._n_trees / max(batch.n_trees, 1))
            self._pools = [_like(array, math.ceil(share_of_all * len(array))) for array in pools]
        for k, array in enumerate(pools):
            begin, end = self._filled[k], self._filled[k] + len(array)
            if end > len(self._pools[k]):
                larger = _like(array, end + end // 4)
                larger[:begin] = self._pools[k][:begin]
                self._pools[k] = larger
            self._pools[k][begin:end] = array
            self._filled[k] = end
        for starts, array in zip(self._starts, batch.arrays[5:]):
            starts.append(array)

    def _widen(self) -> None:
        before = self.forest().with_whole_nodes()
        self._word_bits = 0
        self._pools = list(before.arrays[:5])
        self._filled = [len(pool) for pool in self._pools]
        self._starts = [[start] for start in before.arrays[5:]]

    def forest(self) -> FlatForest:
        """All trees so far."""
        arrays: list[Any] = [pool[:filled] for pool, filled in zip(self._pools, self._filled)]
        arrays += [join_starts(starts) for starts in self._starts]
        names = [field.name for field in fields(FlatForest)]
        return FlatForest(
            **dict(zip(names, arrays)),
            n_classes=self._n_classes,
            n_features=self._n_features,
            word_bits=self._word_bits,
        )


def _like(array: NDArray[Any], length: int) -> NDArray[Any]:
    return np.empty((length, *array.shape[1:]), dtype=array.dtype)
