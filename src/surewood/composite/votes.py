"""Votes of composite trees as class vectors: counted, calibrated by leaf, mixed with those of plain trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.svm import vote_counts


def vote_fractions(labels: NDArray[Any], n_classes: int) -> Floats:
    """Fraction of the trees that vote for each class; NaN rows where no tree voted (label -1)."""
    sums = vote_counts(labels, n_classes)
    total = sums.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0))


def blend(composite: Floats, plain: Floats, plain_weight: float) -> Floats:
    """Weighted mean of both kinds of trees; where one of them is unknown (NaN), the other alone."""
    mixed = (1.0 - plain_weight) * composite + plain_weight * plain
    return np.where(np.isnan(mixed), np.where(np.isnan(composite), plain, composite), mixed)


@dataclass(frozen=True)
class LeafReliability:
    """How often a leaf's label is correct, and which classes its errors belong to."""

    #: Fraction of the out-of-bag rows that the leaf classified correctly, shrunk towards the accuracy of the
    #: whole forest by `PRIOR_ROWS` imaginary rows. Shape (n_leaves,).
    accuracy: Floats
    #: Distribution of the true class given a wrong label, over the whole forest. Shape (n_classes,
    #: n_classes).
    error_classes: Floats

    PRIOR_ROWS = 10.0

    @classmethod
    def measure(
        cls,
        leaf: NDArray[Any],
        labels: NDArray[Any],
        y: NDArray[Any],
        weight: Floats | None,
        n_leaves: int,
        n_classes: int,
    ) -> LeafReliability:
        """From labels (n_rows, n_trees) of held-out rows, -1 where a tree does not count."""
        row, tree = np.nonzero(labels >= 0)
        voted, true, at = labels[row, tree], y[row], leaf[row, tree]
        mass = np.ones(len(row)) if weight is None else weight[row]
        hit = np.where(voted == true, mass, 0.0)
        mean = (hit.sum() + 1.0) / (mass.sum() + 2.0)
        sums, counts = np.bincount(at, hit, n_leaves), np.bincount(at, mass, n_leaves)
        accuracy = (sums + cls.PRIOR_ROWS * mean) / (counts + cls.PRIOR_ROWS)
        counted = np.bincount(voted * n_classes + true, mass, n_classes**2)
        confusion = counted.reshape(n_classes, n_classes) + 1.0 / n_classes
        np.fill_diagonal(confusion, 0.0)
        total = confusion.sum(axis=1, keepdims=True)
        spread = np.divide(confusion, total, out=np.zeros_like(confusion), where=total > 0)
        return cls(accuracy, spread)

    def mean_scores(self, leaf: NDArray[Any], labels: NDArray[Any]) -> Floats:
        """Mean over trees of the calibrated leaf scores; NaN where no tree voted."""
        n_rows, n_classes = len(labels), len(self.error_classes)
        voted = labels >= 0
        place = (labels + np.arange(n_rows)[:, None] * n_classes)[voted]
        accuracy = self.accuracy[leaf[voted]]
        kept = np.bincount(place, accuracy, n_rows * n_classes).reshape(n_rows, n_classes)
        rest = np.bincount(place, 1.0 - accuracy, n_rows * n_classes).reshape(n_rows, n_classes)
        sums = kept + rest @ self.error_classes
        total = sums.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0))

    def __setstate__(self, state: dict[str, Any]) -> None:
        old = {"right": "accuracy", "spread": "error_classes"}  # names in model files of format 1
        vars(self).update({old.get(name, name): value for name, value in state.items()})
