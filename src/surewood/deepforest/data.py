"""The training data of a cascade: binned once, rows in canonical order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes, Floats
from surewood.deepforest.folds import given_folds
from surewood.deepforest.layer_input import InputReader, LayerInput, training_input
from surewood.deepforest.members import Member
from surewood.deepforest.row_order import (
    OrderedRows,
    content_keys,
    equal_contents,
    order_rows,
    put_in_order,
)
from surewood.estimators.folds import stratified_folds
from surewood.tables import FitInputs


@dataclass(frozen=True)
class TrainingSet:
    """Rows in canonical order, all of positive weight."""

    #: Input of the first layer.
    inputs: LayerInput
    #: Class codes.
    y: NDArray[np.int32]
    #: Labels of the codes.
    classes: NDArray[Any]
    #: Weights of the rows, mean 1.
    weight: Floats | None = None
    #: Fold of every row where the user gave the folds; None: every layer deals its own.
    given_folds: NDArray[np.int64] | None = None
    #: A number that rows with the same values share; None: no values occur twice.
    content: NDArray[np.int64] | None = None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def take(self, rows: NDArray[np.int64]) -> TrainingSet:
        """Some of the rows, in ascending order; the set itself when these are all of them."""
        if len(rows) == self.n_rows:
            return self
        weight = None if self.weight is None else self.weight[rows] / self.weight[rows].mean()
        folds = None if self.given_folds is None else self.given_folds[rows]
        content = None if self.content is None else self.content[rows]
        return TrainingSet(self.inputs.take(rows), self.y[rows], self.classes, weight, folds, content)

    def deal(self, n_folds: int, seed: int, rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Fold of every row, or of `rows`: as the user gave them, or dealt by class.

        Rows with the same values are dealt to one fold, so that none is held out from its own copies.
        """
        every = np.arange(self.n_rows) if rows is None else rows
        if self.given_folds is not None:
            return self.given_folds[every]
        content = None if self.content is None else self.content[every]
        return stratified_folds(self.y[every], n_folds, seed, content)

    def without_numbers(self) -> TrainingSet:
        """The same for forests alone."""
        return replace(self, inputs=LayerInput(self.inputs.matrix))


@dataclass(frozen=True)
class PreparedData:
    """What a fit is planned for and trained on."""

    training: TrainingSet
    #: Where its rows stand in the user's table.
    ordered: OrderedRows
    #: Reads later tables in the same way.
    reader: InputReader
    #: Class codes of the user's rows.
    labels: Codes

    def to_user_rows(self, values: Floats, rows: NDArray[np.int64]) -> Floats:
        """Values of the training rows `rows` as values of the user's rows; NaN for all others."""
        return OrderedRows(self.ordered.source[rows], None).to_user_rows(values, len(self.labels))


def prepare(
    inputs: FitInputs, blocks: Sequence[Sequence[Member]], max_bins: int, cv: Any = None
) -> PreparedData:
    """Bin the table once and put its rows in canonical order; a `cv` that is no number gives their folds."""
    members = [member for block in blocks for member in block]
    reader = InputReader.learn(inputs.table, inputs.weight, max_bins, members)
    codes = reader.mapper.codes(inputs.table)
    folds = None if cv is None or isinstance(cv, Integral) else given_folds(cv, inputs.y)
    keys = content_keys(codes)
    content = equal_contents(inputs.table, keys, inputs.weight)
    ordered = order_rows(keys, inputs.y, inputs.weight, folds, content)
    codes = put_in_order(codes, ordered.source)
    numbers = None if reader.numbers is None else reader.numbers.read(inputs.table)[ordered.source]
    base = training_input(codes, reader.mapper, numbers)
    folds = None if folds is None else folds[ordered.source]
    training = TrainingSet(
        base, inputs.y[ordered.source], inputs.classes, ordered.weight, folds, ordered.content(content)
    )
    return PreparedData(training, ordered, reader, inputs.y)
