"""How a cascade classified single rows: the classifiers that each one met, and where it stayed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from surewood._arrays import Counts, Floats
from surewood.cascade.chain import Cascade
from surewood.cascade.generic_model import GenericModel
from surewood.cascade.model import CascadeModel
from surewood.cascade.trainer import distance_of
from surewood.svm import nearest_support
from surewood.tables import Table, by_label, plain

Detail = dict[str, Any]


def explain_rows(
    model: CascadeModel,
    table: Table,
    probabilities: Floats | None,
    labels: Sequence[Any],
    n_jobs: int | None = None,
) -> list[Detail]:
    """One dictionary per row: prediction, probabilities, class scores and path through each cascade."""
    design = model.encode(table)
    scores = model.scores(model.evaluate(design, n_jobs=n_jobs))
    names = [None] if len(model.cascades) == 1 else labels
    paths = [
        _svm_paths(cascade, name, design, labels, model.origin, n_jobs)
        for cascade, name in zip(model.cascades, names)
    ]
    return _rows(labels, scores, probabilities, paths)


def explain_generic_rows(
    model: GenericModel, table: Table, probabilities: Floats | None, labels: Sequence[Any]
) -> list[Detail]:
    """The same for a cascade of any families."""
    design = model.encode(table)
    scores = model.cascade.evaluate(design).scores
    return _rows(labels, scores, probabilities, [_generic_paths(model, design, labels)])


def _rows(
    labels: Sequence[Any], scores: Floats, probabilities: Floats | None, paths: Sequence[Sequence[Detail]]
) -> list[Detail]:
    return [
        {
            "kind": "cascade",
            "prediction": labels[int(row.argmax())],
            "probabilities": None if probabilities is None else by_label(labels, probabilities[k]),
            "votes": by_label(labels, row),
            "cascades": [one[k] for one in paths],
        }
        for k, row in enumerate(scores)
    ]


def _step(number: int, goes_on: bool, threshold: float, distance: float) -> Detail:
    """A step of a path: the distance from the boundary of classifier `number` against its threshold."""
    return {
        "feature": f"|f{number}|",
        "operator": "<=" if goes_on else ">",
        "value": plain(threshold),
        "actual": plain(distance),
    }


def _svm_paths(
    cascade: Cascade,
    name: Any,
    design: Floats,
    labels: Sequence[Any],
    origin: Counts,
    n_jobs: int | None,
) -> list[Detail]:
    """The path of each row through one cascade, whose class is `name` (None: all classes)."""
    scores = [node.scores(design, cascade.n_classes, n_jobs) for node in cascade.nodes]
    return [
        _svm_path(cascade, name, [own[row] for own in scores], design[row], labels, origin)
        for row in range(len(design))
    ]


def _svm_path(
    cascade: Cascade, name: Any, scores: list[Any], design: Floats, labels: Sequence[Any], origin: Counts
) -> Detail:
    path: list[Detail] = []
    nodes: list[Detail] = []
    for k, (node, score) in enumerate(zip(cascade.nodes, scores)):
        distance = float(distance_of(np.asarray(score)[None])[0])
        is_last = k + 1 == cascade.n_leaves
        goes_on = not is_last and distance <= node.threshold
        nodes.append(
            {
                "node": k,
                "degree": int(node.degree),
                "decision": plain(score) if np.ndim(score) == 0 else by_label(labels, score),
                "distance": plain(distance),
                "threshold": None if is_last else plain(node.threshold),
                "goes_on": bool(goes_on),
            }
        )
        if not is_last:
            path.append(_step(k + 1, goes_on, node.threshold, distance))
        if not goes_on:
            break
    support = []
    if node.predictor is not None:
        known = list(labels) if name is None else [f"not {name}", name]
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


def _generic_paths(model: GenericModel, design: Floats, labels: Sequence[Any]) -> list[Detail]:
    """The path of each row through a cascade of any families."""
    details = []
    cascade = model.cascade
    for row in design:
        path: list[Detail] = []
        nodes: list[Detail] = []
        k = 0
        for split, family in zip(cascade.splits, model.split_families):
            value = float(split.member.order(row[None])[0])
            goes_on = bool(value <= split.threshold)
            path.append(_step(k + 1, goes_on, split.threshold, value))
            nodes.append(
                {
                    "node": k,
                    "split": type(family).__name__,
                    "distance": plain(value),
                    "threshold": plain(split.threshold),
                    "goes_on": goes_on,
                }
            )
            if not goes_on:
                break
            k += 1
        details.append(
            {
                "class": None,
                "leaf": k,
                "degree": None,
                "family": type(model.family_of_leaf(k)).__name__,
                "path": path,
                "nodes": nodes,
                "scores": by_label(labels, cascade.leaves[k].scores(row[None])[0]),
                "support": [],
            }
        )
    return details
