"""The training data of a cascade: binned once, rows in canonical order, folds; and what each layer reads.

:class:`LayerInput` is what a layer reads, :class:`InputReader` turns tables into the input of the first
layer, and `widen` adds class vectors for later ones: only those columns are binned, the table's block is
shared ("bin once"). :class:`TrainingSet` are the rows that layers are trained on. `prepare` is the start of
every fit.

**Order of the rows.** Folds and bootstrap draws are random choices of rows. To make weight 2 the same as the
row twice, and any order of the rows the same fit, rows are sorted by their content before anything is drawn,
rows of weight 0 are dropped, and whole-number weights are written out as repeated rows as long as that at
most quadruples the table. Other weights stay weights: they count in trees, margins and scores.

**Equal rows** are not merged: trees and margins count each of them. But rows with the same values, whatever
their classes, are one content (`equal_contents`), and folds are dealt by content: no model that is held out
from a row has seen its copies. Contents without regard to the class, because a fold that held out all rows of
one value and one class would leave models that saw this value with the other classes only, and held-out
vectors that are systematically wrong.

**Folds.** Every layer deals its own (:func:`surewood.base.folds.stratified_folds`) unless the user gave them
(`given_folds`). `usable_folds` lowers their number to what the rarest class allows, with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from surewood._arrays import Codes, Floats, Ints
from surewood.base.folds import given_splits, stratified_folds
from surewood.deepforest.contrasts import _ContrastClassifier
from surewood.deepforest.forests import Blocks, candidate_blocks
from surewood.tables import DesignEncoder, Table, TableSchema, TrainingTable, alongside, is_mapped
from surewood.tables.row_hashes import linear_keys, row_hashes
from surewood.trees.binning import BinMapper, BinnedMatrix, as_table, learn_bins, training_bins

_ROW_COPY_BYTES = 2**24  # beyond about a last-level cache small nodes prefer a row-major copy
_MOST_COPIES = 4  # rows after repetition, as a multiple of the rows before
_HASH_SEED = 0x5EED


def layer_seed(seed: int, *ids: int) -> int:
    """A 63-bit seed for one part of a fit; different ids give unrelated streams (theory.md §4.2)."""
    word = np.random.SeedSequence((seed, *ids)).generate_state(1, np.uint64)[0]
    return int(word >> np.uint64(1))


# What a layer reads ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LayerInput:
    """What a layer reads."""

    #: Codes, for the forests.
    matrix: BinnedMatrix
    #: The same inputs as numbers, where a classifier takes a forest's place. Shape (n_rows, n_numbers).
    numbers: Floats | None = None

    def take(self, rows: Ints) -> LayerInput:
        """Some rows, in ascending order; the input itself when these are all of them."""
        if len(rows) == self.matrix.n_rows:
            return self
        return LayerInput(take_rows(self.matrix, rows), None if self.numbers is None else self.numbers[rows])


@dataclass(frozen=True)
class InputReader:
    """Bins of the table and, where a classifier takes a forest's place, the encoding of its numbers.

    Classifiers that take NaN get the table's own matrix (category codes as numbers); any others the
    standardized, one-hot encoded, imputed form of `encoder`.
    """

    mapper: BinMapper
    has_numbers: bool = False
    encoder: DesignEncoder | None = None

    @classmethod
    def learn(
        cls, mapper: BinMapper, table: Table, weight: Floats | None, classifiers: Sequence[Any] = ()
    ) -> InputReader:
        """Bins of the training table, and the numbers of the `classifiers` in a forest's place."""
        encoder = None
        if not all(get_tags(classifier).input_tags.allow_nan for classifier in classifiers):
            # Contrasts scale their columns themselves; means would depend on the order of the rows.
            scale = not all(isinstance(classifier, _ContrastClassifier) for classifier in classifiers)
            encoder = DesignEncoder(scale=scale).fit(table, weight)
        return cls(mapper, len(classifiers) > 0, encoder)

    def numbers(self, table: Table) -> Floats | None:
        """The table as numbers, where classifiers need them."""
        if not self.has_numbers:
            return None
        if self.encoder is None:
            return np.asarray(table.matrix(), dtype=np.float64)
        return self.encoder.transform(table)

    def read(self, table: Table) -> LayerInput:
        """The first layer's input for new rows."""
        return LayerInput(BinnedMatrix.of(self.mapper.codes(table), self.mapper), self.numbers(table))


def learn_vector_bins(vectors: Floats, weight: Floats | None) -> BinMapper:
    """Bins of the class-vector columns, from the training points' held-out vectors."""
    return learn_bins(as_table(vectors), weight)


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


# Order of the rows ----------------------------------------------------------------------------------------


