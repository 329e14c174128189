"""Small pieces of text that explanations of several families share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from surewood.base.describing import Facts, short, step

CLASSES_SHOWN = 4
_FEATURES_SHOWN = 5
LEAST_ERROR = 0.0005  # standard errors below it would be shown as 0.0 points


def plural(count: int, noun: str, several: str | None = None) -> str:
    """A count with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(2000, "row"), plural(3, "leaf", "leaves")
    ('1 row', '2,000 rows', '3 leaves')
    """
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"


def counted_text(n: int, sample: str, unit: str) -> str:
    """How much a statement is based on; units are "rows" or "groups".

    Examples
    --------
    >>> counted_text(1200, "holdout", "rows"), counted_text(1, "holdout", "groups")
    ('1,200 holdout rows', '1 holdout group')
    """
    return plural(n, f"{sample} {unit.removesuffix('s')}")


def percent(value: float | None, digits: int = 2) -> str:
    """A fraction in percent; nothing for None.

    Examples
    --------
    >>> percent(0.034), percent(None)
    ('3.40 %', '')
    """
    return "" if value is None else f"{100 * value:.{digits}f} %"


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
    return ", ".join(condition_text(condition) for condition in path) or "no split: one leaf for all rows"


def svm_text(degree: int) -> str:
    """The classifier of a leaf, by its degree.

    Examples
    --------
    >>> svm_text(0), svm_text(2)
    ('the majority class of the leaf', 'a polynomial SVM of degree 2')
    """
    return "the majority class of the leaf" if degree == 0 else f"a polynomial SVM of degree {degree}"


def points_text(contribution: float, standard_error: float = 0.0) -> str:
    """A contribution in points (hundredths) of probability, with its sign and standard error.

    Examples
    --------
    >>> points_text(0.1234), points_text(-0.05, 0.004), points_text(0.0001)
    ('+12.3 points', '-5.0 ± 0.4 points', '+0.0 points')
    """
    error = f" ± {100 * standard_error:.1f}" if standard_error >= LEAST_ERROR else ""
    return f"{100 * contribution:+.1f}{error} points"


def cell_text(value: Any) -> str:
    """What stands in a cell, as text.

    Examples
    --------
    >>> cell_text(1234.5678), cell_text(None), cell_text("clerk")
    ('1234.57', 'missing', 'clerk')
    """
    if value is None:
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else short(value, 40)


def because_lines(because: Mapping[str, Any]) -> list[str]:
    """The columns that matter most, their values, and how much they add to the probability.

    Examples
    --------
    >>> columns = [{"column": "age", "value": 41.0, "contribution": 0.25, "standard_error": 0.01}]
    >>> told = {"label": "yes", "expected": 0.3, "probability": 0.5, "columns": columns, "others": -0.05}
    >>> for line in because_lines({**told, "n_others": 3}):
    ...     print(line)
    age = 41         +25.0 ± 1.0 points
    3 other columns  -5.0 points
    probability of yes: 50.0 %; average prediction 30.0 %
    """
    named = [
        (
            f"{short(column['column'], 40)} = {cell_text(column['value'])}",
            points_text(column["contribution"], column["standard_error"]),
        )
        for column in because["columns"]
    ]
    if because["n_others"]:
        what = "other column" if named else "column"
        named.append((plural(because["n_others"], what), points_text(because["others"])))
    width = max(len(name) for name, _ in named)
    expected, probability = 100 * because["expected"], 100 * because["probability"]
    total = f"probability of {because['label']}: {probability:.1f} %"
    mean = f"average prediction {expected:.1f} %"
    return [*(f"{name:<{width}}  {size}" for name, size in named), f"{total}; {mean}"]


def features_used(features: Sequence[Mapping[str, Any]]) -> list[Facts]:
    """The step that names the features of the splits that a row met, most frequent first; none without.

    Examples
    --------
    >>> features_used([{"feature": "age", "splits": 12}])[0]["lines"]
    ['age (12)']
    """
    used = ", ".join(
        f"{feature['feature']} ({int(feature['splits']):,})" for feature in features[:_FEATURES_SHOWN]
    )
    return [step("Splits on the path, by feature", [used])] if used else []
