"""One-vs-one machines: what a batch returns, and their votes on new rows.

`Machines` is the flat result of `solve_many`, indexed by (group, degree, C). `Predictor` is the compact form
that an estimator keeps: chosen machines and the union of their support rows; it predicts all of them from one
product of the new rows with those rows. Votes: a pair's decision above zero is a vote for its first class,
otherwise for the second; the class with the most votes wins, the lowest code on ties, as in libsvm
(theory.md [D-04]).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from surewood import _core
from surewood._arrays import Floats
from surewood.parallel import over_rows, share
from surewood.svm.gram import Gram, KernelSpec
from surewood.tables.growing_array import GrowingArray

__all__ = ["Machines", "Predictor"]

_ROWS_A_TASK = 16384  # a machine is packed once a task
_SECONDS_A_TERM = 3e-10
# Results with an entry a point; the others have one a problem or pair.
_GROW_WITH_POINTS = ("support", "coef", "predicted", "decision")
IntArray = NDArray[np.int32]


def _offsets(counts: NDArray[Any]) -> NDArray[np.int64]:
    at = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=at[1:])
    return at


def _pairs(n_classes: NDArray[Any]) -> NDArray[np.int64]:
    count = n_classes.astype(np.int64)
    return count * (count - 1) // 2


@dataclass
class Machines:
    """The machines of a batch, as flat arrays over problems in the order (group, degree, C).

    Attributes
    ----------
    shape : tuple
        (number of groups, number of degrees, number of C values).
    n_correct : ndarray of int32, this shape
        Training points of the group that the machine classifies right (m⁺ of theory.md §2.1).
    converged : ndarray of bool, this shape
        False where some pair met the iteration cap.
    n_support, n_classes : ndarray of int32, this shape
    scale : ndarray of float64, this shape
        1, or the power of two by which γ⟨x,x'⟩ + c₀ was divided to keep high powers finite; the coefficients
        are then in units of scale**(-degree). Decision values are not affected.
    """

    shape: tuple[int, ...]
    kernel: KernelSpec
    gram: Gram
    points: IntArray
    starts: NDArray[np.int64]
    degree: IntArray
    C: Floats
    arrays: dict[str, NDArray[Any]]

    @classmethod
    def from_parts(
        cls, parts: Iterable[dict[str, NDArray[Any]]], shape: tuple[int, ...], **known: Any
    ) -> Machines:
        """Join the results of the chunks of a batch as they come: hardly anything is held twice."""
        growing: dict[str, GrowingArray] = {}
        whole: dict[str, NDArray[Any]] = {}
        n_problems, n_points = math.prod(shape), int(known["starts"][-1]) * math.prod(shape[1:])
        for part in parts:
            problems, points = len(part["n_correct"]), len(part["predicted"])
            if problems == n_problems:  # all of them
                whole = part
                continue
            for name, found in part.items():
                share = points / n_points if name in _GROW_WITH_POINTS else problems / n_problems
                growing.setdefault(name, GrowingArray(share)).add(found)
        arrays = whole or {name: array.joined() for name, array in growing.items()}
        return cls(shape=shape, arrays=arrays, **known)

    # --- one entry a problem -------------------------------------------------------------------------------

    @property
    def n_correct(self) -> IntArray:
        return self.arrays["n_correct"].reshape(self.shape)

    @property
    def n_support(self) -> IntArray:
        return self.arrays["n_support"].reshape(self.shape)

    @property
    def n_classes(self) -> IntArray:
        return self.arrays["n_classes"].reshape(self.shape)

    @property
    def scale(self) -> Floats:
        return self.arrays["scale"].reshape(self.shape)

    @cached_property
    def converged(self) -> NDArray[np.bool_]:
        capped = np.zeros(len(self.degree), dtype=bool)
        np.logical_or.at(capped, self._pair_owner, self.arrays["status"] != 0)
        return ~capped.reshape(self.shape)

    @cached_property
    def iterations(self) -> NDArray[np.int64]:
        """Solver iterations, summed over the pairs."""
        total = np.zeros(len(self.degree), dtype=np.int64)
        np.add.at(total, self._pair_owner, self.arrays["iterations"])
        return total.reshape(self.shape)

    # --- one problem ---------------------------------------------------------------------------------------

    def index(self, group: int, degree: int = 0, c: int = 0) -> int:
        """Position of a problem in the flat arrays, from its place on the three lists."""
        return int(np.ravel_multi_index((group, degree, c), self.shape))

    def group_rows(self, problem: int) -> IntArray:
        """Rows of the problem's group, in the order given."""
        g = problem // (self.shape[1] * self.shape[2])
        return self.points[self.starts[g] : self.starts[g + 1]]

    def predicted(self, problem: int) -> IntArray:
        """Class codes that the machine gives to its own points, in the order of the group."""
        return self._slice("predicted", self._point_at, problem)

    def decision(self, problem: int) -> Floats:
        """Decision values of a two-class machine at its own points; positive: the higher code."""
        if not self.arrays["decision"].size:
            raise ValueError("decision values were not kept: pass decisions=True to solve_many")
        if self.arrays["n_classes"][problem] != 2:
            raise ValueError("decision values of the training points exist for two-class machines only")
        return -self._slice("decision", self._point_at, problem)

    def classes(self, problem: int) -> IntArray:
        """Class codes present in the problem's group."""
        return self._slice("classes", self._class_at, problem)

    def support(self, problem: int) -> IntArray:
        """Rows of X that are support points, by class and then in the order of the group."""
        return self._slice("support", self._support_at, problem)

    def coef(self, problem: int) -> Floats:
        """y·alpha, shape (n_support, n_classes − 1): libsvm's ``sv_coef``, transposed."""
        flat = self._slice("coef", self._coef_at, problem)
        return flat.reshape(-1, max(int(self.arrays["n_classes"][problem]) - 1, 1))

    def pair(self, name: str, problem: int) -> NDArray[Any]:
        """'bias', 'objective' (of the dual), 'gap' (KKT), 'iterations' or 'status' of each pair."""
        if name not in ("bias", "objective", "gap", "iterations", "status"):
            raise ValueError(f"unknown quantity {name!r}")
        return self._slice(name, self._pair_at, problem)

    def predictor(self, problems: ArrayLike | None = None) -> Predictor:
        """The compact form of some machines (default: all), numbered in the order given."""
        chosen = None if problems is None else np.atleast_1d(np.asarray(problems, dtype=np.intp))
        support = self._gathered("support", self._support_at, chosen)
        used = np.zeros(len(self.gram.X), dtype=bool)
        used[support] = True
        rows, place = np.flatnonzero(used), np.cumsum(used, dtype=np.int32) - 1
        return Predictor(
            kernel=self.kernel,
            support_rows=np.ascontiguousarray(self.gram.X[rows]),
            support_norms=np.ascontiguousarray(self.gram.norms[rows]),
            support_index=rows.astype(np.int32),
            degree=self.degree if chosen is None else self.degree[chosen],
            scale=self._of("scale", chosen),
            n_classes=self._of("n_classes", chosen),
            n_support=self._of("n_support", chosen),
            classes=self._gathered("classes", self._class_at, chosen),
            class_support=self._gathered("class_support", self._class_at, chosen),
            bias=self._gathered("bias", self._pair_at, chosen),
            support=place[support],
            coef=self._gathered("coef", self._coef_at, chosen),
        )

    # --- offsets -------------------------------------------------------------------------------------------

    def _slice(self, name: str, at: NDArray[np.int64], problem: int) -> NDArray[Any]:
        return self.arrays[name][at[problem] : at[problem + 1]]

    def _of(self, name: str, chosen: NDArray[np.intp] | None) -> NDArray[Any]:
        """One entry a problem, of the chosen ones or of all."""
        return self.arrays[name] if chosen is None else self.arrays[name][chosen]

    def _gathered(self, name: str, at: NDArray[np.int64], chosen: NDArray[np.intp] | None) -> NDArray[Any]:
        """A slice a problem, of the chosen ones or of all."""
        if chosen is None:
            return self.arrays[name]
        sizes = at[chosen + 1] - at[chosen]
        # Entry k of a machine's slice lies k places behind the slice's beginning.
        shift = np.repeat(at[chosen] - (np.cumsum(sizes) - sizes), sizes)
        return self.arrays[name][shift + np.arange(len(shift))]

    @cached_property
    def _class_at(self) -> NDArray[np.int64]:
        return _offsets(self.arrays["n_classes"])

    @cached_property
    def _pair_at(self) -> NDArray[np.int64]:
        return _offsets(_pairs(self.arrays["n_classes"]))

    @cached_property
    def _pair_owner(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.degree)), _pairs(self.arrays["n_classes"]))

    @cached_property
    def _support_at(self) -> NDArray[np.int64]:
        return _offsets(self.arrays["n_support"])

    @cached_property
    def _coef_at(self) -> NDArray[np.int64]:
        return _offsets(self.arrays["n_support"].astype(np.int64) * (self.arrays["n_classes"] - 1))

    @cached_property
    def _point_at(self) -> NDArray[np.int64]:
        return _offsets(np.repeat(np.diff(self.starts), self.shape[1] * self.shape[2]))


