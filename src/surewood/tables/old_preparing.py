"""Rules of columns as table preparers had them before there were plans: models saved then keep working."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surewood.tables.planning.column_plan import ColumnPlan
from surewood.tables.planning.table_plan import TablePlan

_DATE_PARTS = ("year", "month", "weekday", "days")
_DATE_FORMS = {
    "ISO8601": ("year first", False),
    "%d.%m.%Y": ("day first", False),
    "%Y/%m/%d": ("year first", False),
    "%d/%m/%Y": ("open", True),
    "%m/%d/%Y": ("open", False),
}


def plan_of_old_rules(rules: Mapping[str, Mapping[str, Any]], dropped: Mapping[str, str]) -> TablePlan:
    """The plan that does what the rules did.

    Examples
    --------
    >>> rules = {"day": {"kind": "date", "form": "%d.%m.%Y"}, "x": {"kind": "number"}}
    >>> [column.kind for column in plan_of_old_rules(rules, {}).used]
    ['date', 'number']
    """
    columns = [_column(name, rule) for name, rule in rules.items()]
    return TablePlan((*columns, *(ColumnPlan(name, "drop", reason) for name, reason in dropped.items())))


def _column(name: str, rule: Mapping[str, Any]) -> ColumnPlan:
    if rule["kind"] == "date":
        form, day_first = _DATE_FORMS[rule["form"]]
        return ColumnPlan(
            name, "date", "dates", date_forms=(form,), day_first=day_first, date_parts=_DATE_PARTS
        )
    if rule["kind"] == "category":
        values, ordered = tuple(rule["values"]), bool(rule["ordered"])
        return ColumnPlan(name, "category", "categories", categories=values, ordered=ordered)
    return ColumnPlan(name, "number", "numbers")
