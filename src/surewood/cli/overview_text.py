"""A saved model in words: family, size, degrees or layers, ledger totals, card."""

from __future__ import annotations

from typing import Any

import numpy as np

from surewood.cli.model_file import SavedModel, plural
from surewood.cli.summary_text import percent, seconds_text


def overview(saved: SavedModel) -> dict[str, Any]:
    """What there is to say about a model as a whole, as plain values."""
    facts, estimator = saved.facts, saved.estimator
    about = {
        "model": str(saved.path),
        "family": facts.get("title", type(estimator).__name__),
        "trained on": _trained_on(facts),
        "classes": ", ".join(str(label) for label in list(estimator.classes_)[:8])
        + (f", ... ({len(estimator.classes_)} in all)" if len(estimator.classes_) > 8 else ""),
        "columns": _columns(saved),
    }
    if facts.get("holdout"):
        about["holdout"] = f"error {percent(facts['holdout']['error'])} on {facts['holdout']['rows']:,} rows"
    about |= {name: text for name, text in _structure(estimator).items() if text}
    if "seconds" in facts:
        about["fitted"] = f"in {seconds_text(facts['seconds'])}, seed {facts['seed']}, {facts['created']}"
    size = saved.path.stat().st_size / 1e3
    shown = f"{size / 1e3:,.1f} MB" if size > 1e3 else f"{size:,.0f} kB"
    about["file"] = f"{shown}, format {saved.card['format']}, surewood {saved.card['surewood']}"
    return about


def _trained_on(facts: dict[str, Any]) -> str:
    if "rows" not in facts:
        return ""
    return f"{plural(facts['rows'], 'row')} of {facts['table']}, target {facts['target']!r}"


def _columns(saved: SavedModel) -> str:
    kinds = [rule["kind"] for rule in saved.preparer.columns_.values()]
    counted = [f"{kinds.count(kind)} {word}" for kind, word in _KINDS.items() if kind in kinds]
    dropped = len(saved.preparer.dropped_)
    return ", ".join(counted) + (f"; {dropped} not used" if dropped else "")


_KINDS = {"number": "numeric", "category": "categorical", "date": "dates"}


def _structure(estimator: Any) -> dict[str, str]:
    """Sizes that a family has, read from public attributes."""
    if hasattr(estimator, "degrees_histogram_"):
        return _composite(estimator)
    if hasattr(estimator, "cascades_"):
        return _cascade(estimator)
    if hasattr(estimator, "layers_"):
        return _layers(estimator)
    return {}


def _composite(estimator: Any) -> dict[str, str]:
    histogram = estimator.degrees_histogram_
    total = sum(histogram.values())
    degrees = ", ".join(f"{degree}: {percent(count / total, 0)}" for degree, count in histogram.items())
    ledger = estimator.ledger()
    points = float(ledger["points"].sum())
    correct = float(ledger["correct"].sum()) if "correct" in ledger else None
    text = f"{len(ledger):,} leaves, {points:,.0f} training rows in them"
    if correct is not None:
        text += f", {percent(correct / points)} right"
    n_trees = len(np.atleast_1d(estimator.criterion_))
    return {
        "trees": f"{n_trees} composite; plain trees have {percent(estimator.plain_weight_, 0)} of the vote",
        "degrees": f"{degrees} of the leaves",
        "active leaves": f"{percent(estimator.active_leaves_, 1)} felt the complexity of their degree",
        "ledger": text,
    }


def _cascade(estimator: Any) -> dict[str, str]:
    cascades = estimator.cascades_
    leaves = [one.n_leaves for one in cascades]
    machines = sum(node.n_support for one in cascades for node in one.nodes)
    degrees = sorted({int(degree) for one in cascades for degree in one.degrees})
    gamma = estimator.gamma_scale_
    chosen = "a plain machine, no γ" if gamma is None else f"γ = {gamma:.3g}"
    few, many = min(leaves), max(leaves)
    each = f"{few} to {many} leaves" if few < many else "one leaf" if many == 1 else f"{many} leaves"
    return {
        "cascades": f"{plural(len(cascades), 'cascade')} of {each}; chosen: {chosen}",
        "degrees": ", ".join(map(str, degrees)),
        "support vectors": f"{machines:,}",
    }


def _layers(estimator: Any) -> dict[str, str]:
    records = estimator.layers_
    kept = [record for record in records if record.kept]
    trees = sum(record.n_trees for record in kept)
    steps = [
        f"{r.layer}: accuracy {percent(r.accuracy)}, margin ratio {r.margin_ratio:.2f}" for r in kept[:6]
    ]
    return {
        "layers": f"{len(kept)} kept of {len(records)} grown, {trees:,} trees",
        "held-out by layer": "; ".join(steps),
    }
