"""Prediction sets measured on labelled rows (theory.md §11.5)."""

from __future__ import annotations

from dataclasses import dataclass

from surewood._arrays import Mask
from surewood.bounds import clopper_pearson_lower

__all__ = ["SetCoverage"]


@dataclass(frozen=True)
class SetCoverage:
    """Prediction sets on labelled rows, measured.

    Attributes
    ----------
    coverage : float
        Fraction of rows whose set contains the true label (ESTIMATE).
    lower : float
        Lower limit of the coverage at `delta`, from these rows alone; 0 where none of them is new.
    mean_size, single : float
        Mean number of labels, and fraction of sets with exactly one (ESTIMATES).
    n : int
        Rows measured: those not used to find the sets or to train the model, of equal ones one.
    """

    coverage: float
    lower: float
    mean_size: float
    single: float
    n: int
    delta: float

    @classmethod
    def measured(cls, inside: Mask, hit: Mask, delta: float) -> SetCoverage:
        """From the labels in each set, and whether the true one is among them, of independent new rows.

        Examples
        --------
        >>> import numpy as np
        >>> inside = np.array([[True, False], [True, True]])
        >>> SetCoverage.measured(inside, np.array([True, True]), 0.05).mean_size
        1.5
        """
        n, found, sizes = len(hit), int(hit.sum()), inside.sum(axis=1)
        lower = clopper_pearson_lower(found, n, delta=delta)
        return cls(found / n, lower, float(sizes.mean()), float((sizes == 1).mean()), n, delta)
