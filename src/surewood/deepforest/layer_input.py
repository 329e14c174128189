"""The input of each layer: the table's bins, learned once, and the class vectors of the layer before.

:class:`LayerInput` is what a layer reads. :class:`InputReader` turns tables into the input of the first
layer. `widen` adds a layer's class vectors: only those columns are binned, the base block is shared ("bin
once").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.deepforest.fold_classifiers import NumberReader
from surewood.deepforest.members import Member
from surewood.deepforest.row_order import take_rows
from surewood.tables import Table, alongside
from surewood.trees import BinMapper, BinnedMatrix, as_table, learn_bins

ROW_COPY_BYTES = 2**24  # beyond about a last-level cache small nodes prefer a row-major copy


@dataclass(frozen=True)
class LayerInput:
    """What a layer reads."""

    #: Codes, for the forests.
    matrix: BinnedMatrix
    #: The same inputs as numbers, where a classifier takes a forest's place. Shape (n_rows, n_numbers).
    numbers: Floats | None = None

    def take(self, rows: NDArray[np.int64]) -> LayerInput:
        """Some rows, in ascending order; the input itself when these are all of them."""
        if len(rows) == self.matrix.n_rows:
            return self
        return LayerInput(take_rows(self.matrix, rows), None if self.numbers is None else self.numbers[rows])

    def span(self, start: int, stop: int) -> LayerInput:
        """Rows `start` to `stop`."""
        return self.take(np.arange(start, min(stop, self.matrix.n_rows)))


@dataclass(frozen=True)
class InputReader:
    """Bins of the table and, where a classifier takes a forest's place, the encoding of its numbers."""

    mapper: BinMapper
    numbers: NumberReader | None

    @classmethod
    def learn(cls, table: Table, weight: Floats | None, max_bins: int, members: list[Member]) -> InputReader:
        """Learn bins on the training table."""
        custom = [member.estimator for member in members if not member.is_forest]
        reader = NumberReader(custom).fit(table, weight) if custom else None
        return cls(learn_bins(table, weight, max_bins), reader)

    def read(self, table: Table) -> LayerInput:
        """The first layer's input for new rows."""
        matrix = BinnedMatrix.of(self.mapper.codes(table), self.mapper)
        return LayerInput(matrix, None if self.numbers is None else self.numbers.read(table))


def training_input(codes: NDArray[np.uint8], mapper: BinMapper, numbers: Floats | None) -> LayerInput:
    """The base input of a fit; large matrices get the row-major copy that all layers then share."""
    matrix = BinnedMatrix.of(codes, mapper)
    if matrix.n_columns > 1 and matrix.nbytes > ROW_COPY_BYTES:
        matrix = matrix.with_row_copy()
    return LayerInput(matrix, numbers)


def learn_vector_bins(vectors: Floats, weight: Floats | None, max_bins: int) -> BinMapper:
    """Bins of the class-vector columns, from the training points' held-out vectors."""
    return learn_bins(as_table(vectors), weight, max_bins)


def widen(base: LayerInput, vectors: Floats, mapper: BinMapper, layer_inputs: str) -> LayerInput:
    """The input of a later layer.

    Parameters
    ----------
    base : LayerInput
        The table.
    vectors : ndarray of float64, shape (n_rows, n_vector_columns)
        Scores or class vectors of the layer before.
    layer_inputs : {"both", "scores", "features"}
        Table and vectors; vectors only (mdDF-ST); table only (mdDF-NP).
    """
    if layer_inputs == "features":
        return base
    # Beside the table: class vectors of a table larger than memory are columns in a file as well.
    codes = alongside(base.matrix.blocks[0], (mapper.n_columns, len(vectors)), np.uint8)
    extra = BinnedMatrix.of(mapper.codes_into(as_table(vectors), codes), mapper)
    numbers = base.numbers
    if layer_inputs == "scores":
        return LayerInput(extra, None if numbers is None else vectors)
    if numbers is not None:
        numbers = np.hstack([numbers, vectors])
    return LayerInput(base.matrix.append(extra), numbers)
