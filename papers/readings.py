"""Readings: what a paper leaves open, as named options of a run (``--reading kernel=homogeneous``).

The first value of an option is that of the headline protocol, which was fixed in advance. Records of a run
with other readings name them as their protocol, so that they stand in one file with the others and never in
the headline's tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from surewood.svm.gram import unit_rows
from surewood.tables import DesignEncoder, Table

_SVM = {
    "scaling": ("standardised", "[-1, 1]", "[0, 1]", "raw"),
    "kernel": ("inhomogeneous", "homogeneous", "normalised"),
    "growth": ("capped", "raw"),
}
#: The library's names of the kernels.
KERNELS = {"inhomogeneous": "poly", "homogeneous": "homogeneous", "normalised": "normalized_poly"}
#: Paper -> option -> values.
OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "rcf": {
        **_SVM,
        "division": ("60/20/20", "64/16/20", "70/10/20"),
        "bagging": ("none", "bootstrap"),
        "leaf_scores": ("labels", "votes"),
        "thresholds": ("binned", "exact"),
    },
    "cascades": {
        **_SVM,
        "growth": ("capped", "raw", "raw, at least 0"),
        "ties": ("fewer leaves", "more leaves"),
    },
    "mddf": {
        "procedure": ("paper", "program"),
        "random_tree_depth": ("schedule", "unlimited"),
        "layers": ("capped", "20"),
        "step": ("simplex", "literal"),
        "class_vectors": ("out of fold", "in fold"),
        "scanner": ("none", "gcForest"),
        "optimizer": ("Adam", "Adadelta"),
    },
}


@dataclass(frozen=True)
class Readings:
    """One value per option; a paper looks at its own.

    Attributes
    ----------
    scaling : columns that SVMs see, by the training part
    kernel : (⟨x, x'⟩ / n + 1)^degree, without the 1, or divided by the norms in feature space ([D-02])
    growth : ``raw`` is d log(em/d) as printed, false for d > m, and at least log 2, or at least 0 ([D-01])
    division : training, validation and test part in percent ([D-18])
    bagging : rows of a composite tree ([D-14])
    leaf_scores : a leaf's predicted class, or the fraction of pairs that each class wins ([D-04])
    thresholds : of the splits: at most 255 bins per column, or between any two values
    ties : cascades of equal score ([D-25])
    procedure : the paper's algorithm, or what the authors' program does instead (papers/mddf/program.py)
    random_tree_depth : whether the depth schedule holds for completely random trees ([D-27])
    layers : largest number of layers ([D-30])
    step : simplex mixing, or the unbounded step as printed ([D-29])
    class_vectors : of training points: from models that did not see them, or (prose) that did ([D-26])
    scanner : forests see images as they are, or the class vectors of window forests (theory.md §5)
    optimizer : of the MLP
    """

    scaling: str = "standardised"
    kernel: str = "inhomogeneous"
    growth: str = "capped"
    division: str = "60/20/20"
    bagging: str = "none"
    leaf_scores: str = "labels"
    thresholds: str = "binned"
    ties: str = "fewer leaves"
    procedure: str = "paper"
    random_tree_depth: str = "schedule"
    layers: str = "capped"
    step: str = "simplex"
    class_vectors: str = "out of fold"
    scanner: str = "none"
    optimizer: str = "Adam"

    def __str__(self) -> str:
        """The options that are not the headline's.

        Examples
        --------
        >>> str(Readings(kernel="homogeneous", scaling="raw")), str(Readings())
        ('scaling=raw, kernel=homogeneous', '')
        """
        headline = asdict(Readings())
        return ", ".join(f"{name}={value}" for name, value in asdict(self).items() if value != headline[name])


def read_design(
    readings: Readings, train: Table, tables: Sequence[Table], weight: NDArray[np.float64] | None = None
) -> list[NDArray[np.float64]]:
    """What SVMs see of some tables, scaled by the training table; for a normalised kernel rows of norm 1."""
    encoder = DesignEncoder(scale=readings.scaling == "standardised").fit(train, weight)
    designs = [np.asarray(encoder.transform(table), dtype=np.float64) for table in (train, *tables)]
    if readings.scaling in ("[-1, 1]", "[0, 1]"):
        low, high = designs[0].min(axis=0), designs[0].max(axis=0)
        width = np.where(high > low, high - low, 1.0)
        designs = [(design - low) / width for design in designs]
        if readings.scaling == "[-1, 1]":
            designs = [2.0 * design - 1.0 for design in designs]
    if readings.kernel == "normalised":
        designs = [unit_rows(design, 1.0 / design.shape[1], 1.0) for design in designs]
    return [np.ascontiguousarray(design) for design in designs[1:]]
