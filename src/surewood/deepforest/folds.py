"""Which points are held out together: stratified folds, seeded a layer (theory.md §4.2).

`usable_folds` lowers the number of folds to what the rarest class allows and says so; `deal_folds` deals the
points of each class to the folds like cards; `layer_seed` keys all randomness of a fit by (seed, layer,
part).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes


def layer_seed(seed: int, *ids: int) -> int:
    """A 63-bit seed for one part of a fit; different ids give unrelated streams."""
    word = np.random.SeedSequence((seed, *ids)).generate_state(1, np.uint64)[0]
    return int(word >> np.uint64(1))


def usable_folds(y: Codes, n_folds: int, classes: NDArray[Any]) -> int:
    """`n_folds`, or fewer (never below 2) when a class has fewer rows than that; then with a warning.

    Examples
    --------
    >>> usable_folds(np.array([0, 0, 0, 1, 1, 1]), 3, np.array(["a", "b"]))
    3
    """
    counts = np.bincount(y, minlength=len(classes))
    present = np.flatnonzero(counts)
    rarest = int(present[np.argmin(counts[present])])
    usable = max(2, min(n_folds, int(counts[rarest])))
    if usable < n_folds:
        label = classes[rarest : rarest + 1].tolist()[0]
        warnings.warn(
            f"class {label!r} has {counts[rarest]} rows, fewer than n_folds={n_folds}: using {usable} folds.",
            UserWarning,
            stacklevel=3,
        )
    return usable


def deal_folds(y: Codes, n_folds: int, seed: int) -> NDArray[np.int16]:
    """Fold of every row: rows are shuffled, sorted by class and dealt in turn.

    Fold sizes differ by at most one, and so do the shares of each class.

    Examples
    --------
    >>> fold = deal_folds(np.array([0, 0, 0, 0, 1, 1]), 2, seed=0)
    >>> np.bincount(fold).tolist(), np.bincount(fold[:4]).tolist()
    ([3, 3], [2, 2])
    """
    shuffled = np.random.default_rng(seed).permutation(len(y))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    fold = np.empty(len(y), dtype=np.int16)
    fold[by_class] = np.arange(len(y)) % n_folds
    return fold
