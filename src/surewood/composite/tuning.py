"""C of every degree by cross-validation of one machine on the whole sample (theory.md §2.10, [D-12])."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.data import TrainingData
from surewood.composite.machines import SolverOptions
from surewood.svm import solve_many

C_GRID = tuple(10.0**i for i in range(-3, 3))
TUNING_ROWS = 2000  # a part of this size decides on larger samples
N_FOLDS = 5


def folds_of(n_rows: int, n_folds: int, seed: int) -> NDArray[np.int64]:
    """Fold number of every row, in a random order of equal parts."""
    order = np.random.default_rng([seed, 2]).permutation(n_rows)
    fold = np.empty(n_rows, dtype=np.int64)
    fold[order] = np.arange(n_rows) % n_folds
    return fold


def path_errors(
    data: TrainingData,
    rows: NDArray[np.int32],
    design: Floats,
    y: NDArray[np.int32],
    weight: Floats | None,
    degrees: tuple[int, ...],
    C_grid: tuple[float, ...],
    options: SolverOptions,
) -> Floats:
    """Weight of held-out rows that a machine on `rows` gets wrong, shape (degrees, C values).

    The held-out rows are `design`, `y` and `weight`. Training rows of one class predict that class.
    """
    machines = solve_many(
        data.gram, [rows], data.y, degrees, np.array(C_grid), weights=data.weight, tol=options.tol,
        max_iter=options.max_iter, n_jobs=options.n_jobs,
    )  # fmt: skip
    shape = (len(degrees), len(C_grid))
    if int(machines.n_classes.max()) == 1:
        labels = np.full((len(y), shape[0] * shape[1]), data.y[rows[0]])
    else:
        assign = np.tile(np.arange(shape[0] * shape[1], dtype=np.int32), (len(y), 1))
        labels = machines.predictor().predict(design, assign, n_jobs=options.n_jobs)
    missed = labels != y[:, None]
    return np.asarray((np.ones(len(y)) if weight is None else weight) @ missed).reshape(shape)


def best_boxes(errors: Floats, C_grid: tuple[float, ...]) -> tuple[float, ...]:
    """For every degree the C with the fewest errors, the smaller one on ties."""
    order = np.argsort(C_grid, kind="stable")
    best = errors[:, order].argmin(axis=1)
    return tuple(float(np.array(C_grid)[order][k]) for k in best)


def tune_boxes(
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
    fold = folds_of(len(rows), n_folds, seed)
    errors = np.zeros((len(degrees), len(C_grid)))
    for k in range(n_folds):
        held = rows[fold == k]
        weight = None if data.weight is None else data.weight[held]
        errors += path_errors(
            data,
            rows[fold != k].astype(np.int32),
            data.gram.X[held],
            data.y[held],
            weight,
            degrees,
            C_grid,
            options,
        )
    return best_boxes(errors, C_grid), errors
