"""What drives a model: importances of columns, dependence on them, and why rows got their prediction.

Importances are measured on the rows that the page judges the model on. All of it is limited to a number of
predictions that depends on the table alone, so a page takes seconds and is the same every time. First the
facts, then their charts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from surewood.base.describing import sample_rows, short, take_rows
from surewood.base.wording import percent, plural, points_text
from surewood.inspect import contributions, dependence, permutation_importances
from surewood.report.charts import BarRow, Part, Plot, alt_text, bar_rows, figure, fitted_axis
from surewood.report.facts import Predictions, last_step
from surewood.report.quality import hardest_positions, row_name, typical_positions
from surewood.report.words import middle, number, plain_dict, value_text, written
from surewood.tables import plain
from surewood.tables.planning.dates import date_text

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
    model: Any,
    judged: Predictions,
    X_train: Any,
    positive: int,
    groups: dict[str, Any] | None = None,
    as_written: Mapping[str, Mapping[str, Any]] | None = None,
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
    as_written : mapping, optional
        How the table writes the values of its columns, see :func:`~surewood.report.words.written`.
    """
    how = as_written or {}
    labelled = judged.known()
    if judged.proba is None or len(labelled) < 2 or len(judged.classes) < 2:
        return None
    chosen = last_step(model) if last_step(model, with_rule=True) is not last_step(model) else model
    facts: dict[str, Any] = {"importances": None, "dependence": None, "rows": None, "notes": []}
    parts: dict[str, Callable[[], Any]] = {
        "importances": lambda: _importances(chosen, labelled, len(judged.classes), groups),
        "dependence": lambda: _dependence(chosen, labelled.X, _top(facts), judged, positive, how),
        "rows": lambda: _rows(chosen, judged, X_train, groups, how),
    }
    for name, make in parts.items():
        try:
            facts[name] = make()
        except (TypeError, ValueError, NotImplementedError) as error:
            # another library's classifier may refuse rows that are put together from others
            facts["notes"].append(f"{name}: {short(error, 160)}")
    return plain_dict(facts)


