"""One pass over the grid of all composite methods: one growth, one machine a (leaf, degree), all rules.

For one r, trees are grown to the largest depth. At every depth each leaf's SVMs of all degrees are
trained once and asked once about the validation and test rows that land in it; after that every rule (γ,
common degree, random degrees) only looks labels up, and smaller forests are prefixes. So the test labels of
the point that validation chooses are there already, and nothing is refitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.data import TrainingData
from surewood.composite.grid import HeldOut
from surewood.composite.growing import Grove, TreeRange, grow
from surewood.composite.leaf_choice import LeafChoice
from surewood.composite.leaf_svms import Chunk, SolverOptions, train
from surewood.composite.leaves import IndexSets, Leaves, collect_leaves, cut
from surewood.composite.setting import Setting
from surewood.experiments.rcf.rules import Rule
from surewood.svm import vote_counts

TREES_A_BATCH = 100


@dataclass(frozen=True)
class GridAxes:
    """Depths, rules and numbers of trees (ascending)."""

    depths: tuple[int, ...]
    rules: tuple[Rule, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class GridOutcome:
    """What one pass found, arrays of shape (depths, rules, sizes) first.

    Attributes
    ----------
    labels : ndarray of int16, shape (depths, rules, sizes, rows)
        The forests' labels of the evaluated rows.
    active : ndarray of float64
        Fraction of the leaves with SVMs whose complexity penalty is active.
    degree : ndarray of float64
        Mean degree of the leaves with SVMs.
    """

    labels: NDArray[np.int16]
    active: Floats
    degree: Floats


@dataclass(frozen=True)
class GridPass:
    """One pass: rows to train on and to evaluate, the grid, and how trees are grown for one r."""

    data: TrainingData
    held: HeldOut
    axes: GridAxes
    setting: Setting
    seed: int
    options: SolverOptions


def walk(one: GridPass) -> GridOutcome:
    """Labels of all points of the grid for the setting's r."""
    data, held, axes = one.data, one.held, one.axes
    shape = (len(axes.depths), len(axes.rules), len(axes.sizes))
    labels = np.zeros((*shape, len(held.y)), dtype=np.int16)
    votes = np.zeros((*shape[:2], len(held.y), data.n_classes))
    sums = np.zeros((3, *shape[:2]))  # leaves with SVMs, active ones, sum of degrees
    active, degree = np.zeros(shape), np.zeros(shape)
    done = 0
    for k, size in enumerate(axes.sizes):
        while done < size:
            count = min(size - done, TREES_A_BATCH)
            _add_batch(one, (done, count), votes, sums)
            done += count
        labels[:, :, k] = votes.argmax(axis=3)
        counted = np.maximum(sums[0], 1.0)
        active[:, :, k], degree[:, :, k] = sums[1] / counted, sums[2] / counted
    return GridOutcome(labels, active, degree)


@dataclass(frozen=True)
class _View:
    """The trees of a batch cut at one depth: leaves, and the leaf of every evaluated row in every tree."""

    leaves: Leaves
    leaf: NDArray[np.int32]

    def sets(self) -> NDArray[np.int64]:
        return self.leaves.set_id[self.leaf]


def _add_batch(one: GridPass, trees: tuple[int, int], votes: Floats, sums: Floats) -> None:
    """Grow some trees, train and predict with their SVMs, add the votes of every rule."""
    data, held, axes = one.data, one.held, one.axes
    setting, seed, options = one.setting, one.seed, one.options
    first, count = trees
    grove = grow(data, setting, TreeRange(count, seed, first), options, max(axes.depths))
    sets = IndexSets(data.y, data.weight, data.n_classes)
    views = _views(grove, held, axes, sets, options)
    answers = _ask(data, held, sets, views, setting, float(grove.sample_size(data).mean()), options)
    for d, view in enumerate(views):
        choice = LeafChoice(data, setting, view.leaves, sets, grove.sample_size(data), seed, first)
        mixed = np.flatnonzero(~sets.pure[view.leaves.set_id])
        majority = sets.majority[view.sets()].astype(np.int16)
        pairs = answers.pair_of(view)
        for g, rule in enumerate(axes.rules):
            column = rule.columns(choice, mixed, answers.correct)
            _tally(rule, choice, mixed, column, answers.correct, sums[:, d, g])
            of_leaf = np.full(len(view.leaves), -1, dtype=np.int64)
            of_leaf[mixed] = column
            place = of_leaf[view.leaf]
            own = np.where(place >= 0, answers.labels[pairs, np.maximum(place, 0)], majority)
            votes[d, g] += vote_counts(own, data.n_classes)


