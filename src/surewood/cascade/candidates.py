"""Choosing among cascades on held-out rows, with single SVMs as the baseline.

Candidates are the single SVMs of each degree, the minimizers along the γ path, and the minimizers with
exactly l leaves. `held_out_scores` gives every candidate's scores of every held-out row; `choose` takes the
best single SVM unless a cascade beats it by more than the noise of the comparison.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from surewood._arrays import Codes, Floats
from surewood.cascade.gamma_path import PathPiece, gamma_path, inner_point
from surewood.cascade.prefix_tree import Path, Rows
from surewood.cascade.search import Budget, minimise
from surewood.cascade.tasks import Task, class_columns, search_step
from surewood.parallel.progress import Advance, ignore

MOST_INTERVALS = 40


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

    def explore(self, gamma_min: float, leaf_gammas: Sequence[float], budget: Budget) -> None:
        """Find the γ path and the minimizers with exactly l leaves; the time is divided among them."""
        tree, complexity = self.task.tree, self.task.complexity
        path_budget, exact_budget = budget, budget
        n_exact = len(leaf_gammas) * (tree.max_leaves - 1)
        if budget.seconds is not None and n_exact:
            path_budget = Budget(budget.seconds / 2, budget.svms)
            exact_budget = Budget(budget.seconds / 2 / n_exact, budget.svms)
        self.pieces = gamma_path(tree, complexity, gamma_min=gamma_min, budget=path_budget)
        for gamma in leaf_gammas:
            for n_leaves in range(2, tree.max_leaves + 1):
                found = minimise(tree, complexity, gamma, n_leaves=n_leaves, budget=exact_budget)
                if found is not None:
                    self.exact[Candidate(gamma, n_leaves)] = found.path

    def path_of(self, candidate: Candidate) -> Path:
        """The candidate's cascade here; the best shorter one where the sample is too small for it."""
        if candidate.choice is not None:
            return Path((candidate.choice,), ())
        if candidate.n_leaves is not None and candidate in self.exact:
            return self.exact[candidate]
        assert candidate.gamma is not None
        inside = (piece for piece in self.pieces if piece.low <= candidate.gamma <= piece.high)
        return next(inside, self.pieces[-1]).path


def explored(
    one: FoldTask,
    gamma_min: float,
    leaf_gammas: Sequence[float],
    budget: Budget,
    advance: Advance = ignore,
) -> FoldTask:
    """`FoldTask.explore` as a task for any worker; one step of a stage."""
    searches = 1 + len(leaf_gammas) * (one.task.tree.max_leaves - 1)
    with search_step(one.task, budget, advance, searches):
        one.explore(gamma_min, leaf_gammas, budget)
    return one


def list_candidates(fold_tasks: Sequence[FoldTask], n_choices: int) -> list[Candidate]:
    """Single SVMs, a γ between any two places where some fold's cascade changes, numbers of leaves."""
    ends = sorted({end for one in fold_tasks for piece in one.pieces for end in (piece.low, piece.high)})
    inner = [inner_point(low, high) for low, high in itertools.pairwise(ends)]
    if len(inner) > MOST_INTERVALS:
        inner = [inner[i] for i in np.linspace(0, len(inner) - 1, MOST_INTERVALS).round().astype(int)]
    exact = {key for one in fold_tasks for key in one.exact}
    return [
        *(Candidate(choice=c) for c in range(n_choices)),
        *(Candidate(gamma) for gamma in reversed(inner)),
        *sorted(exact, key=lambda one: (one.n_leaves or 0, -(one.gamma or 0.0))),
    ]


@dataclass(frozen=True)
class HeldOut:
    """Scores of one fold's candidates on its held-out rows, and the sizes of their cascades."""

    rows: Rows
    scores: list[Floats]  # per candidate: (rows, classes)
    n_leaves: Floats  # per candidate: mean over the cascades


def held_out_scores(
    tasks: Sequence[FoldTask],
    candidates: Sequence[Candidate],
    design: Floats,
    n_classes: int,
    advance: Advance = ignore,
) -> HeldOut:
    """Scores by every candidate of one fold, a step each; cascades that several share are trained once."""
    rows = tasks[0].held_out
    known: dict[tuple[int, Path], Floats] = {}
    scores, leaves = [], []
    for candidate in candidates:
        parts, sizes = [], []
        for t, one in enumerate(tasks):
            path = one.path_of(candidate)
            if (t, path) not in known:
                known[t, path] = one.task.build(path).evaluate(design[rows]).scores
            parts.append(known[t, path])
            sizes.append(path.n_leaves)
        scores.append(class_columns(parts, n_classes))
        leaves.append(float(np.mean(sizes)))
        advance(1)
    return HeldOut(rows, scores, np.array(leaves))


def compare(
    candidates: Sequence[Candidate],
    folds: Sequence[HeldOut],
    codes: Codes,
    weight: Floats,
    degrees: Sequence[int],
) -> pd.DataFrame:
    """One row per candidate: held-out error, and gain over the best single SVM with its standard error."""
    rows = np.concatenate([fold.rows for fold in folds])
    own = weight[rows]
    wrong = np.array(
        [
            np.concatenate([fold.scores[k].argmax(axis=1) for fold in folds]) != codes[rows]
            for k in range(len(candidates))
        ]
    )
    errors = wrong @ own
    plain = [k for k, one in enumerate(candidates) if one.kind == "plain"]
    base = min(plain, key=lambda k: float(errors[k]))  # the smaller degree on ties
    difference = own * (wrong[base].astype(np.float64) - wrong)
    gain = difference.sum(axis=1)
    noise = np.sqrt(np.maximum((difference**2).sum(axis=1) - gain**2 / len(rows), 0.0))
    return pd.DataFrame(
        {
            "kind": [one.kind for one in candidates],
            "degree": [math.nan if one.choice is None else degrees[one.choice] for one in candidates],
            "gamma_scale": [math.nan if one.gamma is None else one.gamma for one in candidates],
            "n_leaves": np.average([fold.n_leaves for fold in folds], axis=0),
            "error": errors / own.sum(),
            "gain": gain / own.sum(),
            "standard_error": noise / own.sum(),
            "params": [one.params(degrees) for one in candidates],
            "mean_test_score": 1.0 - errors / own.sum(),
            "rank_test_score": pd.Series(errors).rank(method="min").astype(np.int32),
        }
    )


def choose(table: pd.DataFrame, standard_errors: float) -> int:
    """Row of the best single SVM, or of the cascade that beats it by more than this many standard errors.

    Among such cascades the one of largest gain; on ties fewer leaves, then the earlier row (larger γ).
    """
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
