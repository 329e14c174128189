r"""Support vector machines for the nodes of a cascade: :math:`C=\sqrt{|S_k|/m}\,C_\delta` (theory.md §3.6).

`KernelChoice` lists what a node may use, `SvmTrainer` trains batches of subsets over one Gram matrix for the
search. Machines are not kept: the few of the chosen cascade are trained again, bit for bit the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surewood.bounds import log_growth, vc_dimension
from surewood.cascade.prefix_tree import Floats, Outcome, Rows
from surewood.svm import Gram, KernelSpec, Machines, solve_many

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
    ) -> None:
        self.gram, self.all_codes, self.all_weight = gram, codes, weight
        self.part = np.arange(len(codes), dtype=np.int32) if part is None else part
        self.codes, self.weight = codes[self.part], weight[self.part]
        self.total = float(self.weight.sum())
        self.kernels, self.C, self.n_choices = kernels, np.asarray(C, dtype=np.float64), len(kernels.degrees)
        self.tol, self.max_iter, self.n_jobs = tol, max_iter, n_jobs
        self.n_unconverged = 0
        # The solver scales with the box of each point; without weights it takes a shorter way.
        self._weights = None if bool((weight == 1.0).all()) else weight

    def restricted(self, part: Rows) -> SvmTrainer:
        """The same settings on some of the rows, given by their numbers in the Gram matrix."""
        return SvmTrainer(self.gram, self.all_codes, self.all_weight, self.kernels, self.C, tol=self.tol,
                          max_iter=self.max_iter, n_jobs=self.n_jobs, part=part)  # fmt: skip

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

    def _train_ready(self, rows: list[Rows], choices: Sequence[int]):
        batches = [self.machines(rows, group) for group in self._by_kernel(choices)] if rows else []
        for k, own in enumerate(rows):
            sign = 2.0 * self.codes[own] - 1.0
            found = []
            for machines in batches:
                for d in range(machines.shape[1]):
                    decision = machines.decision(machines.index(k, d))
                    found.append(Outcome(np.abs(decision), decision * sign > 0))
            yield found

    def machines(self, rows: Sequence[Rows], choices: Sequence[int]) -> Machines:
        """Machines of choices that share a kernel, on subsets with at least two classes."""
        size = np.array([self.weight[own].sum() for own in rows])
        boxes = np.sqrt(size / self.total)[:, None] * self.C[list(choices)][None, :]
        degrees = [1] if self.kernels.kernel == "rbf" else [self.kernels.degrees[c] for c in choices]
        solved = solve_many(
            self.gram, [self.part[own] for own in rows], self.all_codes, degrees, boxes[:, :, None],
            kernel=self.kernels.spec(choices[0]), weights=self._weights, tol=self.tol,
            max_iter=self.max_iter, decisions=True, n_jobs=self.n_jobs,
        )  # fmt: skip
        self.n_unconverged += int((~solved.converged).sum())
        return solved

    def _by_kernel(self, choices: Sequence[int]) -> list[list[int]]:
        return [[c] for c in choices] if self.kernels.kernel == "rbf" else [list(choices)]
