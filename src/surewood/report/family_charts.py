"""Which charts belong to which family; each family has a file of its own."""

from __future__ import annotations

from typing import Any

from surewood.report.cascade_charts import cascade_charts
from surewood.report.composite_charts import composite_charts
from surewood.report.layer_charts import layer_charts

__all__ = ["family_charts"]

_CHARTS = {"composite": composite_charts, "cascade": cascade_charts, "layers": layer_charts}


def family_charts(facts: dict[str, Any] | None) -> dict[str, Any]:
    """The charts of a family by their names in its template; none for a model of no family."""
    return {} if facts is None else _CHARTS[facts["kind"]](facts)
