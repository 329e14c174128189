"""Weights of rows from a column, and of classes from words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.tables import plan
from surewood.tables.planning.column_plan import read_column
from surewood.tables.reading.file_rows import FileRows, row_name
from surewood.workflow.errors import WorkflowError


def row_weights(
    column: pd.Series, numbers: NDArray[np.int64], unit: str, files: FileRows | None = None
) -> Floats:
    """The weights in a column; a missing or negative one is refused with its row.

    Examples
    --------
    >>> row_weights(pd.Series(["1", "2.5"], name="w"), np.array([2, 3]), "line").tolist()
    [1.0, 2.5]
    """
    name = str(column.name)
    made = plan(column.to_frame(), kinds={name: "number"})[name]
    weights = read_column(made, column).to_numpy(dtype=np.float64)
    bad = ~(weights >= 0)
    if bad.any():
        place = int(np.flatnonzero(bad)[0])
        where = row_name(numbers[place], unit, files)
        raise WorkflowError(f"weight={name}: {where} has {str(column.iloc[place])!r}, which is not a weight.")
    return weights


def class_weights(given: str | Mapping[Any, float] | None, labels: NDArray[Any]) -> Any:
    """Class weights for an estimator: "balanced", or a weight by label, which may be written as text.

    Examples
    --------
    >>> class_weights({"1": 2.0}, np.array([0, 1])), class_weights("no=1,yes=5", np.array(["no", "yes"]))
    ({1: 2.0}, {'no': 1.0, 'yes': 5.0})
    """
    if given is None or given == "balanced":
        return given
    pairs = _pairs(given) if isinstance(given, str) else given
    known = {str(label): label for label in labels.tolist()}
    unknown = [str(label) for label in pairs if str(label) not in known]
    if unknown:
        raise WorkflowError(
            f"class_weight={unknown[0]}: there is no such class; classes are {', '.join(list(known)[:8])}."
        )
    return {known[str(label)]: float(weight) for label, weight in pairs.items()}


def _pairs(text: str) -> dict[str, float]:
    pairs: dict[str, float] = {}
    for word in text.split(","):
        label, mark, weight = word.rpartition("=")
        try:
            pairs[label.strip()] = float(weight)
        except ValueError:
            mark = ""
        if not mark or not label.strip():
            raise WorkflowError(
                f"class_weight={text} is neither balanced nor of the form no=1,yes=5 with a number per class."
            )
    return pairs
