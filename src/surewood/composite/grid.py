"""The grid for the price of one fit: gamma x depth x number of trees from one growth (theory.md §2.10).

One forest, grown to the largest depth with the largest number of trees, holds every point of the grid:
shallower trees are its tops, smaller forests its prefixes, and gamma only re-reads counts.

* :func:`search`: C of every degree over all splits, then :func:`grid_errors` for every split and every number
  of features;
* :func:`grid_errors` trains each (row set, degree) once, keeps the SVMs that some point of the grid chooses,
  and counts the errors of every point on held-out rows. Trees come in batches, so that memory is bounded and
  a deadline can be met.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base.time_limit import NO_LIMIT, TimeLimit
from surewood.composite.data import CompositeData, SolverOptions, part_of_inputs, prepare
from surewood.composite.degrees import LeafChoice
from surewood.composite.growing import Grove, IndexSets, Leaves, Setting, TreeRange, collect_leaves, cut, grow
from surewood.composite.leaves import LeafSVMs, errors_of_C, train_leaf_svms
from surewood.parallel import run_tasks, share, worker_count
from surewood.parallel.progress import stage
from surewood.svm.one_vs_one import Predictor, vote_counts
from surewood.svm.penalty import best_C
from surewood.tables import TrainingTable
from surewood.trees.binning import BinnedMatrix

TREES_PER_BATCH = 100
_SEARCH_TIME = 0.6  # part of a time limit for all before the chosen forest
_C_TIME = 0.2  # for the choice of C
_TIMED_ROWS = 1000  # rows of a split on which C is chosen, and a tree is timed, where time is limited
ALL_EQUAL = "nothing was measured: all rows are equal"

Split = tuple[NDArray[np.int64], NDArray[np.int64]]  # training and held-out rows, ascending


@dataclass(frozen=True)
class SearchGrid:
    """Values of every axis, ascending; `choices` are values of gamma, or degrees where one is common to all.

    `setting` has what is not searched, and the degrees; C is searched beforehand, for every degree.
    """

    features: tuple[int, ...]
    depths: tuple[int, ...]
    choices: tuple[float, ...]
    sizes: tuple[int, ...]
    C_grid: tuple[float, ...]
    setting: Setting
    common_degree: bool = False

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Points along each axis: features, depths, choices, sizes."""
        return len(self.features), len(self.depths), len(self.choices), len(self.sizes)

    @property
    def n_settings(self) -> int:
        """Outcomes that the search could have: points of the grid times values of C for every degree."""
        return math.prod((*self.shape, *[len(self.C_grid)] * len(self.setting.degrees)))


@dataclass(frozen=True)
class GridResult:
    """Errors of every point of the grid on every split, and the C of every degree.

    `errors` has shape (splits, features, depths, choices, sizes), as fractions of the held-out weight; NaN
    where the time limit cut the point. `cut` says what it cut. `n_rows` is the number of rows per tree with
    which there is time for the chosen forest; None: all.
    """

    errors: Floats
    C: tuple[float, ...]
    cut: tuple[str, ...]
    n_rows: int | None = None


@dataclass(frozen=True)
class HeldOut:
    """Held-out rows on which the points of the grid are compared."""

    matrix: BinnedMatrix
    design: Floats
    y: NDArray[np.int32]
    weight: Floats | None


def search(
    inputs: TrainingTable,
    splits: list[Split],
    grid: SearchGrid,
    seed: int,
    options: SolverOptions,
    limit: TimeLimit,
) -> GridResult:
    """C of every degree over all splits, then the whole grid of every split."""
    degrees = grid.setting.degrees
    if not splits:  # nothing can be held out: the simplest point, the smallest C
        C = (min(grid.C_grid),) * len(degrees)
        return GridResult(np.full((1, *grid.shape), np.nan), C, (ALL_EQUAL,))
    n_units = len(grid.features) * len(splits)
    # With a unit for every worker whole units go there: little is left to be done between the SVMs.
    spread = limit.seconds is None and 0 < worker_count(options.n_jobs) <= n_units
    if spread:
        inputs = replace(inputs, table=inputs.table.detached())
        share(inputs.table.array)
    time_limit, limit = limit.seconds, limit.part(_SEARCH_TIME)
    units = _Units(inputs, splits, grid, seed, options, spread)
    C = units.tuned_C(limit)
    units = replace(units, grid=replace(grid, setting=replace(grid.setting, C=C)))
    n_rows = units.rows_in_time(limit)
    if n_rows is not None:
        units = replace(units, splits=units.with_rows(n_rows))
    errors = units.errors(limit)
    return GridResult(errors, C, _what_was_cut(errors, len(splits), grid, time_limit, n_rows), n_rows)


