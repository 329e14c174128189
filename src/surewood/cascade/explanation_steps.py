"""One explained prediction of a cascade, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surewood.estimators.describing import Facts, step
from surewood.estimators.wording import CLASSES_SHOWN, svm_text


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """Votes of the cascades, the row's path through the best two, and the nearest support vectors."""
    cascades, prediction = explained["cascades"], explained["prediction"]
    shown, steps = list(cascades), []
    if len(cascades) > 1:
        scores = explained["votes"]
        ranked = sorted(scores, key=lambda label: -scores[label])
        best = [str(label) for label in ranked[:2]]
        shown = [one for one in cascades if str(one["class"]) in best]
        shown.sort(key=lambda one: best.index(str(one["class"])))
        lines = [f"{len(cascades)} cascades, one per class; the largest decision value wins"]
        lines += [f"{label}: {scores[label]:.3g}" for label in ranked[:CLASSES_SHOWN]]
        steps.append(step("Votes", lines))
    for one in shown:
        title = f"Cascade for {one['class']}" if len(cascades) > 1 else "Path through the cascade"
        steps.append(step(title, [*(_node(node) for node in one["nodes"]), _leaf(one)]))
    chosen = next((one for one in shown if str(one.get("class")) == str(prediction)), shown[0])
    if chosen.get("support"):
        steps.append(step("Nearest support vectors", [], chosen["support"]))
    return steps


def _node(node: Mapping[str, Any]) -> str:
    kind = node.get("degree")
    name = svm_text(int(kind)) if kind is not None else "decision rule"
    text = f"classifier {node['node'] + 1} ({name}): distance {node['distance']:.3g}"
    if node["threshold"] is None:
        return f"{text}; the last one, it decides"
    if node["goes_on"]:
        return f"{text} is at most {node['threshold']:.3g}; too near the boundary, goes on"
    return f"{text} is above {node['threshold']:.3g}; clear enough, decided here"


def _leaf(one: Mapping[str, Any]) -> str:
    if "correct" not in one:
        return f"leaf {one['leaf'] + 1}: {one['family']}"
    return f"leaf {one['leaf'] + 1}: {one['correct']:,.0f} training rows correct, {one['errors']:,.0f} errors"
