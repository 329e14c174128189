"""Errors of every point of the grid on every split: C of every degree first, then one pass a split and r."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from surewood._arrays import Floats
from surewood.composite import parameters as check
from surewood.composite.data import TrainingData, merged, prepare
from surewood.composite.fitting import Setting
from surewood.composite.grid import Axes, HeldOut, grid_errors
from surewood.composite.machines import SolverOptions
from surewood.composite.tuning import best_boxes, path_errors
from surewood.parallel import run_tasks, share, worker_count
from surewood.parallel.progress import stage
from surewood.tables import FitInputs

Split = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class SearchGrid:
    """Values of every axis, resolved for a sample."""

    degrees: tuple[int, ...]
    features: tuple[int, ...]
    axes: Axes
    setting: Setting
    C_grid: tuple[float, ...]


@dataclass(frozen=True)
class SearchResult:
    """Errors of every point of the grid on every split, and the C of every degree.

    `errors` has shape (splits, features, depths, choices, sizes), in shares of the held-out weight; NaN where
    a budget cut the point.
    """

    errors: Floats
    C: tuple[float, ...]
    cut: tuple[str, ...]


def split_rows(cv: Any, inputs: FitInputs, X: Any, seed: int) -> list[Split]:
    """(training, held-out) rows of every split: a fraction is one validation part, otherwise folds."""
    n = inputs.table.n_rows
    if isinstance(cv, float):
        if not 0.0 < cv < 1.0:
            raise ValueError(f"cv as a validation part must be between 0 and 1, got {cv!r}.")
        order = np.random.default_rng([seed, 4]).permutation(n)
        size = min(max(1, int(np.ceil(cv * n))), n - 1)
        return [(np.sort(order[size:]), np.sort(order[:size]))]
    if isinstance(cv, int) and not isinstance(cv, bool):
        cv = _possible_folds(check.integer(cv, "cv", 2), n)
        order = np.random.default_rng([seed, 4]).permutation(n)
        return [(np.sort(order[np.arange(n) % cv != k]), np.sort(order[k::cv])) for k in range(cv)]
    return [
        (np.asarray(a), np.asarray(b)) for a, b in check_cv(cv, inputs.y, classifier=True).split(X, inputs.y)
    ]


def _possible_folds(cv: int, n_rows: int) -> int:
    if n_rows < 2:
        raise ValueError(f"{n_rows} sample cannot be divided into {cv} folds; give at least 2 rows.")
    return min(cv, n_rows)


def part_of(
    inputs: FitInputs, rows: NDArray[Any], held: NDArray[Any], options: SolverOptions, memory: int | None
) -> tuple[TrainingData, HeldOut]:
    """Training rows prepared by themselves (bins and scaling included), held-out rows read the same way."""
    if inputs.weight is not None and not (inputs.weight[rows] > 0).any():
        raise ValueError("a split has no training row of positive weight; use other splits.")
    data = prepare(merged(inputs, rows), memory, options.n_jobs)
    table = inputs.table.take(held)
    weight = None if inputs.weight is None else inputs.weight[held]
    return data, HeldOut(data.reader.matrix(table), data.reader.design(table), inputs.y[held], weight)


def search(
    inputs: FitInputs,
    splits: list[Split],
    grid: SearchGrid,
    seed: int,
    options: SolverOptions,
    memory: int | None,
    max_seconds: float | None,
) -> SearchResult:
    """C of every degree over all splits, then the whole grid of every split."""
    started = time.monotonic()
    axes = grid.axes
    units = [(f, s) for f in range(len(grid.features)) for s in range(len(splits))]
    # With a unit for every worker whole units go there: little is left to be done between the machines.
    spread = max_seconds is None and 0 < worker_count(options.n_jobs) <= len(units)
    if spread:
        inputs = replace(inputs, table=inputs.table.detached())
        share(inputs.table.array)
    C = tuned_over_splits(inputs, splits, grid, options, memory, spread)
    setting = replace(grid.setting, C=C)
    shape = (len(splits), len(grid.features), len(axes.depths), len(axes.choices), len(axes.sizes))
    errors = np.full(shape, np.nan)
    quiet = replace(options, verbose=0)
    with stage(options.verbose, "grid: features x splits", len(units)) as advance:
        if spread:
            points = [replace(setting, max_features=grid.features[f]) for f, _ in units]
            tasks = [
                delayed(unit_errors)(inputs, splits[s], axes, point, seed, quiet, memory)
                for (_, s), point in zip(units, points)
            ]
            for (f, s), found in zip(units, run_tasks(tasks, options.n_jobs)):
                errors[s, f] = found
                advance(1)
            return SearchResult(errors, C, ())
        for k, (f, s) in enumerate(units):
            now = time.monotonic()
            deadline = None
            if max_seconds is not None:
                left = started + max_seconds - now
                if f > 0 and left <= 0:
                    break
                deadline = now + max(left, 0.0) / (len(units) - k)
            point = replace(setting, max_features=grid.features[f])
            errors[s, f] = unit_errors(inputs, splits[s], axes, point, seed, quiet, memory, deadline)
            advance(1)
    return SearchResult(errors, C, _what_was_cut(errors, grid, max_seconds))


def unit_errors(
    inputs: FitInputs,
    split: Split,
    axes: Axes,
    setting: Setting,
    seed: int,
    options: SolverOptions,
    memory: int | None,
    deadline: float | None = None,
) -> Floats:
    """Errors of the grid's free axes on one split, in shares of the held-out weight."""
    data, held = part_of(inputs, *split, options, memory)
    wrong = grid_errors(data, held, axes, setting, seed, options, deadline)
    total = float(len(held.y)) if held.weight is None else float(held.weight.sum())
    return np.asarray(wrong / max(total, 1e-300))


