r"""SVMs for the nodes of a cascade, with :math:`C=\sqrt{|S_k|/m}\,C_\delta` (theory.md §3.6).

`KernelChoice` lists what a node may use. `SvmTrainer` trains batches of subsets over one Gram matrix for the
search; the SVMs of the search are not kept: the few of the chosen cascade are trained again, bit for bit the
same, by `SvmTrainer.build`. `penalty_errors` are the held-out errors of one SVM on the whole sample, by which
:math:`C_\delta` is chosen (theory.md [D-12]).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from surewood._arrays import Codes, Floats
from surewood.bounds import log_growth, vc_dimension
from surewood.cascade.chain import (
    Cascade,
    CascadeNode,
    Path,
    Rows,
    divide,
    near_tie,
    predicted_of,
    settled,
    svm_scores,
)
from surewood.cascade.data import Folds, varies
from surewood.cascade.search import Outcome
from surewood.families import distance_of
from surewood.parallel.progress import Advance, ignore
from surewood.svm.dual import SvmBatch, solve_many
from surewood.svm.gram import Gram, KernelSpec
from surewood.svm.penalty import held_out_errors

KERNELS = ("poly", "homogeneous", "rbf")


@dataclass(frozen=True)
class KernelChoice:
    r"""A kernel and the degrees (or widths) that nodes choose from.

    ``poly``: :math:`(\langle x,x'\rangle/n+1)^\delta`; ``homogeneous``: without the constant;
    ``rbf``: :math:`\exp(-2^{\delta-1}|x-x'|^2/n)`, whose degree is a width.
    """

    kernel: str
    degrees: tuple[int, ...]
    n_features: int

    def spec(self, choice: int) -> KernelSpec:
        """The kernel of one choice, for the solver."""
        n = self.n_features
        if self.kernel == "rbf":
            return KernelSpec("rbf", 2.0 ** (self.degrees[choice] - 1) / n)
        return KernelSpec("poly", 1.0 / n, 1.0 if self.kernel == "poly" else 0.0)

    def solver_calls(self, choices: Sequence[int]) -> list[tuple[list[int], KernelSpec, list[int]]]:
        """Choices that one call of the solver serves, their kernel and its degrees; each width by itself."""
        if self.kernel == "rbf":
            return [([c], self.spec(c), [1]) for c in choices]
        return [(list(choices), self.spec(choices[0]), [self.degrees[c] for c in choices])]

    def of_degrees(self, degrees: Sequence[int]) -> KernelChoice:
        """The same kernel with other degrees, such as those of a fitted cascade."""
        return KernelChoice(self.kernel, tuple(int(d) for d in degrees), self.n_features)

    def log_growth(self, m: int, growth: str = "capped") -> Floats:
        """Λ of the classifiers of each choice on `m` points (1.1); an rbf kernel realizes every labeling."""
        if self.kernel == "rbf":
            return np.full(len(self.degrees), m * np.log(2.0))
        value = np.asarray(log_growth(self.vc_dimension(m), m, mode=growth, force=True), dtype=np.float64)
        return np.maximum(value, np.log(2.0)) if growth == "raw" else value  # negative for d > em

    def vc_dimension(self, m: int) -> Floats:
        """VC dimension of each choice; for rbf, where it is infinite, the sample size `m`."""
        if self.kernel == "rbf":
            return np.full(len(self.degrees), m)
        homogeneous = self.kernel == "homogeneous"
        return np.asarray(vc_dimension(self.n_features, list(self.degrees), homogeneous=homogeneous))

    def complexity(self, m: int, growth: str = "capped") -> Floats:
        """√(Λ/m) of each choice, as (3.8) prints it."""
        return np.asarray(np.sqrt(self.log_growth(m, growth) / m))


@dataclass
class SvmTrainer:
    r"""Trains SVMs of all choices on subsets of one sample.

    With more than two classes SVMs are one-vs-one, and the distance of a point is the gap between its two
    best class scores.
    """

    gram: Gram
    #: Class codes and positive weights of all rows of the Gram matrix.
    all_codes: Codes
    all_weight: Floats
    #: The rows of the sample; subsets are numbered within it.
    part: Rows
    n_classes: int
    kernels: KernelChoice
    #: :math:`C_\delta` on the whole sample. Shape (n_choices,).
    C: Floats
    n_jobs: int | None = None
    advance: Advance = ignore

    def __post_init__(self) -> None:
        self.codes, self.weight = self.all_codes[self.part], self.all_weight[self.part]
        self.total, self.n_choices = float(self.weight.sum()), len(self.kernels.degrees)
        self._varies = varies(self.gram.X[self.part])

    @contextmanager
    def reporting(self, advance: Advance) -> Iterator[None]:
        """Report every SVM that is trained inside to `advance`."""
        self.advance = advance
        try:
            yield
        finally:
            self.advance = ignore  # a trainer travels to other processes, its listener does not

    # --- for the search ------------------------------------------------------------------------------------

    def train(self, rows: Sequence[Rows], choices: Sequence[int]) -> list[list[Outcome]]:
        """Outcomes of every choice on every subset; see `search.Trainer`."""
        ready = [subset for subset in rows if not self.is_constant(subset)]
        calls = self.kernels.solver_calls(choices) if ready else []
        batches = [self._solve(ready, *call) for call in calls]
        outcomes: list[list[Outcome]] = []
        place = 0  # among the subsets that were solved
        for subset in rows:
            if self.is_constant(subset):
                majority = predicted_of(self._constant_scores(subset)[None])
                outcomes.append([Outcome(None, self.codes[subset] == majority) for _ in choices])
                continue
            outcomes.append(
                [
                    self._outcome(solved, solved.index(place, d), subset)
                    for solved in batches
                    for d in range(solved.shape[1])
                ]
            )
            place += 1
        return outcomes

    def is_constant(self, rows: Rows) -> bool:
        """Whether only a constant can be learned, because of one class or equal rows; no split then."""
        codes = self.codes[rows]
        return not self._varies or bool((codes == codes[0]).all())

    def _constant_scores(self, rows: Rows) -> Floats:
        """Score of a constant for every class: 2p - 1 for a class of frequency p, which favors the majority.

        With two classes the decision value, an array without dimensions.
        """
        counts = np.bincount(self.codes[rows], weights=self.weight[rows], minlength=self.n_classes)
        scores = 2.0 * counts / counts.sum() - 1.0
        return np.asarray(scores[1]) if self.n_classes == 2 else scores

    def _solve(
        self, rows: Sequence[Rows], choices: Sequence[int], kernel: KernelSpec, degrees: list[int]
    ) -> SvmBatch:
        """SVMs of choices that share a kernel, on subsets with at least two classes."""
        size = np.array([self.weight[subset].sum() for subset in rows])
        boxes = np.sqrt(size / self.total)[:, None] * self.C[list(choices)][None, :]
        return solve_many(
            self.gram, [self.part[subset] for subset in rows], self.all_codes, degrees, boxes[:, :, None],
            kernel=kernel, weights=box_weights(self.all_weight), decisions=self.n_classes == 2,
            n_jobs=self.n_jobs, advance=self.advance,
        )  # fmt: skip

    def _outcome(self, solved: SvmBatch, problem: int, rows: Rows) -> Outcome:
        """Distances and correctness of an SVM at its own points, near-ties settled [D-41]."""
        if self.n_classes == 2:  # the solver has the decision values
            scores = np.asarray(solved.decision(problem), dtype=np.float64)
        else:
            design = np.ascontiguousarray(self.gram.X[self.part[rows]])
            scores = svm_scores(solved.predictor([problem]), design, self.n_classes, self.n_jobs)
        width = near_tie(scores)
        scores = settled(scores, width)
        return Outcome(distance_of(scores), predicted_of(scores) == self.codes[rows], width)

    # --- the chosen cascade --------------------------------------------------------------------------------

    def build(self, path: Path, fractions: Sequence[Fraction]) -> Cascade:
        """Train the chain of a path on the whole sample; it ends early where no split is possible."""
        nodes: list[CascadeNode] = []
        rows: Rows | None = np.arange(len(self.weight), dtype=np.int32)
        for k, choice in enumerate(path.choices):
            if rows is None:
                break
            fraction = fractions[path.fractions[k]] if k + 1 < len(path.choices) else None
            node, rows = self._build_node(rows, choice, fraction)
            nodes.append(node)
        return Cascade(tuple(nodes), self.n_classes)

    def _build_node(
        self, rows: Rows, choice: int, fraction: Fraction | None
    ) -> tuple[CascadeNode, Rows | None]:
        """A node trained on some rows, and the rows that go on; None where it is the last one."""
        weight, degree = self.weight[rows], self.kernels.degrees[choice]
        if self.is_constant(rows):  # the majority class, as the last node
            scores = self._constant_scores(rows)
            correct = self.codes[rows] == predicted_of(scores[None])
            constant = float(scores) if scores.ndim == 0 else tuple(scores.tolist())
            counts = float(weight[correct].sum()), float(weight[~correct].sum())
            return CascadeNode(choice, degree, None, -math.inf, 0, *counts, None, constant), None
        solved = self._solve([rows], *self.kernels.solver_calls([choice])[0])
        outcome = self._outcome(solved, 0, rows)
        predictor = solved.predictor([0])
        assert outcome.distance is not None
        divided = None if fraction is None else divide(outcome.distance, weight, fraction)
        goes_on, threshold = divided or (np.zeros(len(rows), dtype=bool), -math.inf)
        node = CascadeNode(
            choice=choice,
            degree=degree,
            fraction=None if divided is None or fraction is None else float(fraction),
            threshold=threshold,
            n_support=len(predictor.support_rows),
            plus=float(weight[~goes_on & outcome.correct].sum()),
            minus=float(weight[~goes_on & ~outcome.correct].sum()),
            predictor=predictor,
            n_iter=int(solved.iterations.sum()),
            tie_width=outcome.tie_width,
        )
        return node, None if divided is None else rows[goes_on]


# --- C of each degree --------------------------------------------------------------------------------------


def penalty_errors(
    gram: Gram,
    codes: Codes,
    weight: Floats,
    kernels: KernelChoice,
    grid: Floats,
    folds: Folds,
    *,
    n_jobs: int | None = None,
    advance: Advance = ignore,
) -> Floats:
    """Held-out error weight of every (choice, C), summed over the folds; shape (n_choices, n_C).

    `advance` counts each SVM once when it is trained, once when it has predicted.
    """
    errors = np.zeros((len(kernels.degrees), len(grid)))
    parts = [(train, (gram.X[held], codes[held], weight[held])) for train, held in folds]
    for choices, kernel, degrees in kernels.solver_calls(range(len(kernels.degrees))):
        errors[choices] = held_out_errors(
            gram, codes, parts, degrees, grid, kernel=kernel, weights=box_weights(weight),
            warm_start=True, n_jobs=n_jobs, advance=advance,
        ).sum(axis=0)  # fmt: skip
    return errors


def box_weights(weight: Floats) -> Floats | None:
    """Weights as the solver takes them: it scales the box of each point, and is faster without any."""
    return None if bool((weight == 1.0).all()) else weight