def _views(
    grove: Grove, held: HeldOut, axes: GridAxes, sets: IndexSets, options: SolverOptions
) -> list[_View]:
    nodes = grove.forest.apply(held.matrix, n_jobs=options.n_jobs).astype(np.int64)
    nodes += grove.topology.start[:-1]
    known: dict[int, int] = {}
    views = []
    for depth in axes.depths:
        stop = cut(grove.topology, depth)
        leaves = collect_leaves(grove.topology, stop, grove.assigned, grove.bags, sets, known)
        views.append(_View(leaves, leaves.of_node(stop)[nodes]))
    return views


def _tally(
    rule: Rule,
    choice: LeafChoice,
    at: NDArray[Any],
    column: NDArray[np.intp],
    correct: Floats,
    sums: Floats,
) -> None:
    """Count leaves with SVMs, those with an active complexity penalty (§2.9), and their degrees."""
    sums[0] += len(at)
    sums[2] += np.array((*choice.setting.degrees, 0))[column].sum()  # the last entry is for -1, a constant
    if rule.method in ("rcf", "rcf_sequences"):
        own = LeafChoice(
            choice.data, rule.setting(choice.setting), choice.leaves, choice.sets, choice.m, choice.seed
        )
        zero = int(choice.setting.constant_leaves)
        terms = own.terms(at, correct)[np.arange(len(at)), column + zero]
        total = choice.sets.total[choice.leaves.set_id[at]]
        sums[1] += np.count_nonzero(terms < total * (1.0 - 1e-12))


@dataclass(frozen=True)
class _Answers:
    """Labels of (evaluated row, set) pairs by the SVMs of every degree, and counts of the sets.

    `key` ascending: row * number of sets + set; `labels` (pairs, degrees); `correct` (sets, degrees).
    """

    key: NDArray[np.int64]
    labels: NDArray[np.int16]
    correct: Floats

    def pair_of(self, view: _View) -> NDArray[np.intp]:
        """Number of the pair of every (row, tree)."""
        return np.searchsorted(self.key, _keys(view, len(self.correct)))


def _keys(view: _View, n_sets: int) -> NDArray[np.int64]:
    return np.arange(len(view.leaf))[:, None] * n_sets + view.sets()


def _ask(
    data: TrainingData,
    held: HeldOut,
    sets: IndexSets,
    views: list[_View],
    setting: Setting,
    m: float,
    options: SolverOptions,
) -> _Answers:
    """Train every set of several classes for every degree; ask about the rows that land in it."""
    n_sets, n_degrees = len(sets), len(setting.degrees)
    key = np.unique(np.concatenate([np.unique(_keys(view, n_sets)) for view in views]))
    labels = np.full((len(key), n_degrees), -1, dtype=np.int16)
    correct = np.zeros((n_sets, n_degrees))
    boxes = np.array(setting.C)[:, None]
    used = np.unique(np.concatenate([view.leaves.set_id for view in views]))
    ids = used[~sets.pure[used]]
    row_of, set_of = np.divmod(key, n_sets)
    for chunk in train(data, sets, ids, np.array(setting.degrees), boxes, m, options):
        correct[chunk.ids] = chunk.correct[:, :, 0]
        place = np.full(n_sets, -1, dtype=np.int64)
        place[chunk.ids] = np.arange(len(chunk.ids))
        at = np.flatnonzero(place[set_of] >= 0)
        if len(at):
            labels[at] = _chunk_labels(chunk, held, row_of[at], place[set_of[at]], n_degrees, options)
    return _Answers(key, labels, correct)


def _chunk_labels(
    chunk: Chunk,
    held: HeldOut,
    row: NDArray[np.int64],
    group: NDArray[np.int64],
    n_degrees: int,
    options: SolverOptions,
) -> NDArray[np.int16]:
    """Labels of pairs (row ascending, machine group) by all degrees: one product serves them all."""
    rows, start, counts = np.unique(row, return_index=True, return_counts=True)
    slot = np.arange(len(row)) - np.repeat(start, counts)
    own = np.repeat(np.arange(len(rows)), counts)
    assign = np.full((len(rows), int(counts.max()), n_degrees), -1, dtype=np.int32)
    assign[own, slot] = group[:, None] * n_degrees + np.arange(n_degrees)
    codes = chunk.svms.predictor().predict(
        held.design[rows], assign.reshape(len(rows), -1), n_jobs=options.n_jobs
    )
    return codes.reshape(assign.shape)[own, slot].astype(np.int16)
