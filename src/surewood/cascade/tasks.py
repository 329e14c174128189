"""Tasks: cascade problems with their SVM trainer and prefix tree, ready for searching."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from surewood._arrays import Floats
from surewood.cascade.chain import Cascade, build_cascade
from surewood.cascade.penalty import Folds, best_penalties, penalty_errors, penalty_steps
from surewood.cascade.plan import CascadeSettings, Problem
from surewood.cascade.prefix_tree import Path, PrefixTree, Rows
from surewood.cascade.sample import Sample, varies
from surewood.cascade.search import Budget, SearchResult, minimise
from surewood.cascade.trainer import SvmTrainer
from surewood.parallel import share
from surewood.parallel.progress import Advance, ignore, substeps
from surewood.svm import Gram

_TYPICAL_SVMS, _SECONDS_PER_SQUARE = 50, 4e-9  # of a search; of an SVM, by rows squared


@dataclass
class Task:
    """A cascade problem ready for searching."""

    #: The class set against the rest; -1 where the task is the whole problem.
    label: int
    trainer: SvmTrainer
    tree: PrefixTree
    #: √(Λ/m) of each degree.
    complexity: Floats

    @property
    def search_seconds(self) -> float:
        """Rough time of a search: pruning decides, and cannot be foreseen."""
        n = float(len(self.trainer.part))
        return _TYPICAL_SVMS * _SECONDS_PER_SQUARE * n * (n + 500.0)

    def build(self, path: Path, part: Rows | None = None) -> Cascade:
        """The trained cascade of a path, on the whole sample or on a part of it."""
        trainer = self.trainer if part is None else self.trainer.restricted(part)
        return build_cascade(trainer, path, self.tree.fractions)


def search_task(
    task: Task, gamma: float, n_leaves: int | None, budget: Budget, advance: Advance = ignore
) -> tuple[Task, SearchResult | None]:
    """The best cascade of a task, and the task with all SVMs that the search trained.

    The search is one step; its SVMs are parts of it where the budget limits their number.
    """
    with search_step(task, budget, advance):
        return task, minimise(task.tree, task.complexity, gamma, n_leaves=n_leaves, budget=budget)


@contextmanager
def search_step(task: Task, budget: Budget, advance: Advance, searches: int = 1) -> Iterator[None]:
    """Some searches as one step of a stage, divided among the SVMs they may train."""
    most = searches * (budget.svms or 0)
    with substeps(advance, 1.0, max(most, 1)) as one, task.trainer.reporting(one if most else ignore):
        yield


def prepare(
    sample: Sample,
    gram: Gram,
    problem: Problem,
    settings: CascadeSettings,
    C: Floats,
    part: Rows | None = None,
) -> Task:
    """Plant the prefix tree of a problem on the sample, or on a part of it."""
    kernels = settings.kernels(sample.design.shape[1])
    share(gram.products, gram.X, gram.norms)
    trainer = SvmTrainer(gram, problem.codes, sample.weight, kernels, C, solver=settings.solver,
                         n_classes=problem.n_classes, part=part)  # fmt: skip
    tree = PrefixTree(trainer, settings.fractions, settings.max_leaves)
    return Task(problem.label, trainer, tree, kernels.complexity(math.ceil(tree.total), settings.growth))


def choose_C(
    sample: Sample,
    gram: Gram,
    problem: Problem,
    settings: CascadeSettings,
    folds: Folds,
    advance: Advance = ignore,
) -> Floats:
    """C of each degree: as given, or by held-out error of a single SVM ([D-12]); one step of a stage."""
    codes = problem.codes
    if settings.C is not None:
        return settings.C
    if (codes == codes[0]).all() or not varies(sample.design):  # a constant: no SVM will use C
        return np.ones(len(settings.degrees))
    kernels = settings.kernels(sample.design.shape[1])
    with substeps(advance, 1.0, penalty_steps(kernels, settings.C_grid, folds)) as one:
        errors = penalty_errors(gram, codes, sample.weight, kernels, settings.C_grid, folds,
                                solver=settings.solver, advance=one)  # fmt: skip
    return best_penalties(errors, settings.C_grid)


def class_columns(parts: Sequence[Floats], n_classes: int) -> Floats:
    """One score per class, from the scores of the cascades: two classes share a decision value."""
    if n_classes == 1:
        return np.zeros((len(parts[0]), 1))
    if len(parts) > 1:
        return np.column_stack(parts)
    if parts[0].ndim == 2:
        return parts[0]
    return np.column_stack([-0.5 * parts[0], 0.5 * parts[0]])
