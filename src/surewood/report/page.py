"""``write_page`` and ``write_json``: a summary of :func:`~surewood.report.summary.build_summary` as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from surewood.report import charts
from surewood.report.blocks import draw_sections
from surewood.report.rendering import render_template, write_text

__all__ = ["render_page", "write_json", "write_page"]


def render_page(summary: dict[str, Any]) -> str:
    """The page of a summary as text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BinnedForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> from surewood.report import build_summary
    >>> summary = build_summary(model, X[::2], y[::2], holdout=(X[1::2], y[1::2]))
    >>> from surewood.report import render_page
    >>> render_page(summary)[:15]
    '<!doctype html>'
    """
    return render_template("model.html", {"title": page_title(summary), **model_values(summary)})


def write_page(summary: dict[str, Any], path: str | Path) -> Path:
    """Write the page of a summary: one file that needs no other; returns its path.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BinnedForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> from surewood.report import build_summary
    >>> summary = build_summary(model, X[::2], y[::2], holdout=(X[1::2], y[1::2]))
    >>> import tempfile
    >>> from pathlib import Path
    >>> from surewood.report import write_page
    >>> write_page(summary, Path(tempfile.mkdtemp()) / "report.html").name
    'report.html'
    """
    return write_text(render_page(summary), path)


def write_json(summary: dict[str, Any], path: str | Path) -> Path:
    """Write a summary as strict JSON; returns the path.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BinnedForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> from surewood.report import build_summary
    >>> summary = build_summary(model, X[::2], y[::2], holdout=(X[1::2], y[1::2]))
    >>> import tempfile
    >>> from pathlib import Path
    >>> from surewood.report import write_json
    >>> write_json(summary, Path(tempfile.mkdtemp()) / "report.json").name
    'report.json'
    """
    return write_text(json.dumps(summary, indent=2, allow_nan=False, ensure_ascii=False) + "\n", path)


def page_title(summary: dict[str, Any]) -> str:
    """Model and data in a few words."""
    name, data = summary["model"]["title"], summary["data"]["name"]
    return f"{name} on {data}" if data else str(name)


def model_values(summary: dict[str, Any]) -> dict[str, Any]:
    """What ``model.html`` needs: the summary and the charts made from it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BinnedForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> from surewood.report import build_summary
    >>> summary = build_summary(model, X[::2], y[::2], holdout=(X[1::2], y[1::2]))
    >>> from surewood.report import model_values
    >>> "summary" in model_values(summary)
    True
    """
    sample = summary["scores"]["sample"]
    guarantees = None
    if summary["certificate"] is not None:
        guarantees = charts.guarantees(summary["certificate"], summary["scores"])
    return {
        "summary": summary,
        "facts": summary["inside"],
        "sections": draw_sections(summary["inside"]),
        "guarantees": guarantees,
        "confusion": charts.confusion(summary["confusion"], sample),
        "calibration": summary["calibration"] and charts.calibration(summary["calibration"], sample),
        "classes": charts.class_balance(summary["data"]["classes"]),
        "importances": summary["importances"] and charts.importances(summary["importances"]),
    }
