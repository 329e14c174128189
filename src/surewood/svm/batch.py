"""The trained SVMs of a batch: what `solve_many` returns."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats
from surewood.svm.gram import Gram, KernelSpec
from surewood.svm.one_vs_one import Predictor, offsets, pairs_of
from surewood.tables.growing_array import GrowingArray

__all__ = ["SvmBatch"]

# Results with an entry per point; the others have one per problem or pair.
_GROW_WITH_POINTS = ("support", "coef", "predicted", "decision")
IntArray = NDArray[np.int32]


@dataclass
class SvmBatch:
    """The SVMs of a batch, as flat arrays over problems in the order (group, degree, C).

    Attributes
    ----------
    shape : tuple
        (number of groups, number of degrees, number of C values).
    n_correct : ndarray of int32, this shape
        Training points of the group that the SVM classifies right (m⁺ of theory.md §2.1).
    converged : ndarray of bool, this shape
        False where some pair met the iteration cap.
    n_support, n_classes : ndarray of int32, this shape
    scale : ndarray of float64, this shape
        1, or the power of two by which γ⟨x,x'⟩ + c₀ was divided to keep high powers finite; the coefficients
        are then in units of scale**(-degree). Decision values are not affected.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.svm import Gram, solve_many
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> batch = solve_many(Gram(X), [np.arange(4)], y, degrees=[1, 2], C=[1.0, 10.0])
    >>> batch.shape, batch.n_correct.ravel().tolist()
    ((1, 2, 2), [4, 4, 4, 4])
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
    ) -> SvmBatch:
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
                fraction = points / n_points if name in _GROW_WITH_POINTS else problems / n_problems
                growing.setdefault(name, GrowingArray(fraction)).add(found)
        arrays = whole or {name: array.joined() for name, array in growing.items()}
        return cls(shape=shape, arrays=arrays, **known)

    # --- one entry per problem -----------------------------------------------------------------------------

    @property
    def n_correct(self) -> IntArray:
        """Correctly classified training rows of each SVM."""
        return self.arrays["n_correct"].reshape(self.shape)

    @property
    def n_support(self) -> IntArray:
        """Number of support vectors of each SVM."""
        return self.arrays["n_support"].reshape(self.shape)

    @property
    def n_classes(self) -> IntArray:
        """Number of classes of each SVM."""
        return self.arrays["n_classes"].reshape(self.shape)

    @property
    def scale(self) -> Floats:
        """Power of two by which the kernel of each SVM was divided."""
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
        """Class codes that the SVM gives to its own points, in the order of the group."""
        return self._slice("predicted", self._point_at, problem)

    def decision(self, problem: int) -> Floats:
        """Decision values of a two-class SVM at its own points; positive: the higher code."""
        if not self.arrays["decision"].size:
            raise ValueError("decision values were not kept: pass decisions=True to solve_many")
        if self.arrays["n_classes"][problem] != 2:
            raise ValueError("decision values of the training points exist for two-class SVMs only")
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
        """The compact form of some SVMs (default: all), numbered in the order given."""
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
        """One entry per problem, of the chosen ones or of all."""
        return self.arrays[name] if chosen is None else self.arrays[name][chosen]

    def _gathered(self, name: str, at: NDArray[np.int64], chosen: NDArray[np.intp] | None) -> NDArray[Any]:
        """A slice per problem, of the chosen ones or of all."""
        if chosen is None:
            return self.arrays[name]
        sizes = at[chosen + 1] - at[chosen]
        # Entry k of an SVM's slice lies k places behind the slice's beginning.
        shift = np.repeat(at[chosen] - (np.cumsum(sizes) - sizes), sizes)
        return self.arrays[name][shift + np.arange(len(shift))]

    @cached_property
    def _class_at(self) -> NDArray[np.int64]:
        return offsets(self.arrays["n_classes"])

    @cached_property
    def _pair_at(self) -> NDArray[np.int64]:
        return offsets(pairs_of(self.arrays["n_classes"]))

    @cached_property
    def _pair_owner(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.degree)), pairs_of(self.arrays["n_classes"]))

    @cached_property
    def _support_at(self) -> NDArray[np.int64]:
        return offsets(self.arrays["n_support"])

    @cached_property
    def _coef_at(self) -> NDArray[np.int64]:
        return offsets(self.arrays["n_support"].astype(np.int64) * (self.arrays["n_classes"] - 1))

    @cached_property
    def _point_at(self) -> NDArray[np.int64]:
        return offsets(np.repeat(np.diff(self.starts), self.shape[1] * self.shape[2]))
