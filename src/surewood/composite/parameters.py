"""What the parameters of composite estimators may be, and how family-specific ones become numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from surewood.composite.leaves import MAX_DEPTH
from surewood.estimators import rules
from surewood.estimators.parameters import COMMON, Switch

SELECTIONS = ("exact", "random_sequences", "common_degree", "random_degree")
LEAF_SCORES = ("one_hot", "ovo_votes", "calibrated")

_DEPTH = rules.Integer(0, MAX_DEPTH)
_GAMMA = rules.Number(above=0.0)
_PLAIN_WEIGHT = rules.Kind(
    "a weight of at least 0 and below 1", rules.Number().is_kind, lambda value: 0.0 <= float(value) < 1.0
)

#: Rules of the tree, the forest and the search; each estimator takes those of its own parameters.
RULES: Mapping[str, rules.Rule] = {
    **COMMON,
    "max_depth": rules.Either(rules.AUTO, _DEPTH),
    "gamma_scale": rules.Either(rules.AUTO, _GAMMA),
    "plain_weight": rules.Either(rules.AUTO, _PLAIN_WEIGHT),
}

#: Rules of the search, whose parameters may be lists of candidates.
SEARCH_RULES: Mapping[str, rules.Rule] = {
    **RULES,
    "max_depth": rules.Either(_DEPTH, rules.ListOf(_DEPTH, f"integers from 0 to {MAX_DEPTH}")),
    "gamma_scale": rules.Either(_GAMMA, rules.ListOf(_GAMMA, "numbers above 0")),
    "n_estimators": rules.Either(
        COMMON["n_estimators"], rules.ListOf(COMMON["n_estimators"], "integers of at least 1")
    ),
    "max_features": rules.Either(
        rules.Choice("paper"),
        COMMON["max_features"],
        rules.ListOf(COMMON["max_features"], "such values"),
    ),
    "C": rules.Either(
        rules.AUTO, rules.Number(above=0.0), rules.ListOf(rules.Number(above=0.0), "numbers above 0")
    ),
    "selection": rules.Choice(*SELECTIONS),
}

_MAX_LEAF_SIZE = rules.Nullable(rules.AUTO, rules.Integer(2))

_SWITCHES: Mapping[str, Switch] = {
    "n_sequences": Switch(10, rules.Integer(1)),
    "constant_leaves": Switch("auto", rules.Either(rules.AUTO, rules.Boolean())),
    "leaf_scores": Switch("one_hot", rules.Choice(*LEAF_SCORES)),
    "max_leaf_size": Switch("auto", _MAX_LEAF_SIZE),
    "min_weight_fraction_leaf": Switch(0.0, COMMON["min_weight_fraction_leaf"]),
    "tol": Switch("auto", rules.Either(rules.AUTO, COMMON["tol"])),
    "max_iter": Switch(10_000, COMMON["max_iter"]),
}

#: Study switches of the tree.
TREE_SWITCHES: Mapping[str, Switch] = {
    name: switch for name, switch in _SWITCHES.items() if name != "min_weight_fraction_leaf"
}

#: Study switches of the forest.
FOREST_SWITCHES: Mapping[str, Switch] = {
    **_SWITCHES,
    "n_plain_trees": Switch("auto", rules.Either(rules.AUTO, rules.Integer(1))),
    "bootstrap": Switch(False, COMMON["bootstrap"]),
    "max_samples": Switch("auto", COMMON["max_samples"]),
}

#: Study switches of the search: nested depths are exact only without a limit on the size of leaves.
SEARCH_SWITCHES: Mapping[str, Switch] = {
    **{name: switch for name, switch in _SWITCHES.items() if name != "max_leaf_size"},
    "constant_leaves": Switch(False, rules.Boolean()),
}


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to the estimator."""
    return isinstance(value, str) and value == "auto"


def solver_tolerance(value: Any, selection: str) -> float:
    """Stopping tolerance of the SVMs: libsvm's, ten times as much where only the vote counts.

    Examples
    --------
    >>> solver_tolerance("auto", "auto"), solver_tolerance("auto", "exact"), solver_tolerance(0.5, "auto")
    (0.01, 0.001, 0.5)
    """
    if is_auto(value):
        return 1e-2 if selection == "auto" else 1e-3
    return float(value)


def degree_list(value: Any) -> tuple[int, ...]:
    """Degrees in ascending order, without repeats.

    Examples
    --------
    >>> degree_list([3, 1]), degree_list(2)
    ((1, 3), (2,))
    """
    items = [value] if isinstance(value, Integral) else value
    return tuple(sorted({int(item) for item in items}))


def C_list(value: Any, n_degrees: int) -> tuple[float, ...]:
    """`C` as one value per degree; a single number serves all degrees.

    Examples
    --------
    >>> C_list(2, 3)
    (2.0, 2.0, 2.0)
    """
    if isinstance(value, Real):
        return (float(value),) * n_degrees
    found = tuple(float(item) for item in value)
    if len(found) != n_degrees:
        raise ValueError(f"C must be one number per degree ({n_degrees} of them), got {len(found)} numbers.")
    return found


def feature_grid(n_features: int) -> tuple[int, ...]:
    """The paper's values of r ([D-17]); half rounds up.

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


def draws(bootstrap: bool, max_samples: Any, n_rows: int) -> tuple[str, int | None]:
    """How the rows of a tree are drawn: the engine's word for it, and how many.

    Examples
    --------
    >>> draws(False, None, 10), draws(False, 0.5, 10), draws(True, 7, 10)
    (('all', None), ('subsample', 5), ('bootstrap', 7))
    """
    if max_samples is None:
        return ("bootstrap", None) if bootstrap else ("all", None)
    if isinstance(max_samples, Integral):
        n_draws = int(max_samples)
        if n_draws > n_rows:
            raise ValueError(
                f"max_samples must be at most the number of distinct rows, {n_rows}, got {n_draws}."
            )
    else:
        n_draws = max(1, round(float(max_samples) * n_rows))
    if not bootstrap and n_draws == n_rows:
        return "all", None
    return ("bootstrap" if bootstrap else "subsample"), n_draws
