"""C of each degree: smallest held-out error of one SVM on the whole sample (theory.md [D-12])."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surewood._arrays import Codes, Floats
from surewood.cascade.prefix_tree import Rows
from surewood.cascade.trainer import USUAL_SOLVER, KernelChoice, Solver
from surewood.parallel.progress import Advance, ignore
from surewood.svm import Gram, solve_many

Folds = Sequence[tuple[Rows, Rows]]


def penalty_errors(
    gram: Gram,
    codes: Codes,
    weight: Floats,
    kernels: KernelChoice,
    grid: Floats,
    folds: Folds,
    *,
    solver: Solver = USUAL_SOLVER,
    advance: Advance = ignore,
) -> Floats:
    """Held-out error weight of every (choice, C), summed over the folds; shape (n_choices, n_C).

    `advance` counts the `penalty_steps`: each SVM once when it is trained, once when it has predicted.
    """
    errors = np.zeros((len(kernels.degrees), len(grid)))
    weights = None if bool((weight == 1.0).all()) else weight
    for group in _kernel_groups(kernels):
        degrees = [1] if kernels.kernel == "rbf" else [kernels.degrees[c] for c in group]
        solved = solve_many(
            gram, [train for train, _ in folds], codes, degrees, grid, kernel=kernels.spec(group[0]),
            weights=weights, warm_start=True, advance=advance, **solver._asdict(),
        )  # fmt: skip
        per_fold = len(group) * len(grid)
        for k, (_, held_out) in enumerate(folds):
            predictor = solved.predictor(np.arange(k * per_fold, (k + 1) * per_fold))
            assign = np.tile(np.arange(per_fold, dtype=np.int32), (len(held_out), 1))
            predicted = predictor.predict(gram.X[held_out], assign, n_jobs=solver.n_jobs)
            wrong = weight[held_out] @ (predicted != codes[held_out][:, None])
            errors[group] += wrong.reshape(len(group), len(grid))
            advance(per_fold)
    return errors


def penalty_steps(kernels: KernelChoice, grid: Floats, folds: Folds) -> int:
    """Steps of :func:`penalty_errors`."""
    return 2 * len(folds) * len(kernels.degrees) * len(grid)


def best_penalties(errors: Floats, grid: Floats) -> Floats:
    """The C of smallest error for each choice, the smaller one on ties ([D-12])."""
    order = np.argsort(grid, kind="stable")
    best: Floats = grid[order][np.argmin(errors[:, order], axis=1)]
    return best


def _kernel_groups(kernels: KernelChoice) -> list[list[int]]:
    """Choices that one call of the solver serves: all degrees together, each width by itself."""
    everything = list(range(len(kernels.degrees)))
    return [[c] for c in everything] if kernels.kernel == "rbf" else [everything]
