"""A chain of classifiers: of the rows that arrive at each, how many leave there and how many go on."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from surewood.report.bar_rows import BarRow, Part, bar_rows
from surewood.report.words import percent

__all__ = ["flow"]

_NAMES = (
    ("leave, correct", "leaf", "box"),
    ("leave, wrong", "warn", "box"),
    ("go on to the next", "peer-soft", "box"),
)


def flow(stages: list[dict[str, Any]]) -> Markup:
    """The chain as rows of bars, one per classifier.

    Parameters
    ----------
    stages : list of dict
        ``label``, ``arrive``, ``points`` (rows that leave), ``accuracy`` and ``threshold``.

    Examples
    --------
    >>> stage = {"label": "degree 1", "arrive": 10, "points": 8, "accuracy": 0.75, "threshold": 0.5}
    >>> "8 of 10 leave, 75.0 % correct" in flow([stage])
    True
    """
    return bar_rows([_row(k, stage) for k, stage in enumerate(stages)], names=_NAMES)


def _row(position: int, stage: dict[str, Any]) -> BarRow:
    leave, arrive, accuracy = stage["points"], stage["arrive"], stage["accuracy"]
    correct = leave if accuracy is None else accuracy * leave
    beyond = "" if stage["threshold"] is None else f"\nleave where |f| > {stage['threshold']:.3g}"
    told = "" if accuracy is None else f", {percent(accuracy, 1)} correct"
    value = f"{leave:,} of {arrive:,} leave{told}"
    parts = [
        Part(0, correct, "leaf", value + beyond),
        Part(correct, leave, "warn", value + beyond),
        Part(leave, arrive, "peer-soft", f"{arrive - leave:,} rows go on"),
    ]
    name = f"{position + 1}: {stage['label']}"
    return BarRow(name, [part for part in parts if part.stop > part.start], value, name + beyond)
