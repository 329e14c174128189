"""The training sample as a cascade sees it: design matrix, class codes, weights that act as counts.

Whole weights are counts: weight 2 is the row twice, in the criterion and in the machines. Other weights are
rescaled so that they sum to the number of rows, which keeps the sample size of the bounds meaningful and
makes the fit independent of the unit of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.svm import first_rows
from surewood.tables import DesignEncoder, FitInputs


@dataclass(frozen=True)
class Sample:
    """Rows ready for machines.

    Attributes
    ----------
    design : ndarray of float64, shape (n, d)
    codes : ndarray of int32, shape (n,)
    weight : ndarray of float64, shape (n,)
        Positive.
    n_classes : int
    encoder : DesignEncoder
    origin : ndarray of int64, shape (n,)
        Row of the user's table, the first of equal ones.
    is_affine : bool
        Whether `design` is an affine image of the given columns: numbers only, nothing imputed.
    is_counted : bool
        Whether every weight stands for equal rows that were really there.
    """

    design: Floats
    codes: NDArray[np.int32]
    weight: Floats
    n_classes: int
    encoder: DesignEncoder
    origin: NDArray[np.int64]
    is_affine: bool
    is_counted: bool

    @property
    def total(self) -> float:
        """m of theory.md."""
        return float(self.weight.sum())


def make_sample(inputs: FitInputs, sample_weight: Any, scaled_on: NDArray[np.int64] | None = None) -> Sample:
    """Encode the table and settle the weights; `scaled_on` are the rows that scaling is learned from."""
    given = inputs.weight if inputs.weight is not None else np.ones(len(inputs.y))
    kept = np.flatnonzero(given > 0)
    codes, given = inputs.y[kept], given[kept]
    table = inputs.table if len(kept) == len(inputs.y) else inputs.table.take(kept)
    whole = bool((given == np.rint(given)).all())
    weight = given if whole else given * (_row_count(inputs, sample_weight) / given.sum())
    known = slice(None) if scaled_on is None else np.isin(kept, scaled_on)
    encoder = DesignEncoder().fit(table if scaled_on is None else table.take(known), weight[known])
    design = encoder.transform(table)
    if design.shape[1] == 0:
        raise ValueError("X has no usable column: every category column is empty.")
    return Sample(
        design=design,
        codes=np.ascontiguousarray(codes),
        weight=np.ascontiguousarray(weight),
        n_classes=inputs.n_classes,
        encoder=encoder,
        origin=first_rows(inputs)[kept],
        is_affine=not (bool(table.is_category.any()) or bool(encoder.missing_.any())),
        is_counted=not inputs.weighted,
    )


def _row_count(inputs: FitInputs, sample_weight: Any) -> float:
    """Rows that count, where whole sample weights are rows that stand for several."""
    if inputs.table.stream is not None:  # of a Parquet file: rows may have no label, weights be a column
        return float(inputs.n_counted)
    if sample_weight is None:
        return float(len(inputs.inverse))
    weights = np.asarray(sample_weight, dtype=np.float64).ravel()
    whole = bool((weights == np.rint(weights)).all()) and weights.size == len(inputs.inverse)
    return float(weights.sum()) if whole else float((inputs.inverse >= 0).sum())


def deal_folds(
    codes: NDArray[np.int32], n_folds: int, random_state: Any
) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Stratified (training, held-out) rows: the rows of each class are shuffled and dealt in turn."""
    rng = np.random.default_rng(random_state)
    fold = np.empty(len(codes), dtype=np.int64)
    dealt = 0
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        fold[rows] = (dealt + np.arange(len(rows))) % n_folds
        dealt += len(rows)  # the next class begins where this one stopped: folds of equal size
    parts = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
    return [(a.astype(np.int32), b.astype(np.int32)) for a, b in parts if len(a) and len(b)]
