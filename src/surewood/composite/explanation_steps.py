"""One explained prediction of a composite tree or forest, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from surewood.estimators.describing import Facts, step
from surewood.estimators.wording import CLASSES_SHOWN, path_text, plural, probabilities_text, svm_text

_TREES_SHOWN = 3


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """Votes, degrees of the leaves, the most telling trees and the nearest support vectors."""
    trees, prediction = explained["trees"], explained["prediction"]
    agreeing = [tree for tree in trees if tree["vote"] == prediction]
    others = [tree for tree in trees if tree["vote"] != prediction]
    degrees = Counter(int(tree["degree"]) for tree in trees)
    leaves = [f"{plural(n, 'leaf', 'leaves')} of degree {degree}" for degree, n in sorted(degrees.items())]
    steps = [
        step("Votes", _votes(explained, agreeing, others)),
        step("Leaves of this row", [", ".join(leaves)]),
    ]
    for tree in _telling(agreeing)[: _TREES_SHOWN - bool(others)] + _telling(others)[:1]:
        correct = f"{tree['correct']:,.0f} of {plural(round(tree['points']), 'training row')} correct"
        lines = [f"path: {path_text(tree['path'])}", f"leaf: {svm_text(int(tree['degree']))}, {correct}"]
        steps.append(step(f"Tree {tree['tree'] + 1} votes for {tree['vote']}", lines))
    support = explained.get("support", [])
    return [*steps, step("Nearest support vectors", [], support)] if support else steps


def _votes(
    explained: Mapping[str, Any], agreeing: Sequence[Any], others: Sequence[Mapping[str, Any]]
) -> list[str]:
    total = len(agreeing) + len(others)
    lines = [f"{len(agreeing)} of {plural(total, 'composite tree')} vote for {explained['prediction']}"]
    if others:
        counts = Counter(tree["vote"] for tree in others).most_common()[:CLASSES_SHOWN]
        lines.append(f"the others: {', '.join(f'{n} for {label}' for label, n in counts)}")
    plain = explained.get("plain_trees")
    if plain:
        weight = f"{100 * plain['weight']:.0f} % of the vote"
        lines.append(
            f"{plural(plain['trees'], 'plain tree')}, {weight}  {probabilities_text(plain['votes'])}"
        )
        lines.append(f"together  {probabilities_text(explained['votes'])}")
    return lines


def _telling(trees: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Trees with a split first, the largest leaves first; a leaf that repeats is left out."""
    found: dict[tuple[str, int], Mapping[str, Any]] = {}
    for tree in sorted(trees, key=lambda tree: (not tree["path"], -tree["points"])):
        found.setdefault((path_text(tree["path"]), int(tree["degree"])), tree)
    return list(found.values())
