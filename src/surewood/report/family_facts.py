"""What is special about each family, as plain values; one file a family does the work."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from surewood.inspect.families import family_of, last_step
from surewood.report.cascade_facts import cascade_facts
from surewood.report.composite_facts import composite_facts
from surewood.report.layer_facts import layer_facts
from surewood.report.quality import Predictions

__all__ = ["family_facts"]


def family_facts(
    model: Any, judged: Predictions, *, is_holdout: bool, verbose: int = 0
) -> dict[str, Any] | None:
    """Facts of the model's family, drawn on the rows that are judged; None for a model of no family."""
    family, core = family_of(model), last_step(model)
    rows = judged.known()
    X = model[:-1].transform(rows.X) if isinstance(model, Pipeline) else rows.X
    if family == "composite":
        return composite_facts(core, verbose)
    if not rows.n_rows:
        return None
    if family in ("cascade", "generic_cascade"):
        return cascade_facts(core, X, rows.y)
    if family in ("margin_forest", "cascade_forest") and len(core.classes_) > 1:
        return layer_facts(core, X, rows.y, rows.codes, is_holdout=is_holdout, verbose=verbose)
    return None
