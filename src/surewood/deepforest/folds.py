"""How many folds cross-fitting uses, which ones the user gave, and the seed of each part of a fit.

`usable_folds` lowers the number of folds to what the rarest class allows and reports it. Every layer deals
its own folds (:func:`surewood.estimators.folds.stratified_folds`) unless the user gave them (`given_folds`).
`layer_seed` keys all randomness of a fit by (seed, layer, part), see theory.md §4.2.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes
from surewood.estimators.folds import given_splits


def layer_seed(seed: int, *ids: int) -> int:
    """A 63-bit seed for one part of a fit; different ids give unrelated streams."""
    word = np.random.SeedSequence((seed, *ids)).generate_state(1, np.uint64)[0]
    return int(word >> np.uint64(1))


def usable_folds(
    y: Codes, n_folds: int, classes: NDArray[Any], content: NDArray[np.int64] | None = None
) -> int:
    """`n_folds`, or fewer (never below 2) when a class has fewer rows than that; then with a warning.

    Rows with the same `content` count once: they are held out together.

    Examples
    --------
    >>> usable_folds(np.array([0, 0, 0, 1, 1, 1]), 3, np.array(["a", "b"]))
    3
    """
    counted = y if content is None else np.unique(np.stack([content, y.astype(np.int64)]), axis=1)[1]
    counts = np.bincount(counted, minlength=len(classes))
    present = np.flatnonzero(counts)
    rarest = int(present[np.argmin(counts[present])])
    usable = max(2, min(n_folds, int(counts[rarest])))
    if usable < n_folds:
        label = classes[rarest : rarest + 1].tolist()[0]
        kind = "" if content is None else "different "
        rows = f"1 {kind}row" if counts[rarest] == 1 else f"{counts[rarest]} {kind}rows"
        warnings.warn(
            f"class {label!r} has {rows}, fewer than cv={n_folds}: using {usable} folds.",
            UserWarning,
            stacklevel=3,
        )
    return usable


def given_folds(cv: Any, y: NDArray[Any]) -> NDArray[np.int64]:
    """Fold of every row from a splitter or from pairs of (train, test) rows.

    Every training row needs a held-out class vector, so every row has to be in exactly one test part.

    Examples
    --------
    >>> given_folds([([0, 1], [2, 3]), ([2, 3], [0, 1])], np.array([0, 1, 0, 1])).tolist()
    [1, 1, 0, 0]
    """
    splits = given_splits(cv, y)
    times = np.zeros(len(y), dtype=np.int64)
    fold = np.zeros(len(y), dtype=np.int64)
    for number, (_, held) in enumerate(splits):
        times[held] += 1
        fold[held] = number
    if len(splits) < 2 or (times != 1).any():
        raise ValueError(
            "cv must hold out every row exactly once, in at least two splits: cross-fitting needs a held-out "
            f"class vector of each row; {int((times != 1).sum())} of {len(y)} rows are not."
        )
    return fold
