"""A polynomial SVM as pages and the command line show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surewood.estimators import describing
from surewood.estimators.describing import Facts, ReportRows, step

DESCRIPTION = "A support vector machine with a polynomial kernel for each pair of classes."
_PAIRS_SHOWN = 6


def report_facts(model: Any, rows: ReportRows | None = None) -> Facts:
    """Title and size of a fitted SVM."""
    n_classes = len(model.classes_)
    figures = [
        describing.figure("pairs of classes", n_classes * (n_classes - 1) // 2),
        describing.figure("support vectors", len(model.support_)),
    ]
    return describing.report_facts("Polynomial SVM", DESCRIPTION, figures)


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """Pairwise decisions, the clearest first, and the nearest support vectors."""
    pairs = sorted(explained["pairs"], key=lambda pair: -abs(pair["decision"]))[:_PAIRS_SHOWN]
    lines = [
        f"{pair['first']} against {pair['second']}: {pair['decision']:.3g}, "
        f"for {pair['first'] if pair['decision'] > 0 else pair['second']}"
        for pair in pairs
    ]
    steps = [step("Decision for each pair of classes", lines)]
    support = explained.get("support", [])
    return [*steps, step("Nearest support vectors", [], support)] if support else steps
