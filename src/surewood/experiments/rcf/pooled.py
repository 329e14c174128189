"""One point of the grid for all repeats, by mean validation error (theory.md [D-18], option).

Read from the error counts in the records: nothing is run again. Test rows of one repeat are validation rows
of others, so the choice has seen them; the protocol's own choice, repeat by repeat, has not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surewood.experiments.comparison import Spread
from surewood.experiments.error_grids import unpack
from surewood.experiments.rcf.grid_study import preferred


def pooled(records: Sequence[Mapping[str, Any]], n_columns: int) -> tuple[Spread, dict[str, Any]] | None:
    """Test error of the point with the smallest mean validation error, and the point.

    `records` are the repeats of one method on one data set, with their grids; None where there are none.
    """
    if not records or not all("grid" in record for record in records):
        return None
    counts = [unpack(record["grid"]) for record in records]
    axes = records[0]["grid"]["axes"]
    shares = [
        (validation / record["metrics"]["n_validation"], test / record["metrics"]["n_test"])
        for record, (validation, test) in zip(records, counts)
    ]
    at = preferred(np.mean([validation for validation, _ in shares], axis=0), axes["r"], n_columns)
    errors = np.array([test[at] for _, test in shares])
    spread = float(errors.std(ddof=1)) if len(errors) > 1 else float("nan")
    chosen = {name: values[k] for (name, values), k in zip(axes.items(), at)}
    return Spread(float(errors.mean()), spread), chosen
