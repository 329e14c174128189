"""A cascade as pages, plots and the command line show it.

`report_facts` is ``__report_facts__`` of the estimators, `exits_of` counts the rows that leave at each leaf,
and `explanation_steps` is one explained prediction in words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from surewood._arrays import Counts, Mask
from surewood.base import describing
from surewood.base.describing import Exit, Facts, ReportRows, step, support_steps
from surewood.base.wording import CLASSES_SHOWN, plural, svm_text

MAX_ROWS = 2000  # for accuracy against work, which evaluates the cascade eight times


def report_facts(model: Any, rows: ReportRows | None = None) -> Facts:
    """Title, key figures, flow, criterion and, of SVMs, work of a fitted cascade."""
    figures, title = model.model_.facts(), describing.title_of(type(model))
    if rows is None or not len(rows):
        return describing.report_facts(title, model._description, figures)
    flows: dict[str, list[Exit]] = model.leaf_flow(rows.X, rows.y)
    charts = []
    if max(len(leaves) for leaves in flows.values()) > 1:
        charts.append(_flow_chart(flows))
        if model.gamma_scale_:
            charts.append(_terms_chart([(name, model.leaf_terms(k)[0]) for k, name in enumerate(flows)]))
        if hasattr(model, "latency_curve"):
            few = rows.sample(MAX_ROWS)
            charts.append(_work_chart(model.latency_curve(few.X, few.y)))
    return describing.report_facts(title, model._description, figures, _sections(flows, charts))


def exits_of(
    leaf: Counts,
    correct: Mask | None,
    kinds: Sequence[int | str],
    thresholds: Sequence[float],
    work: Sequence[int | None],
) -> list[Exit]:
    """The leaves of a cascade, from the leaf of every row and, with labels, whether it is correct there.

    Each leaf has a degree or the name of a family, a threshold (negative infinity at the last one) and, in
    `work`, kernel values per row.
    """
    exits, left = [], len(leaf)
    for k, (kind, threshold) in enumerate(zip(kinds, thresholds)):
        here = leaf == k
        accuracy = float(correct[here].mean()) if correct is not None and here.any() else None
        points, limit = int(here.sum()), threshold if math.isfinite(threshold) else None
        exits.append(Exit(k, kind, left, points, accuracy, limit, work[k]))
        left -= points
    return exits


def _sections(flows: dict[str, list[Exit]], charts: list[Facts]) -> list[Facts]:
    columns = [
        describing.column("cascade", "text"),
        describing.column("leaf"),
        describing.column("degree or classifier", "text"),
        describing.column("threshold"),
        describing.column("rows that arrive"),
        describing.column("rows that leave"),
        describing.column("correct, %", digits=1),
        describing.column("kernel values per row"),
    ]
    rows = [
        [
            name,
            leaf.leaf + 1,
            str(leaf.degree),
            leaf.threshold,
            leaf.arrive,
            leaf.points,
            None if leaf.accuracy is None else 100 * leaf.accuracy,
            leaf.kernel_values,
        ]
        for name, leaves in flows.items()
        for leaf in leaves
    ]
    text = ""
    if not charts:
        text = "The best cascade here is a single classifier: a longer chain would not justify its cost."
    table = describing.table("leaves", columns, rows, search=len(rows) > 10)
    first = [describing.section("", charts)] if charts else []
    return [*first, describing.section("Leaf by leaf", [table], text)]


def _flow_chart(flows: dict[str, list[Exit]]) -> Facts:
    variants = []
    for name, leaves in flows.items():
        stages = [
            {
                "label": f"degree {leaf.degree}" if isinstance(leaf.degree, int) else str(leaf.degree),
                "arrive": leaf.arrive,
                "points": leaf.points,
                "accuracy": leaf.accuracy,
                "threshold": leaf.threshold,
            }
            for leaf in leaves
        ]
        variants.append({"name": _name(name), "stages": stages})
    n_rows = next(iter(flows.values()))[0].arrive
    return describing.chart(
        "flow",
        "The flow of rows",
        variants,
        choose="cascade",
        wide=True,
        caption=f"{plural(n_rows, 'row')}. A row leaves where its distance from the boundary exceeds the "
        "threshold.",
    )


def _name(name: str) -> str:
    return "" if name == "all" else f"{name} against the rest"


def _terms_chart(ledgers: list[tuple[str, pd.DataFrame]]) -> Facts:
    variants = []
    for name, ledger in ledgers:
        total = float(ledger["points"].sum())
        active = [
            f"complexity penalty {'active' if s == 'complexity' else 'inactive'}" for s in ledger["side"]
        ]
        variants.append(
            {
                "name": _name(name),
                "names": [f"leaf {k + 1}" for k in range(len(ledger))],
                "series": [
                    describing.series("errors", (ledger["errors"] / total).tolist(), "other"),
                    describing.series("complexity penalty", ledger["term"].tolist(), "main", active),
                ],
            }
        )
    return describing.chart(
        "bars",
        "What each leaf adds to the criterion",
        variants,
        choose="cascade",
        y_title="fraction of the sample",
        caption="CRITERION: the sum was minimized over all cascades; it is a selection score, not an error.",
    )


def _work_chart(curve: pd.DataFrame) -> Facts:
    """Accuracy against the work per row, as thresholds are scaled."""
    scale = curve["scale"].tolist()
    labels = ["all leave first" if s == 0 else "as fitted" if s == 1 else "" for s in scale]
    return describing.chart(
        "lines",
        "Accuracy against work",
        [
            {
                "name": "",
                "x": curve["kernel_values"].tolist(),
                "series": [describing.series("accuracy", curve["accuracy"].tolist())],
                "labels": labels,
            }
        ],
        x_title="kernel values per row",
        y_title="accuracy",
        y_format="percent",
        caption="Thresholds scaled from 0 (every row leaves at the first SVM) to infinity.",
    )


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """Votes of the cascades, the row's path through the best two, and the nearest support vectors."""
    cascades, prediction = explained["cascades"], explained["prediction"]
    shown, steps = list(cascades), []
    if len(cascades) > 1:
        scores = explained["votes"]
        ranked = sorted(scores, key=lambda label: -scores[label])
        best = [str(label) for label in ranked[:2]]
        shown = [cascade for cascade in cascades if str(cascade["class"]) in best]
        shown.sort(key=lambda cascade: best.index(str(cascade["class"])))
        lines = [f"{len(cascades)} cascades, one per class; the largest decision value wins"]
        lines += [f"{label}: {scores[label]:.3g}" for label in ranked[:CLASSES_SHOWN]]
        steps.append(step("Votes", lines))
    for cascade in shown:
        title = f"Cascade for {cascade['class']}" if len(cascades) > 1 else "Path through the cascade"
        steps.append(step(title, [*(_node(node) for node in cascade["nodes"]), _leaf(cascade)]))
    chosen = next((cascade for cascade in shown if str(cascade.get("class")) == str(prediction)), shown[0])
    return [*steps, *support_steps(chosen)]


def _node(node: Mapping[str, Any]) -> str:
    kind = node.get("degree")
    name = svm_text(int(kind)) if kind is not None else "decision rule"
    text = f"classifier {node['node'] + 1} ({name}): distance {node['distance']:.3g}"
    if node["threshold"] is None:
        return f"{text}; the last one, it decides"
    if node["goes_on"]:
        return f"{text} is at most {node['threshold']:.3g}; too near the boundary, goes on"
    return f"{text} is above {node['threshold']:.3g}; clear enough, decided here"


def _leaf(cascade: Mapping[str, Any]) -> str:
    leaf = f"leaf {cascade['leaf'] + 1}"
    if "correct" not in cascade:
        return f"{leaf}: {cascade['family']}"
    return f"{leaf}: {cascade['correct']:,.0f} training rows correct, {cascade['errors']:,.0f} errors"
