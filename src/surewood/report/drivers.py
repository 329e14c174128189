"""What drives a model: importances of columns, dependence on them, and why single rows got their prediction.

Importances are measured on the rows that the page judges the model on. All of it is limited to a number of
predictions that depends on the table alone, so a page takes seconds and is the same every time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surewood.estimators.describing import sample_rows, take_rows
from surewood.estimators.many_columns import MOST_COLUMNS
from surewood.inspect import contributions, dependence, permutation_importances
from surewood.report.hard_rows import hardest_positions, row_name, typical_positions
from surewood.report.model_step import last_step
from surewood.report.plain import plain, plain_dict, short
from surewood.report.predictions import Predictions
from surewood.tables.planning.date_parts import date_text

__all__ = ["driver_facts"]

PREDICTIONS = 30_000  # rows predicted for the importances of all columns
LEAST_ROWS, MOST_ROWS = 40, 400
MANY_CLASSES = 100  # beyond, fewer rows are predicted: SVMs of all pairs of classes take long for each
DEPENDENCE_ROWS = 200
MOST_IMPORTANCES = 15  # on the page
N_DEPENDENCE = 4
N_BACKGROUND, LEAST_BACKGROUND = 60, 10
N_ROWS_EXPLAINED = 3  # of the hardest, and of typical ones
TOP_COLUMNS = 6
METRIC_WORDS = {"log_loss": "log-loss", "brier": "Brier score", "error": "error"}


def driver_facts(
    model: Any, judged: Predictions, X_train: Any, positive: int, groups: dict[str, Any] | None = None
) -> dict[str, Any] | None:
    """Importances, dependence and contributions as plain values; None without probabilities or labels.

    Parameters
    ----------
    model : fitted classifier or pipeline
    judged : Predictions
        Rows that the model is judged on.
    X_train : table
        Training rows; contributions compare with some of them.
    positive : int
        Class whose probability the charts are about, where there are two.
    groups : dict of str to list of str, optional
        Columns that count as one, such as the parts of a date.
    """
    known = judged.known()
    if judged.proba is None or known.n_rows < 2 or len(judged.classes) < 2:
        return None
    chosen = last_step(model) if last_step(model, with_rule=True) is not last_step(model) else model
    found: dict[str, Any] = {"importances": None, "dependence": None, "rows": None, "notes": []}
    parts: dict[str, Callable[[], Any]] = {
        "importances": lambda: _importances(chosen, known, len(judged.classes), groups),
        "dependence": lambda: _dependence(chosen, known.X, _top(found), judged, positive),
        "rows": lambda: _rows(chosen, judged, X_train, groups),
    }
    for name, make in parts.items():
        try:
            found[name] = make()
        except (TypeError, ValueError, NotImplementedError) as error:
            # another library's classifier may refuse rows that are put together from others
            found["notes"].append(f"{name}: {short(error, 160)}")
    return plain_dict(found)


def _importances(model: Any, known: Any, n_classes: int, groups: dict[str, Any] | None) -> dict[str, Any]:
    n_columns = int(np.shape(known.X)[1])
    predictions = int(PREDICTIONS * _share(n_classes))
    n_rows = max(LEAST_ROWS, min(MOST_ROWS, predictions // n_columns))
    n_repeats = max(1, min(3, predictions // (n_columns * n_rows)))
    rows = sample_rows(known.n_rows, n_rows)
    held = take_rows(known.X, rows)
    result = permutation_importances(model, held, known.y[rows], n_repeats, groups=groups)
    frame = result.frame().head(MOST_IMPORTANCES)
    names = ("column", "importance", "low", "high")
    return {
        "metric": METRIC_WORDS[result.metric],
        "baseline": result.baseline,
        "confidence": result.confidence,
        "n_rows": len(rows),
        "n_columns": n_columns if n_columns > MOST_COLUMNS else len(result.columns),
        "columns": [dict(zip(names, row)) for row in frame[list(names)].itertuples(index=False, name=None)],
    }


def _share(n_classes: int) -> float:
    """Part of the usual number of predictions: it falls as the number of pairs of classes grows."""
    return min(1.0, (MANY_CLASSES / n_classes) ** 2)


def _top(found: dict[str, Any]) -> list[str]:
    """Columns to draw: the most important ones whose importance is clearly above 0."""
    if not found["importances"]:
        return []
    return [one["column"] for one in found["importances"]["columns"] if one["importance"] > 0]


def _dependence(
    model: Any, X: Any, top: list[str], judged: Predictions, positive: int
) -> list[dict[str, Any]]:
    names = {str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(int(np.shape(X)[1]))])}
    wanted: list[Any] = [name for name in top if name in names][:N_DEPENDENCE]
    if not hasattr(X, "columns"):
        wanted = [int(name[1:]) for name in wanted]
    most = max(LEAST_ROWS, int(DEPENDENCE_ROWS * _share(len(judged.classes))))
    effects = dependence(model, X, wanted, n_points=16, max_rows=most) if wanted else []
    drawn = []
    for one in effects:
        k = positive if len(judged.classes) == 2 else int(np.argmax(one.strength))
        drawn.append(
            {
                "column": one.column,
                "kind": one.kind,
                "of": str(judged.classes[k]),
                "grid": [plain(value) for value in one.grid],
                "effect": one.effect[:, k],
                "count": one.count,
            }
        )
    return drawn


def _rows(
    model: Any, judged: Predictions, X_train: Any, groups: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """Contributions to the predicted class of the hardest and of typical rows."""
    hard = hardest_positions(judged, N_ROWS_EXPLAINED)
    wrong = [i for i in hard.tolist() if not judged.right[i]]
    typical = typical_positions(judged, N_ROWS_EXPLAINED).tolist()
    places = np.array([*typical, *wrong], dtype=np.int64)
    if not len(places):
        return []
    n_background = max(LEAST_BACKGROUND, int(N_BACKGROUND * _share(len(judged.classes))))
    background = take_rows(X_train, sample_rows(int(np.shape(X_train)[0]), n_background))
    chosen = take_rows(judged.X, places)
    found = contributions(model, chosen, background, groups=groups)
    rows = []
    for k, i in enumerate(places.tolist()):
        assert judged.proba is not None
        shown = int(judged.proba[i].argmax())
        label = judged.classes[shown]
        rows.append(
            {
                "row": row_name(judged.X, i),
                "typical": k < len(typical),
                "truth": str(judged.y[i]),
                "predicted": str(judged.predicted[i]),
                "of": str(label),
                "probability": judged.proba[i, shown],
                "expected": found.expected[shown],
                "exact": found.method == "exact",
                "columns": [
                    _as_in_the_table(one, chosen, k, groups or {}) for one in found.top(k, label, TOP_COLUMNS)
                ],
            }
        )
    return rows


def _as_in_the_table(one: dict[str, Any], X: Any, row: int, groups: dict[str, Any]) -> dict[str, Any]:
    """A contribution with the date that its parts came from; numbers made from a text are not shown."""
    parts = groups.get(one["column"], [])
    if not parts or isinstance(parts, str) or not hasattr(X, "iloc"):
        return one
    days = f"{one['column']}: days"
    return {**one, "value": date_text(X[days].iloc[row]) if days in parts else ""}
