"""The protocol's random divisions and the grid of r (theory.md §2.13, [D-17], [D-18])."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Counts
from surewood.composite.parameters import feature_grid


@dataclass(frozen=True)
class Division:
    """Row numbers of the three parts, ascending."""

    train: Counts
    validation: Counts
    test: Counts

    @property
    def evaluated(self) -> Counts:
        """Validation rows, then test rows."""
        return np.concatenate([self.validation, self.test])


def divide(n_rows: int, seed: int) -> Division:
    """60 % training, 20 % test (rounded up), the rest validation; not stratified.

    Examples
    --------
    >>> parts = divide(528, 0)
    >>> len(parts.train), len(parts.validation), len(parts.test)
    (317, 105, 106)
    """
    order = np.random.default_rng(seed).permutation(n_rows)
    n_test, n_train = math.ceil(0.2 * n_rows - 1e-9), math.floor(0.6 * n_rows + 0.5)
    test, train, rest = np.split(order, [n_test, n_test + n_train])
    return Division(np.sort(train), np.sort(rest), np.sort(test))


def divide_official(split: NDArray[Any], validation: float, seed: int) -> Division:
    """The official test part, and a random fraction of the official training part for validation.

    Examples
    --------
    >>> parts = divide_official(np.array(["train"] * 8 + ["test"] * 3), 0.25, 0)
    >>> len(parts.train), len(parts.validation), parts.test.tolist()
    (6, 2, [8, 9, 10])
    """
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(split == "train"))
    n_validation = math.floor(validation * len(rows) + 0.5)
    held, train = np.split(rows, [n_validation])
    return Division(np.sort(train), np.sort(held), np.flatnonzero(split == "test"))


def thinned_features(n_features: int, every: int) -> tuple[int, ...]:
    """The paper's grid of r, or every second, third, ... value of it, counted from √F outwards.

    Examples
    --------
    >>> thinned_features(60, 1), thinned_features(60, 2)
    ((1, 4, 8, 15, 31, 60), (1, 8, 31))
    """
    grid = feature_grid(n_features)
    middle = grid.index(max(1, math.floor(math.sqrt(n_features) + 0.5)))
    return tuple(r for k, r in enumerate(grid) if (k - middle) % every == 0)
