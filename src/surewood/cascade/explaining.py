"""How a cascade classified single rows: the machines that each met, and where it stayed."""

from __future__ import annotations

from typing import Any

import numpy as np

from surewood._arrays import Floats
from surewood.cascade.model import Cascade, node_scores
from surewood.cascade.svm_trainer import distance_of
from surewood.svm import nearest_support
from surewood.tables import by_label, plain


def question(number: int, goes_on: bool, threshold: float, distance: float) -> dict[str, Any]:
    """A step of a path: the distance from the boundary of machine `number` against its threshold."""
    return {
        "feature": f"|f{number}|",
        "operator": "<=" if goes_on else ">",
        "value": plain(threshold),
        "actual": plain(distance),
    }


def explain_cascade(
    cascade: Cascade, name: Any, design: Floats, labels: list[Any], origin: Any, n_jobs: int | None = None
) -> list[dict[str, Any]]:
    """The way of each row through one cascade, whose class is `name` (None: all classes)."""
    scores = [node_scores(node, design, cascade.n_classes, n_jobs) for node in cascade.nodes]
    return [_way(cascade, name, [s[row] for s in scores], design[row], labels, origin) for row in
            range(len(design))]  # fmt: skip


def _way(
    cascade: Cascade, name: Any, scores: list[Any], design: Floats, labels: list[Any], origin: Any
) -> dict[str, Any]:
    path: list[dict[str, Any]] = []
    nodes: list[dict[str, Any]] = []
    for k, (node, score) in enumerate(zip(cascade.nodes, scores)):
        distance = float(distance_of(np.asarray(score)[None])[0])
        last = k + 1 == cascade.n_leaves
        goes_on = not last and distance <= node.threshold
        nodes.append(
            {
                "node": k,
                "degree": int(node.degree),
                "decision": plain(score) if np.ndim(score) == 0 else by_label(labels, score),
                "distance": plain(distance),
                "threshold": None if last else plain(node.threshold),
                "goes_on": bool(goes_on),
            }
        )
        if not last:
            path.append(question(k + 1, goes_on, node.threshold, distance))
        if not goes_on:
            break
    support = []
    if node.predictor is not None:
        known = labels if name is None else [f"not {name}", name]
        support = nearest_support(node.predictor, design, known, origin[node.predictor.support_index])
    return {
        "class": name,
        "leaf": k,
        "degree": int(node.degree),
        "correct": float(node.plus),
        "errors": float(node.minus),
        "path": path,
        "nodes": nodes,
        "support": support,
    }


def explain_generic(
    cascade: Any, leaf_families: list[Any], question_families: list[Any], design: Floats, labels: list[Any]
) -> list[dict[str, Any]]:
    """The way of each row through a cascade of any families."""
    told = []
    for row in design:
        path: list[dict[str, Any]] = []
        nodes: list[dict[str, Any]] = []
        k = 0
        for asked, family in zip(cascade.questions, question_families):
            value = float(asked.member.order(row[None])[0])
            goes_on = bool(value <= asked.threshold)
            path.append(question(k + 1, goes_on, asked.threshold, value))
            nodes.append(
                {
                    "node": k,
                    "question": type(family).__name__,
                    "distance": plain(value),
                    "threshold": plain(asked.threshold),
                    "goes_on": goes_on,
                }
            )
            if not goes_on:
                break
            k += 1
        # A chain that ended early keeps the family of its last leaf.
        family = leaf_families[-1] if k + 1 == len(cascade.leaves) else leaf_families[k]
        told.append(
            {
                "class": None,
                "leaf": k,
                "degree": None,
                "family": type(family).__name__,
                "path": path,
                "nodes": nodes,
                "scores": by_label(labels, cascade.leaves[k].scores(row[None])[0]),
                "support": [],
            }
        )
    return told


def told_rows(
    classes: Any, winners: Any, proba: Any, scores: Floats, ways: list[list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Prediction, probabilities and ways of every row; `ways` has one list a cascade."""
    return [
        {
            "kind": "cascade",
            "prediction": plain(classes[winners[row]]),
            "probabilities": None if proba is None else by_label(classes, proba[row]),
            "votes": by_label(classes, scores[row]),
            "cascades": [way[row] for way in ways],
        }
        for row in range(len(winners))
    ]
