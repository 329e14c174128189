"""What must be true of a training sample before an in-sample bound may be quoted ([D-35], [D-38], [D-40]).

`is_unweighted` decides on the weights the user gave, `has_too_many_copies` on counted contents, and
`rebuilt_alike` whether a classifier trained again on its compression set is the same classifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surewood._arrays import Floats

from . import _arguments as check

MOST_COPIES = 0.01  # fraction of copied training rows up to which in-sample bounds are quoted [D-38]
_PROBES, _JITTER = 1000, 0.1  # probe points, and their distance from training rows in standard deviations


def is_unweighted(
    sample_weight: ArrayLike | None = None, class_weight: Mapping[Any, float] | str | None = None
) -> bool:
    """Whether every row counted alike, decided on the weights the user gave, before any merging ([D-35]).

    ``class_weight="balanced"`` counts as weighted, as does any two different weights or a weight of 0.

    Examples
    --------
    >>> from surewood.bounds import is_unweighted
    >>> is_unweighted([1.0, 1.0]), is_unweighted([1.0, 0.0]), is_unweighted(None, {0: 1, 1: 0})
    (True, False, False)
    """
    given = [np.ravel(np.asarray(sample_weight, dtype=np.float64))] if sample_weight is not None else []
    if isinstance(class_weight, str):
        return False
    if class_weight is not None:
        # a class that is not named has weight 1
        given.append(np.array([1.0, *(float(weight) for weight in class_weight.values())]))
    return all(
        weights.size == 0 or (weights.min() == weights.max() and weights.min() > 0) for weights in given
    )


def has_too_many_copies(n_rows: int, n_contents: int) -> bool:
    """Whether copies exceed 1 % of the training rows, so that in-sample bounds are withheld ([D-38]).

    Examples
    --------
    >>> from surewood.bounds import has_too_many_copies
    >>> has_too_many_copies(1000, 990), has_too_many_copies(1000, 10)
    (False, True)
    """
    n = check.count(n_rows, "n_rows", 1)
    contents = check.count(n_contents, "n_contents", 1)
    if contents > n:
        raise ValueError(f"n_contents must be <= n_rows={n}, got {contents}")
    return n - contents > MOST_COPIES * n


def probe_points(X: ArrayLike, *, n_points: int = _PROBES, seed: int = 0) -> Floats:
    """Training rows moved by a tenth of each column's standard deviation, to compare classifiers on ([D-40]).

    Examples
    --------
    >>> from surewood.bounds import probe_points
    >>> probe_points([[0.0, 1.0], [2.0, 3.0]]).shape
    (1000, 2)
    """
    rows = check.finite(X, "X", ndim=2)
    check.count(rows.shape[0], "number of rows", 1)
    rng = np.random.default_rng(seed)
    chosen = rng.integers(rows.shape[0], size=check.count(n_points, "n_points", 1))
    noise = rng.normal(size=(chosen.size, rows.shape[1]))
    return np.asarray(rows[chosen] + _JITTER * rows.std(axis=0) * noise)


def rebuilt_alike(
    before: tuple[ArrayLike, ArrayLike, ArrayLike],
    after: tuple[ArrayLike, ArrayLike, ArrayLike],
    *,
    tolerance: float,
) -> bool:
    """Whether two classifiers are the same one for the purpose of sample compression ([D-40]).

    Parameters
    ----------
    before, after : triples of arrays
        Labels on every training row, labels on the :func:`probe_points`, and duals (the rebuilt
        classifier's put in the place of the points it was trained on).
    tolerance : float
        Largest difference of two duals. However large it is, every label must still agree.

    Examples
    --------
    >>> from surewood.bounds import rebuilt_alike
    >>> rebuilt_alike(([0, 1], [1, 1], [0.5, 0.5]), ([0, 1], [1, 1], [0.5, 0.5001]), tolerance=1e-3)
    True
    >>> rebuilt_alike(([0, 1], [1, 1], [0.5, 0.5]), ([0, 1], [1, 0], [0.5, 0.5]), tolerance=5.0)
    False
    """
    for first, second in zip(before[:2], after[:2]):
        if not np.array_equal(np.asarray(first), np.asarray(second)):
            return False
    duals, again = (np.asarray(triple[2], dtype=np.float64) for triple in (before, after))
    if duals.shape != again.shape:
        return False
    return bool(np.all(np.isfinite(again)) and np.abs(duals - again).max(initial=0.0) <= tolerance)
