"""Rows worth a look: those the model finds hardest, and one typical row of each class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.report.model_step import last_step
from surewood.report.plain import plain_dict, short
from surewood.report.predictions import Predictions
from surewood.report.table_facts import column_names
from surewood.report.words import value_text

__all__ = ["cell_text", "hardest_rows", "row_name", "typical_positions"]

N_HARDEST = 12
N_VALUES = 6
N_TYPICAL = 3


def hardest_positions(judged: Predictions, count: int = N_HARDEST) -> NDArray[np.int64]:
    """Positions of the rows whose true class got the smallest probability, hardest first."""
    if judged.proba is None:
        return np.empty(0, dtype=np.int64)
    known = np.flatnonzero(judged.codes >= 0)
    own = judged.proba[known, judged.codes[known]]
    return np.asarray(known[np.argsort(own, kind="stable")[:count]])


def typical_positions(judged: Predictions, count: int = N_TYPICAL) -> NDArray[np.int64]:
    """Positions of rows that are predicted correctly with middling confidence, one per frequent class."""
    if judged.proba is None:
        return np.empty(0, dtype=np.int64)
    found: list[int] = []
    rows = np.bincount(judged.codes[judged.codes >= 0], minlength=len(judged.classes))
    for k in np.argsort(-rows, kind="stable").tolist():
        own = np.flatnonzero((judged.codes == k) & (judged.guesses == k))
        if own.size and len(found) < count:
            confidence = judged.proba[own, k]
            found.append(int(own[np.argsort(confidence, kind="stable")[own.size // 2]]))
    return np.array(found, dtype=np.int64)


def hardest_rows(
    model: Any, judged: Predictions, important: list[str] | None = None
) -> dict[str, Any] | None:
    """The rows whose true class got the smallest probability, with their most important values."""
    if judged.proba is None:
        return None
    names = column_names(last_step(model), judged.X)
    ranked = [names.index(name) for name in important or [] if name in names]
    columns = [*ranked, *(j for j in range(len(names)) if j not in ranked)][:N_VALUES]
    rows = []
    for i in hardest_positions(judged).tolist():
        guess = judged.guesses[i]
        rows.append(
            {
                "row": row_name(judged.X, i),
                "truth": str(judged.y[i]),
                "predicted": str(judged.predicted[i]),
                "probability_of_truth": judged.proba[i, judged.codes[i]],
                "probability_of_prediction": judged.proba[i, guess] if guess >= 0 else None,
                "values": [cell_text(judged.X, i, j) for j in columns],
            }
        )
    return plain_dict({"columns": [names[j] for j in columns], "rows": rows})


def row_name(X: Any, i: int) -> str:
    """A row as its table names it."""
    return short(X.index[i] if isinstance(X, pd.DataFrame) else i, 28)


def cell_text(X: Any, i: int, j: int) -> str:
    """A value of a table as text."""
    if hasattr(X, "iloc"):
        value = X.iloc[i, j]
    elif hasattr(X, "tocsr"):
        value = X.tocsr()[i, j]
    else:
        value = X[i, j] if hasattr(X, "shape") else X[i][j]
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    if isinstance(value, float | np.floating):
        return value_text(float(value))
    return short(value, 30)
