"""The grid for the price of one fit: gamma x depth x number of trees from one growth (theory.md §2.10).

One forest, grown to the largest depth with the largest number of trees, holds every point of the grid:
shallower trees are its tops, smaller forests its prefixes, and gamma only re-reads counts.

:func:`grid_errors` trains each (row set, degree) once, keeps the SVMs that some point of the grid chooses,
and counts the errors of every point on held-out rows. Trees come in batches, so that memory is
bounded and a deadline can be met.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.data import TrainingData
from surewood.composite.growing import Grove, TreeRange, grow
from surewood.composite.leaf_choice import LeafChoice
from surewood.composite.leaf_svms import LeafSVMs, SolverOptions, train
from surewood.composite.leaves import IndexSets, Leaves, collect_leaves, cut
from surewood.composite.setting import Setting
from surewood.svm import Predictor, vote_counts
from surewood.trees import BinnedMatrix

TREES_PER_BATCH = 100


@dataclass(frozen=True)
class Axes:
    """The free axes of the grid. `choices` are values of gamma, or degrees where one common degree is
    chosen."""

    depths: tuple[int, ...]
    choices: tuple[float, ...]
    sizes: tuple[int, ...]
    common_degree: bool = False


@dataclass(frozen=True)
class HeldOut:
    """Held-out rows on which the points of the grid are compared."""

    matrix: BinnedMatrix
    design: Floats
    y: NDArray[np.int32]
    weight: Floats | None


def grid_errors(
    data: TrainingData,
    held: HeldOut,
    axes: Axes,
    setting: Setting,
    seed: int,
    options: SolverOptions,
    deadline: float | None = None,
) -> Floats:
    """Weight of wrongly classified held-out rows, shape (depths, choices, sizes); NaN beyond the deadline.

    The first batch is always completed. `deadline` is in seconds of :func:`time.monotonic`.
    """
    walk = _Walk(data, held, axes, setting, seed, options)
    done = 0
    while done < max(axes.sizes):
        if done and deadline is not None and time.monotonic() > deadline:
            break
        count = min(_next_stop(axes.sizes, done), done + TREES_PER_BATCH) - done
        walk.batch(done, count)
        done += count
    return walk.errors


def _next_stop(sizes: tuple[int, ...], done: int) -> int:
    return min(size for size in sizes if size > done)


@dataclass
class _Walk:
    """Sets, counts, kept SVMs and votes, from one batch of trees to the next."""

    data: TrainingData
    held: HeldOut
    axes: Axes
    setting: Setting
    seed: int
    options: SolverOptions

    def __post_init__(self) -> None:
        data, held, axes, setting = self.data, self.held, self.axes, self.setting
        self.sets = IndexSets(data.y, data.weight, data.n_classes)
        self.correct = np.zeros((0, len(setting.degrees)))
        self.number = np.zeros((0, len(setting.degrees)), dtype=np.int32)  # SVM of (set, degree), or -1
        self.svms = LeafSVMs()
        self.votes = np.zeros((len(axes.depths), len(axes.choices), len(held.y), data.n_classes))
        self.errors = np.full((len(axes.depths), len(axes.choices), len(axes.sizes)), np.nan)

    def batch(self, first: int, count: int) -> None:
        """Grow some trees, train what is new, add their votes, and read off the sizes that are complete."""
        trees = TreeRange(count, self.seed, first)
        grove = grow(self.data, self.setting, trees, self.options, max(self.axes.depths))
        known: dict[int, int] = {}
        views = []
        for depth in self.axes.depths:
            stop = cut(grove.topology, depth)
            leaves = collect_leaves(grove.topology, stop, grove.assigned, grove.bags, self.sets, known)
            views.append((leaves, leaves.of_node(stop)))
        self._extend_tables()
        m = grove.sample_size(self.data)
        self._train(views, m, first)
        self._vote(grove, views, m, first)
        for k, size in enumerate(self.axes.sizes):
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
        for chunk in train(self.data, self.sets, ids, degrees, C, float(m.mean()), self.options):
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
        for option in self.axes.choices:
            choice = self._choice(leaves, m, first, option)
            if self.axes.common_degree or ids is None:
                columns.append(self._columns(choice, at, option))
            else:
                columns += choice.candidates(at, self.correct)
        return self._choice(leaves, m, first, self.axes.choices[0]).wanted(at, columns)

    def _choice(self, leaves: Leaves, m: Floats, first: int, option: float) -> LeafChoice:
        gamma = self.setting.gamma_scale if self.axes.common_degree else float(option)
        setting = replace(self.setting, gamma_scale=gamma)
        return LeafChoice(self.data, setting, leaves, self.sets, m, self.seed, first)

    def _columns(self, choice: LeafChoice, at: NDArray[Any], option: float) -> NDArray[np.intp]:
        """Column of the offered degrees that a point of the grid picks at the leaves `at`."""
        if self.axes.common_degree:
            place = self.setting.degrees.index(int(option)) + int(self.setting.constant_leaves)
            return np.full(len(at), place, dtype=np.intp)
        return choice.columns(at, self.correct)

    def _vote(self, grove: Grove, views: list[Any], m: Floats, first: int) -> None:
        nodes = grove.forest.apply(self.held.matrix, n_jobs=self.options.n_jobs).astype(np.int64)
        nodes += grove.topology.start[:-1]
        predictor = self.svms.predictor()
        before: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        for d, (leaves, of_node) in enumerate(views):
            leaf = of_node[nodes]
            majority = self.sets.majority[leaves.set_id].astype(np.int32)
            at = np.flatnonzero(~self.sets.pure[leaves.set_id])
            now: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
            for g, option in enumerate(self.axes.choices):
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
        self, predictor: Predictor | None, assign: NDArray[np.int32], known: list[Any]
    ) -> NDArray[np.int32]:
        """Labels by the SVMs of `assign`; those known from a neighbor on the grid are copied."""
        codes = np.full(assign.shape, -1, dtype=np.int32)
        if predictor is None:
            return codes
        left = assign >= 0
        for earlier, labels in known:
            same = left & (assign == earlier)
            codes[same] = labels[same]
            left &= ~same
        rows = np.flatnonzero(left.any(axis=1))
        if len(rows):
            query = np.where(left[rows], assign[rows], -1).astype(np.int32)
            labels = predictor.predict(self.held.design[rows], query, n_jobs=self.options.n_jobs)
            codes[rows] = np.where(left[rows], labels, codes[rows])
        return codes

    def _count_errors(self) -> Floats:
        wrong = self.votes.argmax(axis=3) != self.held.y
        weight = np.ones(len(self.held.y)) if self.held.weight is None else self.held.weight
        return np.asarray(wrong @ weight)
