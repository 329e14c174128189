"""Any explanation in words, by the shape of its entries alone: for models that do not word their own.

A number or text becomes a line, numbers by label become a line of pairs, a list of dictionaries becomes one
step each (the first few), conditions become a path, and ``support`` the nearest training rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from surewood.estimators.describing import Facts, step
from surewood.estimators.wording import path_text

STEPS_SHOWN = 3
PAIRS_SHOWN = 8
_KNOWN = ("row", "kind", "prediction", "probabilities", "because")


def generic_steps(explained: Mapping[str, Any]) -> list[Facts]:
    """Steps of an explanation whose keys are not known beforehand.

    Examples
    --------
    >>> steps = generic_steps({"prediction": "a", "score": 0.5, "rules": [{"weight": 2.0}]})
    >>> [(one["title"], one["lines"]) for one in steps]
    [('Details', ['score: 0.5']), ('Rules 1', ['weight: 2'])]
    """
    lines: list[str] = []
    steps: list[Facts] = []
    for name, value in explained.items():
        if name in _KNOWN or value is None:
            continue
        if name == "support" and _is_records(value):
            steps.append(step("Nearest training rows", [], value))
        elif _is_path(value):
            lines.append(f"{name}: {path_text(value)}")
        elif _is_records(value):
            steps += [
                step(f"{_title(name)} {k}", [_line(*item) for item in one.items()])
                for k, one in enumerate(value[:STEPS_SHOWN], start=1)
            ]
        else:
            lines.append(_line(name, value))
    return [step("Details", lines), *steps] if lines else steps


def _title(name: str) -> str:
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


def _line(name: str, value: Any) -> str:
    return f"{name.replace('_', ' ')}: {_text(value)}"


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if _is_path(value):
        return path_text(value)
    if isinstance(value, Mapping):
        shown = [f"{label}: {_text(item)}" for label, item in list(value.items())[:PAIRS_SHOWN]]
    elif isinstance(value, list | tuple):
        shown = [_text(item) for item in value[:PAIRS_SHOWN]]
    else:
        return str(value)
    return ", ".join(shown) + (", ..." if len(value) > PAIRS_SHOWN else "")


def _is_records(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) > 0
        and all(isinstance(one, Mapping) for one in value)
    )


def _is_path(value: Any) -> bool:
    return _is_records(value) and all({"feature", "operator", "value"} <= set(one) for one in value)
