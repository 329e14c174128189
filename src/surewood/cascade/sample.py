"""The training sample as a cascade sees it: design matrix, class codes, weights that act as counts.

Whole weights are counts: weight 2 is the row twice, in the criterion and in the SVMs. Other weights are
rescaled so that they sum to the number of rows, which keeps the sample size of the bounds meaningful and
makes the fit independent of the unit of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surewood._arrays import AnyArray, Codes, Counts, Floats
from surewood.svm import first_rows
from surewood.tables import DesignEncoder, FitInputs, Table


@dataclass(frozen=True)
class Sample:
    """Rows ready for SVMs."""

    #: Shape (n, d).
    design: Floats
    #: Shape (n,).
    codes: Codes
    #: Positive. Shape (n,).
    weight: Floats
    n_classes: int
    encoder: DesignEncoder
    #: Row of the user's table, the first of equal ones. Shape (n,).
    origin: Counts
    #: Whether `design` is an affine image of the given columns: numbers only, nothing imputed. One-hot
    #: columns and imputed means are learned from the sample, which breaks the bounds' condition of fixed
    #: features [D-39].
    is_affine: bool
    #: Whether every weight stands for equal rows that were really there.
    is_counted: bool

    @property
    def total(self) -> float:
        """m of theory.md."""
        return float(self.weight.sum())


def make_sample(inputs: FitInputs, sample_weight: Any, scaled_on: AnyArray | None = None) -> Sample:
    """Encode the table and settle the weights; `scaled_on` are the rows that scaling is learned from."""
    given = inputs.weight if inputs.weight is not None else np.ones(len(inputs.y))
    kept = np.flatnonzero(given > 0)
    codes, given = inputs.y[kept], given[kept]
    table = inputs.table if len(kept) == len(inputs.y) else inputs.table.take(kept)
    whole = bool((given == np.rint(given)).all())
    weight = given if whole else given * (_row_count(inputs, sample_weight) / given.sum())
    if scaled_on is None:
        encoder = DesignEncoder().fit(table, weight)
    else:
        known = np.isin(kept, scaled_on)
        encoder = DesignEncoder().fit(table.take(known), weight[known])
    return Sample(
        design=encoded(encoder, table),
        codes=np.ascontiguousarray(codes),
        weight=np.ascontiguousarray(weight),
        n_classes=inputs.n_classes,
        encoder=encoder,
        origin=first_rows(inputs)[kept],
        is_affine=not encoder.learned_,
        is_counted=not inputs.weighted,
    )


def encoded(encoder: DesignEncoder, table: Table) -> Floats:
    """The design matrix of a table; a column of zeros where no column is usable."""
    design = encoder.transform(table)
    return design if design.shape[1] else np.zeros((len(design), 1))


def varies(design: Floats) -> bool:
    """Whether some row differs from the first one; otherwise only a constant can be learned."""
    return bool((design != design[0]).any())


def _row_count(inputs: FitInputs, sample_weight: Any) -> float:
    """Rows that count, where whole sample weights are rows that stand for several."""
    if inputs.table.stream is not None:  # of a Parquet file: rows may have no label, weights be a column
        return float(inputs.n_counted)
    assert inputs.inverse is not None  # rows were merged or at least numbered
    if sample_weight is None:
        return float(len(inputs.inverse))
    weights = np.asarray(sample_weight, dtype=np.float64).ravel()
    whole = bool((weights == np.rint(weights)).all()) and weights.size == len(inputs.inverse)
    return float(weights.sum()) if whole else float((inputs.inverse >= 0).sum())