def part_of(inputs: TrainingTable, split: Split, options: SolverOptions) -> tuple[CompositeData, HeldOut]:
    """Training rows prepared by themselves (bins and scaling included), held-out rows read the same way."""
    rows, held = split
    data = prepare(part_of_inputs(inputs, rows), options)
    table = inputs.table.take(held)
    weight = None if inputs.weight is None else inputs.weight[held]
    return data, HeldOut(data.reader.matrix(table), data.reader.design(table), inputs.y[held], weight)


@dataclass(frozen=True)
class _Units:
    """The parts of a search: splits, for C; every number of features on every split, for the grid.

    `spread`: whether they are tasks for workers elsewhere.
    """

    inputs: TrainingTable
    splits: list[Split]
    grid: SearchGrid
    seed: int
    options: SolverOptions
    spread: bool

    def tuned_C(self, limit: TimeLimit) -> tuple[float, ...]:
        """C of every degree with the fewest held-out errors of one SVM, summed over the splits ([D-12]).

        A time limit leaves some training rows of each split, and as many splits as a part of the time allows.
        """
        degrees, C_grid, splits = self.grid.setting.degrees, self.grid.C_grid, self.splits
        if len(C_grid) == 1:
            return C_grid * len(degrees)
        if limit.seconds is not None:
            limit, splits = limit.part(_C_TIME), self.with_rows(_TIMED_ROWS)
        # Twice as many tasks as splits leave workers idle for less time at the end.
        in_halves = self.spread and len(degrees) > 1
        halves = [slice(0, None, 2), slice(1, None, 2)] if in_halves else [slice(None)]
        units = [(split, half) for split in splits for half in halves]
        tasks = (delayed(self._split_errors_of_C)(split, degrees[half]) for split, half in units)
        errors = np.zeros((len(degrees), len(C_grid)))
        for (_, half), counts in zip(units, run_tasks(tasks, self.options.n_jobs if self.spread else 1)):
            errors[half] += counts
            if limit.is_over:
                break
        return tuple(best_C(errors, C_grid).tolist())

    def with_rows(self, most: int) -> list[Split]:
        """Splits with at most this many training rows and as many held-out rows, drawn at random."""
        draw = np.random.default_rng([self.seed, 5]).permutation
        return [(np.sort(draw(rows)[:most]), np.sort(draw(held)[:most])) for rows, held in self.splits]

    def rows_in_time(self, limit: TimeLimit) -> int | None:
        """Rows of each split with which one unit can have the smallest forest; None: all rows.

        Judged by one tree on some rows; the time of SVMs grows with the square of their number.
        """
        most = max(len(rows) for rows, _ in self.splits)
        if limit.seconds is None or most <= _TIMED_ROWS:
            return None
        grid = self.grid
        probe = replace(self, splits=self.with_rows(_TIMED_ROWS)[:1], grid=replace(grid, sizes=(1,)))
        before = limit.passed
        probe._unit_errors(0, 0)
        seconds = (limit.passed - before) * min(grid.sizes)
        n_rows = int(_TIMED_ROWS * max(1.0, math.sqrt(limit.left / seconds)))
        return n_rows if n_rows < most else None

    def _split_errors_of_C(self, split: Split, degrees: tuple[int, ...]) -> Floats:
        """Held-out errors of one SVM on a split's training rows, for every degree and C."""
        data, held = part_of(self.inputs, split, self.options)
        fold = np.arange(data.n_rows, dtype=np.int32), (held.design, held.y, held.weight)
        return errors_of_C(data, [fold], degrees, self.grid.C_grid)

    def errors(self, limit: TimeLimit) -> Floats:
        """Errors of all points on all splits, on workers or one unit after another until the time is up.

        Splits on which there was no time for any point are left out; there is one.
        """
        n_splits, verbose = len(self.splits), self.options.verbose
        quiet = replace(self, options=replace(self.options, verbose=0))
        units = [(f, s) for f in range(len(self.grid.features)) for s in range(n_splits)]
        errors = np.full((n_splits, *self.grid.shape), np.nan)
        with stage(verbose, "grid: features x splits", len(units)) as advance:
            if self.spread:
                tasks = [delayed(quiet._unit_errors)(f, s) for f, s in units]
                for (f, s), fractions in zip(units, run_tasks(tasks, self.options.n_jobs)):
                    errors[s, f] = fractions
                    advance(1)
                return errors
            for k, (f, s) in enumerate(units):
                if k > 0 and limit.is_over:
                    return errors if f else errors[:s]
                errors[s, f] = quiet._unit_errors(f, s, limit.divided(len(units) - k))
                advance(1)
        return errors

    def _unit_errors(self, f: int, s: int, limit: TimeLimit = NO_LIMIT) -> Floats:
        """Errors of depths, choices and sizes on one split, as fractions of the held-out weight."""
        grid = self.grid
        data, held = part_of(self.inputs, self.splits[s], self.options)
        setting = replace(grid.setting, max_features=grid.features[f])
        wrong = grid_errors(data, held, grid, setting, self.seed, limit)
        total = float(len(held.y)) if held.weight is None else float(held.weight.sum())
        return np.asarray(wrong / max(total, 1e-300))


