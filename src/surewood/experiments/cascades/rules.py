"""Rules that choose a cascade of a fold: the paper's three γ, the γ path with a plain machine to beat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from surewood.cascade.candidates import (
    Candidate,
    FoldTask,
    choose,
    compare,
    held_out_scores,
    list_candidates,
)
from surewood.cascade.prefix_tree import Path
from surewood.cascade.search import SearchResult, minimise
from surewood.experiments.cascades.folds import Fold

PAPER_GAMMAS = (1.0, 0.1, 0.01)
LEAF_GAMMAS = (0.1, 0.01)


def plain_choice(fold: Fold) -> Path:
    """The single SVM of smallest validation error; C of every degree was chosen on the same rows."""
    paths = [Path((k,), ()) for k in range(len(fold.parameters.degrees))]
    errors = [fold.error(path, fold.validation) for path in paths]
    return paths[int(np.argmin(errors))]


def paper_choice(fold: Fold, gammas: tuple[float, ...] = PAPER_GAMMAS) -> SearchResult:
    """The paper's rule: smallest validation error over its γ, the larger γ on ties."""
    found = [minimise(fold.task.tree, fold.task.complexity, gamma) for gamma in sorted(gammas, reverse=True)]
    whole = [one for one in found if one is not None]
    errors = [fold.error(one.path, fold.validation) for one in whole]
    return whole[int(np.argmin(errors))]


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
        self.one.explore(self.gamma_min, LEAF_GAMMAS, fold.parameters.budget)
        self.candidates = list_candidates([self.one], len(fold.parameters.degrees))
        answers = held_out_scores([self.one], self.candidates, fold.sample.design, 2)
        sample = fold.sample
        self.table = compare(self.candidates, [answers], sample.codes, sample.weight, fold.parameters.degrees)

    def choose(self, standard_errors: float) -> Path:
        """The best plain SVM, or the cascade that beats it by this many standard errors."""
        return self.one.path_of(self.candidates[choose(self.table, standard_errors)])

    def exactly(self, n_leaves: int, gamma: float = 0.01) -> Path | None:
        """The minimiser with this number of leaves, where the sample is large enough for it."""
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
