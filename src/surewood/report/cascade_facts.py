"""A cascade as plain values: the flow of points, the ledger's terms, what the search proved, work."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from surewood.inspect import bound_terms, cascade_flow
from surewood.inspect.families import family_of
from surewood.report.plain import plain
from surewood.report.subsample import subsample, take

__all__ = ["cascade_facts"]

MAX_ROWS = 2000  # for the curve of work, which asks the cascade eight times


def cascade_facts(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Facts of a fitted cascade on some rows."""
    flows = [
        {"name": name, "leaves": [asdict(leaf) for leaf in leaves], "terms": _terms(model, part)}
        for part, (name, leaves) in enumerate(cascade_flow(model, X, y).items())
    ]
    is_svm = family_of(model) == "cascade"
    rows = subsample(len(y), MAX_ROWS)
    return plain(
        {
            "kind": "cascade",
            "machines": is_svm,
            "n_rows": len(y),
            "flows": flows,
            "longest": max(len(flow["leaves"]) for flow in flows),
            "gamma_scale": model.gamma_scale_ if is_svm else model.gamma_scale,
            "proven": all(found.proven for found in model.search_) if is_svm else True,
            "n_machines": sum(found.n_machines for found in model.search_) if is_svm else None,
            "work": _work(model, take(X, rows), np.asarray(y)[rows]) if is_svm else None,
        }
    )


def _terms(model: Any, part: int) -> list[dict[str, Any]]:
    terms, _ = bound_terms(model, part)
    return terms[["error_term", "term", "side"]].to_dict("records")


def _work(model: Any, X: Any, y: Any) -> list[dict[str, Any]]:
    """Accuracy against kernel values a point, as thresholds are scaled; one point for a single machine."""
    return list(model.latency_curve(X, y).to_dict("records"))