def _what_was_cut(
    errors: Floats, n_splits: int, grid: SearchGrid, time_limit: float | None, n_rows: int | None
) -> tuple[str, ...]:
    """Sentences about the rows, splits and points that the time limit left out."""
    measured = np.asarray(~np.isnan(errors).any(axis=0))  # (features, depths, choices, sizes)
    most = max(grid.sizes)
    sentences = []
    if n_rows is not None:
        sentences.append(
            f"trees have {n_rows:,} training rows: time_limit={time_limit} was too short for more"
        )
    if len(errors) < n_splits:
        sentences.append(
            f"{len(errors)} of {n_splits} splits were measured: time_limit={time_limit} was reached"
        )
    for f, r in enumerate(grid.features):
        sizes = [size for k, size in enumerate(grid.sizes) if measured[f, :, :, k].all()]
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


def feature_grid(n_features: int) -> tuple[int, ...]:
    """The paper's values of r ([D-17]); half rounds up.

    Examples
    --------
    >>> feature_grid(10), feature_grid(24), feature_grid(60)
    ((1, 2, 3, 6, 10), (1, 2, 5, 10, 20, 24), (1, 4, 8, 15, 31, 60))
    """
    values, step = {1, n_features}, -1
    while (r := math.floor(2.0**step * math.sqrt(n_features) + 0.5)) < n_features:
        values.add(max(r, 1))
        step += 1
    return tuple(sorted(values))


def grid_errors(
    data: CompositeData,
    held: HeldOut,
    grid: SearchGrid,
    setting: Setting,
    seed: int,
    limit: TimeLimit = NO_LIMIT,
) -> Floats:
    """Weight of wrongly classified held-out rows, shape (depths, choices, sizes); NaN where the time is over.

    The first batch is always completed.
    """
    walk = _Walk(data, held, grid, setting, seed)
    done = 0
    while done < max(grid.sizes):
        if done and limit.is_over:
            break
        next_size = min(size for size in grid.sizes if size > done)
        count = min(next_size, done + TREES_PER_BATCH) - done
        walk.batch(done, count)
        done += count
    return walk.errors