def _importances(model: Any, labelled: Any, n_classes: int, groups: dict[str, Any] | None) -> dict[str, Any]:
    n_columns = int(np.shape(labelled.X)[1])
    predictions = int(PREDICTIONS * _share(n_classes))
    n_rows = max(LEAST_ROWS, min(MOST_ROWS, predictions // n_columns))
    n_repeats = max(1, min(3, predictions // (n_columns * n_rows)))
    rows = sample_rows(len(labelled), n_rows)
    held = take_rows(labelled.X, rows)
    result = permutation_importances(model, held, labelled.y[rows], n_repeats, groups=groups)
    frame = result.frame().head(MOST_IMPORTANCES)
    names = ("column", "importance", "low", "high")
    return {
        "metric": METRIC_WORDS[result.metric],
        "baseline": result.baseline,
        "confidence": result.confidence,
        "n_rows": len(rows),
        "n_columns": len(result.columns),
        "columns": [dict(zip(names, row)) for row in frame[list(names)].itertuples(index=False, name=None)],
    }


def _share(n_classes: int) -> float:
    """Part of the usual number of predictions: it falls as the number of pairs of classes grows."""
    return min(1.0, (MANY_CLASSES / n_classes) ** 2)


def _top(facts: dict[str, Any]) -> list[str]:
    """Columns to draw: the most important ones whose importance is clearly above 0."""
    if not facts["importances"]:
        return []
    return [column["column"] for column in facts["importances"]["columns"] if column["importance"] > 0]


def _dependence(
    model: Any,
    X: Any,
    top: list[str],
    judged: Predictions,
    positive: int,
    how: Mapping[str, Mapping[str, Any]],
) -> list[dict[str, Any]]:
    names = {str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(int(np.shape(X)[1]))])}
    wanted: list[Any] = [name for name in top if name in names][:N_DEPENDENCE]
    if not hasattr(X, "columns"):
        wanted = [int(name[1:]) for name in wanted]
    most = max(LEAST_ROWS, int(DEPENDENCE_ROWS * _share(len(judged.classes))))
    effects = dependence(model, X, wanted, n_points=16, max_rows=most) if wanted else []
    drawn = []
    k = positive  # of several classes the one that all of these columns together change most, in all charts
    if len(judged.classes) > 2 and effects:
        k = int(np.argmax(np.sum([effect.strength for effect in effects], axis=0)))
    for effect in effects:
        is_number = effect.kind != "category"
        drawn.append(
            {
                "column": effect.column,
                "kind": effect.kind,
                "unit": how.get(effect.column, {}).get("unit", "") if is_number else "",
                "of": str(judged.classes[k]),
                "grid": [plain(v if is_number else written(v, how.get(effect.column))) for v in effect.grid],
                "effect": effect.effect[:, k],
                "count": effect.count,
            }
        )
    return drawn


def _rows(
    model: Any,
    judged: Predictions,
    X_train: Any,
    groups: dict[str, Any] | None,
    how: Mapping[str, Mapping[str, Any]],
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
    shares = contributions(model, chosen, background, groups=groups)
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
                "expected": shares.expected[shown],
                "exact": shares.method == "exact",
                "columns": [
                    _as_in_the_table(column, chosen, k, groups or {}, how)
                    for column in shares.top(k, label, TOP_COLUMNS)
                ],
            }
        )
    return rows


def _as_in_the_table(
    column: dict[str, Any], X: Any, row: int, groups: dict[str, Any], how: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """A contribution with the value as it was written, or with the date that its parts came from.

    Numbers made from a text are not shown.
    """
    prepared = groups.get(column["column"], [])
    if not prepared or isinstance(prepared, str) or not hasattr(X, "iloc"):
        return {**column, "value": written(column["value"], how.get(column["column"]))}
    days = f"{column['column']}: days"
    return {**column, "value": date_text(X[days].iloc[row]) if days in prepared else ""}


_MOST_CATEGORIES = 8


def driver_sentence(facts: dict[str, Any] | None) -> str:
    """Which columns matter, in one sentence.

    Examples
    --------
    >>> one = {"column": "age", "importance": 0.2, "low": 0.1, "high": 0.3}
    >>> driver_sentence({"importances": {"columns": [one], "n_columns": 5}})
    'The prediction rests most on age; at least 1 of 5 columns clearly matters.'
    """
    if not facts or not facts["importances"]:
        return ""
    rows = facts["importances"]["columns"]
    clear = [row for row in rows if row["low"] > 0]
    if not clear:
        return "No single column clearly matters: shuffling any one of them changes little."
    first = [middle(row["column"], 40) for row in clear[:3]]
    named = first[0] if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]}"
    more = "at least " if len(clear) == len(rows) < facts["importances"]["n_columns"] else ""
    verb = "matters" if len(clear) == 1 else "matter"
    total = facts["importances"]["n_columns"]
    return f"The prediction rests most on {named}; {more}{len(clear)} of {total:,} columns clearly {verb}."


def driver_charts(facts: dict[str, Any] | None) -> dict[str, Any]:
    """Charts of importances, of dependence (a list) and of rows (a list)."""
    if not facts:
        return {"importances": None, "dependence": [], "rows": []}
    return {
        "importances": _importance_charts(facts["importances"]) if facts["importances"] else None,
        "dependence": [
            _dependence_charts(effect) for effect in facts["dependence"] or [] if len(effect["grid"]) > 1
        ],
        "rows": [_row(row) for row in facts["rows"] or [] if row["columns"]],
    }


def _importance_charts(facts: dict[str, Any]) -> dict[str, Any]:
    rows = []
    for column in facts["columns"]:
        value = number(column["importance"], 3)
        tip = f"{column['column']}: {value} ({number(column['low'], 3)} to {number(column['high'], 3)})"
        bars = [
            Part(0, column["importance"], "sky", tip),
            Part(column["low"], column["high"], "ink", tip, "thin"),
        ]
        rows.append(BarRow(column["column"], bars, value))
    left = facts["n_columns"] - len(rows)
    more = f" Not drawn: {plural(left, 'less important column')}." if left > 0 else ""
    now, sure = number(facts["baseline"], 3), percent(facts["confidence"], 0)
    caption = (
        f"ESTIMATE: how much the {facts['metric']} ({now} now) rises when the values of a column are "
        f"shuffled, on {facts['n_rows']:,} rows; lines are {sure} intervals.{more}"
    )
    alt = alt_text("Importance of columns", [(row.name, row.value) for row in rows])
    return figure("Importance of columns", bar_rows(rows), caption=caption, alt=alt)


