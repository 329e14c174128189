"""A binned forest as pages and the command line show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from surewood.estimators import describing
from surewood.estimators.describing import Facts, ReportRows, step
from surewood.estimators.wording import CLASSES_SHOWN, features_used, path_text, plural

DESCRIPTION = "Many decision trees, grown on random subsets of the rows and columns, that vote."


def report_facts(model: Any, rows: ReportRows | None = None) -> Facts:
    """Title and size of a fitted forest."""
    figures = [
        describing.figure("trees", int(model.forest_.n_trees)),
        describing.figure("nodes", int(model.forest_.node_start[-1])),
    ]
    return describing.report_facts(describing.title_of(type(model)), DESCRIPTION, figures)


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """Votes of the trees, the features of their splits, and the path of one tree that agrees."""
    trees = explained["trees"]
    votes = Counter(tree["vote"] for tree in trees).most_common()[:CLASSES_SHOWN]
    steps = [step("Votes", [f"{n} of {plural(len(trees), 'tree')} vote for {label}" for label, n in votes])]
    steps += features_used(explained["features"])
    for tree in trees:
        if tree["vote"] == explained["prediction"]:
            steps.append(step(f"Tree {tree['tree'] + 1} votes for {tree['vote']}", [path_text(tree["path"])]))
            break
    return steps
