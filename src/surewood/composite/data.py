"""What a fit reads: bins for the splits, a design matrix and its Gram matrix for the leaf SVMs.

Built once and shared by all trees, depths, degrees and folds. Equal rows are merged, rows of weight 0
removed. Arrays: `y` int32 (n,), codes 0..n_classes-1 of the whole problem; `weight` float64 (n,), positive,
or None for all 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.svm import Gram
from surewood.tables import DesignEncoder, FitInputs, Table, merge_equal_rows
from surewood.trees import BinMapper, BinnedMatrix, learn_bins


@dataclass(frozen=True)
class Reader:
    """Reads later tables as the training table was read."""

    mapper: BinMapper
    encoder: DesignEncoder

    @classmethod
    def learn(cls, table: Table, weight: Floats | None) -> Reader:
        """Bins and design of a training table."""
        return cls(learn_bins(table, weight), DesignEncoder().fit(table, weight))

    def matrix(self, table: Table) -> BinnedMatrix:
        """The bin codes that splits test."""
        return BinnedMatrix.of(self.mapper.codes(table), self.mapper)

    def design(self, table: Table) -> Floats:
        """The numbers that SVMs see, at least one column."""
        design = self.encoder.transform(table)
        return design if design.shape[1] else np.zeros((table.n_rows, 1))


@dataclass(frozen=True)
class TrainingData:
    """A prepared sample."""

    reader: Reader
    matrix: BinnedMatrix
    gram: Gram
    y: NDArray[np.int32]
    n_classes: int
    weight: Floats | None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def n_splitting(self) -> int:
        """Features offered to splits, |F|."""
        return self.matrix.n_columns

    @property
    def n_features(self) -> int:
        """Features that SVMs see, n."""
        return int(self.gram.X.shape[1])

    def total(self, rows: NDArray[Any] | None = None) -> float:
        """Weight of some rows, of all by default."""
        if self.weight is None:
            return float(self.n_rows if rows is None else len(rows))
        return float(self.weight.sum() if rows is None else self.weight[rows].sum())


def prepare(inputs: FitInputs, max_memory: int | None, n_jobs: int | None) -> TrainingData:
    """Bins, design and inner products of a sample whose equal rows are merged."""
    table, weight = inputs.table, inputs.weight
    reader = Reader.learn(table, weight)
    gram = Gram(reader.design(table), max_memory=max_memory, n_jobs=n_jobs)
    return TrainingData(reader, reader.matrix(table), gram, inputs.y, inputs.n_classes, weight)


def part_of_inputs(inputs: FitInputs, rows: NDArray[Any]) -> FitInputs:
    """Some rows, equal ones merged: what a fit on them alone would see."""
    table, y = inputs.table.take(rows), inputs.y[rows]
    found = merge_equal_rows(table, y, None if inputs.weight is None else inputs.weight[rows])
    weight = None if (found.weight == 1.0).all() else found.weight
    return replace(
        inputs, table=table.take(found.rows), y=y[found.rows], weight=weight, inverse=found.inverse
    )
