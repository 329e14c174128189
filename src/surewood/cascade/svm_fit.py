"""From a sample to searched cascades: what the SVM estimators share, free of their interface.

A *task* is one cascade problem: the two classes themselves, one class against the rest, or all classes at
once with one-vs-one machines. `tasks_of` lists them, `prepare` picks C and plants the prefix tree of a task,
`out_of_fold` retrains chosen cascades on folds for honest scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.cascade.model import Cascade, build_cascade
from surewood.cascade.parameters import SvmParameters
from surewood.cascade.penalty import Folds, best_penalties, penalty_errors, penalty_machines
from surewood.cascade.prefix_tree import Path, PrefixTree, Rows
from surewood.cascade.sample import Sample, deal_folds
from surewood.cascade.search import Budget, SearchResult, minimise
from surewood.cascade.svm_trainer import KernelChoice, SvmTrainer, distance_of
from surewood.parallel import share
from surewood.parallel.progress import Advance, ignore, stage, substeps
from surewood.svm import Gram

CALIBRATION_FOLDS = 5
_TYPICAL_MACHINES, _SECONDS_A_SQUARE = 50, 4e-9  # of a search; of a machine, by rows squared


@dataclass
class Task:
    """A cascade problem ready for searching.

    Attributes
    ----------
    label : int
        The class set against the rest; -1 where the task is the whole problem.
    trainer : SvmTrainer
    tree : PrefixTree
    complexity : ndarray
        √(Λ/m) of each degree.
    """

    label: int
    trainer: SvmTrainer
    tree: PrefixTree
    complexity: Floats

    @property
    def search_seconds(self) -> float:
        """What a search takes, roughly: pruning decides, and cannot be foreseen."""
        n = float(len(self.trainer.part))
        return _TYPICAL_MACHINES * _SECONDS_A_SQUARE * n * (n + 500.0)

    def build(self, path: Path, part: Rows | None = None) -> Cascade:
        """The trained cascade of a path, on the whole sample or on a part of it."""
        trainer = self.trainer if part is None else self.trainer.restricted(part)
        return build_cascade(trainer, path, self.tree.fractions)


def search_task(
    task: Task, gamma: float, n_leaves: int | None, budget: Budget, advance: Advance = ignore
) -> tuple[Task, SearchResult | None]:
    """The best cascade of a task, and the task with all machines that the search trained.

    The search is one step; its machines are parts of it where the budget says how many they may be.
    """
    with search_step(task, budget, advance):
        return task, minimise(task.tree, task.complexity, gamma, n_leaves=n_leaves, budget=budget)


@contextmanager
def search_step(task: Task, budget: Budget, advance: Advance, searches: int = 1) -> Iterator[None]:
    """Some searches as one step of a stage: a share of it for every machine they train."""
    most = searches * (budget.machines or 0)
    with substeps(advance, 1.0, max(most, 1)) as one, task.trainer.telling(one if most else ignore):
        yield


def tasks_of(sample: Sample, multiclass: str) -> list[tuple[int, NDArray[np.int32], int]]:
    """(label, class codes, number of classes) of each cascade to be fitted."""
    if sample.n_classes <= 2 or multiclass == "native":
        return [(-1, sample.codes, max(sample.n_classes, 2))]
    return [(j, (sample.codes == j).astype(np.int32), 2) for j in range(sample.n_classes)]


def prepare(
    sample: Sample,
    gram: Gram,
    task: tuple[int, NDArray[np.int32], int],
    parameters: SvmParameters,
    C: Floats,
    part: Rows | None = None,
) -> Task:
    """Plant the prefix tree of a task on the sample, or on a part of it."""
    label, codes, n_classes = task
    kernels = KernelChoice(parameters.kernel, parameters.degrees, sample.design.shape[1])
    share(gram.products, gram.X, gram.norms)
    trainer = SvmTrainer(gram, codes, sample.weight, kernels, C, tol=parameters.tol, n_classes=n_classes,
                         max_iter=parameters.max_iter, n_jobs=parameters.n_jobs, part=part)  # fmt: skip
    tree = PrefixTree(trainer, parameters.fractions, parameters.max_leaves)
    return Task(label, trainer, tree, kernels.complexity(math.ceil(tree.total), parameters.growth))


def choose_C(
    sample: Sample,
    gram: Gram,
    codes: NDArray[np.int32],
    parameters: SvmParameters,
    folds: Folds,
    advance: Advance = ignore,
) -> Floats:
    """C of each degree: as given, or by held-out error of a single machine ([D-12]); one step of a stage."""
    if not isinstance(parameters.C, str):
        return parameters.C
    if (codes == codes[0]).all():  # a constant: no machine will use C
        return np.ones(len(parameters.degrees))
    kernels = KernelChoice(parameters.kernel, parameters.degrees, sample.design.shape[1])
    with substeps(advance, 1.0, penalty_machines(kernels, parameters.C_grid, folds)) as one:
        errors = penalty_errors(gram, codes, sample.weight, kernels, parameters.C_grid, folds,
                                tol=parameters.tol, max_iter=parameters.max_iter,
                                n_jobs=parameters.n_jobs, advance=one)  # fmt: skip
    return best_penalties(errors, parameters.C_grid)


def penalty_folds(sample: Sample, parameters: SvmParameters, seed: int) -> Folds:
    """The held-out parts that C is chosen on: one for ``validation``, `C_folds` for ``cv``."""
    if isinstance(parameters.C, str) and parameters.C == "cv":
        return deal_folds(sample.codes, parameters.C_folds, seed)
    n_parts = max(2, round(1.0 / parameters.validation_fraction))
    return deal_folds(sample.codes, n_parts, seed)[:1]


@dataclass
class OutOfFold:
    """What cascades of the fitted structure, trained without a row, say about it.

    Attributes
    ----------
    scores : ndarray of float64, shape (n, n_classes)
    leaf, distance : ndarray, shape (n, n_cascades)
    codes, weight : ndarray, shape (n,)
    """

    scores: Floats
    leaf: NDArray[np.int64]
    distance: Floats
    codes: NDArray[np.int32]
    weight: Floats

    @property
    def error(self) -> float:
        """Share of the weight that is predicted wrongly."""
        return float(self.weight @ (self.scores.argmax(axis=1) != self.codes)) / float(self.weight.sum())


def out_of_fold(
    sample: Sample, tasks: Sequence[Task], paths: Sequence[Path], seed: int, verbose: int = 0
) -> OutOfFold:
    """Scores of each row by cascades with the same degrees and fractions, trained on the other folds."""
    n, n_tasks = len(sample.codes), len(tasks)
    parts = [np.full(n if task.trainer.n_classes == 2 else (n, sample.n_classes), np.nan) for task in tasks]
    leaf, distance = np.zeros((n, n_tasks), dtype=np.int64), np.zeros((n, n_tasks))
    folds = deal_folds(sample.codes, min(CALIBRATION_FOLDS, n), seed)
    machines = len(folds) * sum(path.n_leaves for path in paths)
    with stage(verbose, "asking cascades without a fold", machines) as advance:
        for t, (task, path) in enumerate(zip(tasks, paths)):
            for train, held_out in folds:
                with substeps(advance, path.n_leaves, path.n_leaves) as one, task.trainer.telling(one):
                    built = task.build(path, train)
                found = built.evaluate(sample.design[held_out], n_jobs=task.trainer.n_jobs)
                parts[t][held_out], leaf[held_out, t] = found.scores, found.leaf
                distance[held_out, t] = distance_of(found.scores)
    return OutOfFold(class_columns(parts, sample.n_classes), leaf, distance, sample.codes, sample.weight)


def class_columns(parts: Sequence[Floats], n_classes: int) -> Floats:
    """One score a class, from the scores of the cascades: two classes share a decision value."""
    if n_classes == 1:
        return np.zeros((len(parts[0]), 1))
    if len(parts) > 1:
        return np.column_stack(parts)
    if parts[0].ndim == 2:
        return parts[0]
    return np.column_stack([-0.5 * parts[0], 0.5 * parts[0]])
