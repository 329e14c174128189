"""Errors of every point of the grid on every split: first C of every degree, then a pass per split and r."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from joblib import delayed

from surewood._arrays import Floats
from surewood.composite.data import TrainingData, part_of_inputs, prepare
from surewood.composite.grid import Axes, HeldOut, grid_errors
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.setting import Setting
from surewood.composite.splits import Split
from surewood.composite.tuning import best_C, held_out_errors
from surewood.estimators.time_limit import TimeLimit
from surewood.parallel import run_tasks, share, worker_count
from surewood.parallel.progress import stage
from surewood.tables import FitInputs

ALL_EQUAL = "nothing was measured: all rows are equal"


@dataclass(frozen=True)
class SearchGrid:
    """Values of every axis, resolved for a sample."""

    degrees: tuple[int, ...]
    features: tuple[int, ...]
    axes: Axes
    setting: Setting
    C_grid: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Points along each axis: features, depths, choices, sizes."""
        axes = self.axes
        return len(self.features), len(axes.depths), len(axes.choices), len(axes.sizes)

    @property
    def n_settings(self) -> int:
        """Outcomes that the search could have: points of the grid times values of C for every degree."""
        return math.prod(self.shape) * math.prod([len(self.C_grid)] * len(self.degrees))


@dataclass(frozen=True)
class SearchResult:
    """Errors of every point of the grid on every split, and the C of every degree.

    `errors` has shape (splits, features, depths, choices, sizes), as fractions of the held-out weight; NaN
    where the time limit cut the point. `cut` says what it cut.
    """

    errors: Floats
    C: tuple[float, ...]
    cut: tuple[str, ...]


def search(
    inputs: FitInputs,
    splits: list[Split],
    grid: SearchGrid,
    seed: int,
    options: SolverOptions,
    memory: int | None,
    time_limit: float | None,
) -> SearchResult:
    """C of every degree over all splits, then the whole grid of every split."""
    limit = TimeLimit(time_limit)
    if not splits:  # nothing can be held out: the simplest point, the smallest C
        C = (min(grid.C_grid),) * len(grid.degrees)
        return SearchResult(np.full((1, *grid.shape), np.nan), C, (ALL_EQUAL,))
    n_units = len(grid.features) * len(splits)
    # With a unit for every worker whole units go there: little is left to be done between the SVMs.
    spread = time_limit is None and 0 < worker_count(options.n_jobs) <= n_units
    if spread:
        inputs = replace(inputs, table=inputs.table.detached(), given=None)
        share(inputs.table.array)
    sample = _Sample(inputs, options, memory)
    C = tuned_over_splits(sample, splits, grid, spread)
    found = _grid_on_splits(
        sample, splits, replace(grid, setting=replace(grid.setting, C=C)), seed, limit, spread
    )
    return SearchResult(found, C, _what_was_cut(found, grid, time_limit))


@dataclass(frozen=True)
class _Sample:
    """The merged rows, and how their parts are prepared."""

    inputs: FitInputs
    options: SolverOptions
    memory: int | None

    def part(self, split: Split) -> tuple[TrainingData, HeldOut]:
        return part_of(self.inputs, split, self.options, self.memory)


def part_of(
    inputs: FitInputs, split: Split, options: SolverOptions, memory: int | None
) -> tuple[TrainingData, HeldOut]:
    """Training rows prepared by themselves (bins and scaling included), held-out rows read the same way."""
    rows, held = split
    data = prepare(part_of_inputs(inputs, rows), memory, options.n_jobs)
    table = inputs.table.take(held)
    weight = None if inputs.weight is None else inputs.weight[held]
    return data, HeldOut(data.reader.matrix(table), data.reader.design(table), inputs.y[held], weight)


def _grid_on_splits(
    sample: _Sample, splits: list[Split], grid: SearchGrid, seed: int, limit: TimeLimit, spread: bool
) -> Floats:
    """Errors of all points on all splits, on workers or one unit after another until the time is up."""
    units = [(f, s) for f in range(len(grid.features)) for s in range(len(splits))]
    points = [replace(grid.setting, max_features=r) for r in grid.features]
    quiet = replace(sample, options=replace(sample.options, verbose=0))
    errors = np.full((len(splits), *grid.shape), np.nan)
    with stage(sample.options.verbose, "grid: features x splits", len(units)) as advance:
        if spread:
            tasks = [delayed(unit_errors)(quiet, splits[s], grid.axes, points[f], seed) for f, s in units]
            for (f, s), found in zip(units, run_tasks(tasks, sample.options.n_jobs)):
                errors[s, f] = found
                advance(1)
            return errors
        for k, (f, s) in enumerate(units):
            if f > 0 and limit.is_over:
                break
            deadline = limit.divided(len(units) - k).deadline
            errors[s, f] = unit_errors(quiet, splits[s], grid.axes, points[f], seed, deadline)
            advance(1)
    return errors


def unit_errors(
    sample: _Sample, split: Split, axes: Axes, setting: Setting, seed: int, deadline: float | None = None
) -> Floats:
    """Errors of the grid's free axes on one split, as fractions of the held-out weight."""
    data, held = sample.part(split)
    wrong = grid_errors(data, held, axes, setting, seed, sample.options, deadline)
    total = float(len(held.y)) if held.weight is None else float(held.weight.sum())
    return np.asarray(wrong / max(total, 1e-300))


def tuned_over_splits(
    sample: _Sample, splits: list[Split], grid: SearchGrid, spread: bool
) -> tuple[float, ...]:
    """C of every degree with the fewest held-out errors of one SVM, summed over the splits ([D-12]).

    `spread`: whether splits are tasks for workers.
    """
    if len(grid.C_grid) == 1:
        return grid.C_grid * len(grid.degrees)
    # Twice as many tasks as splits leave workers idle for less time at the end.
    halves = [slice(0, None, 2), slice(1, None, 2)] if spread and len(grid.degrees) > 1 else [slice(None)]
    units = [(split, half) for split in splits for half in halves]
    tasks = (
        delayed(_split_C_errors)(sample, split, grid.degrees[half], grid.C_grid) for split, half in units
    )
    errors = np.zeros((len(grid.degrees), len(grid.C_grid)))
    for (_, half), found in zip(units, run_tasks(tasks, sample.options.n_jobs if spread else 1)):
        errors[half] += found
    return best_C(errors, grid.C_grid)


def _split_C_errors(
    sample: _Sample, split: Split, degrees: tuple[int, ...], C_grid: tuple[float, ...]
) -> Floats:
    """Held-out errors of one SVM on a split's training rows, for every degree and C."""
    data, held = sample.part(split)
    rows = np.arange(data.n_rows, dtype=np.int32)
    return held_out_errors(data, rows, held.design, held.y, held.weight, degrees, C_grid, sample.options)


def _what_was_cut(errors: Floats, grid: SearchGrid, time_limit: float | None) -> tuple[str, ...]:
    """Sentences about the points that the time limit left out."""
    measured = np.asarray(~np.isnan(errors).any(axis=0))  # (features, depths, choices, sizes)
    most = max(grid.axes.sizes)
    sentences = []
    for f, r in enumerate(grid.features):
        sizes = [size for k, size in enumerate(grid.axes.sizes) if measured[f, :, :, k].all()]
        if not sizes:
            sentences.append(f"max_features={r} was not measured: time_limit={time_limit} was reached")
        elif max(sizes) < most:
            sentences.append(
                f"max_features={r} was measured up to {max(sizes)} of {most} trees: "
                f"time_limit={time_limit} was reached"
            )
    return tuple(sentences)


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
