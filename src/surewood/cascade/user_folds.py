"""Folds that the user gives, over rows of which equal ones are merged.

Equal rows that the folds treat alike become one row of their summed weight, so that weight 2 is the row twice
here as everywhere; equal rows that the folds separate stay separate.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from surewood.cascade.penalty import Folds
from surewood.estimators.folds import given_splits
from surewood.tables import FitInputs, merge_equal_rows

_EMPTY_SIDE = "cv has a split without training or without held-out rows of positive weight."


def merge_within_folds(inputs: FitInputs, cv: Any) -> tuple[FitInputs, Folds]:
    """Inputs with merged rows, and the splits of `cv` in terms of them; `inputs` must not be merged yet."""
    n = len(inputs.y)
    splits = given_splits(cv, inputs.y)
    side = np.zeros((n, len(splits)), dtype=np.int8)  # 1 in training, 2 held out, 3 both, 0 neither
    for k, (train, held_out) in enumerate(splits):
        if not len(train) or not len(held_out):
            raise ValueError(_EMPTY_SIDE)
        side[train, k] += 1
        side[held_out, k] += 2
    kinds, kind = np.unique(side, axis=0, return_inverse=True)
    joint = (inputs.y.astype(np.int64) * len(kinds) + kind.ravel()).astype(np.int32)
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
    )
    return fresh, folds
