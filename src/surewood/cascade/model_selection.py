"""`DeepCascadeSVMClassifierCV`: γ, number of leaves and C chosen on held-out rows, from one tree per fold.

Candidates (`Candidate`) are the single SVMs of each degree, the minimizers along the γ path, and the
minimizers with exactly l leaves. `select` finds them in every fold (`explore`), scores the held-out rows by
each of them (`score_fold`), compares their errors (`compare`) and takes the best single SVM unless a cascade
beats it by more than the noise of the comparison (`choose`); then it trains the chosen one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from joblib import delayed

from surewood._arrays import Codes, Floats
from surewood.base.parameters import COMMON, Switch, parameters
from surewood.base.rules import Choice, Integer, ListOf, Nullable, Number, Rule
from surewood.base.time_limit import TimeLimit
from surewood.cascade.chain import Path, Rows, class_columns, joined
from surewood.cascade.data import CascadeData, make_gram, merge_within_folds, prepare
from surewood.cascade.estimator import SvmCascadeBase
from surewood.cascade.gamma_path import PathPiece, gamma_path, inner_point
from surewood.cascade.model import CascadeModel, OutOfFold
from surewood.cascade.plan import SVM_RULES, SVM_SWITCHES, SelectionPlan, make_selection_plan
from surewood.cascade.search import SearchResult, minimise
from surewood.cascade.training import (
    LEAST_SVMS,
    Task,
    choose_penalties,
    finish,
    in_time,
    make_task,
    run_reporting,
    search_step,
)
from surewood.parallel import share
from surewood.parallel.progress import Advance, ignore, stage
from surewood.tables import TrainingTable

#: Fractions of the time limit after which C is chosen, the candidates are found and scored, and the cascade
#: of the best one is found.
_C_CHOSEN, _EXPLORED, _SCORED, _SEARCHED = 0.2, 0.5, 0.7, 0.8
_MOST_INTERVALS = 40  # of the γ path from which a candidate is taken

_RULES: Mapping[str, Rule] = {
    **SVM_RULES,
    "gamma_min": Number(0.0),
    "leaf_gammas": Rule(
        "a list of numbers above 0, which may be empty",
        lambda value: ListOf(Number(), "").is_kind(value),
        lambda value: all(Number(above=0.0).holds(gamma) for gamma in value),
    ),
    "cv": COMMON["cv"],
    "refit": COMMON["refit"],
}


@parameters(_RULES)
class DeepCascadeSVMClassifierCV(SvmCascadeBase):
    """SVM cascade whose γ, number of leaves and C are chosen on held-out rows.

    In every fold the whole γ path is found from one tree of SVMs: every cascade that is the exact minimizer
    of the bound for some γ. Candidates are these cascades, the best cascades with exactly 2, 3, ... leaves,
    and a single SVM of each degree. A cascade is taken only if its held-out error is smaller than that of the
    best single SVM by more than two standard errors of the difference (``study["standard_errors"]``);
    otherwise the single SVM is taken, so that the model is not worse than an SVM by more than noise.

    The order of the columns matters: rows are assigned to folds by a hash that depends on the
    position of each column.

    Parameters
    ----------
    max_leaves, fractions, degrees, kernel, multiclass
        As in :class:`DeepCascadeSVMClassifier`.
    gamma_min : float, default=0.001
        Where the γ path ends; 0 is possible and long.
    leaf_gammas : list of float, default=(0.1, 0.01)
        γ at which the minimizers with exactly l leaves are taken; an empty list means none.
    C : "auto", float or list of float, default="auto"
        C of each degree: the value of smallest error, on the same folds, of a single SVM of that degree, or
        given.
    cv : int, float, splitter or iterable of (training, held-out) rows, default=5
        An integer deals stratified folds; a number between 0 and 1 holds out about that fraction once.
    refit : bool, default=True
        Whether to search again on all rows. False keeps the model of the training part: for one split only.
    time_limit : float, optional
        Seconds for the fit: searches end early, and fewer candidates, values of C and folds may be tried. If
        the limit is too short for a few SVMs on all rows, a random sample of the rows is used.
    max_memory, calibrate, class_weight, categorical_features, random_state, n_jobs, verbose, remember_rows
        As in :class:`DeepCascadeSVMClassifier`.
    study : dict, optional
        Study switches, see below.

    Attributes
    ----------
    cv_results_ : dict of ndarray, made for ``pandas.DataFrame(model.cv_results_)``
        One entry per candidate: ``kind``, ``degree``, ``gamma_scale``, mean number of leaves, held-out
        ``error``, ``gain`` over the best single SVM and its ``standard_error``, and as in scikit-learn
        ``params``, ``mean_test_score`` (accuracy) and ``rank_test_score``.
    best_index_ : int
        The chosen row.
    best_params_ : dict
        The chosen row as parameters of a :class:`DeepCascadeSVMClassifier`: ``gamma_scale`` and perhaps
        ``n_leaves``, or ``degrees`` and ``max_leaves=1`` for a single SVM.
    best_score_ : float
        Held-out accuracy of the chosen row; optimistic, since it was chosen by it.
    gamma_scale_ : float or None
        The chosen γ; None for a single SVM, which no γ selected.
    classes_, model_, cascades_, search_, C_, out_of_fold_
        As in :class:`DeepCascadeSVMClassifier`.

    Notes
    -----
    Study switches, all optional keys of `study`:

    * ``standard_errors`` (2): how clearly a cascade must beat the best single SVM. Dozens of candidates are
      compared, so that one of them gains a standard error by luck quite often; 0 takes every gain;
    * ``gammas`` (None): these γ are the only candidates, and the one of smallest held-out error is taken, the
      larger on ties; None compares the whole path;
    * ``max_svms`` ("auto"): number of SVMs after which a search returns the best cascade so far,
      deterministic. What it cuts off is seen in ``search_[0].proven``; None is no limit, "auto" is 2000 up to
      600 rows and 2000 · 600² / n² beyond, at least 30, divided by the number of one-vs-rest problems: an
      SVM's time grows with the square of its rows;
    * ``C_grid``, ``growth``: as in :class:`DeepCascadeSVMClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.25, random_state=0)
    >>> model = DeepCascadeSVMClassifierCV(max_leaves=2, cv=3, random_state=0).fit(X, y)
    >>> model.best_score_ > 0.8
    True
    """

    _study_switches: ClassVar[dict[str, Switch]] = {
        **SVM_SWITCHES,
        "max_svms": Switch("auto", Nullable(Choice("auto"), Integer(1))),
        "standard_errors": Switch(2.0, Number(0.0, finite=False)),
        "gammas": Switch(None, Nullable(ListOf(Number(above=0.0), "numbers above 0"))),
    }

    cv_results_: dict[str, Any] = field(init=False)
    best_index_: int = field(init=False)

    gamma_min: float = 1e-3
    leaf_gammas: Any = (0.1, 0.01)
    cv: Any = 5
    refit: bool = True

    @classmethod
    def paper(cls, **changes: Any) -> DeepCascadeSVMClassifierCV:
        """The published protocol: γ of 1, 0.1 and 0.01 by the error on one validation part.

        At most 4 leaves, degrees 1 to 4, fractions 0.1 to 0.9 (1 never wins), C of each degree from 1e-3 to
        1e2 on the same validation part, the exact minimum without a limit of SVMs, no calibration.

        Parameters
        ----------
        **changes
            Any parameter; keys of `study` are changed one by one.

        Examples
        --------
        >>> DeepCascadeSVMClassifierCV.paper().study
        {'gammas': (1.0, 0.1, 0.01), 'max_svms': None}
        """
        published: dict[str, Any] = {"max_leaves": 4, "degrees": (1, 2, 3, 4), "cv": 0.25, "calibrate": False}
        study = {"gammas": (1.0, 0.1, 0.01), "max_svms": None} | (changes.pop("study", None) or {})
        return cls(**(published | changes), study=study)

    @property
    def best_params_(self) -> dict[str, Any]:
        """Parameters of a :class:`DeepCascadeSVMClassifier` that give the chosen candidate."""
        params: dict[str, Any] = self.cv_results_["params"][self.best_index_]
        return params

    @property
    def best_score_(self) -> float:
        """Held-out accuracy of the chosen candidate."""
        return float(self.cv_results_["mean_test_score"][self.best_index_])

    def _begin_fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any = None, **merging: bool
    ) -> TrainingTable:
        """Equal rows are merged here, or by :meth:`_sample` within the folds of the user."""
        return super()._begin_fit(X, y, sample_weight, groups, merge=isinstance(self.cv, Real))

    def _sample(self, inputs: TrainingTable, sample_weight: Any) -> tuple[TrainingTable, CascadeData]:
        folds = None
        if not isinstance(self.cv, Real):
            inputs, folds = merge_within_folds(inputs, self.cv)
        if not self.refit and (folds is None or len(folds) != 1):
            raise ValueError(
                "refit=False keeps the model of the training part, so cv must be exactly one split, for "
                "instance [(training_rows, held_out_rows)] or a PredefinedSplit with one fold."
            )
        scaled_on = None if self.refit or folds is None else folds[0][0]
        return inputs, prepare(inputs, sample_weight, folds, scaled_on)

    def _train(self, parameters: Mapping[str, Any], data: CascadeData, seed: int) -> dict[str, Any]:
        least = LEAST_SVMS + (len(data.folds) if data.folds else max(1, int(self.cv)))
        table, best, model = select(*in_time(make_selection_plan, parameters, data, seed, least))
        results = {str(name): column.to_numpy(copy=True) for name, column in table.items()}
        return {"model_": model, "cv_results_": results, "best_index_": best}


# --- the selection -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Candidate:
    """A way to make a cascade out of any sample: a degree, a γ, or a γ and a number of leaves."""

    gamma: float | None = None
    n_leaves: int | None = None
    choice: int | None = None

    @property
    def kind(self) -> str:
        if self.choice is not None:
            return "plain"
        return "path" if self.n_leaves is None else "leaves"

    def params(self, degrees: Sequence[int]) -> dict[str, Any]:
        """Parameters of a :class:`DeepCascadeSVMClassifier` that give this candidate."""
        if self.choice is not None:
            return {"max_leaves": 1, "degrees": (degrees[self.choice],)}
        params: dict[str, Any] = {"gamma_scale": self.gamma}
        return params if self.n_leaves is None else {**params, "n_leaves": self.n_leaves}


@dataclass
class FoldTask:
    """One cascade problem on the training part of one fold, and what was found there."""

    task: Task
    held_out: Rows
    pieces: list[PathPiece] = field(default_factory=list)
    exact: dict[Candidate, Path] = field(default_factory=dict)

    def path_of(self, candidate: Candidate) -> Path:
        """The candidate's cascade here; the best shorter one where the sample is too small for it."""
        if candidate.choice is not None:
            return Path((candidate.choice,), ())
        if candidate in self.exact:
            return self.exact[candidate]
        assert candidate.gamma is not None
        inside = (piece for piece in self.pieces if piece.low <= candidate.gamma <= piece.high)
        return next(inside, self.pieces[-1]).path


@dataclass(frozen=True)
class FoldScores:
    """Scores of one fold's candidates on its held-out rows, and the sizes of their cascades."""

    rows: Rows
    scores: list[Floats]  # per candidate: (rows, classes)
    n_leaves: Floats  # per candidate: mean over the cascades


def select(plan: SelectionPlan, sample: CascadeData) -> tuple[pd.DataFrame, int, CascadeModel]:
    """Compare the candidates on held-out rows: the table, the row of the best one, and its model."""
    gram = make_gram(sample, plan.max_memory, plan.n_jobs)
    penalties = choose_penalties(plan, sample, gram, _C_CHOSEN)
    problems = list(zip(plan.problems, penalties))
    fold_tasks = [
        [FoldTask(make_task(plan, sample, gram, *problem, training_rows), held_out) for problem in problems]
        for training_rows, held_out in plan.folds
    ]
    fold_tasks = _explore_all(plan, fold_tasks)
    candidates = list_candidates(list(itertools.chain(*fold_tasks)), len(plan.kernels.degrees))
    fold_scores = _score_all(plan, sample, fold_tasks, candidates)
    candidates = candidates[: min(len(scores.scores) for scores in fold_scores)]
    table = compare(candidates, fold_scores, sample.codes, sample.weight, plan.kernels.degrees)
    best = choose(table, plan.standard_errors, plan.gammas is not None)
    if plan.refit:
        tasks = [make_task(plan, sample, gram, *problem) for problem in problems]
    else:
        tasks = [fold_task.task for fold_task in fold_tasks[0]]
    results = _search_all(plan, tasks, candidates[best])
    held_out = None
    if not plan.refit:
        rows = fold_scores[0].rows
        built = (task.build(result.path) for task, result in zip(tasks, results))
        columns = joined([cascade.evaluate(sample.design[rows]) for cascade in built], sample.n_classes)
        held_out = OutOfFold(*columns, sample.codes[rows], sample.weight[rows])
    model = finish(plan, sample, tasks, results, candidates[best].gamma, held_out)
    return table, best, model


# --- candidates of the folds -------------------------------------------------------------------------------


def _explore_all(plan: SelectionPlan, fold_tasks: list[list[FoldTask]]) -> list[list[FoldTask]]:
    """Find the γ paths and the minimizers with exactly l leaves in every fold."""
    flat = list(itertools.chain(*fold_tasks))
    limits = (plan.until(_EXPLORED).divided(len(flat)).seconds, plan.max_svms)
    options = (plan.gamma_min, plan.leaf_gammas, plan.gammas, *limits)
    calls = (partial(delayed(explore), fold_task, *options) for fold_task in flat)
    seconds = [3 * fold_task.task.search_seconds for fold_task in flat]
    with stage(plan.verbose, "gamma paths of the folds", len(flat)) as advance:
        # another process explored a copy
        explored = list(run_reporting(calls, plan.n_jobs, advance, seconds=seconds))
    n = len(plan.problems)
    return [explored[start : start + n] for start in range(0, len(explored), n)]


def explore(
    fold_task: FoldTask,
    gamma_min: float,
    leaf_gammas: Sequence[float],
    gammas: Sequence[float] | None = None,
    seconds: float | None = None,
    max_svms: int | None = None,
    advance: Advance = ignore,
) -> FoldTask:
    """Find the γ path and the minimizers with exactly l leaves, or the minimizers of some `gammas` only.

    The seconds are divided among them; `max_svms` holds for each.
    """
    task, limit = fold_task.task, TimeLimit(seconds)
    tree, complexity = task.tree, task.complexity
    if gammas is None:
        candidates = [Candidate(g, n) for g in leaf_gammas for n in range(2, tree.max_leaves + 1)]
    else:
        candidates = [Candidate(gamma) for gamma in gammas]
    with search_step(task, max_svms, advance, len(candidates) + (gammas is None)):
        if gammas is None:
            half = limit.divided(2 if candidates else 1)
            fold_task.pieces = gamma_path(
                tree, complexity, gamma_min=gamma_min, limit=half, max_svms=max_svms
            )
        for k, candidate in enumerate(candidates):
            if limit.is_over and gammas is None:
                break
            result = _search(task, candidate, limit.divided(len(candidates) - k), max_svms)
            if result is not None:
                fold_task.exact[candidate] = result.path
    return fold_task


def list_candidates(fold_tasks: Sequence[FoldTask], n_choices: int) -> list[Candidate]:
    """Single SVMs, a γ between any two places where some fold's cascade changes, numbers of leaves."""
    pieces = [piece for fold_task in fold_tasks for piece in fold_task.pieces]
    ends = sorted({end for piece in pieces for end in (piece.low, piece.high)})
    inner = [inner_point(low, high) for low, high in itertools.pairwise(ends)]
    if len(inner) > _MOST_INTERVALS:
        inner = [inner[i] for i in np.linspace(0, len(inner) - 1, _MOST_INTERVALS).round().astype(int)]
    exact = {candidate for fold_task in fold_tasks for candidate in fold_task.exact}
    return [
        *(Candidate(choice=c) for c in range(n_choices)),
        *(Candidate(gamma) for gamma in reversed(inner)),
        *sorted(exact, key=lambda candidate: (candidate.n_leaves or 0, -(candidate.gamma or 0.0))),
    ]


# --- their comparison --------------------------------------------------------------------------------------


def _score_all(
    plan: SelectionPlan, sample: CascadeData, fold_tasks: list[list[FoldTask]], candidates: list[Candidate]
) -> list[FoldScores]:
    """Scores of every fold's held-out rows by every candidate."""
    share(sample.design)
    seconds = [sum(fold_task.task.search_seconds for fold_task in fold) / 3 for fold in fold_tasks]
    n_steps = len(candidates) * len(fold_tasks)
    with stage(plan.verbose, "held-out scores of the candidates", n_steps) as advance:
        time_limit = plan.until(_SCORED).divided(len(fold_tasks)).seconds
        options = (candidates, sample.design, sample.n_classes, time_limit)
        calls = (partial(delayed(score_fold), fold, *options) for fold in fold_tasks)
        return list(run_reporting(calls, plan.n_jobs, advance, seconds=seconds, steps=len(candidates)))


def score_fold(
    fold_tasks: Sequence[FoldTask],
    candidates: Sequence[Candidate],
    design: Floats,
    n_classes: int,
    seconds: float | None = None,
    advance: Advance = ignore,
) -> FoldScores:
    """Scores by every candidate of one fold, a step each; cascades that several share are trained once.

    When the time is over, the other candidates are left out; the first one is always scored.
    """
    rows, time_limit = fold_tasks[0].held_out, TimeLimit(seconds)
    by_path: dict[tuple[int, Path], Floats] = {}
    scores: list[Floats] = []
    n_leaves: list[float] = []
    for candidate in candidates:
        if scores and time_limit.is_over:
            break
        paths = [fold_task.path_of(candidate) for fold_task in fold_tasks]
        for t, (fold_task, path) in enumerate(zip(fold_tasks, paths)):
            if (t, path) not in by_path:
                by_path[t, path] = fold_task.task.build(path).evaluate(design[rows]).scores
        scores.append(class_columns([by_path[t, path] for t, path in enumerate(paths)], n_classes))
        n_leaves.append(float(np.mean([path.n_leaves for path in paths])))
        advance(1)
    return FoldScores(rows, scores, np.array(n_leaves))


def compare(
    candidates: Sequence[Candidate],
    folds: Sequence[FoldScores],
    codes: Codes,
    weight: Floats,
    degrees: Sequence[int],
) -> pd.DataFrame:
    """One row per candidate: held-out error, and gain over the best single SVM with its standard error.

    A fold may have scores of later candidates too, which not all folds could score in time.
    """
    rows = np.concatenate([fold.rows for fold in folds])
    weight = weight[rows]
    wrong = np.array(
        [
            np.concatenate([fold.scores[k].argmax(axis=1) for fold in folds]) != codes[rows]
            for k in range(len(candidates))
        ]
    )
    errors = wrong @ weight
    plain = [k for k, candidate in enumerate(candidates) if candidate.kind == "plain"]
    base = min(plain, key=lambda k: float(errors[k]))  # the smaller degree on ties
    difference = weight * (wrong[base].astype(np.float64) - wrong)
    gain = difference.sum(axis=1)
    noise = np.sqrt(np.maximum((difference**2).sum(axis=1) - gain**2 / len(rows), 0.0))
    return pd.DataFrame(
        {
            "kind": [c.kind for c in candidates],
            "degree": [math.nan if c.choice is None else degrees[c.choice] for c in candidates],
            "gamma_scale": [math.nan if c.gamma is None else c.gamma for c in candidates],
            "n_leaves": np.mean([fold.n_leaves[: len(candidates)] for fold in folds], axis=0),
            "error": errors / weight.sum(),
            "gain": gain / weight.sum(),
            "standard_error": noise / weight.sum(),
            "params": [c.params(degrees) for c in candidates],
            "mean_test_score": 1.0 - errors / weight.sum(),
            "rank_test_score": pd.Series(errors).rank(method="min").astype(np.int32),
        }
    )


def choose(table: pd.DataFrame, standard_errors: float, by_error: bool = False) -> int:
    """Row of the best single SVM, or of the cascade that beats it by more than this many standard errors.

    Among such cascades the one of largest gain; on ties fewer leaves, then the earlier row (larger γ). With
    `by_error` the cascade of smallest error, the earlier row on ties.
    """
    cascades = np.flatnonzero(table["kind"] != "plain")
    if by_error and len(cascades):
        return int(cascades[table["error"].to_numpy()[cascades].argmin()])
    plain = table.index[table["kind"] == "plain"]
    base = int(table.loc[plain, "error"].idxmin())
    gain, noise = table["gain"].to_numpy(), table["standard_error"].to_numpy()
    with np.errstate(invalid="ignore"):  # infinitely many standard errors: no gain is enough
        needed = standard_errors * noise
    better = (gain > 1e-12) & (gain > needed) & (table["kind"] != "plain").to_numpy()
    if not better.any():
        return base
    rows = np.flatnonzero(better)
    order = np.lexsort((rows, table["n_leaves"].to_numpy()[rows], -gain[rows]))
    return int(rows[order[0]])


# --- the chosen candidate ----------------------------------------------------------------------------------


def _search_all(plan: SelectionPlan, tasks: Sequence[Task], candidate: Candidate) -> list[SearchResult]:
    """The candidate's cascade of every task."""
    results: list[SearchResult] = []
    with stage(plan.verbose, "searching on all rows", len(tasks)) as advance:
        for task in tasks:
            limit = plan.until(_SEARCHED).divided(len(tasks) - len(results))
            with search_step(task, plan.max_svms, advance):
                result = _search(task, candidate, limit, plan.max_svms)
                if result is None:  # a class too small for this many leaves: its best cascade of any number
                    result = _search(task, replace(candidate, n_leaves=None), limit, plan.max_svms)
            assert result is not None  # one leaf is always possible
            results.append(result)
    return results


def _search(task: Task, candidate: Candidate, limit: TimeLimit, max_svms: int | None) -> SearchResult | None:
    """The candidate's cascade on a task's sample; None where it is too small for the number of leaves."""
    if candidate.choice is not None:
        return _single_svm(task, candidate.choice)
    assert candidate.gamma is not None
    return minimise(
        task.tree, task.complexity, candidate.gamma,
        n_leaves=candidate.n_leaves, limit=limit, max_svms=max_svms,
    )  # fmt: skip


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
        complexity=task.complexity[[choice]],
        n_svms=1,
        n_pruned=0,
        n_cascades=1,
        seconds=0.0,
    )
