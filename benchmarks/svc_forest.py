"""Composite forests as a careful person would write them on scikit-learn: the peer of ``bench_composite``.

Given the same trees (grown by us, free of charge for the peer), every (row set, degree) is trained once,
cached by the set; labels of the training rows and of the evaluation rows that reach a leaf are computed
once; gamma re-reads counts and smaller forests are prefixes. Two kinds of SVMs: ``SVC`` with its
polynomial kernel, and libsvm's own entry points with kernels computed by NumPy from one Gram matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC, _libsvm

_libsvm.set_verbosity_wrap(0)

Rows = NDArray[np.int64]


@dataclass
class Leaf:
    """A leaf of one tree at one depth: training rows and evaluation rows in it, and its depth."""

    rows: NDArray[np.int32]
    reached: Rows
    depth: int


class SvcSolver:
    """One ``SVC`` a (row set, degree)."""

    def __init__(self, X: Any, y: Any, X_eval: Any, C: float) -> None:
        self.X, self.y, self.X_eval, self.C = X, y, X_eval, C
        self.cache: dict[Any, Any] = {}

    def train(self, leaf: Leaf, degree: int) -> tuple[Any, int]:
        """The SVM and the number of training points it gets right."""
        key = (leaf.rows.tobytes(), degree)
        if key not in self.cache:
            box = self.C * np.sqrt(len(leaf.rows) / len(self.y))
            svm = SVC(
                kernel="poly", degree=degree, gamma=1 / self.X.shape[1], coef0=1.0, C=box, cache_size=50
            )
            svm.fit(self.X[leaf.rows], self.y[leaf.rows])
            right = int((svm.predict(self.X[leaf.rows]) == self.y[leaf.rows]).sum())
            self.cache[key] = svm, right
        return self.cache[key]

    def predict(self, svm: Any, leaf: Leaf, degree: int) -> Any:
        return svm.predict(self.X_eval[leaf.reached])


class LibsvmSolver(SvcSolver):
    """libsvm with precomputed kernels: inner products once, powers by NumPy, no estimator in between."""

    def __init__(self, X: Any, y: Any, X_eval: Any, C: float) -> None:
        super().__init__(X, y, X_eval, C)
        self.gram, self.gram_eval = X @ X.T, X_eval @ X.T
        self.y = y.astype(np.float64)

    def _kernel(self, inner: Any, degree: int) -> Any:
        return np.ascontiguousarray((inner / self.X.shape[1] + 1.0) ** degree)

    def train(self, leaf: Leaf, degree: int) -> tuple[Any, int]:
        key = (leaf.rows.tobytes(), degree)
        if key not in self.cache:
            box = self.C * np.sqrt(len(leaf.rows) / len(self.y))
            kernel = self._kernel(self.gram[np.ix_(leaf.rows, leaf.rows)], degree)
            target = self.y[leaf.rows]
            fitted = _libsvm.fit(kernel, target, svm_type=0, kernel="precomputed", C=box, cache_size=50)
            right = int((self._labels(fitted, kernel) == target).sum())
            self.cache[key] = fitted, right
        return self.cache[key]

    def predict(self, svm: Any, leaf: Leaf, degree: int) -> Any:
        kernel = self._kernel(self.gram_eval[np.ix_(leaf.reached, leaf.rows)], degree)
        return self._labels(svm, kernel)

    @staticmethod
    def _labels(fitted: Any, kernel: Any) -> Any:
        support, vectors, n_support, coef, intercept, prob_a, prob_b = fitted[:7]
        return _libsvm.predict(
            kernel,
            support,
            vectors,
            n_support,
            coef,
            intercept,
            prob_a,
            prob_b,
            svm_type=0,
            kernel="precomputed",
        )


def same_work(svms: SvcSolver, leaves: list[Leaf], degrees: range) -> int:
    """Train every (leaf, degree), label its training rows and the evaluation rows that reach it."""
    done = 0
    for leaf in leaves:
        if len(np.unique(svms.y[leaf.rows])) < 2:
            continue
        for degree in degrees:
            svm, _ = svms.train(leaf, degree)
            if len(leaf.reached):
                svms.predict(svm, leaf, degree)
            done += 1
    return done


def one_pass_grid(
    svms: SvcSolver,
    by_depth: dict[int, list[list[Leaf]]],
    degrees: range,
    gammas: tuple[float, ...],
    sizes: tuple[int, ...],
    complexity: dict[int, Any],
    y_eval: Any,
    n_classes: int,
) -> dict[tuple[int, float, int], float]:
    """Evaluation error of every (depth, gamma, number of trees); counts are re-read, prefixes are reused."""
    m, errors = len(svms.y), {}
    for depth, trees in by_depth.items():
        for gamma in gammas:
            votes = np.zeros((len(y_eval), n_classes))
            for count, leaves in enumerate(trees, start=1):
                for leaf in leaves:
                    labels = np.unique(svms.y[leaf.rows])
                    if len(labels) < 2:
                        votes[leaf.reached, int(labels[0])] += 1
                        continue
                    right = np.array([svms.train(leaf, d)[1] for d in degrees])
                    cost = 8 * n_classes * gamma * m * complexity[leaf.depth]
                    terms = len(leaf.rows) - right + np.minimum(cost, right)
                    degree = degrees[int(np.argmin(terms))]
                    if len(leaf.reached):
                        key = ("labels", leaf.rows.tobytes(), degree, leaf.reached.tobytes())
                        if key not in svms.cache:
                            svm = svms.train(leaf, degree)[0]
                            svms.cache[key] = svms.predict(svm, leaf, degree).astype(int)
                        votes[leaf.reached, svms.cache[key]] += 1
                if count in sizes:
                    errors[depth, gamma, count] = float((votes.argmax(axis=1) != y_eval).mean())
    return errors


def predict_forest(trees: list[list[tuple[Rows, Any]]], X: Any, n_classes: int) -> Any:
    """Votes of a forest of ``SVC`` leaves: for every leaf the rows that reach it, and its SVM."""
    votes = np.zeros((len(X), n_classes), dtype=np.int64)
    for leaves in trees:
        for reached, svm in leaves:
            if len(reached):
                labels = svm.predict(X[reached]) if hasattr(svm, "predict") else svm
                votes[reached, labels] += 1
    return votes.argmax(axis=1)
