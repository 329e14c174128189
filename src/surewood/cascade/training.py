"""Plan and sample to fitted model: choose C, search, train the chosen cascades, calibrate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from joblib import delayed

from surewood.cascade.cost import make_gram
from surewood.cascade.held_out import OutOfFold, out_of_fold
from surewood.cascade.leaf_calibration import LeafCalibrator, calibrated_leaf
from surewood.cascade.model import CascadeModel
from surewood.cascade.plan import CascadePlan, CascadeSettings, shared_budget
from surewood.cascade.sample import Sample
from surewood.cascade.search import SearchResult
from surewood.cascade.tasks import Task, choose_C, prepare, search_task
from surewood.parallel import run_tasks, worker_count
from surewood.parallel.progress import ignore, stage


def train(plan: CascadePlan, sample: Sample) -> CascadeModel:
    """Find and train the best cascades."""
    tasks = plant(plan, sample)
    tasks, results = search(plan, tasks)
    held_out = out_of_fold(
        sample, tasks, [found.path for found in results], plan.calibration_folds, plan.settings.verbose
    )
    return finish(plan.settings, sample, tasks, results, held_out, plan.gamma_scale)


def plant(plan: CascadePlan, sample: Sample) -> list[Task]:
    """The tasks of a plan, with C chosen."""
    settings = plan.settings
    gram, tasks = make_gram(settings, sample), []
    with stage(settings.verbose, "choosing C", len(plan.problems)) as advance:
        for problem in plan.problems:
            C = choose_C(sample, gram, problem, settings, plan.penalty_folds, advance)
            tasks.append(prepare(sample, gram, problem, settings, C))
    return tasks


def search(plan: CascadePlan, tasks: Sequence[Task]) -> tuple[list[Task], list[SearchResult]]:
    """The best cascade of every task, and the tasks as the searches left them."""
    settings = plan.settings
    n_jobs = settings.n_jobs if len(tasks) > 1 else 1
    elsewhere = worker_count(n_jobs) > 0  # then steps are counted here, as results come back
    budget = shared_budget(settings, len(tasks)).budget
    searched: list[Task] = []
    results: list[SearchResult] = []
    with stage(settings.verbose, "searching cascades", len(tasks)) as advance:
        options = (plan.gamma_scale, plan.n_leaves, budget, ignore if elsewhere else advance)
        todo = (delayed(search_task)(task, *options) for task in tasks)
        for task, result in run_tasks(todo, n_jobs, seconds=[task.search_seconds for task in tasks]):
            if result is None:
                raise ValueError(
                    f"no cascade has exactly n_leaves={plan.n_leaves} leaves on this sample: it is too "
                    "small, or all points of some node lie at the same distance. Take fewer leaves."
                )
            searched.append(task)
            results.append(result)
            advance(1 if elsewhere else 0)
    return searched, results


def finish(
    settings: CascadeSettings,
    sample: Sample,
    tasks: Sequence[Task],
    results: Sequence[SearchResult],
    held_out: OutOfFold,
    gamma_scale: float | None,
) -> CascadeModel:
    """Train the chosen cascades, calibrate, and put everything into one model."""
    cascades = tuple(task.build(found.path) for task, found in zip(tasks, results))
    calibrator = None
    if settings.calibration is not None:
        calibrator = LeafCalibrator(settings.calibration).fit(
            held_out.scores,
            held_out.codes,
            held_out.weight,
            calibrated_leaf([held_out.leaf[:, t] for t in range(held_out.leaf.shape[1])]),
            settings.verbose,
        )
    return CascadeModel(
        cascades=cascades,
        search=tuple(results),
        held_out=held_out,
        kernels=tasks[0].trainer.kernels,
        C=np.array([task.trainer.C for task in tasks]),
        gamma_scale=gamma_scale,
        growth=settings.growth,
        max_leaves=settings.max_leaves,
        n_classes=sample.n_classes,
        encoder=sample.encoder,
        calibrator=calibrator,
        origin=sample.origin,
        is_affine=sample.is_affine,
        is_counted=sample.is_counted,
    )
