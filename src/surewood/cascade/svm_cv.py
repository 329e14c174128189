"""`DeepCascadeSVMClassifierCV`: γ, number of leaves and C chosen on held-out rows, from one tree a fold."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from surewood.cascade.choosing import (
    Candidate,
    FoldTask,
    HeldOut,
    choose,
    compare,
    explored,
    held_out_scores,
    list_candidates,
)
from surewood.cascade.given_folds import merge_within_folds
from surewood.cascade.parameters import SvmParameters, check_svm_parameters, real, whole
from surewood.cascade.penalty import Folds
from surewood.cascade.prefix_tree import Path
from surewood.cascade.sample import Sample, deal_folds, make_sample
from surewood.cascade.search import SearchResult, leaf_complexity, minimise
from surewood.cascade.svm import _FRACTIONS, _SvmCascade
from surewood.cascade.svm_fit import OutOfFold, Task, choose_C, class_columns, prepare, search_step, tasks_of
from surewood.cascade.svm_trainer import distance_of
from surewood.parallel import run_tasks, share, worker_count
from surewood.parallel.progress import ignore, stage
from surewood.tables import begin_fit


class DeepCascadeSVMClassifierCV(_SvmCascade):
    """SVM cascade whose γ, number of leaves and C are chosen on held-out rows.

    In every fold the whole γ path is found from one tree of machines: every cascade that is the exact
    minimiser of the bound for some γ. Candidates are these cascades, the best cascades with exactly 2, 3, ...
    leaves, and a plain machine of each degree. A cascade is taken only if its held-out error is smaller than
    that of the best plain machine by more than `standard_errors` standard errors of the difference; otherwise
    the plain machine is, so that the model is not worse than an SVM by more than noise.

    Parameters
    ----------
    max_leaves, fractions, degrees, C_grid, kernel, growth, multiclass
        As in :class:`DeepCascadeSVMClassifier`.
    gamma_min : float, default=0.001
        Where the γ path ends; 0 is possible and long.
    leaf_gammas : list of float, default=(0.1, 0.01)
        γ at which the minimisers with exactly l leaves are taken; empty: none.
    C : "cv", float or list of float, default="cv"
        C of each degree: of smallest error, on the same folds, of a single machine of that degree.
    cv : int, splitter or iterable of (training, held-out) rows, default=5
        An integer deals stratified folds.
    standard_errors : float, default=2
        How clearly a cascade must beat the best plain machine. Dozens of candidates are compared, so that one
        of them gains a standard error by luck quite often; 0 takes every gain.
    refit : bool, default=True
        Whether to search again on all rows. False keeps the model of the training part: for one split only.
    time_budget : float, optional
        Seconds for the path of each fold, and for the last search.
    max_machines : int or None, default=2000
        The same, by machines trained: deterministic. What it cuts off is seen in ``search_[0].proven``.
    max_memory, probability, tol, max_iter, class_weight, categorical_features, random_state, n_jobs, verbose
        As in :class:`DeepCascadeSVMClassifier`.

    Attributes
    ----------
    cv_results_ : dict of ndarray, made for ``pandas.DataFrame(model.cv_results_)``
        One entry a candidate: kind, degree, gamma_scale, mean number of leaves, held-out error, gain over the
        best plain machine and its standard error.
    best_index_ : int
        The chosen row.
    gamma_scale_ : float or None
        The chosen γ; None for a plain machine, which no γ selected.
    cascades_, search_, C_, out_of_fold_, classes_
        As in :class:`DeepCascadeSVMClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.25, random_state=0)
    >>> model = DeepCascadeSVMClassifierCV(max_leaves=2, cv=3, random_state=0).fit(X, y)
    >>> bool(model.cv_results_["error"][model.best_index_] < 0.2)
    True
    """

    def __init__(
        self,
        max_leaves: int = 4,
        *,
        fractions: Any = _FRACTIONS,
        degrees: Any = (1, 2, 3, 4),
        gamma_min: float = 1e-3,
        leaf_gammas: Any = (0.1, 0.01),
        C: Any = "cv",
        C_grid: Any = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0),
        kernel: str = "poly",
        growth: str = "capped",
        multiclass: str = "one_vs_rest",
        cv: Any = 5,
        standard_errors: float = 2.0,
        refit: bool = True,
        time_budget: float | None = None,
        max_machines: int | None = 2000,
        max_memory: float | None = None,
        probability: bool = True,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_leaves = max_leaves
        self.fractions = fractions
        self.degrees = degrees
        self.gamma_min = gamma_min
        self.leaf_gammas = leaf_gammas
        self.C = C
        self.C_grid = C_grid
        self.kernel = kernel
        self.growth = growth
        self.multiclass = multiclass
        self.cv = cv
        self.standard_errors = standard_errors
        self.refit = refit
        self.time_budget = time_budget
        self.max_machines = max_machines
        self.max_memory = max_memory
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> DeepCascadeSVMClassifierCV:
        """Choose on held-out rows, then search and train on all rows.

        Parameters
        ----------
        X : table of shape (n, n_features)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        DeepCascadeSVMClassifierCV
        """
        parameters, leaf_gammas = self._check()
        plan = self._plan(X, y, sample_weight, parameters)
        candidates, fold_tasks, answers = self._ask(plan, parameters, leaf_gammas)
        sample = plan.sample
        table = compare(candidates, answers, sample.codes, sample.weight, parameters.degrees)
        best = choose(table, real("standard_errors", self.standard_errors, 0.0))
        if self.refit:
            results = self._search_all(plan.tasks, candidates[best], parameters)
            self._store(plan.inputs, sample, plan.tasks, results, candidates[best].gamma, plan.seed)
        else:
            tasks = [one.task for one in fold_tasks[0]]
            results = self._search_all(tasks, candidates[best], parameters)
            held_out = _answers_as_out_of_fold(sample, tasks, results, answers[0])
            self._store(plan.inputs, sample, tasks, results, candidates[best].gamma, plan.seed, held_out)
        self.cv_results_ = {name: table[name].to_numpy(copy=True) for name in table}
        self.best_index_ = best
        return self

    def _check(self) -> tuple[SvmParameters, tuple[float, ...]]:
        parameters = check_svm_parameters(self)
        if isinstance(self.C, str) and self.C == "validation":
            raise ValueError("C must be 'cv', a number or one number for each degree; got 'validation'.")
        real("gamma_min", self.gamma_min, 0.0)
        return parameters, tuple(real("leaf_gammas", gamma, 0.0, strict=True) for gamma in self.leaf_gammas)

    def _plan(self, X: Any, y: Any, sample_weight: Any, parameters: SvmParameters) -> _Plan:
        """Validated inputs, folds, the sample and its tasks, C chosen on the folds."""
        own_folds = isinstance(self.cv, numbers.Integral)
        inputs = begin_fit(self, X, y, sample_weight, class_weight=self.class_weight,
                           categorical_features=self.categorical_features, merge=own_folds)  # fmt: skip
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        folds: Folds | None = None
        if not own_folds:
            inputs, folds = merge_within_folds(inputs, self.cv)
        if not self.refit and (folds is None or len(folds) != 1):
            raise ValueError(
                "refit=False keeps the model of the training part, so cv must be exactly one split, for "
                "instance [(training_rows, held_out_rows)] or a PredefinedSplit with one fold."
            )
        scaled_on = folds[0][0] if folds is not None and not self.refit else None
        sample = make_sample(inputs, sample_weight, scaled_on)
        if len(sample.codes) < 2:
            raise ValueError("n_samples=1: choosing on held-out rows needs at least two different rows.")
        if folds is None:
            folds = deal_folds(sample.codes, min(whole("cv", self.cv, 2), len(sample.codes)), seed)
        gram = self._gram(sample)
        problems = tasks_of(sample, parameters.multiclass)
        with stage(self.verbose, "choosing C on the folds", len(problems)) as advance:
            penalties = [
                choose_C(sample, gram, codes, parameters, folds, advance) for _, codes, _ in problems
            ]
        tasks = [prepare(sample, gram, one, parameters, C) for one, C in zip(problems, penalties)]
        fold_tasks = [
            [
                FoldTask(prepare(sample, gram, one, parameters, C, train), held)
                for one, C in zip(problems, penalties)
            ]
            for train, held in folds
        ]
        return _Plan(inputs, sample, tasks, fold_tasks, seed)

    def _ask(
        self, plan: _Plan, parameters: SvmParameters, leaf_gammas: tuple[float, ...]
    ) -> tuple[list[Candidate], list[list[FoldTask]], list[HeldOut]]:
        """Find the candidates of every fold and let them predict its held-out rows."""
        elsewhere = worker_count(self.n_jobs) > 0  # then steps are counted here, as results come back
        with stage(self.verbose, "gamma paths of the folds", sum(map(len, plan.fold_tasks))) as advance:
            options = (
                float(self.gamma_min),
                leaf_gammas,
                parameters.budget,
                ignore if elsewhere else advance,
            )
            tasks = [delayed(explored)(one, *options) for fold in plan.fold_tasks for one in fold]
            seconds = [3 * one.task.search_seconds for fold in plan.fold_tasks for one in fold]
            found = run_tasks(tasks, self.n_jobs, seconds=seconds)
            for fold in plan.fold_tasks:
                for k in range(len(fold)):
                    fold[k] = next(found)  # another process explored a copy
                    advance(1 if elsewhere else 0)
        everything = [one for fold in plan.fold_tasks for one in fold]
        candidates = list_candidates(everything, len(parameters.degrees), leaf_gammas)
        design, n_classes = plan.sample.design, plan.sample.n_classes
        share(design)
        seconds = [sum(one.task.search_seconds for one in fold) / 3 for fold in plan.fold_tasks]
        n_answers = len(candidates) * len(plan.fold_tasks)
        with stage(self.verbose, "asking the folds' cascades", n_answers) as advance:
            told = ignore if elsewhere else advance
            asked = (
                delayed(held_out_scores)(fold, candidates, design, n_classes, told)
                for fold in plan.fold_tasks
            )
            answers = []
            for answer in run_tasks(asked, self.n_jobs, seconds=seconds):
                answers.append(answer)
                advance(len(candidates) if elsewhere else 0)
        return candidates, plan.fold_tasks, answers

    def _search_all(
        self, tasks: list[Task], candidate: Candidate, parameters: SvmParameters
    ) -> list[SearchResult]:
        """The candidate's cascade of every task."""
        results = []
        with stage(self.verbose, "searching on all rows", len(tasks)) as advance:
            for task in tasks:
                with search_step(task, parameters.budget, advance):
                    results.append(self._search(task, candidate, parameters))
        return results

    def _search(self, task: Task, candidate: Candidate, parameters: SvmParameters) -> SearchResult:
        """The candidate's cascade on a task's sample."""
        if candidate.choice is not None:
            return _plain_result(task, candidate.choice)
        found = minimise(task.tree, task.complexity, candidate.gamma, n_leaves=candidate.n_leaves,
                         budget=parameters.budget)  # fmt: skip
        if found is None:  # a class too small for so many leaves: its best cascade without that demand
            found = minimise(task.tree, task.complexity, candidate.gamma, budget=parameters.budget)
        return found


@dataclass
class _Plan:
    """What a fit works on."""

    inputs: Any
    sample: Sample
    tasks: list[Task]
    fold_tasks: list[list[FoldTask]]
    seed: int


def _plain_result(task: Task, choice: int) -> SearchResult:
    """A plain machine as the result of a search that had no choice."""
    cascade = task.build(Path((choice,), ()))
    total = task.tree.total
    score = float(cascade.minus.sum())
    return SearchResult(
        path=Path((choice,), ()),
        gamma=0.0,
        score=score,
        lower_bound=score,
        total=total,
        plus=cascade.plus,
        minus=cascade.minus,
        complexity=leaf_complexity(task.complexity[[choice]]),
        n_machines=1,
        n_pruned=0,
        n_cascades=1,
        seconds=0.0,
    )


def _answers_as_out_of_fold(
    sample: Sample, tasks: list[Task], results: list[SearchResult], answer: HeldOut
) -> OutOfFold:
    """The chosen cascades' words on the held-out rows, for calibration without further training."""
    found = [task.build(one.path).evaluate(sample.design[answer.rows]) for task, one in zip(tasks, results)]
    return OutOfFold(
        class_columns([part.scores for part in found], sample.n_classes),
        np.column_stack([part.leaf for part in found]),
        np.column_stack([distance_of(part.scores) for part in found]),
        sample.codes[answer.rows],
        sample.weight[answer.rows],
    )
