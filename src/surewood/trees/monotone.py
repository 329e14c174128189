"""Monotone constraints: reading `monotonic_cst`, and trees of forests that keep them.

Boosted trees keep the constraints while they grow (core/forest/boosting). Trees of a forest are grown without
them; then the two sides of every split on a constrained column are kept on different sides of the mean of
their values (theory.md §13.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base.rules import Nullable, Rule
from surewood.tables import TrainingTable, column_names
from surewood.trees import node_codec
from surewood.trees.binning import BinnedMatrix
from surewood.trees.flat_tree import FlatForest

#: The rule of the parameter.
MONOTONE = Nullable(
    Rule(
        "a mapping from column names to -1, 0 or 1, or a list of them, one per column",
        lambda value: isinstance(value, Mapping | Sequence | np.ndarray) and not isinstance(value, str),
    )
)
_TREES_AT_A_TIME = 50  # whose leaves are looked up for all rows


def monotone_directions(constraints: Any, inputs: TrainingTable) -> NDArray[np.int8] | None:
    """Directions per column from `monotonic_cst`: a mapping of column names, or a list with all columns."""
    if constraints is None:
        return None
    names = column_names(inputs.schema, inputs.table.n_columns)
    if isinstance(constraints, Mapping):
        unknown = [name for name in constraints if name not in names]
        if unknown:
            raise ValueError(f"monotonic_cst names {unknown[0]!r}, which is no column of the table.")
        values = [constraints.get(name, 0) for name in names]
    else:
        values = list(constraints)
        if len(values) != len(names):
            raise ValueError(f"monotonic_cst has {len(values)} entries for a table of {len(names)} columns.")
    for name, value in zip(names, values):
        if value not in (-1, 0, 1):
            raise ValueError(f"monotonic_cst must be -1, 0 or 1 for each column, got {value!r} for {name!r}.")
    directions = np.array(values, dtype=np.int8)
    for j in np.flatnonzero(directions):
        if inputs.table.n_categories[j]:
            raise ValueError(f"monotonic_cst constrains {names[j]!r}, whose categories have no order.")
    if not directions.any():
        return None
    if inputs.n_classes > 2:
        raise ValueError(f"monotonic_cst needs two classes, the table has {inputs.n_classes}.")
    return directions


def keep_monotone(
    forest: FlatForest, matrix: BinnedMatrix, directions: NDArray[np.int8], weight: Floats | None
) -> FlatForest:
    """Trees for two classes whose leaves keep the constraints.

    A node's value is the mean of its leaves' probabilities, by the training rows that end there. From the
    root down, the sides of a split on a constrained column get the middle of their values as a limit, and
    leaves are cut off at their limits.

    Examples
    --------
    >>> from surewood.trees.binning import bin_array
    >>> from surewood.trees.growing import TreeParams, grow_forest
    >>> matrix = bin_array(np.arange(4.0)[:, None])
    >>> params = TreeParams(sampling="all")
    >>> forest = grow_forest(matrix, np.array([0, 1, 0, 1]), 2, params, n_trees=1, seed=0).forest
    >>> keep_monotone(forest, matrix, np.array([1], np.int8), None).predict_proba(matrix)[:, 1].tolist()
    [0.0, 0.75, 0.75, 1.0]
    """
    whole = forest.with_whole_nodes()
    left, word = (column.astype(np.int64) for column in whole.nodes.T)
    split = node_codec.is_split(word)
    tree = np.repeat(np.arange(whole.n_trees), np.diff(whole.node_start))
    by_category = node_codec.is_category(word)
    child = left.copy()
    child[by_category] = whole.category_left[whole.category_start[tree[by_category]] + left[by_category]]
    child += whole.node_start[tree]
    value = np.where(node_codec.is_binary(word), node_codec.probability(left), left.astype(np.float32))
    levels = [np.asarray(whole.node_start[:-1])]
    while len(parents := levels[-1][split[levels[-1]]]):
        levels.append(np.concatenate([child[parents], child[parents] + 1]))
    mass = _mass(whole, matrix, weight)
    total = np.where(split, 0.0, mass * value)
    for level in levels[::-1]:
        at = level[split[level]]
        for sums in (mass, total):
            sums[at] = sums[child[at]] + sums[child[at] + 1]
    mean = np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)
    lower, upper = np.zeros(len(left), np.float32), np.ones(len(left), np.float32)
    for level in levels:
        at = level[split[level]]
        sides = child[at], child[at] + 1
        for side in sides:
            lower[side], upper[side] = lower[at], upper[at]
        direction = directions[node_codec.feature_of(word[at])]
        middle = sum(np.clip(mean[side], lower[at], upper[at]) for side in sides).astype(np.float32) / 2
        for side, towards in zip(sides, (direction, -direction)):
            upper[side] = np.where(towards > 0, middle, upper[side])
            lower[side] = np.where(towards < 0, middle, lower[side])
    kept = np.clip(value, lower, upper)
    changed = ~split & (kept != value)
    nodes = whole.nodes.copy()
    nodes[changed, 0] = kept[changed].view(np.uint32)
    nodes[changed, 1] = node_codec.BINARY_LEAF
    return replace(whole, nodes=nodes)


def _mass(forest: FlatForest, matrix: BinnedMatrix, weight: Floats | None) -> Floats:
    """Weight of the training rows that end at each node, over all trees."""
    mass = np.zeros(len(forest.nodes))
    for first in range(0, forest.n_trees, _TREES_AT_A_TIME):
        some = forest.trees(first, first + _TREES_AT_A_TIME)
        leaf = some.apply(matrix).astype(np.int64) + some.node_start[:-1] + forest.node_start[first]
        times = None if weight is None else np.repeat(weight, some.n_trees)
        mass += np.bincount(leaf.ravel(), times, len(mass))
    return mass