def order_rows(
    keys: NDArray[np.uint64],
    y: Codes,
    weight: Floats | None,
    fold: Ints | None = None,
    content: Ints | None = None,
) -> tuple[Ints, Floats | None]:
    """Canonical order of rows with these content keys.

    `fold` orders equal rows in different given folds; `content` (ascending with a hash of the values) orders
    rows of equal keys and different values.

    Returns
    -------
    source : ndarray of int64
        Row of the user's table that each training row is (a copy of).
    weight : ndarray of float64 or None
        Weights that remain, mean 1; None when all are equal.
    """
    source = np.arange(len(keys))
    if weight is not None:
        source = np.flatnonzero(weight > 0)
        weight = weight[source]
        if _are_counts(weight):
            source = np.repeat(source, weight.astype(np.int64))
            weight = None
        elif (weight == weight[0]).all():
            weight = None
    by: list[NDArray[Any]] = [y[source], keys[source]]
    if fold is not None:
        by.insert(0, fold[source])
    if content is not None:
        by.insert(0, content[source])
    if weight is None:
        return source[np.lexsort(by)], None
    order = np.lexsort([weight, *by])
    return source[order], weight[order] / weight.mean()


def equal_contents(table: Table, keys: NDArray[np.uint64], weight: Floats | None) -> Ints | None:
    """A number for each row of a table that rows with the same values share; None where there are no copies.

    Weight 2 is the row twice. Only rows with the same key can be equal, so only these are read. Numbers
    ascend with a hash of the values: they do not depend on the order of the rows.
    """
    _, place, times = np.unique(keys, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(times[place] > 1)
    hashes = np.empty(len(rows), dtype=np.uint64)
    for places, part in table.take(rows).batches() if len(rows) else ():
        hashes[places] = row_hashes(part, np.zeros(part.n_rows, dtype=np.int32))
    values, group = np.unique(hashes, return_inverse=True)
    repeated = weight is not None and _are_counts(weight[weight > 0]) and bool(weight.max() > 1)
    if len(values) == len(rows) and not repeated:
        return None
    content = len(values) + np.arange(len(keys))
    content[rows] = group
    return content


def content_keys(codes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """A 64-bit key for each row of a block of codes ``(n_columns, n_rows)``."""
    return linear_keys(codes, _HASH_SEED)


def take_rows(matrix: BinnedMatrix, rows: Ints) -> BinnedMatrix:
    """The given rows of a binned matrix, in that order, as a matrix of its own without row-major copy."""
    blocks = tuple(_taken(block, rows) for block in matrix.blocks)
    return BinnedMatrix(blocks, matrix.mapper, matrix.has_missing)


def _taken(block: NDArray[np.uint8], rows: Ints) -> NDArray[np.uint8]:
    """Rows of a block; in a file beside it where it is mapped from one."""
    if not is_mapped(block):
        return np.take(block, rows, axis=1)
    out = alongside(block, (len(block), len(rows)), np.uint8)
    for column, taken in zip(block, out):
        taken[:] = column[rows]
    return out


def _are_counts(weight: Floats) -> bool:
    return bool((weight == np.rint(weight)).all() and weight.sum() <= _MOST_COPIES * len(weight))


# Folds ----------------------------------------------------------------------------------------------------


def given_folds(cv: Any, y: NDArray[Any], groups: Ints | None = None) -> Ints:
    """Fold of every row from a splitter or from pairs of (train, test) rows.

    Every training row needs a held-out class vector, so every row has to be in exactly one test part.

    Examples
    --------
    >>> given_folds([([0, 1], [2, 3]), ([2, 3], [0, 1])], np.array([0, 1, 0, 1])).tolist()
    [1, 1, 0, 0]
    """
    splits = given_splits(cv, y, groups=groups)
    times = np.zeros(len(y), dtype=np.int64)
    fold = np.zeros(len(y), dtype=np.int64)
    for number, (_, held) in enumerate(splits):
        times[held] += 1
        fold[held] = number
    if len(splits) < 2 or (times != 1).any():
        raise ValueError(
            "cv must hold out every row exactly once, in at least two splits: cross-fitting needs a held-out "
            f"class vector of each row; {int((times != 1).sum())} of {len(y)} rows are not."
        )
    return fold


def usable_folds(
    y: Codes, n_folds: int, classes: NDArray[Any], content: Ints | None = None, unit: str = "different row"
) -> int:
    """`n_folds`, or fewer (never below 2) when a class has fewer rows than that; then with a warning.

    Rows with the same `content` count once: they are held out together; `unit` is what they are called.

    Examples
    --------
    >>> usable_folds(np.array([0, 0, 0, 1, 1, 1]), 3, np.array(["a", "b"]))
    3
    """
    counted = y if content is None else np.unique(np.stack([content, y.astype(np.int64)]), axis=1)[1]
    counts = np.bincount(counted, minlength=len(classes))
    present = np.flatnonzero(counts)
    rarest = int(present[np.argmin(counts[present])])
    usable = max(2, min(n_folds, int(counts[rarest])))
    if usable < n_folds:
        label = classes[rarest : rarest + 1].tolist()[0]
        rows = f"{counts[rarest]} {'row' if content is None else unit}{'' if counts[rarest] == 1 else 's'}"
        warnings.warn(
            f"class {label!r} has {rows}, fewer than cv={n_folds}: using {usable} folds.",
            UserWarning,
            stacklevel=4,
        )
    return usable


# The data of a fit ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TrainingSet:
    """Rows in canonical order, all of positive weight."""

    #: Input of the first layer.
    inputs: LayerInput
    #: Class codes.
    y: Codes
    #: Labels of the codes.
    classes: NDArray[Any]
    #: Weights of the rows, mean 1.
    weight: Floats | None = None
    #: Fold of every row where the user gave the folds; None: every layer deals its own.
    given_folds: Ints | None = None
    #: A number that rows with the same values share; None: no values occur twice.
    content: Ints | None = None
    #: Group of every row, where the user gave groups: these are dealt, and copies count as any other rows.
    groups: Ints | None = None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def deal(self, n_folds: int, seed: int, rows: Ints | None = None) -> Ints:
        """Fold of every row, or of `rows`: as the user gave them, or dealt by class.

        Rows with the same values are dealt to one fold, so that none is held out from its own copies; or rows
        of the same group.
        """
        every = np.arange(self.n_rows) if rows is None else rows
        if self.given_folds is not None:
            return self.given_folds[every]
        together = self.content if self.groups is None else self.groups
        content = None if together is None else together[every]
        return stratified_folds(self.y[every], n_folds, seed, content)

    def without_numbers(self) -> TrainingSet:
        """The same for forests alone."""
        return replace(self, inputs=LayerInput(self.inputs.matrix))


@dataclass(frozen=True)
class DeepForestData:
    """What a fit is planned for and trained on."""

    training: TrainingSet
    #: Row of the user's table that each training row is (a copy of).
    source: Ints
    #: Class codes of the user's rows.
    labels: Codes
    #: What the user's table looks like.
    schema: TableSchema
    #: Reads later tables in the same way.
    reader: InputReader
    #: The blocks of forests that the first layer compares.
    blocks: Blocks

    def to_user_rows(self, values: Floats) -> Floats:
        """Values of the training rows as values of the user's rows: means over copies, NaN if dropped."""
        n_rows = len(self.labels)
        sums = np.zeros((n_rows, values.shape[1]))
        np.add.at(sums, self.source, values)
        copies = np.bincount(self.source, minlength=n_rows).astype(np.float64)
        copies[copies == 0] = np.nan
        return sums / copies[:, None]


def prepare(inputs: TrainingTable, parameters: Mapping[str, Any]) -> DeepForestData:
    """Bin the table once and put its rows in canonical order; a `cv` that is no number gives their folds."""
    table, y, weight, cv = inputs.table, inputs.y, inputs.weight, parameters["cv"]
    n_rows = table.n_rows if weight is None else int((weight > 0).sum())
    if n_rows < 2:
        raise ValueError(f"found n_samples={n_rows} of positive weight; cross-fitting needs at least 2.")
    blocks = candidate_blocks(parameters, table)
    classifiers = [member.estimator for block in blocks for member in block if not member.is_forest]
    binned = training_bins(inputs)
    reader = InputReader.learn(binned.mapper, table, weight, classifiers)
    codes = binned.blocks[0]
    folds = None if isinstance(cv, Integral) else given_folds(cv, y, inputs.groups)
    keys = content_keys(codes)
    content = equal_contents(table, keys, weight)
    source, weight = order_rows(keys, y, weight, folds, content)
    if len(source) == codes.shape[1] and not inputs.is_shared:
        for column in codes:  # in place, one column at a time: no second matrix
            column[:] = column[source]
    else:
        codes = _taken(codes, source)
    matrix = BinnedMatrix.of(codes, reader.mapper)
    if matrix.n_columns > 1 and matrix.nbytes > _ROW_COPY_BYTES:
        matrix = matrix.with_row_copy()  # which all layers share
    numbers = reader.numbers(table)
    content = source if content is None else content[source]
    training = TrainingSet(
        LayerInput(matrix, None if numbers is None else numbers[source]),
        y[source],
        inputs.classes,
        weight,
        None if folds is None else folds[source],
        content if len(np.unique(content)) < len(content) else None,
        None if inputs.groups is None else inputs.groups[source],
    )
    return DeepForestData(training, source, y, inputs.schema, reader, blocks)
