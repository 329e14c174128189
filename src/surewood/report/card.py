"""``write_card``: a summary as a model card in Markdown, for a repository or a model register."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from surewood._text import escaped
from surewood.base.wording import percent, plural
from surewood.certify.wording import confidence_text
from surewood.report.drivers import driver_sentence
from surewood.report.guarantee import quality_sentence
from surewood.report.page import write_text
from surewood.report.words import memory, number, seconds

__all__ = ["render_card", "write_card"]

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
        _guarantees(summary["certificate"]),
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
            _text(one["label"]),
            number(one["rows"]),
            *(_or_dash(one[k], lambda v: percent(v, 1)) for k in ("precision", "recall", "f1")),
        ]
        for one in rows[:MOST_CLASSES]
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


def _guarantees(certificate: dict[str, Any] | None) -> str:
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
    told = [f"seed {run['seed']}" if run["seed"] is not None else "no seed fixed"]
    if run["seconds"] is not None:
        told.append(f"trained in {seconds(run['seconds'])}")
    if run["peak_memory_bytes"]:
        told.append(f"peak memory {memory(run['peak_memory_bytes'])}")
    lines.append(f"{'; '.join(told)[:1].upper()}{'; '.join(told)[1:]}; {run['created']}.")
    if summary["choice"]:
        lines.append(
            f"Of {len(summary['choice']['scores'])} kinds of models: {_text(summary['choice']['why'])}."
        )
    return "\n\n".join(lines)
