"""``write_page`` and ``write_json``: a summary of :func:`~surewood.report.summary.build_summary` as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from surewood._text import json_text
from surewood.report import charts, quality_charts
from surewood.report.blocks import draw_sections
from surewood.report.driver_charts import driver_charts, driver_sentence
from surewood.report.guarantee_charts import abstention_chart, claim_chart, group_charts
from surewood.report.rendering import render_template, write_text
from surewood.report.verdict import quality_sentence

__all__ = ["render_page", "write_json", "write_page"]


def render_page(summary: dict[str, Any]) -> str:
    """The page of a summary as text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import PolySVC, report
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PolySVC().fit(X[::2], y[::2])
    >>> report.render_page(report.build_summary(model, X, y, holdout=(X[1::2], y[1::2])))[:15]
    '<!doctype html>'
    """
    return render_template("model.html", {"title": page_title(summary), **model_values(summary)})


def write_page(summary: dict[str, Any], path: str | Path) -> Path:
    """Write the page of a summary: one file that needs no other; returns its path.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from surewood import PolySVC, report
    >>> rows = load_wine(return_X_y=True)
    >>> summary = report.build_summary(PolySVC().fit(*rows), *rows)
    >>> report.write_page(summary, "report.html").name
    'report.html'
    """
    return write_text(render_page(summary), path)


def write_json(summary: dict[str, Any], path: str | Path) -> Path:
    """Write a summary as strict JSON; returns the path.

    Examples
    --------
    >>> from surewood import report
    >>> report.write_json({"error": 0.04}, "report.json").read_text()
    '{\\n  "error": 0.04\\n}\\n'
    """
    return write_text(json_text(summary, indent=2, allow_nan=False) + "\n", path)


def page_title(summary: dict[str, Any]) -> str:
    """Model and data in a few words."""
    name, data = summary["model"]["title"], summary["data"]["name"]
    if data and Path(data).is_file():
        data = Path(data).name
    return f"{name} on {data}" if data else str(name)


def model_values(summary: dict[str, Any]) -> dict[str, Any]:
    """What ``model.html`` needs: the summary and the charts made from it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import CompositeTreeClassifier, report
    >>> table = load_iris(return_X_y=True)
    >>> tree = CompositeTreeClassifier(max_depth=1, random_state=0).fit(*table)
    >>> "summary" in report.model_values(report.build_summary(tree, *table))
    True
    """
    sample = summary["scores"]["sample"]
    calibration = summary["calibration"]
    return {
        "summary": summary,
        "quality_sentence": quality_sentence,
        "facts": summary["inside"],
        "sections": draw_sections(summary["inside"]),
        "confusion": charts.confusion(summary["confusion"], sample),
        "confusions": charts.largest_confusions(summary["confusion"]),
        "curves": quality_charts.quality_charts(summary["curves"], sample),
        "calibration": calibration and quality_charts.calibration(calibration, sample),
        "guarantees": _guarantees(summary),
        "drivers": driver_charts(summary["drivers"]),
        "driver_sentence": driver_sentence(summary["drivers"]),
        "classes": charts.class_balance(summary["data"]["classes"], summary["data"]["described"]),
    }


def _guarantees(summary: dict[str, Any]) -> dict[str, Any]:
    claims = summary["certificate"]["claims"] if summary["certificate"] else []
    return {
        "claims": claim_chart(claims, summary["scores"]["majority_error"]),
        "groups": group_charts(claims),
        "abstention": abstention_chart(summary["abstention"]),
    }
