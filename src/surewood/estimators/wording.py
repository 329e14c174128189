"""Small pieces of text that explanations of several families share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

CLASSES_SHOWN = 4


def plural(count: int, noun: str, several: str | None = None) -> str:
    """A count with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(2000, "row"), plural(3, "leaf", "leaves")
    ('1 row', '2,000 rows', '3 leaves')
    """
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"


def probabilities_text(probabilities: Mapping[Any, float]) -> str:
    """The largest probabilities, in percent.

    Examples
    --------
    >>> probabilities_text({"a": 0.25, "b": 0.75})
    'b: 75.0 %, a: 25.0 %'
    """
    ranked = sorted(probabilities.items(), key=lambda item: -item[1])
    text = ", ".join(f"{label}: {100 * value:.1f} %" for label, value in ranked[:CLASSES_SHOWN])
    rest = len(ranked) - CLASSES_SHOWN
    return f"{text}, {rest} more" if rest > 0 else text


def condition_text(condition: Mapping[str, Any]) -> str:
    """A condition of a path: feature, operator and value.

    Examples
    --------
    >>> condition_text({"feature": "age", "operator": "<=", "value": 41.5})
    'age <= 41.5'
    """
    value, operator = condition["value"], condition["operator"]
    if isinstance(value, list | tuple | set):
        shown = ", ".join(str(v) for v in list(value)[:4]) + (", ..." if len(value) > 4 else "")
        value = f"{{{shown}}}"
    elif isinstance(value, float):
        value = f"{value:.5g}"
    return f"{condition['feature']} {operator} {'' if value is None else value}".strip()


def path_text(path: Sequence[Mapping[str, Any]]) -> str:
    """The conditions of a path, in order.

    Examples
    --------
    >>> path_text([])
    'no split: one leaf for all rows'
    """
    return ", ".join(condition_text(one) for one in path) or "no split: one leaf for all rows"


def svm_text(degree: int) -> str:
    """The classifier of a leaf, by its degree.

    Examples
    --------
    >>> svm_text(0), svm_text(2)
    ('the majority class of the leaf', 'a polynomial SVM of degree 2')
    """
    return "the majority class of the leaf" if degree == 0 else f"a polynomial SVM of degree {degree}"