@dataclass
class _Walk:
    """Sets, counts, kept SVMs and votes, from one batch of trees to the next."""

    data: CompositeData
    held: HeldOut
    grid: SearchGrid
    setting: Setting
    seed: int

    def __post_init__(self) -> None:
        data, held, grid, setting = self.data, self.held, self.grid, self.setting
        self.sets = IndexSets(data.y, data.weight, data.n_classes)
        self.correct = np.zeros((0, len(setting.degrees)))
        self.number = np.zeros((0, len(setting.degrees)), dtype=np.int32)  # SVM of (set, degree), or -1
        self.svms = LeafSVMs()
        self.votes = np.zeros((len(grid.depths), len(grid.choices), len(held.y), data.n_classes))
        self.errors = np.full((len(grid.depths), len(grid.choices), len(grid.sizes)), np.nan)

    def batch(self, first: int, count: int) -> None:
        """Grow some trees, train what is new, add their votes, and read off the sizes that are complete."""
        trees = TreeRange(count, self.seed, first)
        grove = grow(self.data, self.setting, trees, max(self.grid.depths))
        set_of_node: dict[int, int] = {}
        views = []
        for depth in self.grid.depths:
            stop = cut(grove.topology, depth)
            leaves = collect_leaves(grove, stop, self.sets, set_of_node)
            views.append((leaves, leaves.of_node(stop)))
        self._extend_tables()
        m = grove.sample_size(self.data)
        self._train(views, m, first)
        self._vote(grove, views, m, first)
        for k, size in enumerate(self.grid.sizes):
            if size == first + count:
                self.errors[:, :, k] = self._count_errors()

    def _extend_tables(self) -> None:
        missing = len(self.sets) - len(self.correct)
        width = len(self.setting.degrees)
        self.correct = np.concatenate([self.correct, np.full((missing, width), np.nan)])
        self.number = np.concatenate([self.number, np.full((missing, width), -1, dtype=np.int32)])

    def _train(self, views: list[Any], m: Floats, first: int) -> None:
        """SVMs of new sets, and of known ones whose degree was not wanted before."""
        mixed = np.flatnonzero(~self.sets.pure)
        used = np.unique(np.concatenate([leaves.set_id for leaves, _ in views]))
        new = np.intersect1d(mixed[np.isnan(self.correct[mixed, 0])], used)
        self._solve(new, views, m, first)
        lacking = {
            s
            for leaves, _ in views
            for s, places in self._wanted(leaves, m, first, None).items()
            if any(self.number[s, p] < 0 for p in places)
        }
        self._solve(np.array(sorted(lacking), dtype=np.int64), views, m, first)

    def _solve(self, ids: NDArray[np.int64], views: list[Any], m: Floats, first: int) -> None:
        degrees, C = np.array(self.setting.degrees), np.array(self.setting.C)[:, None]
        for chunk in train_leaf_svms(self.data, self.sets, ids, degrees, C, float(m.mean())):
            self.correct[chunk.ids] = chunk.correct[:, :, 0]
            wanted: dict[int, set[int]] = {}
            for leaves, _ in views:
                for s, places in self._wanted(leaves, m, first, chunk.ids).items():
                    wanted.setdefault(s, set()).update(p for p in places if self.number[s, p] < 0)
            self.svms.keep(chunk, wanted)
            for s, places in wanted.items():
                for p in places:
                    self.number[s, p] = self.svms.number(s, p)

    def _wanted(
        self, leaves: Leaves, m: Floats, first: int, ids: NDArray[np.int64] | None
    ) -> dict[int, set[int]]:
        """Degrees (positions in the list) that some point of the grid picks at these sets.

        With `ids` the counts of other sets may not be known yet.
        """
        at = np.flatnonzero(~self.sets.pure[leaves.set_id])
        if ids is not None:
            at = at[np.isin(leaves.set_id[at], ids)]
        columns: list[NDArray[np.intp]] = []
        for option in self.grid.choices:
            choice = self._choice(leaves, m, first, option)
            if self.grid.common_degree or ids is None:
                columns.append(self._columns(choice, at, option))
            else:
                columns += choice.candidates(at, self.correct)
        return self._choice(leaves, m, first, self.grid.choices[0]).wanted(at, columns)

    def _choice(self, leaves: Leaves, m: Floats, first: int, option: float) -> LeafChoice:
        gamma = self.setting.gamma_scale if self.grid.common_degree else float(option)
        setting = replace(self.setting, gamma_scale=gamma)
        return LeafChoice(self.data, setting, leaves, self.sets, m, self.seed, first)

    def _columns(self, choice: LeafChoice, at: NDArray[Any], option: float) -> NDArray[np.intp]:
        """Column of the offered degrees that a point of the grid picks at the leaves `at`."""
        if self.grid.common_degree:
            place = self.setting.degrees.index(int(option)) + int(self.setting.constant_leaves)
            return np.full(len(at), place, dtype=np.intp)
        return choice.columns(at, self.correct)

    def _vote(self, grove: Grove, views: list[Any], m: Floats, first: int) -> None:
        nodes = grove.forest.apply(self.held.matrix, n_jobs=self.data.options.n_jobs).astype(np.int64)
        nodes += grove.topology.start[:-1]
        predictor = self.svms.predictor()
        before: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        for d, (leaves, of_node) in enumerate(views):
            leaf = of_node[nodes]
            majority = self.sets.majority[leaves.set_id].astype(np.int32)
            at = np.flatnonzero(~self.sets.pure[leaves.set_id])
            now: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
            for g, option in enumerate(self.grid.choices):
                svm = np.full(len(leaves), -1, dtype=np.int32)
                choice = self._choice(leaves, m, first, option)
                column = self._columns(choice, at, option) - int(self.setting.constant_leaves)
                by_svm = column >= 0
                chosen = at[by_svm]
                svm[chosen] = self.number[leaves.set_id[chosen], column[by_svm]]
                assign = svm[leaf]
                codes = self._codes(predictor, assign, before + now)
                now.append((assign, codes))
                labels = np.where(assign >= 0, codes, majority[leaf])
                self.votes[d, g] += vote_counts(labels, self.data.n_classes)
            before = now

    def _codes(
        self, predictor: Predictor | None, assign: NDArray[np.int32], neighbors: list[Any]
    ) -> NDArray[np.int32]:
        """Labels by the SVMs of `assign`; those known from a neighbor on the grid are copied."""
        codes = np.full(assign.shape, -1, dtype=np.int32)
        if predictor is None:
            return codes
        left = assign >= 0
        for earlier, labels in neighbors:
            same = left & (assign == earlier)
            codes[same] = labels[same]
            left &= ~same
        rows = np.flatnonzero(left.any(axis=1))
        if len(rows):
            query = np.where(left[rows], assign[rows], -1).astype(np.int32)
            labels = predictor.predict(self.held.design[rows], query, n_jobs=self.data.options.n_jobs)
            codes[rows] = np.where(left[rows], labels, codes[rows])
        return codes

    def _count_errors(self) -> Floats:
        wrong = self.votes.argmax(axis=3) != self.held.y
        weight = np.ones(len(self.held.y)) if self.held.weight is None else self.held.weight
        return np.asarray(wrong @ weight)
