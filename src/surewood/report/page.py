"""``write_page`` and ``write_json``: a summary of :func:`~surewood.report.summary.build_summary` as files.

`render_template` fills a template that extends ``base.html``: style, light and dark, a short script, and a
policy that lets the browser run that script (known by its digest) and fetch nothing. Names of columns,
classes and models are hostile input: templates escape everything, and so do the drawings. Control characters,
and those that turn the direction of text, are shown as numbers.
"""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from surewood._text import escaped, json_text
from surewood.persistence.leftovers import partial
from surewood.report import charts
from surewood.report.blocks import draw_sections
from surewood.report.drivers import driver_charts, driver_sentence
from surewood.report.guarantee import abstention_chart, claim_chart, group_charts, quality_sentence
from surewood.report.quality import calibration_chart, quality_charts
from surewood.report.words import FILTERS, middle


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
    >>> "summary" in model_values(report.build_summary(tree, *table))
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
        "curves": quality_charts(summary["curves"], sample),
        "calibration": calibration and calibration_chart(calibration, sample),
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


def render_template(template: str, values: dict[str, Any], *, package: str = "surewood.report") -> str:
    """Fill a template.

    Parameters
    ----------
    template : str
        Its file name in the folder ``templates`` of `package`. It may extend ``base.html`` and import
        ``parts.html`` (charts, tables, facts).
    values : dict
        Names of the template. ``title`` is needed by ``base.html``.
    package : str
        Package whose ``templates`` are looked at before those of the report.

    Examples
    --------
    >>> page = render_template("base.html", {"title": "<b>"})
    >>> "<title>&lt;b&gt;" in page, "<b>" in page
    (True, False)
    """
    script = _static("page.js")
    return escaped(
        _environment(package)
        .get_template(template)
        .render(
            **{
                **values,
                "style": Markup(_static("page.css")),
                "script": Markup(script),
                "script_policy": Markup(f"'sha256-{_digest(script)}'"),
            }
        )
    )


def write_text(text: str, path: str | Path) -> Path:
    """Write a file in one step, with its folder; a reader never sees half of it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from surewood.report import write_text
    >>> write_text("text", Path(tempfile.mkdtemp()) / "folder" / "file.txt").read_text()
    'text'
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with partial(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    return path


@cache
def _environment(package: str) -> Environment:
    own = PackageLoader("surewood.report")
    loader = own if package == "surewood.report" else ChoiceLoader([PackageLoader(package), own])
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["middle"] = middle
    environment.filters.update(FILTERS)
    return environment


@cache
def _static(name: str) -> str:
    return files("surewood.report").joinpath("static", name).read_text(encoding="utf-8")


@cache
def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
