"""Parameters of the composite estimators: checked with one clear sentence, then turned into numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from surewood.composite.leaves import MAX_DEPTH

SELECTIONS = ("auto", "exact", "random_sequences", "common_degree", "random_degree")
LEAF_SCORES = ("one_hot", "ovo_votes", "calibrated")
CALIBRATIONS = ("auto", "temperature", "isotonic")
MAX_DEGREE = 50


def check_common(estimator: Any) -> None:
    """Parameters that the tree, the forest and its CV twin share."""
    one_of(estimator, "leaf_scores", LEAF_SCORES)
    if estimator.calibrate is not False and estimator.calibrate not in CALIBRATIONS:
        raise ValueError(
            f"calibrate must be False or one of {_listed(CALIBRATIONS)}, got {estimator.calibrate!r}."
        )
    integer(estimator.n_sequences, "n_sequences", 1)
    if fraction(estimator.min_weight_fraction_leaf, "min_weight_fraction_leaf") > 0.5:
        raise ValueError("min_weight_fraction_leaf must be at most 0.5: a node is cut in two.")
    if not is_auto(estimator.constant_leaves) and not isinstance(estimator.constant_leaves, bool | np.bool_):
        raise TypeError(f"constant_leaves must be True, False or 'auto', got {estimator.constant_leaves!r}.")
    positive(estimator.tol, "tol")
    integer(estimator.max_iter, "max_iter", -1)
    if estimator.max_memory is not None:
        positive(estimator.max_memory, "max_memory")
    if not is_auto(estimator.max_leaf_size) and estimator.max_leaf_size is not None:
        integer(estimator.max_leaf_size, "max_leaf_size", 2)


def is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def one_of(estimator: Any, name: str, allowed: Iterable[str]) -> None:
    value = getattr(estimator, name)
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {_listed(allowed)}, got {value!r}.")


def integer(value: Any, name: str, least: int, most: int | None = None) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if value < least or (most is not None and value > most):
        limit = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{name} must be {limit}, got {value}.")
    return int(value)


def positive(value: Any, name: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{name} must be positive and finite, got {value!r}.")
    return float(value)


def fraction(value: Any, name: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}.")
    return float(value)


def degree_list(value: Any, name: str = "degrees") -> tuple[int, ...]:
    """Degrees in ascending order, without repeats.

    Examples
    --------
    >>> degree_list([3, 1])
    (1, 3)
    """
    items = [value] if isinstance(value, Integral) else value
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise TypeError(f"{name} must be a list of positive integers, got {value!r}.")
    found = list(items)
    for item in found:
        whole = isinstance(item, Integral) and not isinstance(item, bool | np.bool_)
        if not whole or not 1 <= item <= MAX_DEGREE:
            raise ValueError(
                f"{name} must be positive integers up to {MAX_DEGREE}, got {item!r}; "
                "constant leaves (degree 0) are a parameter of their own, constant_leaves."
            )
    if not found:
        raise ValueError(f"{name} must name at least one degree.")
    return tuple(sorted({int(item) for item in found}))


def box_list(value: Any, n_degrees: int) -> tuple[float, ...]:
    """`C` as one value a degree; a single number serves all degrees."""
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        return (positive(value, "C"),) * n_degrees
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"C must be 'auto', a number or one number a degree, got {value!r}.")
    found = tuple(positive(item, "C") for item in value)
    if len(found) != n_degrees:
        raise ValueError(f"C must have one value a degree ({n_degrees}), got {len(found)}.")
    return found


def depth(value: Any) -> int:
    return integer(value, "max_depth", 0, MAX_DEPTH)


def features_tried(value: Any, n_features: int) -> int:
    """`max_features` as the number r of features drawn at a node; √|F| is rounded, half up ([D-17]).

    Examples
    --------
    >>> features_tried("sqrt", 10), features_tried(None, 10), features_tried(0.5, 10)
    (3, 10, 5)
    """
    if value is None:
        return n_features
    if isinstance(value, str) and value in ("sqrt", "auto"):
        return max(1, math.floor(math.sqrt(n_features) + 0.5))
    if isinstance(value, str) and value == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(value, Integral) and not isinstance(value, bool | np.bool_):
        if not 1 <= value <= n_features:
            raise ValueError(f"max_features={value} is not between 1 and the {n_features} features of X.")
        return int(value)
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_) and 0.0 < value <= 1.0:
        return max(1, int(value * n_features))
    raise ValueError(
        f"max_features must be 'sqrt', 'log2', None, an integer or a fraction in (0, 1], got {value!r}."
    )


def feature_grid(n_features: int) -> tuple[int, ...]:
    """The paper's values of r ([D-17]).

    Examples
    --------
    >>> feature_grid(10), feature_grid(24), feature_grid(60)
    ((1, 2, 3, 6, 10), (1, 2, 5, 10, 20, 24), (1, 4, 8, 15, 31, 60))
    """
    values, step = {1, n_features}, -1
    while (r := math.floor(2.0**step * math.sqrt(n_features) + 0.5)) < n_features:
        values.add(max(r, 1))
        step += 1
    return tuple(sorted(values))


def draws(bootstrap: Any, max_samples: Any, n_rows: int) -> tuple[str, int | None]:
    """How rows are drawn for a tree: the engine's word for it, and how many."""
    if not isinstance(bootstrap, bool | np.bool_):
        raise TypeError(f"bootstrap must be True or False, got {bootstrap!r}.")
    if max_samples is None:
        return ("bootstrap", None) if bootstrap else ("all", None)
    if isinstance(max_samples, Integral) and not isinstance(max_samples, bool | np.bool_):
        n_draws = integer(max_samples, "max_samples", 1)
        if n_draws > n_rows:
            raise ValueError(f"max_samples={n_draws} exceeds the {n_rows} rows of X.")
    elif (
        isinstance(max_samples, Real)
        and not isinstance(max_samples, bool | np.bool_)
        and 0 < max_samples <= 1
    ):
        n_draws = max(1, round(float(max_samples) * n_rows))
    else:
        raise ValueError(
            "max_samples must be 'auto', None, a number of rows or a fraction in (0, 1], "
            f"got {max_samples!r}."
        )
    if not bootstrap and n_draws == n_rows:
        return "all", None
    return ("bootstrap" if bootstrap else "subsample"), n_draws


def _listed(values: Iterable[str]) -> str:
    return ", ".join(repr(v) for v in values)
