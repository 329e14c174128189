"""A composite tree or forest as pages and the command line show it.

:func:`report_facts` has key figures, trees, degrees and the ledger of a model, :func:`explanation_steps` one
explained prediction in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from surewood.base import describing
from surewood.base.describing import Facts, ReportRows, short, step, support_steps
from surewood.base.wording import CLASSES_SHOWN, path_text, plural, probabilities_text, svm_text
from surewood.composite.model import CompositeModel
from surewood.parallel.progress import stage

MAX_TREES = 8  # drawn
MAX_LEAVES = 400  # of the ledger on a page
_TREES_SHOWN = 3  # of an explanation
DESCRIPTION = (
    "Shallow trees whose leaves hold support vector machines; a data-dependent complexity penalty decides "
    "how rich each leaf may be."
)
LEDGER = {
    "tree": describing.column("tree"),
    "leaf": describing.column("leaf"),
    "path": describing.column("path", "text", wide=True),
    "points": describing.column("rows"),
    "errors": describing.column("errors"),
    "degree": describing.column("degree"),
    "complexity_term": describing.column("complexity"),
    "sample_term": describing.column("correct, as a fraction of all rows"),
    "side": describing.column("side", "text"),
    "C": describing.column("C"),
}


def report_facts(estimator: Any, rows: ReportRows | None = None) -> Facts:
    """Title, key figures, trees, degrees and ledger of a fitted composite tree or forest."""
    model, title = estimator._fitted(), describing.title_of(type(estimator))
    verbose = 0 if rows is None else rows.verbose
    ledger = _whole_ledger(model, verbose)
    figures = _figures(model, ledger)
    if rows is None:
        return describing.report_facts(title, DESCRIPTION, figures)
    drawn = []
    chosen = _chosen_trees(ledger)
    with stage(verbose, "drawing trees", len(chosen)) as advance:
        for tree in chosen:
            drawn.append(_tree(model, tree))
            advance(1)
    blocks = [_degrees(model, ledger), _settings(model)]
    if any(len(tree["nodes"]) > 1 for tree in drawn):  # a tree of one leaf is no picture
        blocks.insert(0, _icicle(drawn))
    return describing.report_facts(
        title,
        DESCRIPTION,
        figures,
        [
            describing.section("What votes", [_voters(model, ledger)]),
            describing.section("", blocks),
            describing.section("The ledger", [_ledger(ledger)], _about_the_ledger(ledger)),
        ],
    )


def _voters(model: CompositeModel, ledger: pd.DataFrame) -> Facts:
    """All parts of the vote with their weights: composite trees by their settings, and plain trees."""
    plain, weight = model.trees.plain, 1.0 - model.trees.plain_weight
    leaves = ledger.groupby("tree").size()
    trees_of: dict[str, list[int]] = {}
    for tree in range(model.n_trees):
        setting = model.setting_of(tree)
        name = (
            f"composite trees of depth {setting.max_depth}" if setting.max_depth else "SVMs without a split"
        )
        trees_of.setdefault(name, []).append(tree)
    rows: list[list[Any]] = [
        [name, len(trees), float(leaves.loc[trees].mean()), 100 * weight * len(trees) / model.n_trees]
        for name, trees in trees_of.items()
    ]
    if plain is not None:
        rows.append(["plain trees", int(plain.n_trees), None, 100 * (1.0 - weight)])
    columns = [
        describing.column("part", "text"),
        describing.column("trees"),
        describing.column("leaves per tree", digits=1),
        describing.column("weight in the vote, %", digits=1),
    ]
    return describing.table("voters", columns, rows)


def _whole_ledger(model: CompositeModel, verbose: int) -> pd.DataFrame:
    parts = []
    with stage(verbose, "reading the trees' ledgers", model.n_trees) as advance:
        for tree in range(model.n_trees):
            parts.append(model.ledger(tree))
            advance(1)
    ledger: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return ledger


def _figures(model: CompositeModel, ledger: pd.DataFrame) -> list[Facts]:
    histogram = ledger["degree"].value_counts().sort_index()
    kinds = [model.kind_of(degree) if model.family_names else degree for degree in histogram.index]
    degrees = ", ".join(f"{kind}: {100 * n / len(ledger):.0f} %" for kind, n in zip(kinds, histogram))
    figures = [
        describing.figure("composite trees", model.n_trees),
        describing.figure("leaves", len(ledger)),
        describing.figure(f"{_what_differs(model)} of the leaves", degrees, "text"),
        describing.figure(
            "leaves with an active complexity penalty", model.active_leaves, "percent", digits=1
        ),
    ]
    if model.estimate is not None:
        figures.append(
            describing.figure(
                "error on rows held out from each tree", model.held_out_error, "percent", "ESTIMATE"
            )
        )
    plain = model.trees.plain
    if plain is not None:
        figures.append(
            describing.figure(
                f"weight of {plain.n_trees:,} plain trees in the vote",
                model.trees.plain_weight,
                "percent",
                digits=0,
            )
        )
    return figures


def _what_differs(model: CompositeModel) -> str:
    return "classifiers" if model.family_names else "degrees"


def _chosen_trees(ledger: pd.DataFrame) -> list[int]:
    """Trees to draw: those with most leaves, of them the ones with fewest errors."""
    size = ledger.groupby("tree").agg(leaves=("leaf", "size"), errors=("errors", "sum")).reset_index()
    order = size.sort_values(["leaves", "errors", "tree"], ascending=[False, True, True], kind="stable")
    return [int(tree) for tree in order["tree"][:MAX_TREES]]


def _tree(model: CompositeModel, tree: int) -> Facts:
    """A tree as a variant of the icicle."""
    records = model.nodes(tree).to_dict("records")
    n_leaves = sum(record["leaf"] >= 0 for record in records)
    return {
        "name": f"tree {tree + 1}, {n_leaves} {'leaf' if n_leaves == 1 else 'leaves'}",
        "nodes": [_node(record, model.kind_of(max(record["degree"], 0))) for record in records],
    }


def _node(record: Mapping[Any, Any], kind: str) -> Facts:
    is_root, is_leaf = record["parent"] < 0, record["leaf"] >= 0
    hints = [
        f"{record['points']:,.0f} rows",
        f"{record['errors']:,.0f} training errors",
        f"complexity {record['complexity_term']:.4g}",
    ]
    if is_leaf:
        side = "active" if record["side"] == "complexity" else "inactive"
        hints += [f"leaf {record['leaf']}, {kind}", f"complexity penalty {side}"]
    return {
        "id": int(record["node"]),
        "parent": None if is_root else int(record["parent"]),
        "depth": int(record["depth"]),
        "label": "all rows" if is_root else short(record["condition"], 80),
        "value": float(record["points"]),
        "text": kind if is_leaf else "",
        "hints": hints,
        "level": int(record["degree"]) if is_leaf else None,
    }


def _icicle(drawn: list[Facts]) -> Facts:
    return describing.chart(
        "icicle",
        "A tree, from all rows (top) to its leaves",
        drawn,
        choose="tree",
        wide=True,
        caption="Width: training rows. The stronger a leaf's color, the higher the degree of its SVM; "
        "degree 0 predicts a single class. Hover for counts and complexity.",
    )


def _degrees(model: CompositeModel, ledger: pd.DataFrame) -> Facts:
    names, active, inactive, hints = [], [], [], []
    for _, group in ledger.groupby("degree"):
        n_active = int((group["side"] == "complexity").sum())
        names.append(model.kind_of(int(group["degree"].iloc[0])))
        active.append(n_active)
        inactive.append(len(group) - n_active)
        hints.append(f"{100 * len(group) / len(ledger):.1f} % of the leaves")
    parts = [
        describing.series("complexity penalty active", active, "main", hints),
        describing.series("inactive", inactive, "other", hints),
    ]
    return describing.chart(
        "bars",
        f"{_what_differs(model).capitalize()} of the leaves",
        [{"name": "", "names": names, "series": parts}],
        y_title="leaves",
        caption="Where the penalty is active, a richer classifier had to justify its cost; elsewhere the tie "
        "rule chose.",
    )


def _settings(model: CompositeModel) -> Facts:
    lines = []
    for setting in model.settings:
        depth = "No split, one classifier for all rows"
        if setting.max_depth:
            depth = f"Depth at most {setting.max_depth}"
        if model.family_names:
            offered = f"leaves among {', '.join(model.family_names)}"
        else:
            several = "degrees" if len(setting.degrees) > 1 else "degree"
            C = ", ".join(f"{value:.4g}" for value in np.atleast_1d(setting.C))
            offered = f"{several} {', '.join(str(degree) for degree in setting.degrees)} with C {C}"
        lines.append(
            f"{depth}; {offered}; {setting.max_features} columns tried per node; γ {setting.gamma_scale:.4g}."
        )
    return describing.paragraph(
        "Settings of the trees",
        lines,
        "γ scales the complexity penalty in the criterion that chose the degrees; below 1 the criterion is a "
        "selection score, not a bound.",
    )


def _about_the_ledger(ledger: pd.DataFrame) -> str:
    text = (
        "One row per leaf: the splits that lead to it, its rows, how rich its classifier is and which side "
        "of the minimum decided."
    )
    if len(ledger) > MAX_LEAVES:
        text += f" The {MAX_LEAVES:,} largest leaves of {len(ledger):,}; model.ledger() has them all."
    return text


def _ledger(ledger: pd.DataFrame) -> Facts:
    """The leaves with most rows, in the order of the trees."""
    order = np.argsort(-ledger["points"].to_numpy(), kind="stable")[:MAX_LEAVES]
    shown = ledger.iloc[np.sort(order)][list(LEDGER)].copy()
    shown["path"] = [short(path, 240) for path in shown["path"]]
    shown["tree"] += 1  # as `explain` counts
    return describing.table(
        "ledger", list(LEDGER.values()), shown.to_numpy(dtype=object).tolist(), search=True
    )


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """Votes, degrees of the leaves, the most telling trees and the nearest support vectors."""
    trees, prediction = explained["trees"], explained["prediction"]
    agreeing = [tree for tree in trees if tree["vote"] == prediction]
    others = [tree for tree in trees if tree["vote"] != prediction]
    kinds = Counter((int(tree["degree"]), tree.get("family")) for tree in trees)
    leaves = [
        f"{plural(n, 'leaf', 'leaves')} {f'of degree {degree}' if family is None else f'with {family}'}"
        for (degree, family), n in sorted(kinds.items())
    ]
    steps = [
        step("Votes", _votes(explained, agreeing, others)),
        step("Leaves of this row", [", ".join(leaves)]),
    ]
    for tree in _telling(agreeing)[: _TREES_SHOWN - bool(others)] + _telling(others)[:1]:
        correct = f"{tree['correct']:,.0f} of {plural(round(tree['points']), 'training row')} correct"
        leaf = tree.get("family") or svm_text(int(tree["degree"]))
        lines = [f"path: {path_text(tree['path'])}", f"leaf: {leaf}, {correct}"]
        steps.append(step(f"Tree {tree['tree'] + 1} votes for {tree['vote']}", lines))
    return [*steps, *support_steps(explained)]


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
    distinct: dict[tuple[str, int], Mapping[str, Any]] = {}
    for tree in sorted(trees, key=lambda tree: (not tree["path"], -tree["points"])):
        distinct.setdefault((path_text(tree["path"]), int(tree["degree"])), tree)
    return list(distinct.values())
