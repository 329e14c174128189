"""The forest block: several forests, cross-fitted, turned into class vectors (theory.md §4.2).

`train_block` grows every member on every fold of the points and returns the vectors of the training points,
each from models that did not see it ([D-26]), and a :class:`Block` whose vectors for new points are averages
over the folds. With ``cross_fit="in_fold"`` a training point's vectors are averages over the folds whose
models did train on it: the other reading of [D-26], which leaks labels.

All members read the same binned matrix; a fold is a list of row numbers. A task is a picklable function of
arrays (some trees of one member on one fold, `grow_and_predict`), so any joblib backend can run it.

Classifiers in a forest's place (:class:`FoldClassifier`) are cloned for each fold, seeded, fitted on numbers
and read as class vectors. Weights are passed where their ``fit`` takes them; otherwise rows are drawn by
weight.

:class:`SpillFolder` keeps finished blocks on disk.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from surewood._arrays import Codes, Floats, Ints, check_linear_part, check_number
from surewood.base.base import ClassifierBase, normalized
from surewood.deepforest.data import LayerInput, layer_seed, take_rows
from surewood.deepforest.forests import BlockMember, TreeSettings, tree_params
from surewood.parallel import in_threads, run_in_threads, run_tasks, share, thread_count
from surewood.parallel.progress import stage
from surewood.tables import alongside
from surewood.trees.binning import BinnedMatrix
from surewood.trees.flat_tree import FlatForest, ForestJoiner
from surewood.trees.growing import Grown, TreeParams, grow_forest, grow_seconds, share_matrix

_TASK_VISITS = 4e7  # row visits of a task: a few tenths of a second, so an interrupt is answered
_SINGLE_ROWS = 16  # up to here starting threads takes longer than they save
_FEW_ROWS = 8192  # up to here a forest predicts in one task
_LEAST_WEIGHT = 1e-3  # theory.md [D-28]


@dataclass
class FoldClassifier:
    """A classifier fitted on one fold, and the class code of each of its columns.

    A fold with a single class needs no classifier: then `estimator` is None.
    """

    estimator: Any
    codes: Ints
    n_classes: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_linear_part(self.estimator)

    def vectors(self, numbers: Floats | None) -> Floats:
        """Class vectors; classes that the fold did not have get 0."""
        assert numbers is not None
        out = np.zeros((len(numbers), self.n_classes))
        out[:, self.codes] = 1.0 if self.estimator is None else self.estimator.predict_proba(numbers)
        return out


@dataclass(frozen=True)
class Block:
    """A trained block: per member one forest with the trees of all folds, or one classifier per fold."""

    models: list[FlatForest | list[FoldClassifier]]
    n_classes: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_number("n_classes", self.n_classes, 1, ClassifierBase._most_classes, whole=True)

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
                out[number] = np.mean([fold.vectors(inputs.numbers) for fold in model], axis=0)

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

    @property
    def importances(self) -> Floats:
        """Mean over the forests (n_columns,), summing to 1 if any tree has a split."""
        return normalized(self.member_importances.sum(axis=0))

    def take(self, numbers: Sequence[int]) -> BlockFit:
        """The block of some of its members: members do not know of each other."""
        chosen = list(numbers)
        block = Block([self.block.models[k] for k in chosen], self.block.n_classes)
        return BlockFit(block, self.vectors[chosen], self.member_importances[chosen], self.seconds)


@dataclass(frozen=True)
class BlockSetting:
    """How a block is trained; `max_depth` has one entry per member.

    `first_tree` is the number of trees that every forest has already, `places` the positions of the members
    in the block they belong to (None: 0, 1, ...): a tree depends on its number and on its forest's place.
    """

    members: Sequence[BlockMember]
    max_depth: Sequence[int | None]
    trees: TreeSettings
    n_classes: int
    cross_fit: str = "kfold"
    first_tree: int = 0
    places: Sequence[int] | None = None


def train_block(
    inputs: LayerInput,
    y: Codes,
    fold: Ints,
    setting: BlockSetting,
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
    setting : BlockSetting
    seed : int
        Trees depend on it, on the member and the fold.
    weight : ndarray of float64, shape (n_rows,), optional
        Weights of the points, mean 1.
    """
    trainer = _BlockTrainer(inputs, y.astype(np.uint16), fold, setting, seed, weight, n_jobs)
    n_trees = sum(task.n_trees for task in trainer.tasks)
    with stage(verbose, name, n_trees + len(trainer.classifier_places)) as advance:
        trainer.grow_forests(advance)
        trainer.fit_classifiers(advance)
    return trainer.result()


