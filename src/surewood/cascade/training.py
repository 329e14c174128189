"""Plan and data to fitted model: choose C, search, train the chosen cascades, calibrate.

A `Task` is a cascade problem with its SVM trainer and prefix tree, ready for searching; cross-validation
(:mod:`~surewood.cascade.model_selection`) has one for every problem and fold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import delayed

from surewood._arrays import Floats
from surewood.base.time_limit import TimeLimit
from surewood.cascade.chain import Cascade, Path, Rows, joined
from surewood.cascade.data import CascadeData, Folds, make_gram, varies
from surewood.cascade.model import CascadeModel, LeafCalibrator, OutOfFold, calibrated_leaf
from surewood.cascade.plan import CascadePlan, Problem
from surewood.cascade.search import PrefixTree, SearchResult, minimise
from surewood.cascade.svm_trainer import SvmTrainer, penalty_errors
from surewood.parallel import run_tasks, share, worker_count
from surewood.parallel.progress import Advance, ignore, stage, substeps
from surewood.svm.gram import Gram
from surewood.svm.penalty import best_C

#: Fractions of the time limit after which C is chosen, the cascades are found, and calibration must be quick.
_C_CHOSEN, _SEARCHED, _CALIBRATED = 0.3, 0.75, 0.85

_TYPICAL_SVMS, _SECONDS_PER_SQUARE = 50, 4e-9  # of a search; of an SVM, by rows squared
_MEASURED_ROWS = 500  # on which SVMs are timed, and the least that a time limit leaves of a larger table
LEAST_SVMS = 3  # of each degree in a fit: choosing C, the first node of the search, the cascade, calibration

AnyPlan = TypeVar("AnyPlan", bound=CascadePlan)


def train(plan: CascadePlan, data: CascadeData) -> CascadeModel:
    """Find and train the best cascades."""
    tasks, results = search(plan, prepare_all(plan, data))
    return finish(plan, data, tasks, results, plan.gamma_scale)


def in_time(
    make_plan: Callable[[Mapping[str, Any], CascadeData, int], AnyPlan],
    parameters: Mapping[str, Any],
    data: CascadeData,
    seed: int,
    least_svms: int,
) -> tuple[AnyPlan, CascadeData]:
    """A plan, and the data: a part of the rows where the time limit is too short for the least fit of all.

    That is about `least_svms` SVMs of each degree on all rows; their time grows with the square of the rows,
    and is measured on few.
    """
    plan, n = make_plan(parameters, data, seed), len(data.codes)
    limit = plan.time_limit
    if limit.seconds is None or n <= 2 * _MEASURED_ROWS:
        return plan, data
    few = data.part(_MEASURED_ROWS / n, seed)
    measured = make_plan(parameters, few, seed)
    fold, codes = measured.folds[0], measured.problems[0].codes
    if len(set(codes[fold[0]])) < 2 or not varies(few.design):
        return plan, data
    C, before = np.median(plan.C_grid if plan.C is None else plan.C, keepdims=True), limit.passed
    gram = make_gram(few, plan.max_memory, plan.n_jobs)
    penalty_errors(gram, codes, few.weight, plan.kernels, C, [fold], n_jobs=plan.n_jobs)
    seconds = (limit.passed - before) * (n / len(fold[0])) ** 2 * len(plan.problems) * least_svms
    if seconds <= limit.left:
        return plan, data
    data = data.part(max(_MEASURED_ROWS / n, math.sqrt(limit.left / seconds)), seed)
    return make_plan(parameters, data, seed), data


# --- tasks -------------------------------------------------------------------------------------------------


@dataclass
class Task:
    """A cascade problem ready for searching."""

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
        trainer = self.trainer if part is None else replace(self.trainer, part=part)
        return trainer.build(path, self.tree.fractions)


def prepare_all(plan: CascadePlan, sample: CascadeData) -> list[Task]:
    """The task of every problem, with C chosen."""
    gram = make_gram(sample, plan.max_memory, plan.n_jobs)
    penalties = choose_penalties(plan, sample, gram, _C_CHOSEN)
    return [make_task(plan, sample, gram, problem, C) for problem, C in zip(plan.problems, penalties)]


def choose_penalties(plan: CascadePlan, sample: CascadeData, gram: Gram, until: float) -> list[Floats]:
    """C of each degree, for every problem, chosen when a fraction of the time limit has passed."""
    penalties: list[Floats] = []
    with stage(plan.verbose, "choosing C", len(plan.problems)) as advance:
        for problem in plan.problems:
            time_limit = plan.until(until).divided(len(plan.problems) - len(penalties))
            penalties.append(choose_C(plan, sample, gram, problem, time_limit, advance))
    return penalties


def choose_C(
    plan: CascadePlan,
    sample: CascadeData,
    gram: Gram,
    problem: Problem,
    time_limit: TimeLimit,
    advance: Advance = ignore,
) -> Floats:
    """C of each degree: as given, or by held-out error of a single SVM ([D-12]); one step of a stage."""
    codes, kernels, grid = problem.codes, plan.kernels, plan.C_grid
    if plan.C is not None:
        return plan.C
    if (codes == codes[0]).all() or not varies(sample.design):  # a constant: no SVM will use C
        return np.ones(len(kernels.degrees))
    steps = 2 * len(plan.folds) * len(kernels.degrees) * len(grid)
    with substeps(advance, 1.0, steps) as report:

        def errors_of(grid: Floats, folds: Folds) -> Floats:
            return penalty_errors(gram, codes, sample.weight, kernels, grid, folds,
                                  n_jobs=plan.n_jobs, advance=report)  # fmt: skip

        if time_limit.seconds is None:
            errors = errors_of(grid, plan.folds)
        else:
            grid, errors = _errors_in_time(errors_of, grid, plan.folds, time_limit)
    return best_C(errors, grid)


def _errors_in_time(
    errors_of: Callable[[Floats, Folds], Floats], grid: Floats, folds: Folds, time_limit: TimeLimit
) -> tuple[Floats, Floats]:
    """The part of the grid, from its middle outwards, that could be tried in time, and its errors.

    The first fold decides how far the grid is tried, others are added while there is time; at least one C is
    tried on one fold.
    """
    outwards = np.argsort(np.abs(np.arange(len(grid)) - len(grid) // 2), kind="stable")
    grid = np.sort(grid)[outwards]
    total = np.zeros(0)
    for k, fold in enumerate(folds):
        columns: list[Floats] = []
        for C in grid:
            if time_limit.is_over and (columns or k):
                break
            columns.append(errors_of(np.array([C]), [fold]))
        if k and len(columns) < len(grid):
            break
        grid = grid[: len(columns)]
        errors = np.concatenate(columns, axis=1)
        total = errors if k == 0 else total + errors
    return grid, total


def make_task(
    plan: CascadePlan, sample: CascadeData, gram: Gram, problem: Problem, C: Floats, part: Rows | None = None
) -> Task:
    """Plant the prefix tree of a problem on the sample, or on a part of it."""
    share(gram.products, gram.X, gram.norms)
    rows = np.arange(len(problem.codes), dtype=np.int32) if part is None else part
    trainer = SvmTrainer(
        gram, problem.codes, sample.weight, rows, problem.n_classes, plan.kernels, C, plan.n_jobs
    )
    tree = PrefixTree(trainer, plan.fractions, plan.max_leaves)
    return Task(trainer, tree, plan.kernels.complexity(math.ceil(tree.total), plan.growth))


# --- the search --------------------------------------------------------------------------------------------


def run_reporting(
    calls: Iterable[Callable[[Advance], Any]],
    n_jobs: int | None,
    advance: Advance,
    *,
    seconds: Sequence[float],
    steps: float = 1.0,
) -> Iterator[Any]:
    """Results of tasks that tell `advance` of their work, `steps` each; `calls` make the tasks.

    The steps of workers elsewhere are counted here, as results come back.
    """
    elsewhere = worker_count(n_jobs) > 0
    for result in run_tasks(
        (call(ignore if elsewhere else advance) for call in calls), n_jobs, seconds=seconds
    ):
        yield result
        advance(steps if elsewhere else 0)


def search(plan: CascadePlan, tasks: Sequence[Task]) -> tuple[list[Task], list[SearchResult]]:
    """The best cascade of every task, and the tasks as the searches left them."""
    searched: list[Task] = []
    results: list[SearchResult] = []
    limits = (plan.until(_SEARCHED).divided(len(tasks)).seconds, plan.max_svms)
    options = (plan.gamma_scale, plan.n_leaves, *limits)
    calls = (partial(delayed(search_task), task, *options) for task in tasks)
    with stage(plan.verbose, "searching cascades", len(tasks)) as advance:
        n_jobs, seconds = plan.n_jobs if len(tasks) > 1 else 1, [task.search_seconds for task in tasks]
        for task, result in run_reporting(calls, n_jobs, advance, seconds=seconds):
            if result is None:
                raise ValueError(
                    f"no cascade has exactly n_leaves={plan.n_leaves} leaves on this sample: it is too "
                    "small, or all points of some node lie at the same distance. Take fewer leaves."
                )
            searched.append(task)
            results.append(result)
    return searched, results


def search_task(
    task: Task,
    gamma: float,
    n_leaves: int | None,
    seconds: float | None,
    max_svms: int | None,
    advance: Advance = ignore,
) -> tuple[Task, SearchResult | None]:
    """The best cascade of a task, and the task with all SVMs that the search trained.

    `seconds` begin here, perhaps in another process and after other tasks.
    """
    with search_step(task, max_svms, advance):
        return task, minimise(
            task.tree, task.complexity, gamma,
            n_leaves=n_leaves, limit=TimeLimit(seconds), max_svms=max_svms,
        )  # fmt: skip


@contextmanager
def search_step(task: Task, max_svms: int | None, advance: Advance, searches: int = 1) -> Iterator[None]:
    """Some searches as one step of a stage, divided among the SVMs where their number is limited."""
    most = searches * (max_svms or 0)
    with substeps(advance, 1.0, max(most, 1)) as report, task.trainer.reporting(report if most else ignore):
        yield


# --- held-out scores and the model -------------------------------------------------------------------------


def out_of_fold(
    plan: CascadePlan, sample: CascadeData, tasks: Sequence[Task], paths: Sequence[Path], folds: Folds
) -> OutOfFold:
    """Scores of each row by cascades with the same degrees and fractions, trained on the other folds."""
    n, n_tasks = len(sample.codes), len(tasks)
    scores, distance = np.zeros((n, sample.n_classes)), np.zeros((n, n_tasks))
    leaf = np.zeros((n, n_tasks), dtype=np.int64)
    n_svms = len(folds) * sum(path.n_leaves for path in paths)
    with stage(plan.verbose, "held-out scores of the cascades", n_svms) as advance:
        for train, held_out in folds:
            evaluations = []
            for task, path in zip(tasks, paths):
                with (
                    substeps(advance, path.n_leaves, path.n_leaves) as report,
                    task.trainer.reporting(report),
                ):
                    built = task.build(path, train)
                evaluations.append(built.evaluate(sample.design[held_out], n_jobs=plan.n_jobs))
            columns = joined(evaluations, sample.n_classes)
            scores[held_out], leaf[held_out], distance[held_out] = columns
    return OutOfFold(scores, leaf, distance, sample.codes, sample.weight)


def finish(
    plan: CascadePlan,
    sample: CascadeData,
    tasks: Sequence[Task],
    results: Sequence[SearchResult],
    gamma_scale: float | None,
    held_out: OutOfFold | None = None,
) -> CascadeModel:
    """Train the chosen cascades, score held-out rows, calibrate, and put everything into one model.

    Where the time limit leaves less than the folds of the calibration would take, by the time that the
    cascades took, there are two of them: a half of the rows is trained in a quarter of the time. Where it
    leaves little for the calibration, that is the method of one parameter.
    """
    before = plan.time_limit.passed
    cascades = tuple(task.build(result.path) for task, result in zip(tasks, results))
    if held_out is None:
        folds = plan.calibration_folds
        if plan.time_limit.seconds is not None:
            needed = len(folds) * (plan.time_limit.passed - before)
            folds = folds if needed <= plan.time_limit.left else plan.few_calibration_folds
        held_out = out_of_fold(plan, sample, tasks, [result.path for result in results], folds)
    calibrator = None
    if plan.calibration is not None:
        is_short = plan.calibration == "auto" and plan.until(_CALIBRATED).is_over
        leaf = calibrated_leaf(list(held_out.leaf.T))
        calibrator = LeafCalibrator("temperature" if is_short else plan.calibration).fit(
            held_out.scores, held_out.codes, held_out.weight, leaf, plan.verbose, plan.time_limit
        )
    return CascadeModel(
        cascades=cascades,
        search=tuple(results),
        out_of_fold=held_out,
        kernels=plan.kernels,
        C=np.array([task.trainer.C for task in tasks]),
        gamma_scale=gamma_scale,
        growth=plan.growth,
        max_leaves=plan.max_leaves,
        classes=sample.classes,
        encoder=sample.encoder,
        calibrator=calibrator,
        origin=sample.origin,
        is_affine=sample.is_affine,
        is_counted=sample.is_counted,
    )
