"""One fold of the protocol of *Learning with Deep Cascades* (theory.md §3.8), and the rules that choose on
it.

Five shuffled folds; fold j is the test part, fold j + 1 the validation part, the other three the training
part. Scaling and SVMs come from the training part, C of every degree from the validation error of a
single SVM ([D-12]).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from papers.datasets import load
from papers.readings import Readings, read_design
from surewood.base.parameters import check_parameters, checked_parameters
from surewood.bounds import log_growth
from surewood.cascade.chain import Path
from surewood.cascade.data import CascadeData, prepare
from surewood.cascade.model_selection import (
    Candidate,
    DeepCascadeSVMClassifierCV,
    FoldTask,
    choose,
    compare,
    explore,
    list_candidates,
    score_fold,
)
from surewood.cascade.plan import CascadePlan, make_selection_plan
from surewood.cascade.search import SearchResult, minimise
from surewood.cascade.training import Task, choose_C, make_task
from surewood.svm.gram import Gram
from surewood.tables import begin_fit

N_FOLDS = 5
PAPER_GAMMAS = (1.0, 0.1, 0.01)
LEAF_GAMMAS = (0.1, 0.01)
Rows = NDArray[np.int32]


@dataclass
class Fold:
    """Training, validation and test rows of one fold, and the prefix tree of the training part."""

    name: str
    j: int
    task: Task
    sample: CascadeData
    train: Rows
    validation: Rows
    test: Rows
    plan: CascadePlan
    C: NDArray[np.float64]

    def error(self, path: Path, rows: Rows) -> float:
        """Error on some rows of a cascade trained on the training part."""
        scores = self.task.build(path).evaluate(self.sample.design[rows]).scores
        return float(((scores > 0) != (self.sample.codes[rows] == 1)).mean())


def folds_of(n: int, seed: int) -> NDArray[np.int64]:
    """Fold of every row: shuffled, not stratified."""
    fold = np.empty(n, dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(n)] = np.arange(n) % N_FOLDS
    return fold


def data_of(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """The rows of a data set that the paper used."""
    data = load(name)
    return data.part_of("cascades") if "cascades" in data.papers else data.train


def prepare_fold(name: str, j: int, seed: int = 0, readings: Readings | None = None, **changes: Any) -> Fold:
    """Read a data set and plant the prefix tree of one fold; `changes` are parameters of the cascades."""
    readings = readings or Readings()
    kernel = "poly" if readings.kernel == "inhomogeneous" else "homogeneous"
    at_least_zero = readings.growth == "raw, at least 0"
    growth = "capped" if at_least_zero else readings.growth
    changes["study"] = {"max_svms": 2000, **changes.get("study", {}), "growth": growth}
    X, y = data_of(name)
    model = DeepCascadeSVMClassifierCV(kernel=kernel, **changes)
    check_parameters(model)
    inputs = begin_fit(model, X, y, merge=False)
    fold = folds_of(len(inputs.y), seed)
    held = (j + 1) % N_FOLDS
    test, validation = (np.flatnonzero(fold == k).astype(np.int32) for k in (j, held))
    train = np.flatnonzero((fold != j) & (fold != held)).astype(np.int32)
    sample = prepare(inputs, None, [(train, validation)], scaled_on=train)
    if (readings.scaling, readings.kernel) != ("standardised", "inhomogeneous"):
        train_table = inputs.table.take(train)
        (design,) = read_design(readings, train_table, [inputs.table])
        if readings.kernel == "normalised":  # the cascade's kernel divides by the number of columns
            design = design * np.sqrt(design.shape[1])
        sample = replace(sample, design=design)
    gram, plan = Gram(sample.design), make_selection_plan(checked_parameters(model), sample, seed)
    problem = plan.problems[0]
    C = choose_C(plan, sample, gram, problem, plan.time_limit)
    task = make_task(plan, sample, gram, problem, C, train)
    if at_least_zero:
        printed = log_growth(plan.kernels.vc_dimension(len(train)), len(train), mode="raw", force=True)
        task = replace(task, complexity=np.sqrt(np.maximum(printed, 0.0) / len(train)))
    return Fold(name, j, task, sample, train, validation, test, plan, np.asarray(C))


def plain_choice(fold: Fold) -> Path:
    """The single SVM of smallest validation error; C of every degree was chosen on the same rows."""
    paths = [Path((k,), ()) for k in range(len(fold.plan.kernels.degrees))]
    errors = [fold.error(path, fold.validation) for path in paths]
    return paths[int(np.argmin(errors))]


def paper_choice(
    fold: Fold, gammas: tuple[float, ...] = PAPER_GAMMAS, ties: str = "fewer leaves"
) -> SearchResult:
    """The paper's rule: smallest validation error over its γ, the larger γ on ties."""
    results = [_minimizer(fold, gamma, ties) for gamma in sorted(gammas, reverse=True)]
    errors = [fold.error(result.path, fold.validation) for result in results]
    return results[int(np.argmin(errors))]


