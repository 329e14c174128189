"""A summary of :func:`~surewood.report.summary.build_summary` as files: page, JSON, and card in Markdown.

`render_template` fills a template that extends ``base.html``: style, light and dark, a short script, and a
policy that lets the browser run that script (known by its digest) and fetch nothing. Names of columns,
classes and models are hostile input: templates escape everything, and so do the drawings. Control characters,
and those that turn the direction of text, are shown as numbers.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from surewood._text import escaped, json_text, memory_text
from surewood.base.wording import percent, plural
from surewood.certify.wording import confidence_text
from surewood.persistence.leftovers import partial
from surewood.report import charts
from surewood.report.drivers import driver_charts, driver_sentence
from surewood.report.guarantee import abstention_chart, claim_chart, group_charts, quality_sentence
from surewood.report.quality import calibration_chart, quality_charts
from surewood.report.words import FILTERS, middle, number, seconds


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
    return render_template(
        "model.html",
        {"title": page_title(summary["model"]["title"], summary["data"]["name"]), **model_values(summary)},
    )


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


def page_title(name: str, data: str | None) -> str:
    """A page's subject and its data in a few words; of a file without its folders."""
    if data and Path(data).is_file():
        data = Path(data).name
    return f"{name} on {data}" if data else name


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
        "sections": charts.draw_sections(summary["inside"]),
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
    ours = PackageLoader("surewood.report")
    loader = ours if package == "surewood.report" else ChoiceLoader([PackageLoader(package), ours])
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


MOST_CLASSES = 20
MOST_COLUMNS = 10


def write_card(summary: dict[str, Any], path: str | Path) -> Path:
    """Write the model card of a summary; returns its path.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import PolySVC, report
    >>> X, y = load_iris(return_X_y=True)
    >>> summary = report.build_summary(PolySVC().fit(X, y), X, y, dataset={"name": "iris"})
    >>> print(report.write_card(summary, "card.md").read_text().splitlines()[0])
    # Model card: Polynomial SVM on iris
    """
    return write_text(render_card(summary), path)


def render_card(summary: dict[str, Any]) -> str:
    """The model card as text."""
    model, data = summary["model"], summary["data"]
    title = f"{model['title']} on {data['name']}" if data["name"] else model["title"]
    parts = [f"# Model card: {_text(title)}"]
    if summary["certificate"]:
        parts.append(_text(summary["certificate"]["sentence"]))
    parts += [
        "## Model",
        f"{_text(model['description'])} Class `{model['name']}`, surewood {_version(summary)}.".strip(),
        "## Data",
        _data(data),
        "## How well it predicts",
        _text(quality_sentence(summary["scores"])),
        _scores(summary),
        _classes(summary["class_scores"]),
        "## What drives it",
        _drivers(summary["drivers"]),
        "## What is guaranteed",
        _guaranteed(summary["certificate"]),
        "## How it was made",
        _made(summary),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _version(summary: dict[str, Any]) -> str:
    return str(summary["run"]["versions"]["surewood"])


def _text(value: Any) -> str:
    """Text that Markdown shows as it is, on one line and with visible control characters."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(escaped(str(value)).split()))


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _data(data: dict[str, Any]) -> str:
    held = f", {plural(data['n_holdout'], 'holdout row')}" if data["n_holdout"] else ", no holdout"
    lines = [
        f"{plural(data['n_rows'], 'training row')}{held}, {plural(data['n_columns'], 'column')}, "
        f"{data['n_classes']} classes."
    ]
    if data["source"]:
        lines.append(f"Source: {_text(data['source'])}")
    lines += [f"* {_text(note)}" for note in data["notes"]]
    return "\n\n".join(lines[:2]) + ("\n\n" + "\n".join(lines[2:]) if len(lines) > 2 else "")


def _scores(summary: dict[str, Any]) -> str:
    scores = summary["scores"]
    base = scores["baseline"]
    rows = [
        ["error", percent(scores["error"], 1), _or_dash(base["error"], lambda v: percent(v, 1))],
        ["AUC", _or_dash(scores["auc"]), "0.500"],
        ["log-loss", _or_dash(scores["log_loss"]), _or_dash(base["log_loss"])],
        ["Brier score", _or_dash(scores["brier"]), _or_dash(base["brier"])],
    ]
    table = _table([f"on {scores['n']:,} {scores['sample']} rows", "this model", "baseline"], rows)
    return f"{table}\n\nThese are estimates; the baseline only knows how frequent the classes are."


def _or_dash(value: float | None, form: Any = lambda v: number(v, 3)) -> str:
    return "–" if value is None else str(form(value))


def _classes(rows: list[dict[str, Any]]) -> str:
    shown = [
        [
            _text(scores["label"]),
            number(scores["rows"]),
            *(_or_dash(scores[k], lambda v: percent(v, 1)) for k in ("precision", "recall", "f1")),
        ]
        for scores in rows[:MOST_CLASSES]
    ]
    table = _table(["class", "rows", "precision", "recall", "F1"], shown)
    left = len(rows) - len(shown)
    return f"{table}\n\n{left} more classes are in report.json." if left > 0 else table


def _drivers(drivers: dict[str, Any] | None) -> str:
    if not drivers or not drivers["importances"]:
        return "Not measured."
    columns = drivers["importances"]["columns"][:MOST_COLUMNS]
    rows = [
        [_text(one["column"]), f"{one['importance']:.3f}", f"{one['low']:.3f} to {one['high']:.3f}"]
        for one in columns
    ]
    head = ["column", f"rise of the {drivers['importances']['metric']} when shuffled", "95 % interval"]
    return f"{_text(driver_sentence(drivers))}\n\n{_table(head, rows)}"


def _guaranteed(certificate: dict[str, Any] | None) -> str:
    if not certificate or not certificate["claims"]:
        return "Nothing is guaranteed about this model."
    lines = [f"With {confidence_text(certificate['delta'])} confidence:", ""]
    lines += [f"* {_text(claim['sentence'])}" for claim in certificate["claims"]]
    if certificate.get("assumptions"):
        lines += ["", f"This assumes {_text('; '.join(certificate['assumptions']))} (your responsibility)."]
    lines += ["", "It says nothing about rows of another kind, such as a later time or another place."]
    return "\n".join(lines)


def _made(summary: dict[str, Any]) -> str:
    run = summary["run"]
    lines = []
    if run["command"]:
        lines.append(f"    {' '.join(escaped(str(run['command'])).split())}")
    facts = [f"seed {run['seed']}" if run["seed"] is not None else "no seed fixed"]
    if run["seconds"] is not None:
        facts.append(f"trained in {seconds(run['seconds'])}")
    if run["peak_memory_bytes"]:
        facts.append(f"peak memory {memory_text(run['peak_memory_bytes'])}")
    lines.append(f"{'; '.join(facts)[:1].upper()}{'; '.join(facts)[1:]}; {run['created']}.")
    if summary["choice"]:
        lines.append(
            f"Of {len(summary['choice']['scores'])} kinds of models: {_text(summary['choice']['why'])}."
        )
    return "\n\n".join(lines)
