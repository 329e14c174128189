"""The forest block: several forests, cross-fitted, turned into class vectors (theory.md §4.2).

`train_block` grows every member on every fold of the points and returns the vectors of the training points,
each from models that did not see it ([D-26]), and a :class:`Block` whose vectors for new points are averages
over the folds. With ``cross_fit="oob"`` every forest is grown once on all points and out-of-bag trees take
the place of held-out folds.

All members read the same binned matrix; a fold is a list of row numbers. A task is a picklable function of
arrays (some trees of one member on one fold), so any joblib backend can run it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from surewood._arrays import Floats
from surewood.deepforest.fold_classifiers import FoldClassifier, fit_fold_classifier
from surewood.deepforest.folds import layer_seed
from surewood.deepforest.layer_input import LayerInput
from surewood.deepforest.members import Member, TreeSettings, tree_params
from surewood.deepforest.tasks import (
    HeldOutTrees,
    HeldRows,
    OutOfBagTrees,
    grow_and_predict,
    grow_and_predict_out_of_bag,
)
from surewood.estimators.importances import normalised
from surewood.parallel import in_threads, run_in_threads, run_tasks, share, thread_count
from surewood.parallel.progress import stage
from surewood.tables import alongside
from surewood.trees import FlatForest, ForestJoiner, TreeParams, grow_forest, grow_seconds, share_matrix

_TASK_VISITS = 4e7  # row visits of a task: a few tenths of a second, so an interrupt is answered
_SINGLE_ROWS = 16  # up to here starting threads takes longer than they save
_FEW_ROWS = 8192  # up to here a forest predicts in one task
_LEAST_WEIGHT = 1e-3  # theory.md [D-28]


@dataclass(frozen=True)
class BlockPlan:
    """How a block is trained; `max_depth` has one entry per member.

    `first_tree` is the number of trees that every forest has already, `places` the positions of the members
    in the block they belong to (None: 0, 1, ...): a tree depends on its number and on its forest's place.
    """

    members: Sequence[Member]
    max_depth: Sequence[int | None]
    settings: TreeSettings
    n_classes: int
    cross_fit: str = "kfold"
    first_tree: int = 0
    places: Sequence[int] | None = None

    def place(self, number: int) -> int:
        """Position of a member in the block it belongs to."""
        return number if self.places is None else self.places[number]


@dataclass(frozen=True)
class Block:
    """A trained block: per member one forest with the trees of all folds, or one classifier per fold."""

    models: list[FlatForest | list[FoldClassifier]]
    n_classes: int

    def vectors(self, inputs: LayerInput, n_jobs: int | None = 1) -> Floats:
        """Class vectors of new points (n_members, n_rows, n_classes): averages over folds and trees."""
        out = np.empty((len(self.models), inputs.matrix.n_rows, self.n_classes))
        # Few rows make a single task of a forest: then the forests are the tasks.
        few = _SINGLE_ROWS < inputs.matrix.n_rows <= _FEW_ROWS and thread_count(n_jobs) > 1

        def fill(number: int) -> None:
            model = self.models[number]
            if isinstance(model, FlatForest):
                out[number] = model.predict_proba(inputs.matrix, 1 if few else n_jobs)
            else:
                out[number] = np.mean([part.vectors(inputs.numbers) for part in model], axis=0)

        if few and len(self.models) > 1:
            run_in_threads((partial(fill, number) for number in range(len(self.models))), n_jobs)
        else:
            for number in range(len(self.models)):
                fill(number)
        return out

    @property
    def n_trees(self) -> int:
        return sum(model.n_trees for model in self.models if isinstance(model, FlatForest))

    @property
    def nbytes(self) -> int:
        """Memory of the trees (not of classifiers in a forest's place)."""
        return sum(model.nbytes for model in self.models if isinstance(model, FlatForest))


@dataclass(frozen=True)
class BlockFit:
    """Result of :func:`train_block`."""

    block: Block
    #: Held-out class vectors of the training points; 0 for rows outside the folds. Shape (n_members, n_rows,
    #: n_classes).
    vectors: Floats
    #: Impurity importances of each forest, on one scale. Shape (n_members, n_columns).
    member_importances: Floats
    #: Time it took.
    seconds: float
    #: Out-of-bag trees of every vector (0: none, the vector is that of the class frequencies); None where all
    #: trees of a fold take part. Shape (n_members, n_rows).
    votes: Floats | None = None

    @property
    def importances(self) -> Floats:
        """Mean over the forests (n_columns,), summing to 1 if any tree has a split."""
        return normalised(self.member_importances.sum(axis=0))

    def take(self, numbers: Sequence[int]) -> BlockFit:
        """The block of some of its members: members do not know of each other."""
        chosen = list(numbers)
        block = Block([self.block.models[k] for k in chosen], self.block.n_classes)
        votes = None if self.votes is None else self.votes[chosen]
        return BlockFit(block, self.vectors[chosen], self.member_importances[chosen], self.seconds, votes)


def train_block(
    inputs: LayerInput,
    y: NDArray[np.int32],
    fold: NDArray[np.int64],
    plan: BlockPlan,
    *,
    seed: int,
    weight: Floats | None = None,
    n_jobs: int | None = 1,
    verbose: int = 0,
    name: str = "layer",
) -> BlockFit:
    """Train every member on every fold.

    Parameters
    ----------
    inputs : LayerInput
    y : ndarray of int32, shape (n_rows,)
        Class codes.
    fold : ndarray of int64, shape (n_rows,)
        Fold of every row, 0 ... n_folds - 1; -1 for rows that take no part.
    plan : BlockPlan
    seed : int
        Trees depend on it, on the member and the fold.
    weight : ndarray of float64, shape (n_rows,), optional
        Weights of the points, mean 1.
    """
    labels = y.astype(np.uint16)
    trainer = _Trainer(inputs, labels, fold, plan, seed, weight, n_jobs)
    total = sum(piece.n_trees for piece in trainer.pieces) + trainer.n_classifiers
    with stage(verbose, name, total) as advance:
        trainer.run(advance, verbose)
    return trainer.result()


class _Piece(NamedTuple):
    """A task: some trees of a member; out-of-bag forests have one fold, which is all rows."""

    fold: int
    member: int
    start: int
    n_trees: int


class _FoldData(NamedTuple):
    """What the tasks of a fold share."""

    number: int
    rows: NDArray[np.int64]
    held: HeldRows
    weight: Floats | None


class _Trainer:
    """The state of one call of :func:`train_block`."""

    def __init__(
        self,
        inputs: LayerInput,
        labels: NDArray[np.uint16],
        fold: NDArray[np.int64],
        plan: BlockPlan,
        seed: int,
        weight: Floats | None,
        n_jobs: int | None,
    ) -> None:
        self.inputs, self.labels, self.fold, self.plan = inputs, labels, fold, plan
        self.seed, self.n_jobs = seed, n_jobs
        self.weight = (
            None if weight is None else weight.copy()
        )  # it is shared with workers, the caller's may change
        self.n_folds = int(fold.max()) + 1
        self.oob = plan.cross_fit == "oob"
        sizes = np.bincount(fold[fold >= 0], minlength=self.n_folds)
        self._rows_of_a_fold = int(sizes.sum() - (0 if self.oob else sizes.max()))
        self.n_classifiers = self.n_folds * sum(not member.is_forest for member in plan.members)
        self.pieces = self._pieces()
        self._latest: _FoldData | None = None
        folds, columns = 1 if self.oob else self.n_folds, inputs.matrix.n_columns
        self.forests = [ForestJoiner(folds * m.n_trees, plan.n_classes, columns) for m in plan.members]
        self.classifiers: list[list[Any]] = [[None] * self.n_folds for _ in plan.members]
        shape = (len(plan.members), len(labels), plan.n_classes)
        self.vectors: Floats = alongside(inputs.matrix.blocks[0], shape, np.float64)
        self.votes = np.zeros(shape[:2] if self.oob else (0, 0))
        self.importances = np.zeros((len(plan.members), inputs.matrix.n_columns))
        self.started = time.perf_counter()

    def run(self, advance: Any, verbose: int) -> None:
        """All folds of all members: forests as one list of tasks, so that no worker waits between them."""
        share_matrix(self.inputs.matrix)
        share(self.labels)
        seconds = [self._seconds(piece) for piece in self.pieces]
        tasks = map(self._task, self.pieces)
        found: Iterator[HeldOutTrees | OutOfBagTrees] = run_tasks(
            tasks, self.n_jobs, seconds=seconds, one_by_one=True
        )
        sums = np.zeros_like(self.vectors) if self.oob else self.vectors
        for piece, grown in zip(self.pieces, found):
            n_trees = self.plan.members[piece.member].n_trees
            self.forests[piece.member].add(grown.forest)
            if isinstance(grown, OutOfBagTrees):
                sums[piece.member, grown.rows] += grown.sums
                self.votes[piece.member, grown.rows] += grown.votes
            else:
                sums[piece.member, self._held(piece.fold)] += grown.sums / n_trees
            self.importances[piece.member] += grown.importances * piece.n_trees / n_trees
            advance(piece.n_trees)
        if self.oob:
            self._out_of_bag_vectors(sums)
        self._fit_classifiers(advance)

    def _pieces(self) -> list[_Piece]:
        """Ranges of trees of every fold and forest; they depend on the work, never on the workers."""
        return [
            _Piece(fold, number, start, count)
            for fold in range(1 if self.oob else self.n_folds)
            for number, member in enumerate(self.plan.members)
            if member.is_forest
            for start, count in self._spans(number, self._n_rows(fold))
        ]

    def _task(self, piece: _Piece) -> Any:
        data, params = self._fold_data(piece.fold), self._params(piece.member)
        matrix, first_tree = self.inputs.matrix, self.plan.first_tree + piece.start
        grow = partial(
            grow_forest, matrix, self.labels, self.plan.n_classes, params, n_trees=piece.n_trees,
            seed=layer_seed(self.seed, piece.fold, self.plan.place(piece.member)), weight=data.weight,
            rows=data.rows, first_tree=first_tree, by_content=False,  # they are in canonical order already
        )  # fmt: skip
        if self.oob:
            return delayed(grow_and_predict_out_of_bag)(grow, matrix, first_tree)
        return delayed(grow_and_predict)(grow, data.held)

    def _fold_data(self, fold: int) -> _FoldData:
        """The tasks of a fold come one after another, so only the latest is kept."""
        if self._latest is None or self._latest.number != fold:
            rows, held = self._rows(fold), self._held(fold)
            weight = guarded_weights(self.weight, rows, self.labels, self.plan.n_classes)
            share(rows, held, weight)
            self._latest = _FoldData(fold, rows, HeldRows(self.inputs.matrix, held), weight)
        return self._latest

    def _rows(self, fold: int) -> NDArray[np.int64]:
        return np.flatnonzero(self.fold >= 0 if self.oob else (self.fold >= 0) & (self.fold != fold))

    def _held(self, fold: int) -> NDArray[np.int64]:
        return np.flatnonzero(self.fold == fold)

    def _n_rows(self, fold: int) -> int:
        return len(self._rows(fold))

    def _seconds(self, piece: _Piece) -> float:
        n_rows = int((self.fold >= 0).sum())
        return grow_seconds(n_rows, self._params(piece.member), piece.n_trees)

    def _out_of_bag_vectors(self, sums: Floats) -> None:
        rows = self._rows(0)
        weight = guarded_weights(self.weight, rows, self.labels, self.plan.n_classes)
        # A point in the bag of every tree has no out-of-bag vector: it gets the class frequencies.
        frequencies = _class_frequencies(self.labels[rows], weight, rows, self.plan.n_classes)
        for number, member in enumerate(self.plan.members):
            if member.is_forest:
                unseen = self.votes[number] == 0
                sums[number, unseen] = frequencies
                self.vectors[number, rows] = sums[number, rows] / np.maximum(
                    self.votes[number, rows, None], 1
                )

    def _fit_classifiers(self, advance: Any) -> None:
        """Classifiers in a forest's place: contrast classifiers in threads, those of others one by one."""
        places = [
            (fold, number)
            for fold in range(self.n_folds)
            for number, member in enumerate(self.plan.members)
            if not member.is_forest
        ]
        own = [place for place in places if self.plan.members[place[1]].kind == "contrast"]
        stop = np.zeros(1, dtype=np.uint8)
        # One thread per classifier: products split over several threads may add up in another order.
        with threadpool_limits(1, user_api="blas") if own else nullcontext():
            tasks = (delayed(self._fit_classifier)(*place, stop=stop) for place in own)
            for _ in in_threads(tasks, self.n_jobs, ahead=1, stop=stop):
                advance(1)
        for place in places:
            if place not in own:
                self._fit_classifier(*place)
                advance(1)

    def _fit_classifier(self, fold: int, number: int, **options: Any) -> None:
        numbers, labels, n_classes = self.inputs.numbers, self.labels, self.plan.n_classes
        rows = np.flatnonzero((self.fold >= 0) & (self.fold != fold))
        held = self._held(fold)
        weight = guarded_weights(self.weight, rows, labels, n_classes)
        estimator = self.plan.members[number].estimator
        seed = layer_seed(self.seed, fold, self.plan.place(number))
        model = fit_fold_classifier(estimator, numbers, labels, rows, weight, seed, n_classes, **options)
        self.classifiers[number][fold] = model
        assert numbers is not None
        self.vectors[number, held] = model.vectors(numbers[held])

    def _params(self, number: int) -> TreeParams:
        member, depth = self.plan.members[number], self.plan.max_depth[number]
        columns = self.inputs.matrix.n_columns
        return tree_params(member, self.plan.settings, columns, depth, self.oob, self._rows_of_a_fold)

    def _spans(self, number: int, n_rows: int) -> list[tuple[int, int]]:
        """Ranges of trees, one per task; they depend on the work and never on the number of workers."""
        n_trees = self.plan.members[number].n_trees
        visits = n_rows * max(1.0, math.log2(max(n_rows, 2))) * self._params(number).max_features
        size = int(min(n_trees, max(1.0, _TASK_VISITS // visits)))
        return [(start, min(size, n_trees - start)) for start in range(0, n_trees, size)]

    def result(self) -> BlockFit:
        models: list[FlatForest | list[FoldClassifier]] = [
            forest.forest() if member.is_forest else classifiers
            for member, forest, classifiers in zip(self.plan.members, self.forests, self.classifiers)
        ]
        seconds = time.perf_counter() - self.started
        block, votes = Block(models, self.plan.n_classes), self.votes if self.oob else None
        return BlockFit(block, self.vectors, self.importances, seconds, votes)


def guarded_weights(
    weight: Floats | None, rows: NDArray[np.int64], labels: NDArray[np.uint16], n_classes: int
) -> Floats | None:
    """The weights, with a little added to all of them if a class of these rows has none at all ([D-28])."""
    if weight is None:
        return None
    present = np.bincount(labels[rows], minlength=n_classes) > 0
    mass = np.bincount(labels[rows], weights=weight[rows], minlength=n_classes)
    return weight + _LEAST_WEIGHT if (present & (mass <= 0)).any() else weight


def _class_frequencies(
    labels: NDArray[np.uint16], weight: Floats | None, rows: NDArray[np.int64], n_classes: int
) -> Floats:
    mass = np.bincount(labels, weights=None if weight is None else weight[rows], minlength=n_classes)
    return np.asarray(mass / mass.sum())