def _minimizer(fold: Fold, gamma: float, ties: str) -> SearchResult:
    """The cascade of smallest score; of equal ones that with fewer, or with more leaves."""
    tree, complexity = fold.task.tree, fold.task.complexity
    best = minimise(tree, complexity, gamma)
    assert best is not None  # a single SVM always fits
    if ties == "more leaves":
        for n_leaves in range(fold.plan.max_leaves, 1, -1):
            longer = minimise(tree, complexity, gamma, n_leaves=n_leaves)
            if longer is not None and longer.score <= best.score * (1.0 + 1e-12):
                return longer
    return best


@dataclass
class PathRule:
    """The candidates of a fold (γ path, numbers of leaves, plain SVMs) and their validation errors."""

    fold: Fold
    gamma_min: float
    one: FoldTask = field(init=False)
    candidates: list[Candidate] = field(init=False)
    table: pd.DataFrame = field(init=False)

    def __post_init__(self) -> None:
        fold = self.fold
        self.one = FoldTask(fold.task, fold.validation)
        explore(self.one, self.gamma_min, LEAF_GAMMAS, max_svms=fold.plan.max_svms)
        self.candidates = list_candidates([self.one], len(fold.plan.kernels.degrees))
        answers = score_fold([self.one], self.candidates, fold.sample.design, 2)
        sample = fold.sample
        self.table = compare(
            self.candidates, [answers], sample.codes, sample.weight, fold.plan.kernels.degrees
        )

    def choose(self, standard_errors: float) -> Path:
        """The best plain SVM, or the cascade that beats it by this many standard errors."""
        return self.one.path_of(self.candidates[choose(self.table, standard_errors)])

    def exactly(self, n_leaves: int, gamma: float = 0.01) -> Path | None:
        """The minimizer with this number of leaves, where the sample is large enough for it."""
        return self.one.exact.get(Candidate(gamma, n_leaves))


def run_fold(fold: Fold, gamma_min: float = 1e-3) -> dict[str, Any]:
    """Test errors of every rule on one fold: a row of the tables in docs/research/cascade.md."""
    rule = PathRule(fold, gamma_min)
    row: dict[str, Any] = {"svm": fold.error(plain_choice(fold), fold.test)}
    paper = paper_choice(fold)
    row["paper"], row["paper_leaves"] = fold.error(paper.path, fold.test), paper.path.n_leaves
    for name, standard_errors in (("ours", 2.0), ("one_se", 1.0), ("best", 0.0)):
        path = rule.choose(standard_errors)
        row[name], row[f"{name}_leaves"] = fold.error(path, fold.test), path.n_leaves
    row["pieces"], row["svms"] = len(rule.one.pieces), fold.task.tree.n_svms
    for leaves in (2, 3, 4):
        exact = rule.exactly(leaves)
        row[f"exactly_{leaves}"] = float("nan") if exact is None else fold.error(exact, fold.test)
    return row
