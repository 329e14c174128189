"""What is special about each family, as plain values; one file a family does the work."""

from __future__ import annotations

from typing import Any

from surewood.report.quality import Predictions

__all__ = ["family_facts"]


def family_facts(model: Any, X: Any, y: Any, judged: Predictions, *, is_holdout: bool) -> dict[str, Any]:
    """Facts of the model's family; empty for a model of no family."""
    return {}
