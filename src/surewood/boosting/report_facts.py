"""Boosted trees as pages and the command line show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surewood.estimators import describing
from surewood.estimators.describing import Facts, ReportRows, step
from surewood.estimators.wording import features_used, path_text

DESCRIPTION = (
    "Many small decision trees, each grown to correct the ones before it; their values are added up. A mean "
    "of a few such models, each trained without a part of the rows."
)


def report_facts(model: Any, rows: ReportRows | None = None) -> Facts:
    """Title and size of fitted boosted trees."""
    fitted = model.model_
    figures = [
        describing.figure("models", len(fitted.n_rounds)),
        describing.figure("trees", int(fitted.trees.n_trees)),
        describing.figure("error on held-out rows", fitted.held_out_error, "percent", "ESTIMATE"),
    ]
    return describing.report_facts(describing.title_of(type(model)), DESCRIPTION, figures)


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """Scores, the features of the splits, and the path in the weightiest tree."""
    scores = [f"{label}: {value:+.2f}" for label, value in explained["scores"].items()]
    steps = [step("Scores (logarithms of odds)", scores)] if scores else []
    steps += features_used(explained["features"])
    for tree in explained["weightiest"][:1]:
        title = f"The tree with the largest value: {tree['value']:+.3f} for {tree['for']}"
        steps.append(step(title, [path_text(tree["path"])]))
    return steps