@dataclass
class Predictor:
    """Machines and their support rows, ready to vote on new rows; picklable plain arrays.

    `support` points into `support_rows`; the other arrays are those of `Machines`, for the chosen ones only.
    `support_index` are the numbers of the support rows in the training table.
    """

    kernel: KernelSpec
    support_rows: Floats
    support_norms: NDArray[np.float32]
    support_index: IntArray
    degree: IntArray
    scale: Floats
    n_classes: IntArray
    n_support: IntArray
    classes: IntArray
    class_support: IntArray
    bias: Floats
    support: IntArray
    coef: Floats

    @property
    def n_machines(self) -> int:
        """Number of machines."""
        return len(self.degree)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(getattr(self, f.name).nbytes for f in fields(self) if f.name != "kernel")

    def predict(
        self, X: ArrayLike, assign: ArrayLike | None = None, *, n_jobs: int | None = None
    ) -> IntArray:
        """Class codes of shape (rows, tasks): task t of row r is put to machine ``assign[r, t]``.

        `assign` (default: machine 0 for every row) may hold -1 for "no machine"; the code is then -1. Numbers
        below that are constants: ``-2 - c`` is class c without a machine. Tasks of a row that share a machine
        are computed once.
        """
        X, assign = self._checked(X, assign)
        codes = np.empty(assign.shape, dtype=np.int32)
        self._run(X, assign, n_jobs, codes=codes)
        return codes

    def vote_share(
        self, X: ArrayLike, assign: ArrayLike | None = None, *, n_classes: int, n_jobs: int | None = None
    ) -> Floats:
        """Sum over tasks of the share of pairs each class wins, shape (rows, n_classes)."""
        X, assign = self._checked(X, assign)
        if self.classes.size and n_classes <= int(self.classes.max()):
            raise ValueError(f"n_classes={n_classes}, but the machines know class {int(self.classes.max())}")
        share = np.zeros((len(X), n_classes))
        self._run(X, assign, n_jobs, vote_share=share)
        return share

    def decisions(self, X: ArrayLike, machine: int = 0, *, n_jobs: int | None = None) -> Floats:
        """Decision values of one machine, shape (rows, pairs); positive: the first class of the pair."""
        width = int(_pairs(self.n_classes[machine : machine + 1])[0])
        X, assign = self._checked(X, None)
        out = np.zeros((len(X), 1, max(width, 1)))
        self._run(X, np.full_like(assign, machine), n_jobs, decisions=out)
        return out[:, 0, :width]

    def _checked(self, X: ArrayLike, assign: ArrayLike | None) -> tuple[Floats, IntArray]:
        rows = np.ascontiguousarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.support_rows.shape[1]:
            raise ValueError(f"X must have {self.support_rows.shape[1]} columns, got shape {rows.shape}")
        if assign is None:
            return rows, np.zeros((len(rows), 1), dtype=np.int32)
        machine = np.ascontiguousarray(assign, dtype=np.int32)
        if machine.ndim != 2 or len(machine) != len(rows):
            raise ValueError(f"assign must have one row a row of X ({len(rows)}), got shape {machine.shape}")
        if machine.size and machine.max() >= self.n_machines:
            raise ValueError(f"assign names machine {int(machine.max())} of {self.n_machines}")
        return rows, machine

    def _table(self) -> dict[str, NDArray[Any]]:
        own = (
            "degree",
            "scale",
            "n_classes",
            "n_support",
            "classes",
            "class_support",
            "bias",
            "support",
            "coef",
        )
        table = {name: np.ascontiguousarray(getattr(self, name)) for name in own}
        table["class_at"] = _offsets(self.n_classes)
        table["pair_at"] = _offsets(_pairs(self.n_classes))
        table["support_at"] = _offsets(self.n_support)
        table["coef_at"] = _offsets(self.n_support.astype(np.int64) * (self.n_classes - 1))
        return table

    def _run(self, X: Floats, assign: IntArray, n_jobs: int | None, **out: NDArray[Any]) -> None:
        table, stop = self._table(), np.zeros(1, dtype=np.uint8)
        share(self.support_rows, self.support_norms, *table.values())
        kernel = (self.kernel.kind, self.kernel.gamma, self.kernel.coef0)
        # Each task sums the coefficients of its machine's support rows for every pair of classes.
        terms = float(np.mean(self.n_support * (self.n_classes - 1.0))) if self.n_machines else 0.0
        over_rows(
            _predict,
            ((self.support_rows, self.support_norms, *kernel, table), stop, tuple(out)),
            lambda first, last: (X[first:last], assign[first:last]),
            list(out.values()),
            n_rows=len(X),
            rows_a_task=max(1, min(_ROWS_A_TASK, -(-len(X) // effective_n_jobs(n_jobs)))),
            n_jobs=n_jobs,
            seconds_a_row=_SECONDS_A_TERM * (terms * assign.shape[1] + self.support_rows.size),
            stop=stop,
        )


def _predict(
    machines: tuple[Any, ...],
    stop: NDArray[np.uint8],
    wanted: tuple[str, ...],
    X: Floats,
    assign: IntArray,
    *outputs: NDArray[Any],
) -> None:
    part = dict(zip(wanted, outputs))
    support_rows, support_norms, kind, gamma, coef0, table = machines
    _core.svm_predict(
        X, support_rows, support_norms, kind, gamma, coef0, table, assign, part.get("codes"),
        part.get("vote_share"), part.get("decisions"), stop,
    )  # fmt: skip