class _TreeTask(NamedTuple):
    """Some trees of a member on one fold."""

    fold: int
    member: int
    start: int
    n_trees: int


class _BlockTrainer:
    """The state of one call of :func:`train_block`."""

    def __init__(
        self,
        inputs: LayerInput,
        labels: NDArray[np.uint16],
        fold: Ints,
        setting: BlockSetting,
        seed: int,
        weight: Floats | None,
        n_jobs: int | None,
    ) -> None:
        self.inputs, self.labels, self.fold, self.setting = inputs, labels, fold, setting
        self.seed, self.n_jobs = seed, n_jobs
        # A copy: it is shared with workers, the caller's may change.
        self.weight = None if weight is None else weight.copy()
        self.n_folds = int(fold.max()) + 1
        self.in_fold = setting.cross_fit == "in_fold"
        #: Folds that the vectors of a training point are averages over.
        self.n_voices = max(self.n_folds - 1, 1) if self.in_fold else 1
        self.started = time.perf_counter()

        members, n_columns = setting.members, inputs.matrix.n_columns
        self.params = self._tree_params()
        self.tasks = [
            _TreeTask(fold, number, start, n_trees)
            for fold in range(self.n_folds)
            for number, member in enumerate(members)
            if member.is_forest
            for start, n_trees in self._spans(number, len(self._training_rows(fold)))
        ]
        self.classifier_places = [
            (fold, number)
            for fold in range(self.n_folds)
            for number, member in enumerate(members)
            if not member.is_forest
        ]
        self.forests = [ForestJoiner(self.n_folds * m.n_trees, setting.n_classes, n_columns) for m in members]
        self.classifiers: list[list[Any]] = [[None] * self.n_folds for _ in members]
        shape = (len(members), len(labels), setting.n_classes)
        self.vectors: Floats = alongside(inputs.matrix.blocks[0], shape, np.float64)
        self.importances = np.zeros((len(members), n_columns))

    def _tree_params(self) -> dict[int, TreeParams]:
        """How the trees of each forest are grown, by its number."""
        setting, sizes = self.setting, np.bincount(self.fold[self.fold >= 0], minlength=self.n_folds)
        n_rows = int(sizes.sum() - sizes.max())
        n_columns = self.inputs.matrix.n_columns
        return {
            number: tree_params(member, setting.trees, n_columns, depth, n_rows)
            for number, (member, depth) in enumerate(zip(setting.members, setting.max_depth))
            if member.is_forest
        }

    def _spans(self, number: int, n_rows: int) -> list[tuple[int, int]]:
        """Ranges of trees, one per task; they depend on the work and never on the number of workers."""
        n_trees = self.setting.members[number].n_trees
        visits = n_rows * max(1.0, math.log2(max(n_rows, 2))) * self.params[number].max_features
        size = int(min(n_trees, max(1.0, _TASK_VISITS // visits)))
        return [(start, min(size, n_trees - start)) for start in range(0, n_trees, size)]

    def _training_rows(self, fold: int) -> Ints:
        return np.flatnonzero((self.fold >= 0) & (self.fold != fold))

    def _answered_rows(self, fold: int) -> Ints:
        """Training points whose vectors come from the models of this fold ([D-26])."""
        return self._training_rows(fold) if self.in_fold else np.flatnonzero(self.fold == fold)

    def _seed(self, fold: int, number: int) -> int:
        places = self.setting.places
        return layer_seed(self.seed, fold, number if places is None else places[number])

    def grow_forests(self, advance: Callable[[int], None]) -> None:
        """All folds of all forests as one list of tasks, so that no worker waits between them."""
        share_matrix(self.inputs.matrix)
        share(self.labels)
        n_rows = int((self.fold >= 0).sum())
        seconds = [grow_seconds(n_rows, self.params[task.member], task.n_trees) for task in self.tasks]
        results = run_tasks(self._calls(), self.n_jobs, seconds=seconds, one_by_one=True)
        for task, (forest, importances, vectors) in zip(self.tasks, results):
            n_trees = self.setting.members[task.member].n_trees
            self.forests[task.member].add(forest)
            self.importances[task.member] += importances * task.n_trees / n_trees
            answered = self._answered_rows(task.fold)
            self.vectors[task.member, answered] += vectors / (n_trees * self.n_voices)
            advance(task.n_trees)

    def _calls(self) -> Iterator[Any]:
        """The calls of the tasks, in their order."""
        setting, matrix, latest = self.setting, self.inputs.matrix, None
        for task in self.tasks:
            if task.fold != latest:
                latest = task.fold
                rows, held = self._training_rows(task.fold), self._answered_rows(task.fold)
                weight = guarded_weights(self.weight, rows, self.labels, setting.n_classes)
                share(rows, held, weight)
                held_rows = HeldRows(matrix, held)
            grow = partial(
                grow_forest, matrix, self.labels, setting.n_classes, self.params[task.member],
                n_trees=task.n_trees, seed=self._seed(task.fold, task.member), weight=weight,
                rows=rows, first_tree=setting.first_tree + task.start,
                by_content=False,  # they are in canonical order already
            )  # fmt: skip
            yield delayed(grow_and_predict)(grow, held_rows)

    def fit_classifiers(self, advance: Callable[[int], None]) -> None:
        """Classifiers in a forest's place: contrast classifiers in threads, those of others one by one."""
        kinds = [member.kind for member in self.setting.members]
        contrasts = [place for place in self.classifier_places if kinds[place[1]] == "contrast"]
        stop = np.zeros(1, dtype=np.uint8)
        # One thread per classifier: products split over several threads may add up in another order.
        with threadpool_limits(1, user_api="blas") if contrasts else nullcontext():
            calls = (delayed(self._fit_classifier)(*place, stop=stop) for place in contrasts)
            for _ in in_threads(calls, self.n_jobs, ahead=1, stop=stop):
                advance(1)
        for place in self.classifier_places:
            if place not in contrasts:
                self._fit_classifier(*place)
                advance(1)
        for fold, number in self.classifier_places if self.in_fold else ():  # one by one: they overlap
            rows, numbers = self._answered_rows(fold), self.inputs.numbers
            assert numbers is not None
            vectors = self.classifiers[number][fold].vectors(numbers[rows])
            self.vectors[number, rows] += vectors / self.n_voices

    def _fit_classifier(self, fold: int, number: int, **options: Any) -> None:
        numbers, labels, n_classes = self.inputs.numbers, self.labels, self.setting.n_classes
        assert numbers is not None
        rows, held = np.flatnonzero((self.fold >= 0) & (self.fold != fold)), self._answered_rows(fold)
        weight = guarded_weights(self.weight, rows, labels, n_classes)
        estimator, seed = self.setting.members[number].estimator, self._seed(fold, number)
        model = fit_fold_classifier(estimator, numbers, labels, rows, weight, seed, n_classes, **options)
        self.classifiers[number][fold] = model
        if not self.in_fold:
            self.vectors[number, held] = model.vectors(numbers[held])

    def result(self) -> BlockFit:
        models: list[FlatForest | list[FoldClassifier]] = [
            forest.forest() if member.is_forest else classifiers
            for member, forest, classifiers in zip(self.setting.members, self.forests, self.classifiers)
        ]
        seconds = time.perf_counter() - self.started
        return BlockFit(Block(models, self.setting.n_classes), self.vectors, self.importances, seconds)


class HeldRows:
    """Some rows of a matrix, gathered on first use; sent to another process as their numbers."""

    def __init__(self, matrix: BinnedMatrix, rows: Ints) -> None:
        self.matrix, self.rows = matrix, rows
        self._gathered: BinnedMatrix | None = None

    def gathered(self) -> BinnedMatrix:
        if self._gathered is None:
            self._gathered = take_rows(self.matrix, self.rows)
        return self._gathered

    def __getstate__(self) -> dict[str, Any]:
        return {"matrix": self.matrix, "rows": self.rows, "_gathered": None}


def grow_and_predict(grow: Callable[[], Grown], held: HeldRows) -> tuple[FlatForest, Floats, Floats]:
    """Grow some trees; their importances, and the sums of their class vectors on the rows held out."""
    grown = grow()
    sums = grown.forest.predict_proba(held.gathered()) * grown.forest.n_trees
    return grown.forest.with_short_nodes(), grown.importances, sums


def guarded_weights(
    weight: Floats | None, rows: Ints, labels: NDArray[np.uint16], n_classes: int
) -> Floats | None:
    """The weights, with a little added to all of them if a class of these rows has none at all ([D-28])."""
    if weight is None:
        return None
    present = np.bincount(labels[rows], minlength=n_classes) > 0
    mass = np.bincount(labels[rows], weights=weight[rows], minlength=n_classes)
    return weight + _LEAST_WEIGHT if (present & (mass <= 0)).any() else weight


def fit_fold_classifier(
    estimator: Any,
    numbers: Floats,
    labels: NDArray[np.uint16],
    rows: Ints,
    weight: Floats | None,
    seed: int,
    n_classes: int,
    **fit_options: Any,
) -> FoldClassifier:
    """Fit a clone on some rows, with every ``random_state`` in it set."""
    codes = np.unique(labels[rows]).astype(np.int64)
    if len(codes) == 1:
        return FoldClassifier(None, codes, n_classes)
    model = clone(estimator)
    seeds = [name for name in model.get_params() if name == "random_state" or name.endswith("__random_state")]
    model.set_params(**{name: int(seed % 2**31) for name in sorted(seeds)})
    if weight is None:
        model.fit(numbers[rows], labels[rows], **fit_options)
    elif has_fit_parameter(model, "sample_weight"):
        model.fit(numbers[rows], labels[rows], sample_weight=weight[rows], **fit_options)
    else:
        drawn = _draw_by_weight(rows, labels, weight[rows], seed)
        model.fit(numbers[drawn], labels[drawn])
    return FoldClassifier(model, np.asarray(model.classes_).astype(np.int64), n_classes)


def _draw_by_weight(rows: Ints, labels: NDArray[np.uint16], weight: Floats, seed: int) -> Ints:
    """As many rows, drawn by weight; one row of every class is kept, so that no class gets lost."""
    drawn = np.random.default_rng(seed).choice(rows, size=len(rows), p=weight / weight.sum())
    lost = np.setdiff1d(labels[rows], labels[drawn])
    first = [rows[np.argmax(labels[rows] == code)] for code in lost]
    return np.concatenate([drawn, np.array(first, dtype=np.int64)])


class SpillFolder:
    """A folder for finished blocks, which are written once and mapped back: memory holds one at a time.

    It disappears with its owner; a fitted model therefore holds on to it.
    """

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="surewood-")
        self.path = Path(self._temporary.name)

    def store(self, block: Block, name: str) -> Block:
        """Write the trees of a block and return the block with its arrays mapped from disk."""
        models = [
            _mapped(model, self.path / f"{name}-forest-{number}") if isinstance(model, FlatForest) else model
            for number, model in enumerate(block.models)
        ]
        return Block(models, block.n_classes)


def _mapped(forest: FlatForest, path: Path) -> FlatForest:
    """The forest with its arrays written to files that begin with `path`, and mapped from there."""
    values = {}
    for field in fields(forest):
        value = getattr(forest, field.name)
        if isinstance(value, np.ndarray) and value.size:  # an empty file cannot be mapped
            target = path.with_name(f"{path.name}-{field.name}.npy")
            np.save(target, value)
            value = np.asarray(np.load(target, mmap_mode="r"))  # a plain array, still mapped
        values[field.name] = value
    return FlatForest(**values)
