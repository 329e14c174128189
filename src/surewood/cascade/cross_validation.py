"""Selection plan and sample to the comparison of all candidates and the model of the best one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from joblib import delayed

from surewood._arrays import Floats
from surewood.cascade.candidates import (
    Candidate,
    FoldTask,
    HeldOut,
    choose,
    compare,
    explored,
    held_out_scores,
    list_candidates,
)
from surewood.cascade.cost import make_gram
from surewood.cascade.held_out import held_out_part, out_of_fold
from surewood.cascade.model import CascadeModel
from surewood.cascade.plan import CascadeSettings, SelectionPlan, shared_budget
from surewood.cascade.prefix_tree import Path
from surewood.cascade.sample import Sample
from surewood.cascade.search import SearchResult, leaf_complexity, minimise
from surewood.cascade.tasks import Task, choose_C, prepare, search_step
from surewood.cascade.training import finish
from surewood.parallel import run_tasks, share, worker_count
from surewood.parallel.progress import ignore, stage
from surewood.svm import Gram

_FINAL_SEARCH = 4.0  # a quarter of the time limit is for the search on all rows, the rest for the folds


@dataclass(frozen=True)
class Selection:
    """Candidates with their held-out errors (`table`), the row of the best one, and its model."""

    table: pd.DataFrame
    best: int
    model: CascadeModel


def select(plan: SelectionPlan, sample: Sample) -> Selection:
    """Compare the candidates on held-out rows and train the best one."""
    settings, gram = plan.settings, make_gram(plan.settings, sample)
    with stage(settings.verbose, "choosing C on the folds", len(plan.problems)) as advance:
        penalties = [
            choose_C(sample, gram, problem, settings, plan.folds, advance) for problem in plan.problems
        ]
    fold_tasks = _explore(plan, _fold_tasks(plan, sample, gram, penalties))
    candidates = list_candidates([one for fold in fold_tasks for one in fold], len(settings.degrees))
    answers = _score(plan, sample, fold_tasks, candidates)
    table = compare(candidates, answers, sample.codes, sample.weight, settings.degrees)
    best = choose(table, plan.standard_errors)
    if plan.refit:
        tasks = [prepare(sample, gram, problem, settings, C) for problem, C in zip(plan.problems, penalties)]
    else:
        tasks = [one.task for one in fold_tasks[0]]
    results = _search(settings, tasks, candidates[best])
    paths = [found.path for found in results]
    if plan.refit:
        held_out = out_of_fold(sample, tasks, paths, plan.calibration_folds, settings.verbose)
    else:
        held_out = held_out_part(sample, tasks, paths, answers[0].rows)
    model = finish(settings, sample, tasks, results, held_out, candidates[best].gamma)
    return Selection(table, best, model)


def _fold_tasks(
    plan: SelectionPlan, sample: Sample, gram: Gram, penalties: Sequence[Floats]
) -> list[list[FoldTask]]:
    """The problems on the training part of each fold."""
    return [
        [
            FoldTask(prepare(sample, gram, problem, plan.settings, C, train), held_out)
            for problem, C in zip(plan.problems, penalties)
        ]
        for train, held_out in plan.folds
    ]


def _explore(plan: SelectionPlan, fold_tasks: list[list[FoldTask]]) -> list[list[FoldTask]]:
    """Find the γ paths and the minimizers with exactly l leaves in every fold."""
    settings, n_tasks = plan.settings, sum(map(len, fold_tasks))
    elsewhere = worker_count(settings.n_jobs) > 0  # then steps are counted here, as results come back
    budget = shared_budget(settings, n_tasks * _FINAL_SEARCH / (_FINAL_SEARCH - 1.0)).budget
    with stage(settings.verbose, "gamma paths of the folds", n_tasks) as advance:
        options = (plan.gamma_min, plan.leaf_gammas, budget, ignore if elsewhere else advance)
        todo = [delayed(explored)(one, *options) for fold in fold_tasks for one in fold]
        seconds = [3 * one.task.search_seconds for fold in fold_tasks for one in fold]
        results = iter(run_tasks(todo, settings.n_jobs, seconds=seconds))
        found = []
        for fold in fold_tasks:
            own = []
            for _ in fold:
                own.append(next(results))  # another process explored a copy
                advance(1 if elsewhere else 0)
            found.append(own)
    return found


def _score(
    plan: SelectionPlan, sample: Sample, fold_tasks: list[list[FoldTask]], candidates: list[Candidate]
) -> list[HeldOut]:
    """Scores of every fold's held-out rows by every candidate."""
    settings = plan.settings
    elsewhere = worker_count(settings.n_jobs) > 0
    share(sample.design)
    seconds = [sum(one.task.search_seconds for one in fold) / 3 for fold in fold_tasks]
    answers: list[HeldOut] = []
    n_steps = len(candidates) * len(fold_tasks)
    with stage(settings.verbose, "held-out scores of the candidates", n_steps) as advance:
        listener = ignore if elsewhere else advance
        todo = (
            delayed(held_out_scores)(fold, candidates, sample.design, sample.n_classes, listener)
            for fold in fold_tasks
        )
        for answer in run_tasks(todo, settings.n_jobs, seconds=seconds):
            answers.append(answer)
            advance(len(candidates) if elsewhere else 0)
    return answers


def _search(settings: CascadeSettings, tasks: Sequence[Task], candidate: Candidate) -> list[SearchResult]:
    """The candidate's cascade of every task."""
    limited = shared_budget(settings, len(tasks) * _FINAL_SEARCH)
    results = []
    with stage(settings.verbose, "searching on all rows", len(tasks)) as advance:
        for task in tasks:
            with search_step(task, limited.budget, advance):
                results.append(_search_one(limited, task, candidate))
    return results


def _search_one(settings: CascadeSettings, task: Task, candidate: Candidate) -> SearchResult:
    """The candidate's cascade on a task's sample."""
    if candidate.choice is not None:
        return _single_svm(task, candidate.choice)
    assert candidate.gamma is not None
    tree, complexity, gamma, budget = task.tree, task.complexity, candidate.gamma, settings.budget
    found = minimise(tree, complexity, gamma, n_leaves=candidate.n_leaves, budget=budget)
    if found is None:  # a class too small for this many leaves: its best cascade without that demand
        found = minimise(tree, complexity, gamma, budget=budget)
    assert found is not None  # one leaf is always possible
    return found


def _single_svm(task: Task, choice: int) -> SearchResult:
    """A single SVM as the result of a search that had no choice."""
    cascade = task.build(Path((choice,), ()))
    score = float(cascade.minus.sum())
    return SearchResult(
        path=Path((choice,), ()),
        gamma=0.0,
        score=score,
        lower_bound=score,
        total=task.tree.total,
        plus=cascade.plus,
        minus=cascade.minus,
        complexity=leaf_complexity(task.complexity[[choice]]),
        n_svms=1,
        n_pruned=0,
        n_cascades=1,
        seconds=0.0,
    )
