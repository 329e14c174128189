"""What other ways to choose from the same grids would have given (theory.md [D-11], [D-18], options).

Read from the error counts in the records: nothing is run again.

* :func:`pooled`: one point for all repeats, by mean validation error. Test rows of one repeat are validation
  rows of others, so the choice has seen them; the protocol's own choice, repeat by repeat, has not.
* :func:`restricted`: the protocol's choice from some values of γ only.
* :func:`hindsight`: the point of smallest mean test error. No choice can know it: a published error below it
  is out of reach of the grid, one above it was lost in tuning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surewood.experiments.comparison import Spread
from surewood.experiments.error_grids import unpack
from surewood.experiments.rcf.grid_study import preferred

Records = Sequence[Mapping[str, Any]]


def pooled(records: Records, n_columns: int) -> tuple[Spread, dict[str, Any]] | None:
    """Test error of the point with the smallest mean validation error, and the point.

    `records` are the repeats of one method on one data set, with their grids; None where there are none.
    """
    if not _have_grids(records):
        return None
    axes = records[0]["grid"]["axes"]
    shares = [_shares(record) for record in records]
    at = preferred(np.mean([validation for validation, _ in shares], axis=0), axes["r"], n_columns)
    chosen = {name: values[k] for (name, values), k in zip(axes.items(), at)}
    return Spread.of([test[at] for _, test in shares]), chosen


def restricted(records: Records, n_columns: int, rules: Sequence[float]) -> Spread | None:
    """Test error when every repeat chooses among these values of γ."""
    if not _have_grids(records):
        return None
    errors = []
    for record in records:
        axes = record["grid"]["axes"]
        kept = [k for k, value in enumerate(axes["rule"]) if value in rules]
        validation, test = (share[:, :, kept] for share in _shares(record))
        errors.append(test[preferred(validation, axes["r"], n_columns)])
    return Spread.of(errors)


def hindsight(records: Records) -> Spread | None:
    """The smallest mean test error of any point of the grid."""
    if not _have_grids(records):
        return None
    tests = np.array([_shares(record)[1] for record in records])
    best = np.unravel_index(tests.mean(axis=0).argmin(), tests.shape[1:])
    return Spread.of(tests[(slice(None), *best)])


def _have_grids(records: Records) -> bool:
    return bool(records) and all("grid" in record for record in records)


def _shares(record: Mapping[str, Any]) -> tuple[Any, Any]:
    validation, test = unpack(record["grid"])
    return validation / record["metrics"]["n_validation"], test / record["metrics"]["n_test"]
