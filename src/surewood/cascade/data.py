"""The training sample as a cascade sees it: design matrix, class codes, weights that act as counts.

Whole weights are counts: weight 2 is the row twice, in the criterion and in the SVMs. Other weights are
rescaled so that they sum to the number of rows, which keeps the sample size of the bounds meaningful and
makes the fit independent of the unit of the weights.

`prepare` encodes what a fit was given. Folds that the user gives are over rows of which equal ones are
merged (`merge_within_folds`): equal rows that the folds treat alike become one row of their summed weight, so
that weight 2 is the row twice here as everywhere; equal rows that the folds separate stay separate.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from surewood._arrays import AnyArray, Codes, Counts, Floats
from surewood.base.folds import given_splits
from surewood.cascade.chain import Rows
from surewood.svm.gram import Gram, useful_limit
from surewood.svm.one_vs_one import first_rows
from surewood.tables import DesignEncoder, Table, TrainingTable, joint_codes, merge_equal_rows

_EMPTY_SIDE = "cv has a split without training or without held-out rows of positive weight."

#: (training, held-out) rows of every fold.
Folds: TypeAlias = Sequence[tuple[Rows, Rows]]


@dataclass(frozen=True)
class CascadeData:
    """Rows ready for SVMs."""

    #: Shape (n, d).
    design: Floats
    #: Shape (n,).
    codes: Codes
    #: Positive. Shape (n,).
    weight: Floats
    #: Labels by class code.
    classes: AnyArray
    encoder: DesignEncoder
    #: Row of the user's table, the first of equal ones. Shape (n,).
    origin: Counts
    #: Whether `design` is an affine image of the given columns: numbers only, nothing imputed. One-hot
    #: columns and imputed means are learned from the sample, which breaks the bounds' condition of fixed
    #: features [D-39].
    is_affine: bool
    #: Whether every weight stands for equal rows that were really there.
    is_counted: bool
    #: Splits that the user gave, in terms of these rows.
    folds: Folds | None = None
    #: Rows that are held out together.
    groups: Counts | None = None

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def total(self) -> float:
        """m of theory.md."""
        return float(self.weight.sum())

    def part(self, fraction: float, seed: int) -> CascadeData:
        """About this fraction of the rows, drawn from every class and every side of the user's folds.

        What was counted on them is no evidence about the rows of the fit.
        """
        n, folds = len(self.codes), self.folds or []
        side = np.zeros((n, len(folds)), dtype=np.int8)  # 1 in training, 2 held out
        for k, rows in enumerate(folds):
            for bit, chosen in enumerate(rows):
                side[chosen, k] += bit + 1
        _, kind = np.unique(np.column_stack([self.codes, side]), axis=0, return_inverse=True)
        order = np.random.default_rng(seed).permutation(n)
        order = order[np.argsort(kind.ravel()[order], kind="stable")]
        kind = kind.ravel()[order]
        rank = np.arange(n) - np.searchsorted(kind, kind)
        kept = np.sort(order[rank < fraction * np.bincount(kind)[kind]])
        place = np.cumsum(np.isin(np.arange(n), kept)) - 1

        def among(rows: Rows) -> Rows:
            return np.asarray(place[rows[np.isin(rows, kept)]], dtype=np.int32)

        return dataclasses.replace(
            self,
            design=np.ascontiguousarray(self.design[kept]),
            codes=np.ascontiguousarray(self.codes[kept]),
            weight=np.ascontiguousarray(self.weight[kept]),
            origin=self.origin[kept],
            is_counted=False,
            groups=None if self.groups is None else self.groups[kept],
            folds=self.folds and [(among(train), among(held)) for train, held in folds],
        )


def prepare(
    inputs: TrainingTable, sample_weight: Any, folds: Folds | None = None, scaled_on: AnyArray | None = None
) -> CascadeData:
    """Encode the table and settle the weights; `scaled_on` are the rows that scaling is learned from."""
    weight = inputs.weight if inputs.weight is not None else np.ones(len(inputs.y))
    kept = np.flatnonzero(weight > 0)
    codes, weight = inputs.y[kept], weight[kept]
    table = inputs.table if len(kept) == len(inputs.y) else inputs.table.take(kept)
    if not (weight == np.rint(weight)).all():
        weight = weight * (_row_count(inputs, sample_weight) / weight.sum())
    if scaled_on is None:
        encoder = DesignEncoder().fit(table, weight)
    else:
        is_used = np.isin(kept, scaled_on)
        encoder = DesignEncoder().fit(table.take(is_used), weight[is_used])
    return CascadeData(
        design=encoded(encoder, table),
        codes=np.ascontiguousarray(codes),
        weight=np.ascontiguousarray(weight),
        classes=inputs.classes,
        encoder=encoder,
        origin=first_rows(inputs)[kept],
        is_affine=not encoder.learned_,
        is_counted=not inputs.weighted,
        folds=folds,
        groups=None if inputs.groups is None else inputs.groups[kept],
    )


def make_gram(sample: CascadeData, max_memory: int | None, n_jobs: int | None) -> Gram:
    """Inner products of the sample, stored where that saves time and `max_memory` allows it."""
    n, width = sample.design.shape
    limit = useful_limit(n, width, max_memory)
    return Gram(sample.design, max_memory=limit, n_jobs=n_jobs)


def encoded(encoder: DesignEncoder, table: Table) -> Floats:
    """The design matrix of a table; a column of zeros where no column is usable."""
    design = encoder.transform(table)
    return design if design.shape[1] else np.zeros((len(design), 1))


def varies(design: Floats) -> bool:
    """Whether some row differs from the first one; otherwise only a constant can be learned."""
    return bool((design != design[0]).any())


def _row_count(inputs: TrainingTable, sample_weight: Any) -> float:
    """Rows that count, where whole sample weights are rows that stand for several."""
    if inputs.table.stream is not None:  # of a Parquet file: rows may have no label, weights be a column
        return float(inputs.n_counted)
    assert inputs.inverse is not None  # rows were merged or at least numbered
    if sample_weight is None:
        return float(len(inputs.inverse))
    weights = np.asarray(sample_weight, dtype=np.float64).ravel()
    whole = bool((weights == np.rint(weights)).all()) and weights.size == len(inputs.inverse)
    return float(weights.sum()) if whole else float((inputs.inverse >= 0).sum())


def merge_within_folds(inputs: TrainingTable, cv: Any) -> tuple[TrainingTable, Folds]:
    """Inputs with merged rows, and the splits of `cv` in terms of them; `inputs` must not be merged yet."""
    n = len(inputs.y)
    splits = given_splits(cv, inputs.y, groups=inputs.groups)
    side = np.zeros((n, len(splits)), dtype=np.int8)  # 1 in training, 2 held out, 3 both, 0 neither
    for k, (train, held_out) in enumerate(splits):
        if not len(train) or not len(held_out):
            raise ValueError(_EMPTY_SIDE)
        side[train, k] += 1
        side[held_out, k] += 2
    kinds, kind = np.unique(side, axis=0, return_inverse=True)
    joint = (inputs.y.astype(np.int64) * len(kinds) + kind.ravel()).astype(np.int32)
    if inputs.groups is not None:
        joint = joint_codes(joint, inputs.groups)
    merged = merge_equal_rows(inputs.table, joint, inputs.weight)
    kept = side[merged.rows]
    folds = []
    for k in range(len(splits)):
        inside, outside = (np.flatnonzero(kept[:, k] & bit).astype(np.int32) for bit in (1, 2))
        if not len(inside) or not len(outside):
            raise ValueError(_EMPTY_SIDE)
        folds.append((inside, outside))
    fresh = dataclasses.replace(
        inputs,
        table=inputs.table.take(merged.rows),
        y=inputs.y[merged.rows],
        weight=None if (merged.weight == 1.0).all() else merged.weight,
        inverse=merged.inverse,
        groups=None if inputs.groups is None else inputs.groups[merged.rows],
    )
    return fresh, folds
