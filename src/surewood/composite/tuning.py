"""C of every degree by cross-validation of one SVM on the whole sample (theory.md §2.10, [D-12])."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.data import TrainingData
from surewood.composite.leaf_svms import SolverOptions
from surewood.estimators.folds import shuffled_folds
from surewood.svm import solve_many

C_GRID = tuple(10.0**i for i in range(-3, 3))
TUNING_ROWS = 2000  # a part of this size decides on larger samples
N_FOLDS = 5


def held_out_errors(
    data: TrainingData,
    rows: NDArray[np.int32],
    design: Floats,
    y: NDArray[np.int32],
    weight: Floats | None,
    degrees: tuple[int, ...],
    C_grid: tuple[float, ...],
    options: SolverOptions,
) -> Floats:
    """Weight of held-out rows that an SVM on `rows` misclassifies, shape (degrees, C values).

    The held-out rows are `design`, `y` and `weight`. Training rows of one class predict that class.
    """
    svms = solve_many(
        data.gram, [rows], data.y, degrees, np.array(C_grid), weights=data.weight, tol=options.tol,
        max_iter=options.max_iter, n_jobs=options.n_jobs,
    )  # fmt: skip
    shape = (len(degrees), len(C_grid))
    if int(svms.n_classes.max()) == 1:
        labels = np.full((len(y), shape[0] * shape[1]), data.y[rows[0]])
    else:
        assign = np.tile(np.arange(shape[0] * shape[1], dtype=np.int32), (len(y), 1))
        labels = svms.predictor().predict(design, assign, n_jobs=options.n_jobs)
    missed = labels != y[:, None]
    return np.asarray((np.ones(len(y)) if weight is None else weight) @ missed).reshape(shape)


def best_C(errors: Floats, C_grid: tuple[float, ...]) -> tuple[float, ...]:
    """For every degree the C with the fewest errors, the smaller one on ties."""
    order = np.argsort(C_grid, kind="stable")
    best = errors[:, order].argmin(axis=1)
    return tuple(float(np.array(C_grid)[order][k]) for k in best)


def tune_C(
    data: TrainingData,
    degrees: tuple[int, ...],
    seed: int,
    options: SolverOptions,
    C_grid: tuple[float, ...] = C_GRID,
) -> tuple[tuple[float, ...], Floats]:
    """C of every degree by 5-fold cross-validation, and the error table (degrees, C values) in weights."""
    rows = np.arange(data.n_rows)
    if data.n_rows > TUNING_ROWS:
        rows = np.sort(np.random.default_rng([seed, 3]).permutation(data.n_rows)[:TUNING_ROWS])
    n_folds = min(N_FOLDS, len(rows))
    if n_folds < 2:
        return (1.0,) * len(degrees), np.zeros((len(degrees), len(C_grid)))
    fold = shuffled_folds(len(rows), n_folds, [seed, 2])
    errors = np.zeros((len(degrees), len(C_grid)))
    for k in range(n_folds):
        held = rows[fold == k]
        weight = None if data.weight is None else data.weight[held]
        errors += held_out_errors(
            data,
            rows[fold != k].astype(np.int32),
            data.gram.X[held],
            data.y[held],
            weight,
            degrees,
            C_grid,
            options,
        )
    return best_C(errors, C_grid), errors
