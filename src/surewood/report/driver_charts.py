"""Charts about what drives a model: importances with intervals, dependence with density, contributions."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from surewood.report.bar_rows import BarRow, Part, bar_rows
from surewood.report.charts import figure
from surewood.report.plain import middle
from surewood.report.plot import Plot, alt_text
from surewood.report.scales import fitted_axis
from surewood.report.words import number, percent, value_text

__all__ = ["driver_charts", "driver_sentence"]

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
        "importances": _importances(facts["importances"]) if facts["importances"] else None,
        "dependence": [_dependence(one) for one in facts["dependence"] or [] if len(one["grid"]) > 1],
        "rows": [_row(one) for one in facts["rows"] or [] if one["columns"]],
    }


def _importances(facts: dict[str, Any]) -> dict[str, Any]:
    rows = []
    for one in facts["columns"]:
        value = number(one["importance"], 3)
        told = f"{one['column']}: {value} ({number(one['low'], 3)} to {number(one['high'], 3)})"
        parts = [
            Part(0, max(0.0, one["importance"]), "sky", told),
            Part(max(0.0, one["low"]), max(0.0, one["high"]), "ink", told, "thin"),
        ]
        rows.append(BarRow(one["column"], parts, value))
    left = facts["n_columns"] - len(rows)
    more = f" {left:,} less important columns are not drawn." if left > 0 else ""
    now, sure = number(facts["baseline"], 3), percent(facts["confidence"], 0)
    caption = (
        f"ESTIMATE: how much the {facts['metric']} ({now} now) rises when the values of a column are "
        f"shuffled, on {facts['n_rows']:,} rows; lines are {sure} intervals.{more}"
    )
    alt = alt_text("Importance of columns", [(row.name, row.value) for row in rows])
    return figure("Importance of columns", bar_rows(rows), caption=caption, alt=alt)


def _dependence(one: dict[str, Any]) -> dict[str, Any]:
    title, of = middle(one["column"], 40), middle(one["of"], 30)
    caption = f"Change of the predicted probability of {of}, in points; gray: where the rows are."
    drawn = _category_effect(one) if one["kind"] == "category" else _number_effect(one)
    ends = [(_value(v), f"{100 * e:+.1f} points") for v, e in zip(one["grid"], one["effect"])]
    alt = alt_text(f"Effect of {one['column']}", [ends[0], ends[-1]])
    return figure(title, drawn, caption=caption, alt=alt)


def _number_effect(one: dict[str, Any]) -> Markup:
    x, y = one["grid"], [100 * value for value in one["effect"]]
    up = fitted_axis(y, "number", "percentage points", include=(0.0,), margin=0.15)
    plot = Plot(fitted_axis(x, margin=0.02, title=middle(one["column"], 48)), up, height=180)
    density = [n / max(b - a, 1e-12) for n, a, b in zip(one["count"], x, x[1:])]
    most = max(density, default=1.0) or 1.0
    for share, a, b, n in zip(density, x, x[1:], one["count"]):
        top = up.low + 0.3 * (up.high - up.low) * share / most
        plot.column(a, b, top, "peer-soft", f"{n:,} rows from {number(a)} to {number(b)}")
    plot.mark(y=0.0)
    plot.line(x, y, "leaf")
    told = [f"{number(a)}: {b:+.1f} points" for a, b in zip(x, y)]
    plot.points(x, y, "leaf", size=6, tips=told)
    return plot.render()


def _category_effect(one: dict[str, Any]) -> Markup:
    total = max(1, sum(one["count"]))
    rows = []
    for value, effect, n in list(zip(one["grid"], one["effect"], one["count"]))[:_MOST_CATEGORIES]:
        told = f"{_value(value)}: {100 * effect:+.1f} points, {n:,} rows"
        rows.append(
            BarRow(
                f"{middle(_value(value), 24)} ({percent(n / total, 0)} of rows)",
                [Part(0, 100 * effect, "leaf" if effect >= 0 else "bark", told)],
                f"{100 * effect:+.1f}",
            )
        )
    return bar_rows(rows)


def _row(one: dict[str, Any]) -> dict[str, Any]:
    rows = []
    for column in one["columns"]:
        points = 100 * column["contribution"]
        error = 100 * column["standard_error"]
        told = f"{points:+.1f} points" + (f" ± {error:.1f}" if error else "")
        value = _value(column["value"])
        name = f"{middle(column['column'], 28)} = {middle(value, 18)}" if value else column["column"]
        hint = f"{column['column']} = {value}: {told}" if value else f"{column['column']}: {told}"
        rows.append(
            BarRow(name, [Part(0, points, "leaf" if points >= 0 else "warn", hint)], f"{points:+.1f}", hint)
        )
    right = one["truth"] == one["predicted"]
    kind = "Typical" if one["typical"] else "Hard"
    how = "predicted" if right else "wrongly predicted"
    row = f"row {one['row']}" if one["row"].isdigit() else middle(one["row"], 28)
    title = f"{kind}: {row}, {how} {middle(one['predicted'], 24)}"
    share, mean = percent(one["probability"], 1), percent(one["expected"], 1)
    caption = (
        f"{share} for {middle(one['of'], 24)}, {mean} on average"
        + ("" if right else f"; the true class is {middle(one['truth'], 24)}")
        + ". Percentage points that each column adds or subtracts."
    )
    alt = alt_text(title, [(row.name, f"{row.value} points") for row in rows])
    return figure(title, bar_rows(rows), caption=caption, alt=alt)


def _value(value: Any) -> str:
    if value is None:
        return "missing"
    return value_text(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
