"""Charts about how well a model predicts: ROC, precision and recall, lift, calibration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from surewood.report.charts import figure
from surewood.report.plain import cut_names, middle
from surewood.report.plot import Plot
from surewood.report.scales import Axis, fitted_axis
from surewood.report.words import number, percent

__all__ = ["calibration", "quality_charts"]


def quality_charts(facts: dict[str, Any] | None, sample: str) -> list[dict[str, Any]]:
    """ROC, precision against recall, and lift; nothing where a model has no probabilities."""
    if facts is None:
        return []
    several = len(facts["classes"]) > 1
    first = facts["classes"][0]
    of = "each class against the rest" if several else middle(first["label"], 30)
    chosen = "The dot is where the model decides"
    if facts["threshold"] is not None and not several:
        chosen += f" (threshold {number(facts['threshold'])})"

    def made(title: str, draw: Callable[[dict[str, Any]], Markup], caption: str, alt: str) -> dict[str, Any]:
        names = cut_names([one["label"] for one in facts["classes"]], 40)
        variants = [(name, draw(one)) for name, one in zip(names, facts["classes"])]
        return figure(
            title, variants=variants, caption=caption, alt=f"{title} of {of}: {alt}", choose="class"
        )

    area, mean = percent(first["auc"], 1), percent(first["average_precision"], 1)
    return [
        made(
            "ROC",
            _roc,
            f"Area under the curve {number(first['auc'], 3)}; the dashed line is guessing. {chosen}."
            if not several
            else f"One class against the rest, on the {sample}; the dashed line is guessing. {chosen}.",
            f"area under the curve {area}",
        ),
        made(
            "Precision and recall",
            _precision_recall,
            f"Average precision {number(first['average_precision'], 3)}; the dashed line is the frequency of "
            f"{of}. {chosen}."
            if not several
            else f"The dashed line is the frequency of the class. {chosen}.",
            f"average precision {mean}",
        ),
        made(
            "Lift",
            _lift,
            "Of the rows with the highest predicted probability: how many times more often the class occurs "
            "there than overall.",
            f"largest lift {number(max(first['lift']['lift']), 2)}",
        ),
    ]


def _roc(one: dict[str, Any]) -> Markup:
    plot = Plot(
        Axis(0, 1, "percent", "false positive rate"), Axis(0, 1, "percent", "true positive rate (recall)")
    )
    plot.line([0, 1], [0, 1], "peer", dashed=True, width=1.4)
    plot.line(one["roc"]["fpr"], one["roc"]["tpr"], "leaf")
    at = one["chosen"]
    tip = f"recall {percent(at['recall'], 1)}, false positive rate {percent(at['fpr'], 1)}"
    plot.points([at["fpr"]], [at["recall"]], "bark", size=11, tips=[tip])
    return plot.render()


def _precision_recall(one: dict[str, Any]) -> Markup:
    plot = Plot(Axis(0, 1, "percent", "recall"), Axis(0, 1, "percent", "precision"))
    plot.mark(y=one["rate"])
    plot.line(one["precision_recall"]["recall"], one["precision_recall"]["precision"], "leaf")
    at = one["chosen"]
    if at["precision"] is not None:
        tip = f"precision {percent(at['precision'], 1)}, recall {percent(at['recall'], 1)}"
        plot.points([at["recall"]], [at["precision"]], "bark", size=11, tips=[tip])
    return plot.render()


def _lift(one: dict[str, Any]) -> Markup:
    x, y = one["lift"]["fraction"], one["lift"]["lift"]
    up = fitted_axis(y, "number", "lift", include=(0.0, 1.0))
    plot = Plot(Axis(0, 1, "percent", "rows with the highest probability"), up)
    plot.mark(y=1.0)
    plot.line(x, y, "leaf")
    at = one["chosen"]
    if at["precision"] is not None and one["rate"]:
        lift = at["precision"] / one["rate"]
        tip = f"lift {number(lift, 2)} among {percent(at['fraction'], 1)} of the rows"
        plot.points([at["fraction"]], [lift], "bark", size=11, tips=[tip])
    return plot.render()


def calibration(facts: dict[str, Any], sample: str) -> dict[str, Any]:
    """Observed against predicted probability."""
    bins = facts["bins"]
    most = max(b["rows"] for b in bins)
    plot = Plot(Axis(-0.03, 1.03, "percent", facts["of"]), Axis(-0.03, 1.03, "percent", "observed frequency"))
    plot.line([0, 1], [0, 1], "peer", dashed=True, width=1.4)
    for b in bins:
        plot.interval(b["predicted"], b["low"], b["high"])
    told = [
        f"predicted {percent(b['predicted'], 1)}, observed {percent(b['observed'], 1)}, {b['rows']:,} rows"
        for b in bins
    ]
    sizes = [6 + 11 * (b["rows"] / most) ** 0.5 for b in bins]
    plot.points([b["predicted"] for b in bins], [b["observed"] for b in bins], "leaf", size=sizes, tips=told)
    gap = 100 * facts["expected_calibration_error"]
    return figure(
        "Calibration",
        plot.render(),
        caption="On the dashed line, a prediction of 80 % comes true in 80 of 100 cases. Mean gap on the "
        f"{sample}: {gap:.1f} points; lines are 95 % intervals; large dots have many rows.",
        alt=f"Calibration: mean gap between predicted and observed probability {gap:.1f} points",
    )
