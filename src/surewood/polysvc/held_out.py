"""Decisions of SVMs at rows that they did not see, some rows at a time.

With many classes a row has many pairs: at 500 classes a thousand rows have a gigabyte of decisions. What is
learned from them needs a few numbers of each row, so large ones are formed again instead of being kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.svm.class_scores import class_votes
from surewood.svm.one_vs_one import Predictor

__all__ = ["BLOCK_BYTES", "HeldOut", "HeldOutRows", "held_out_error"]

BLOCK_BYTES = 16 << 20  # of decisions that are looked at together


@dataclass(frozen=True)
class HeldOutRows:
    """Rows that an SVM did not see, of classes that it knows, and its decisions there.

    Examples
    --------
    >>> import numpy as np
    >>> held = HeldOutRows.of(np.array([3, 5]), np.array([0, 1]), np.array([[0.5], [-1.0]]))
    >>> [(rows.tolist(), decisions.tolist()) for rows, decisions in held.blocks()]
    [([3, 5], [[0.5], [-1.0]])]
    """

    rows: NDArray[Any]
    #: Classes of the SVM.
    known: NDArray[Any]
    #: Decisions at a slice of the rows, shape (rows, pairs).
    decide: Callable[[slice], Floats]

    @classmethod
    def of(cls, rows: NDArray[Any], known: NDArray[Any], decisions: Floats) -> HeldOutRows:
        """With decisions that are there already."""
        return cls(rows, known, decisions.__getitem__)

    @classmethod
    def of_svm(
        cls, predictor: Predictor, design: Floats, rows: NDArray[Any], known: NDArray[Any], n_jobs: int | None
    ) -> HeldOutRows:
        """Those of an SVM at some rows of a design: kept where they are few, else formed when asked for."""

        def decide(part: slice) -> Floats:
            return predictor.decisions(design[rows[part]], n_jobs=n_jobs)

        if decision_bytes(len(rows), len(known)) > BLOCK_BYTES:
            return cls(rows, known, decide)
        return cls.of(rows, known, decide(slice(None)))

    @property
    def is_known(self) -> bool:
        """Whether there is something to learn from."""
        return len(self.rows) > 0 and len(self.known) > 1

    def blocks(self) -> Iterator[tuple[NDArray[Any], Floats]]:
        """Rows and decisions, part by part."""
        size = max(1, int(BLOCK_BYTES / max(decision_bytes(1, len(self.known)), 1.0)))
        for first in range(0, len(self.rows), size):
            part = slice(first, first + size)
            yield self.rows[part], self.decide(part)


HeldOut = list[HeldOutRows]


def decision_bytes(n_rows: int, n_classes: int) -> float:
    """Bytes of the decisions of all pairs of classes.

    Examples
    --------
    >>> decision_bytes(200, 500) / 2**20 > 190
    True
    """
    return 8.0 * n_rows * (n_classes * (n_classes - 1) // 2)


def held_out_error(held_out: HeldOut, codes: NDArray[Any], weight: Floats) -> tuple[float, int]:
    """Fraction of the weight that the votes of the SVMs get wrong, and the number of rows."""
    wrong = mass = 0.0
    for held in held_out:
        rows, known = held.rows, held.known
        votes = [class_votes(decisions, len(known)).argmax(axis=1) for _, decisions in held.blocks()]
        wrong += float(weight[rows] @ (known[np.concatenate(votes)] != codes[rows]))
        mass += float(weight[rows].sum())
    return wrong / mass, sum(len(held.rows) for held in held_out)