def tuned_over_splits(
    inputs: FitInputs,
    splits: list[Split],
    grid: SearchGrid,
    options: SolverOptions,
    memory: int | None,
    spread: bool = False,
) -> tuple[float, ...]:
    """C of every degree with the fewest held-out errors of one machine, summed over the splits ([D-12]).

    `spread`: whether splits are tasks for workers.
    """
    if len(grid.C_grid) == 1:
        return grid.C_grid * len(grid.degrees)
    # Twice as many tasks as splits leave workers idle for less time at the end.
    halves = [slice(0, None, 2), slice(1, None, 2)] if spread and len(grid.degrees) > 1 else [slice(None)]
    units = [(split, half) for split in splits for half in halves]
    tasks = (
        delayed(split_path_errors)(inputs, split, grid.degrees[half], grid.C_grid, options, memory)
        for split, half in units
    )
    errors = np.zeros((len(grid.degrees), len(grid.C_grid)))
    for (_, half), found in zip(units, run_tasks(tasks, options.n_jobs if spread else 1)):
        errors[half] += found
    return best_boxes(errors, grid.C_grid)


def split_path_errors(
    inputs: FitInputs,
    split: Split,
    degrees: tuple[int, ...],
    C_grid: tuple[float, ...],
    options: SolverOptions,
    memory: int | None,
) -> Floats:
    """Held-out errors of one machine on a split's training rows, for every degree and C."""
    data, judged = part_of(inputs, *split, options, memory)
    everything = np.arange(data.n_rows, dtype=np.int32)
    return path_errors(data, everything, judged.design, judged.y, judged.weight, degrees, C_grid, options)


def _what_was_cut(errors: Floats, grid: SearchGrid, max_seconds: float | None) -> tuple[str, ...]:
    """Sentences about the points that the budget left out."""
    measured = ~np.isnan(errors).any(axis=0)  # (features, depths, choices, sizes)
    said = []
    for f, r in enumerate(grid.features):
        sizes = [size for k, size in enumerate(grid.axes.sizes) if measured[f, :, :, k].all()]
        if not sizes:
            said.append(f"max_features={r} was not measured: max_seconds={max_seconds} was spent")
        elif max(sizes) < max(grid.axes.sizes):
            said.append(
                f"max_features={r} was measured up to {max(sizes)} of {max(grid.axes.sizes)} trees: "
                f"max_seconds={max_seconds} was spent"
            )
    return tuple(said)


def best_point(errors: Floats) -> tuple[int, ...]:
    """Index (feature, depth, choice, size) of the smallest mean error among fully measured points.

    Ties go to the shallower tree, then to the larger gamma (the stronger penalty), then to fewer features and
    fewer trees.
    """
    mean = errors.mean(axis=0)
    mean = np.where(np.isnan(mean), np.inf, mean)
    smallest = mean.min()
    points = np.argwhere(mean <= smallest + 1e-12)
    order = sorted(points.tolist(), key=lambda p: (p[1], -p[2], p[0], p[3]))
    return tuple(order[0])
