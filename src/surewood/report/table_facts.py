"""What the data were: rows, columns with kind, missing values and range, balance of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.report.plain import plain, short
from surewood.report.words import percent, value_text
from surewood.tables import TableSchema

__all__ = ["class_facts", "column_facts", "column_names", "n_columns"]

MAX_COLUMNS = 200  # shown on a page; the summary says how many there are


def n_columns(X: Any) -> int:
    return int(np.shape(X)[1])


def column_names(model: Any, X: Any) -> list[str]:
    """Names of the columns: those of the frame, else x0, x1, ..."""
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(n_columns(X))] if names is None else [str(name) for name in names]


def column_facts(model: Any, X: Any) -> list[dict[str, Any]]:
    """One dictionary per column: name, kind, fraction missing, number of values, and its range in words."""
    schema = getattr(model, "schema_", None)
    if schema is None or len(schema.kinds) != n_columns(X):
        schema = TableSchema.learn(X)
    table = schema.read(X)
    names = column_names(model, X)
    facts = []
    for j in range(min(table.n_columns, MAX_COLUMNS)):
        values = table.column(j)
        known = values[~np.isnan(values)]
        facts.append(
            {
                "name": names[j],
                "kind": schema.kinds[j],
                "missing": float(1.0 - len(known) / max(1, len(values))),
                "distinct": len(np.unique(known)),
                "range": _range_in_words(schema, j, known),
            }
        )
    return facts


def _range_in_words(schema: TableSchema, j: int, known: NDArray[np.float64]) -> str:
    if not len(known):
        return "no value"
    if schema.kinds[j] == "category":
        values = schema.categories[j] or []
        codes, counts = np.unique(known.astype(np.int64), return_counts=True)
        order = np.argsort(-counts, kind="stable")[:3]
        parts = [f"{short(values[codes[i]], 24)} ({percent(counts[i] / len(known), 0)})" for i in order]
        return ", ".join(parts) + (" …" if len(codes) > 3 else "")
    if schema.kinds[j] == "time":
        first, last = (pd.Timestamp(float(v), unit="s") for v in (known.min(), known.max()))
        return f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"
    low, middle, high = known.min(), np.median(known), known.max()
    if low == high:
        return f"always {value_text(low)}"
    return f"{value_text(low)} to {value_text(high)}, median {value_text(middle)}"


def class_facts(y: Any, y_hold: Any | None) -> list[dict[str, Any]]:
    """One dictionary per class, most frequent first: rows and fraction in training, rows in the holdout."""
    labels, counts = np.unique(np.asarray(y), return_counts=True)
    held = dict.fromkeys(labels.tolist(), 0)
    if y_hold is not None:
        found, n = np.unique(np.asarray(y_hold), return_counts=True)
        held.update(zip(found.tolist(), n.tolist()))
    total = int(counts.sum())
    order = np.argsort(-counts, kind="stable")
    return [
        plain(
            {
                "label": str(labels[i]),
                "rows": int(counts[i]),
                "share": counts[i] / total,
                "holdout_rows": held[labels[i].item() if hasattr(labels[i], "item") else labels[i]],
            }
        )
        for i in order
    ]
