r"""Support vector machines for the nodes of a cascade: :math:`C=\sqrt{|S_k|/m}\,C_\delta` (theory.md §3.6).

`KernelChoice` lists what a node may use, `SvmTrainer` trains batches of subsets over one Gram matrix for the
search. Machines are not kept: the few of the chosen cascade are trained again, bit for bit the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.bounds import log_growth, vc_dimension
from surewood.cascade.prefix_tree import Outcome, Rows
from surewood.parallel.progress import Advance, ignore
from surewood.svm import Gram, KernelSpec, Machines, Predictor, solve_many
from surewood.svm.class_scores import class_scores

KERNELS = ("poly", "homogeneous", "rbf")


@dataclass(frozen=True)
class KernelChoice:
    """A kernel and the degrees (or widths) that nodes choose from.

    ``poly``: :math:`(\\langle x,x'\\rangle/n+1)^\\delta`; ``homogeneous``: without the constant;
    ``rbf``: :math:`\\exp(-2^{\\delta-1}|x-x'|^2/n)`, whose degree is a width.
    """

    kernel: str
    degrees: tuple[int, ...]
    n_features: int

    def spec(self, choice: int) -> KernelSpec:
        n = self.n_features
        if self.kernel == "rbf":
            return KernelSpec("rbf", 2.0 ** (self.degrees[choice] - 1) / n)
        return KernelSpec("poly", 1.0 / n, 1.0 if self.kernel == "poly" else 0.0)

    def log_growth(self, m: int, growth: str = "capped") -> Floats:
        """Λ of the classifiers of each choice on `m` points (1.1); an rbf kernel may label them at will."""
        if self.kernel == "rbf":
            return np.full(len(self.degrees), m * np.log(2.0))
        homogeneous = self.kernel == "homogeneous"
        dimension = vc_dimension(self.n_features, list(self.degrees), homogeneous=homogeneous)
        return np.asarray(log_growth(dimension, m, mode=growth), dtype=np.float64)

    def complexity(self, m: int, growth: str = "capped") -> Floats:
        """√(Λ/m) of each choice, as (3.8) prints it."""
        return np.sqrt(self.log_growth(m, growth) / m)


class SvmTrainer:
    """Trains machines of all choices on subsets of one sample.

    Parameters
    ----------
    gram : Gram
    codes : ndarray of int32, shape (n,)
        Class codes of the rows of the Gram matrix.
    weight : ndarray of float64, shape (n,)
        Positive weights.
    kernels : KernelChoice
    C : ndarray, shape (n_choices,)
        :math:`C_\\delta` on the whole sample.
    tol, max_iter, n_jobs
        See `surewood.svm.solve_many`.
    part : ndarray of int32, optional
        The rows of the sample, all of them unless given; subsets are numbered within it.
    n_classes : int, optional
        With more than two, machines are one-vs-one and the distance of a point is the gap between its two
        best class scores.
    """

    def __init__(
        self,
        gram: Gram,
        codes: NDArray[np.int32],
        weight: Floats,
        kernels: KernelChoice,
        C: Floats,
        *,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        n_jobs: int | None = None,
        part: Rows | None = None,
        n_classes: int | None = None,
    ) -> None:
        self.gram, self.all_codes, self.all_weight = gram, codes, weight
        self.part = np.arange(len(codes), dtype=np.int32) if part is None else part
        self.codes, self.weight = codes[self.part], weight[self.part]
        self.total = float(self.weight.sum())
        self.n_classes = max(int(codes.max()) + 1, 2) if n_classes is None else n_classes
        self.kernels, self.C, self.n_choices = kernels, np.asarray(C, dtype=np.float64), len(kernels.degrees)
        self.tol, self.max_iter, self.n_jobs = tol, max_iter, n_jobs
        self.n_unconverged = 0
        self._advance: Advance = ignore
        # The solver scales with the box of each point; without weights it takes a shorter way.
        self._weights = None if bool((weight == 1.0).all()) else weight

    def restricted(self, part: Rows) -> SvmTrainer:
        """The same settings on some of the rows, given by their numbers in the Gram matrix."""
        own = SvmTrainer(self.gram, self.all_codes, self.all_weight, self.kernels, self.C, tol=self.tol,
                         max_iter=self.max_iter, n_jobs=self.n_jobs, part=part,
                         n_classes=self.n_classes)  # fmt: skip
        own._advance = self._advance
        return own

    @contextmanager
    def telling(self, advance: Advance) -> Iterator[None]:
        """Tell of every machine that is trained inside."""
        self._advance = advance
        try:
            yield
        finally:
            self._advance = ignore  # a trainer travels to other processes, who is told does not

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
                outcomes.append([Outcome(None, self._constant_correct(own)) for _ in choices])
        return outcomes

    def is_constant(self, rows: Rows) -> bool:
        """Whether a subset has one class only: a constant classifies it and no question can be asked."""
        codes = self.codes[rows]
        return bool((codes == codes[0]).all())

    def _constant_correct(self, rows: Rows) -> NDArray[np.bool_]:
        return np.ones(len(rows), dtype=bool)

    def _train_ready(self, rows: list[Rows], choices: Sequence[int]) -> Iterator[list[Outcome]]:
        batches = [self.machines(rows, group) for group in self._by_kernel(choices)] if rows else []
        for k, own in enumerate(rows):
            yield [
                self.outcome(machines, machines.index(k, d), own)
                for machines in batches
                for d in range(machines.shape[1])
            ]

    def outcome(self, machines: Machines, problem: int, rows: Rows) -> Outcome:
        """Distances and right answers of a machine at its own points."""
        if self.n_classes == 2:  # free: the solver has the decision values
            decision = machines.decision(problem)
            return Outcome(np.abs(decision), decision * (2.0 * self.codes[rows] - 1.0) > 0)
        design = np.ascontiguousarray(self.gram.X[self.part[rows]])
        scores = self.scores_of(machines.predictor([problem]), design, self.n_classes, self.n_jobs)
        return Outcome(distance_of(scores), scores.argmax(axis=1) == self.codes[rows])

    @staticmethod
    def scores_of(predictor: Predictor, design: Floats, n_classes: int, n_jobs: int | None = None) -> Floats:
        """Decision values of a two-class machine (positive: the second class), or one score a class."""
        decisions = predictor.decisions(design, n_jobs=n_jobs)
        if n_classes == 2:
            return -decisions[:, 0]
        return class_scores(decisions, predictor.classes, n_classes)

    def machines(self, rows: Sequence[Rows], choices: Sequence[int]) -> Machines:
        """Machines of choices that share a kernel, on subsets with at least two classes."""
        size = np.array([self.weight[own].sum() for own in rows])
        boxes = np.sqrt(size / self.total)[:, None] * self.C[list(choices)][None, :]
        degrees = [1] if self.kernels.kernel == "rbf" else [self.kernels.degrees[c] for c in choices]
        solved = solve_many(
            self.gram, [self.part[own] for own in rows], self.all_codes, degrees, boxes[:, :, None],
            kernel=self.kernels.spec(choices[0]), weights=self._weights, tol=self.tol,
            max_iter=self.max_iter, decisions=self.n_classes == 2, n_jobs=self.n_jobs,
            advance=self._advance,
        )  # fmt: skip
        self.n_unconverged += int((~solved.converged).sum())
        return solved

    def _by_kernel(self, choices: Sequence[int]) -> list[list[int]]:
        return [[c] for c in choices] if self.kernels.kernel == "rbf" else [list(choices)]


def distance_of(scores: Floats) -> Floats:
    """How far from the boundary: |f|, or the gap between the two best class scores."""
    if scores.ndim == 1:
        return np.abs(scores)
    best = np.partition(scores, -2, axis=1)
    return best[:, -1] - best[:, -2]