def _dependence_charts(effect: dict[str, Any]) -> dict[str, Any]:
    title, of = middle(effect["column"], 40), middle(effect["of"], 30)
    is_category = effect["kind"] == "category"
    gray = "" if is_category else "; gray: where the rows are"
    caption = f"Change of the predicted probability of {of}, in points{gray}."
    drawn = _category_effect(effect) if is_category else _number_effect(effect)
    ends = [(_value(v), f"{100 * change:+.1f} points") for v, change in zip(effect["grid"], effect["effect"])]
    alt = alt_text(f"Effect of {effect['column']}", [ends[0], ends[-1]])
    return figure(title, drawn, caption=caption, alt=alt)


def _number_effect(effect: dict[str, Any]) -> Markup:
    x, y = effect["grid"], [100 * value for value in effect["effect"]]
    up = fitted_axis(y, "number", "percentage points", include=(0.0,), margin=0.15)
    unit = f" ({effect['unit']})" if effect.get("unit") else ""
    plot = Plot(fitted_axis(x, margin=0.02, title=middle(effect["column"], 48) + unit), up, height=180)
    density = [n / max(b - a, 1e-12) for n, a, b in zip(effect["count"], x, x[1:])]
    most = max(density, default=1.0) or 1.0
    for share, a, b, n in zip(density, x, x[1:], effect["count"]):
        top = up.low + 0.3 * (up.high - up.low) * share / most
        plot.column(a, b, top, "peer-soft", f"{n:,} rows from {number(a)} to {number(b)}")
    plot.mark(y=0.0)
    plot.line(x, y, "leaf")
    tips = [f"{number(a)}: {b:+.1f} points" for a, b in zip(x, y)]
    plot.points(x, y, "leaf", size=6, tips=tips)
    return plot.render()


def _category_effect(effect: dict[str, Any]) -> Markup:
    total = max(1, sum(effect["count"]))
    rows = []
    for value, change, n in list(zip(effect["grid"], effect["effect"], effect["count"]))[:_MOST_CATEGORIES]:
        tip = f"{_value(value)}: {100 * change:+.1f} points, {n:,} rows"
        rows.append(
            BarRow(
                f"{middle(_value(value), 24)} ({percent(n / total, 0)} of rows)",
                [Part(0, 100 * change, "leaf" if change >= 0 else "bark", tip)],
                f"{100 * change:+.1f}",
            )
        )
    return bar_rows(rows)


def _row(explained: dict[str, Any]) -> dict[str, Any]:
    rows = []
    for column in explained["columns"]:
        points = 100 * column["contribution"]
        size = points_text(column["contribution"], column["standard_error"])
        value = _value(column["value"])
        name = f"{middle(column['column'], 28)} = {middle(value, 18)}" if value else column["column"]
        hint = f"{column['column']} = {value}: {size}" if value else f"{column['column']}: {size}"
        rows.append(
            BarRow(name, [Part(0, points, "leaf" if points >= 0 else "warn", hint)], f"{points:+.1f}", hint)
        )
    right = explained["truth"] == explained["predicted"]
    kind = "Typical" if explained["typical"] else "Hard"
    how = "predicted" if right else "wrongly predicted"
    row = f"row {explained['row']}" if explained["row"].isdigit() else middle(explained["row"], 28)
    title = f"{kind}: {row}, {how} {middle(explained['predicted'], 24)}"
    share, mean = percent(explained["probability"], 1), percent(explained["expected"], 1)
    caption = (
        f"{share} for {middle(explained['of'], 24)}, {mean} on average"
        + ("" if right else f"; the true class is {middle(explained['truth'], 24)}")
        + ". Percentage points that each column adds or subtracts."
    )
    alt = alt_text(title, [(row.name, f"{row.value} points") for row in rows])
    return figure(title, bar_rows(rows), caption=caption, alt=alt)


def _value(value: Any) -> str:
    if value is None:
        return "missing"
    return value_text(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
