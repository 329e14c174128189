"""What a fit reads: bins for the splits, a design matrix and its Gram matrix for the leaf SVMs.

:func:`prepare` makes a :class:`CompositeData` once; all trees, depths, degrees and folds share it. Equal rows
are merged, rows of weight 0 removed. :class:`Reader` reads later tables in the same way.
:class:`SolverOptions` says how the classifiers of leaves are trained, and :func:`part_of_inputs` takes some
rows of a sample.

A forest whose votes are guaranteed on all rows (``certifiable=True``, [D-43], theory.md §11.9) draws its bags
before anything is learned. Bins and scaling then come from the preparation part, which is in every bag, and a
tree reads :meth:`CompositeData.of_bag` alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes, Floats, Mask
from surewood.base.subsamples import Subsamples
from surewood.families import Families
from surewood.svm.gram import Gram, KernelSpec, formed_sooner, unit_rows
from surewood.tables import DesignEncoder, Table, TrainingTable, merged_inputs
from surewood.trees.binning import BinMapper, BinnedMatrix, learn_bins, training_bins

# Nanoseconds per product, and per column of it where it is formed.
_STORING, _FORMING, _READING = 0.12, 0.07, 4.0
# The same where SVMs vote on training rows, and how many products that takes for one that training reads.
_FORMING_A_VOTE, _READING_A_VOTE, _VOTES = 0.05, 1.4, 0.5


@dataclass(frozen=True)
class SolverOptions:
    """How the classifiers of leaves are trained, on how many threads, and how much is reported meanwhile."""

    tol: float = 1e-3
    max_iter: int = 10_000
    n_jobs: int | None = None
    verbose: int = 0
    #: Bytes that a matrix of inner products may take; None for the default.
    max_gram: int | None = None
    #: "poly", "homogeneous" or "normalized_poly" ([D-02]).
    kernel: str = "poly"
    #: What leaves choose from in the place of SVMs.
    families: Families = ()
    family_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reader:
    """Reads later tables as the training table was read."""

    mapper: BinMapper
    encoder: DesignEncoder
    #: Of the leaf SVMs: "poly", "homogeneous" or "normalized_poly".
    kernel: str = "poly"

    @property
    def n_features(self) -> int:
        """Columns that SVMs see."""
        return self._n_columns + (self.kernel == "normalized_poly")

    @property
    def _n_columns(self) -> int:
        return max(int(self.encoder.n_columns_), 1)

    @property
    def kernel_spec(self) -> KernelSpec:
        """The kernel of what :meth:`design` returns."""
        if self.kernel == "normalized_poly":
            return KernelSpec("poly", 1.0, 0.0)
        return KernelSpec("poly", 1.0 / self._n_columns, float(self.kernel == "poly"))

    def matrix(self, table: Table) -> BinnedMatrix:
        """The bin codes that splits test."""
        return BinnedMatrix.of(self.mapper.codes(table), self.mapper)

    def design(self, table: Table) -> Floats:
        """The numbers that SVMs see, at least one column."""
        design = self.encoder.transform(table)
        design = design if design.shape[1] else np.zeros((table.n_rows, 1))
        return unit_rows(design, 1.0 / self._n_columns, 1.0) if self.kernel == "normalized_poly" else design


@dataclass(frozen=True)
class CompositeData:
    """A prepared sample.

    `y` are codes 0..n_classes-1 of the whole problem, shape (n,); `weight` is positive, shape (n,), or None
    for all 1.
    """

    #: The table as it was read.
    inputs: TrainingTable
    reader: Reader
    matrix: BinnedMatrix
    gram: Gram
    y: Codes
    n_classes: int
    weight: Floats | None
    options: SolverOptions
    #: Classes that the criterion counts, where they are fewer than those of the problem.
    criterion_classes: int | None = None
    #: Bags drawn before anything was learned; None where trees draw their own.
    drawn: Subsamples | None = None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def kernel(self) -> KernelSpec:
        """Of the leaf SVMs."""
        return self.reader.kernel_spec

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

    def labelled(self, rows: NDArray[Any]) -> tuple[Floats, Codes, Floats | None]:
        """Design, class codes and weights of some rows."""
        return self.gram.X[rows], self.y[rows], None if self.weight is None else self.weight[rows]

    def of_bag(self, tree: int) -> tuple[CompositeData, NDArray[np.int64]]:
        """The data of a tree whose bag was drawn, and the rows in it: copies in the bag are its weights."""
        assert self.drawn is not None
        return self._part(self.drawn, self.drawn.in_bag(tree))

    def preparation_part(self) -> CompositeData:
        """The rows of every bag as a sample of its own, with the classes that it has."""
        assert self.drawn is not None
        data, rows = self._part(self.drawn, self.drawn.prepares)
        classes, codes = np.unique(data.y[rows], return_inverse=True)
        return replace(
            data,
            matrix=rows_of(data.matrix, rows),
            gram=Gram(np.ascontiguousarray(data.gram.X[rows])),
            y=codes.astype(np.int32),
            n_classes=len(classes),
            weight=None if data.weight is None else data.weight[rows],
            criterion_classes=None,
        )

    def _part(self, drawn: Subsamples, units: Mask) -> tuple[CompositeData, NDArray[np.int64]]:
        counts = drawn.counts(units)
        rows = np.flatnonzero(counts)
        row_weight = self.inputs.weight if self.inputs.weighted else None
        total = counts if row_weight is None else counts * row_weight
        # rows outside the bag have a weight that nobody reads; solvers want positive ones
        weight = None if (total[rows] == 1.0).all() else np.where(counts > 0, total, 1.0)
        seen = len(np.unique(self.y[rows]))
        return replace(self, weight=weight, criterion_classes=seen, drawn=None), rows


def prepare(
    inputs: TrainingTable,
    options: SolverOptions,
    n_products: float = math.inf,
    drawn: Subsamples | None = None,
) -> CompositeData:
    """Bins, design and inner products of a sample whose equal rows are merged.

    `n_products` is how many inner products the SVMs will read, about: a matrix of all is stored where that
    saves time and memory allows it. The numbers are the same to the bit, stored or not. With bags that were
    `drawn` bins and scaling are learned from the preparation part.
    """
    table = inputs.table
    if drawn is None:
        matrix = training_bins(inputs)
        reader = Reader(matrix.mapper, DesignEncoder().fit(table, inputs.weight), options.kernel)
    else:
        counts = drawn.counts(drawn.prepares)
        rows = np.flatnonzero(counts)
        part, weight = table.take(rows), counts[rows]
        reader = Reader(learn_bins(part, weight), DesignEncoder().fit(part, weight), options.kernel)
        matrix = reader.matrix(table)
        # Whether a column has missing values outside the bag must not be known to a tree.
        matrix = replace(matrix, has_missing=np.ones_like(matrix.has_missing))
    design = reader.design(table)
    stored = worth_storing(table.n_rows, design.shape[1], n_products)
    gram = Gram(design, max_memory=options.max_gram if stored else 0, n_jobs=options.n_jobs)
    return CompositeData(
        inputs, reader, matrix, gram, inputs.y, inputs.n_classes, inputs.weight, options, drawn=drawn
    )


def worth_storing(n_rows: int, n_columns: int, n_products: float) -> bool:
    """Whether storing all inner products takes less time than forming those of each leaf.

    Examples
    --------
    >>> worth_storing(10_000, 20, 1e9), worth_storing(2000, 100, 1e9), worth_storing(10_000, 100, 1e8)
    (False, True, False)
    """
    if formed_sooner(n_rows, n_columns):  # then the solvers never read the stored ones
        return False
    stored = _STORING * n_columns * n_rows * n_rows + (_READING + _VOTES * _READING_A_VOTE) * n_products
    formed = (_FORMING + _VOTES * _FORMING_A_VOTE) * n_columns * n_products
    return stored <= formed or math.isinf(n_products)


def part_of_inputs(inputs: TrainingTable, rows: NDArray[Any]) -> TrainingTable:
    """Some rows, equal ones merged: what a fit on them alone would see."""
    part = replace(
        inputs,
        table=inputs.table.take(rows),
        y=inputs.y[rows],
        weight=None if inputs.weight is None else inputs.weight[rows],
        groups=None if inputs.groups is None else inputs.groups[rows],
        merged=None,
    )
    return replace(merged_inputs(part), unmerged=None)


def rows_of(matrix: BinnedMatrix, rows: NDArray[Any]) -> BinnedMatrix:
    """Some rows of a binned table."""
    codes = tuple(np.take(block, rows, axis=1) for block in matrix.blocks)
    return BinnedMatrix(codes, matrix.mapper, matrix.has_missing)
