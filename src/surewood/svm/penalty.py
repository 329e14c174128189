"""Degrees and C of SVMs, as given or by held-out errors of single SVMs over a grid ([D-12]).

Kernels of all degrees are elementwise functions of the same inner products, the kernel rows of a degree serve
all its C values, and folds are sets of rows of the same matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Codes, Floats
from surewood.parallel.progress import Advance, ignore
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram

#: What C="auto" chooses from.
C_GRID = tuple(10.0**power for power in range(-3, 3))


def held_out_errors(
    gram: Gram,
    codes: Codes,
    folds: Sequence[tuple[NDArray[Any], tuple[Floats, Codes, Floats | None]]],
    degrees: ArrayLike,
    C_grid: ArrayLike,
    *,
    n_jobs: int | None = None,
    advance: Advance = ignore,
    **options: Any,
) -> Floats:
    """Weight of the held-out rows that each SVM misclassifies, shape (folds, degrees, C values).

    A fold is the numbers of its training rows, and the design, class codes and weights (None: all 1) of rows
    that are held out. `options` are those of ``solve_many``. `advance` counts each SVM once when it is
    trained and once when it has predicted.
    """
    svms = solve_many(
        gram, [train for train, _ in folds], codes, degrees, C_grid, n_jobs=n_jobs, advance=advance, **options
    )
    per_fold = svms.shape[1] * svms.shape[2]
    assign = np.arange(per_fold, dtype=np.int32)
    errors = np.empty(svms.shape)
    for k, (_, (design, truth, weight)) in enumerate(folds):
        predictor = svms.predictor(np.arange(k * per_fold, (k + 1) * per_fold))
        missed = predictor.predict(design, np.tile(assign, (len(truth), 1)), n_jobs=n_jobs) != truth[:, None]
        mass = np.ones(len(truth)) if weight is None else weight
        errors[k] = (mass @ missed).reshape(svms.shape[1:])
        advance(per_fold)
    return errors


def best_C(errors: Floats, C_grid: ArrayLike) -> Floats:
    """For every degree the C with the fewest errors, the smaller one on ties.

    Examples
    --------
    >>> best_C(np.array([[3.0, 3.0, 5.0], [4.0, 5.0, 2.0]]), [10.0, 0.1, 1.0]).tolist()
    [0.1, 1.0]
    """
    grid = np.asarray(C_grid, dtype=np.float64)
    order = np.argsort(grid, kind="stable")
    best: Floats = grid[order][np.argmin(errors[:, order], axis=1)]
    return best


def degree_list(value: Any, default: tuple[int, ...]) -> tuple[int, ...]:
    """Degrees in ascending order, without repeats; `default` for "auto".

    Examples
    --------
    >>> degree_list([3, 1], (1, 2)), degree_list(2, (1, 2)), degree_list("auto", (1, 2))
    ((1, 3), (2,), (1, 2))
    """
    if isinstance(value, str):
        return default
    return tuple(sorted({int(item) for item in np.atleast_1d(value)}))


def C_list(value: Any, n_degrees: int) -> tuple[float, ...]:
    """C as one value per degree; a single number serves all degrees.

    Examples
    --------
    >>> C_list(2, 3), C_list([1, 10], 2)
    ((2.0, 2.0, 2.0), (1.0, 10.0))
    """
    values = [float(item) for item in np.atleast_1d(value)]
    if len(values) not in (1, n_degrees):
        each = f" or one for each of the {n_degrees} degrees" if n_degrees > 1 else ""
        raise ValueError(f"C must be one number{each}, got {value!r}.")
    return tuple(values * (n_degrees // len(values)))
