r"""SVMs for the nodes of a cascade, with :math:`C=\sqrt{|S_k|/m}\,C_\delta` (theory.md §3.6).

`KernelChoice` lists what a node may use, `SvmTrainer` trains batches of subsets over one Gram matrix for the
search. The SVMs of the search are not kept: the few of the chosen cascade are trained again, bit for bit the
same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from surewood._arrays import Codes, Floats
from surewood.bounds import log_growth, vc_dimension
from surewood.cascade.prefix_tree import Outcome, Rows
from surewood.cascade.sample import varies
from surewood.cascade.splits import near_tie, settled
from surewood.parallel.progress import Advance, ignore
from surewood.svm import Gram, KernelSpec, Predictor, SvmBatch, solve_many
from surewood.svm.class_scores import class_scores

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

    def of_degrees(self, degrees: Sequence[int]) -> KernelChoice:
        """The same kernel with other degrees, such as those of a fitted cascade."""
        return KernelChoice(self.kernel, tuple(int(d) for d in degrees), self.n_features)

    def log_growth(self, m: int, growth: str = "capped") -> Floats:
        """Λ of the classifiers of each choice on `m` points (1.1); an rbf kernel realizes every labeling."""
        if self.kernel == "rbf":
            return np.full(len(self.degrees), m * np.log(2.0))
        return np.asarray(log_growth(self.vc_dimension(m), m, mode=growth), dtype=np.float64)

    def vc_dimension(self, m: int) -> Floats:
        """VC dimension of each choice; for rbf, where it is infinite, the sample size `m`."""
        if self.kernel == "rbf":
            return np.full(len(self.degrees), m)
        homogeneous = self.kernel == "homogeneous"
        return np.asarray(vc_dimension(self.n_features, list(self.degrees), homogeneous=homogeneous))

    def complexity(self, m: int, growth: str = "capped") -> Floats:
        """√(Λ/m) of each choice, as (3.8) prints it."""
        return np.asarray(np.sqrt(self.log_growth(m, growth) / m))


class Solver(NamedTuple):
    """How SVMs are solved, see `surewood.svm.solve_many`."""

    tol: float = 1e-3
    max_iter: int = 10_000
    n_jobs: int | None = None


USUAL_SOLVER = Solver()


class SvmTrainer:
    r"""Trains SVMs of all choices on subsets of one sample.

    Parameters
    ----------
    gram : Gram
    codes : ndarray of int32, shape (n,)
        Class codes of the rows of the Gram matrix.
    weight : ndarray of float64, shape (n,)
        Positive weights.
    kernels : KernelChoice
    C : ndarray, shape (n_choices,)
        :math:`C_\delta` on the whole sample.
    solver : Solver
    part : ndarray of int32, optional
        The rows of the sample, by default all of them; subsets are numbered within it.
    n_classes : int, optional
        With more than two, SVMs are one-vs-one and the distance of a point is the gap between its two best
        class scores.
    """

    def __init__(
        self,
        gram: Gram,
        codes: Codes,
        weight: Floats,
        kernels: KernelChoice,
        C: Floats,
        *,
        solver: Solver = USUAL_SOLVER,
        part: Rows | None = None,
        n_classes: int | None = None,
    ) -> None:
        self.gram, self.all_codes, self.all_weight = gram, codes, weight
        self.part = np.arange(len(codes), dtype=np.int32) if part is None else part
        self.codes, self.weight = codes[self.part], weight[self.part]
        self.total = float(self.weight.sum())
        self.n_classes = max(int(codes.max()) + 1, 2) if n_classes is None else n_classes
        self.kernels, self.C, self.n_choices = kernels, np.asarray(C, dtype=np.float64), len(kernels.degrees)
        self.solver, self.n_jobs = solver, solver.n_jobs
        self.n_unconverged = 0
        self._varies = varies(gram.X[self.part] if part is not None else gram.X)
        self._advance: Advance = ignore
        # The solver scales with the box of each point; without weights it takes a shorter way.
        self._weights = None if bool((weight == 1.0).all()) else weight

    def restricted(self, part: Rows) -> SvmTrainer:
        """The same settings on some of the rows, given by their numbers in the Gram matrix."""
        own = SvmTrainer(self.gram, self.all_codes, self.all_weight, self.kernels, self.C,
                         solver=self.solver, part=part, n_classes=self.n_classes)  # fmt: skip
        own._advance = self._advance
        return own

    @contextmanager
    def reporting(self, advance: Advance) -> Iterator[None]:
        """Report every SVM that is trained inside to `advance`."""
        self._advance = advance
        try:
            yield
        finally:
            self._advance = ignore  # a trainer travels to other processes, its listener does not

    def train(self, rows: Sequence[Rows], choices: Sequence[int]) -> list[list[Outcome]]:
        """Outcomes of every choice on every subset; see `prefix_tree.Trainer`."""
        outcomes: list[list[Outcome]] = []
        ready = [k for k, own in enumerate(rows) if not self.is_constant(own)]
        trained = self._train_ready([rows[k] for k in ready], choices)
        for k, own in enumerate(rows):
            if ready and k == ready[0]:
                outcomes.append(next(trained))
                ready.pop(0)
            else:
                majority = predicted_of(self.constant_scores(own)[None])
                outcomes.append([Outcome(None, self.codes[own] == majority) for _ in choices])
        return outcomes

    def is_constant(self, rows: Rows) -> bool:
        """Whether only a constant can be learned, because of one class or equal rows; no split then."""
        codes = self.codes[rows]
        return not self._varies or bool((codes == codes[0]).all())

    def constant_scores(self, rows: Rows) -> Floats:
        """Score of a constant for every class: 2p - 1 for a class of frequency p, which favors the majority.

        With two classes the decision value, an array without dimensions.
        """
        counts = np.bincount(self.codes[rows], weights=self.weight[rows], minlength=self.n_classes)
        scores = 2.0 * counts / counts.sum() - 1.0
        return np.asarray(scores[1]) if self.n_classes == 2 else scores

    def _train_ready(self, rows: list[Rows], choices: Sequence[int]) -> Iterator[list[Outcome]]:
        batches = [self.solve(rows, group) for group in self._by_kernel(choices)] if rows else []
        for k, own in enumerate(rows):
            yield [
                self.outcome(solved, solved.index(k, d), own)
                for solved in batches
                for d in range(solved.shape[1])
            ]

    def outcome(self, solved: SvmBatch, problem: int, rows: Rows) -> Outcome:
        """Distances and correctness of an SVM at its own points, near-ties settled [D-41]."""
        if self.n_classes == 2:  # the solver has the decision values
            scores = np.asarray(solved.decision(problem), dtype=np.float64)
        else:
            design = np.ascontiguousarray(self.gram.X[self.part[rows]])
            scores = scores_of(solved.predictor([problem]), design, self.n_classes, self.n_jobs)
        width = near_tie(scores)
        scores = settled(scores, width)
        return Outcome(distance_of(scores), predicted_of(scores) == self.codes[rows], width)

    def solve(self, rows: Sequence[Rows], choices: Sequence[int]) -> SvmBatch:
        """SVMs of choices that share a kernel, on subsets with at least two classes."""
        size = np.array([self.weight[own].sum() for own in rows])
        boxes = np.sqrt(size / self.total)[:, None] * self.C[list(choices)][None, :]
        degrees = [1] if self.kernels.kernel == "rbf" else [self.kernels.degrees[c] for c in choices]
        solved = solve_many(
            self.gram, [self.part[own] for own in rows], self.all_codes, degrees, boxes[:, :, None],
            kernel=self.kernels.spec(choices[0]), weights=self._weights,
            decisions=self.n_classes == 2, **self.solver._asdict(),
            advance=self._advance,
        )  # fmt: skip
        self.n_unconverged += int((~solved.converged).sum())
        return solved

    def _by_kernel(self, choices: Sequence[int]) -> list[list[int]]:
        return [[c] for c in choices] if self.kernels.kernel == "rbf" else [list(choices)]


def scores_of(predictor: Predictor, design: Floats, n_classes: int, n_jobs: int | None = None) -> Floats:
    """Decision values of a two-class SVM (positive: the second class), or one score per class."""
    decisions = predictor.decisions(design, n_jobs=n_jobs)
    if n_classes == 2:
        return np.asarray(-decisions[:, 0])
    return class_scores(decisions, predictor.classes, n_classes)


def predicted_of(scores: Floats) -> Codes:
    """Class codes: the second class where the decision value is positive, or the first best score."""
    winners = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
    return winners.astype(np.int32)


def distance_of(scores: Floats) -> Floats:
    """Distance from the decision boundary: |f|, or the gap between the two best class scores."""
    if scores.ndim == 1:
        return np.abs(scores)
    best = np.partition(scores, -2, axis=1)
    return np.asarray(best[:, -1] - best[:, -2])
