"""How predictions depend on single columns and on pairs of them: accumulated local effects (ALE).

For a number column, rows are moved from the lower to the upper end of the interval between two quantiles in
which they lie; the mean changes, accumulated over the intervals, are the effect (Apley and Zhu, 2020). Unlike
partial dependence this never makes rows that contradict correlated columns. For a category column the effect
is the mean prediction over all rows with this category put in (partial dependence). Effects are centered:
their mean over the rows is 0.

For a pair of number columns the second difference over a cell of the grid is what neither column does alone;
accumulated and freed of the effects of the single columns it is their interaction. The strength of an
interaction is the standard deviation of its effect over the rows, in units of probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from surewood._arrays import AnyArray, Counts, Floats
from surewood.base.contributions import group_positions
from surewood.base.folds import draw_seed
from surewood.inspect.explaining import Unwrapped, open_rows, unwrap

MOST_ROWS = 500
_MOST_CATEGORIES = 20
_FEW_VALUES = 2  # a number column with no more of them has no intervals


@dataclass(frozen=True)
class Dependence:
    """Effect of a column on the predicted probabilities.

    Attributes
    ----------
    column : str
    kind : {"number", "category"}
    grid : list
        Values of the column: ends of the intervals, or categories (most frequent first; None: missing).
    effect : ndarray, shape (len(grid), n_classes)
        Change of the mean probability against the mean over the rows.
    count : ndarray of int64
        Rows in each interval (one fewer than the grid has values), or of each category: the data's density.
    classes : ndarray

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier
    >>> iris = load_iris(as_frame=True)
    >>> model = BinnedForestClassifier(20, random_state=0).fit(iris.data, iris.target)
    >>> (petal,) = dependence(model, iris.data, ["petal length (cm)"])
    >>> petal.kind, petal.effect.shape[1], int(petal.count.sum())
    ('number', 3, 150)
    """

    column: str
    kind: str
    grid: list[Any]
    effect: Floats
    count: Counts
    classes: AnyArray

    @property
    def strength(self) -> Floats:
        """Standard deviation of the effect over the rows, by class."""
        at = self.effect if self.kind == "category" else (self.effect[1:] + self.effect[:-1]) / 2
        weight = self.count / max(int(self.count.sum()), 1)
        mean = weight @ at
        return np.sqrt(weight @ (at - mean) ** 2)


@dataclass(frozen=True)
class Interaction:
    """What two columns do together that neither does alone.

    Attributes
    ----------
    first, second : str
    strength : float
        Standard deviation of the joint effect over the rows, of the class where it is largest.
    label : label
        That class.
    first_grid, second_grid : ndarray
        Ends of the intervals.
    effect : ndarray, shape (len(first_grid), len(second_grid))
        Effect on the probability of `label`.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood import BinnedForestClassifier
    >>> from surewood.inspect import interactions
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> forest = BinnedForestClassifier(50, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> strongest = interactions(forest, X)[0]
    >>> strongest.first, strongest.second
    ('x0', 'x1')
    """

    first: str
    second: str
    strength: float
    label: Any
    first_grid: Floats
    second_grid: Floats
    effect: Floats


def dependence(
    model: Any,
    X: Any,
    columns: Sequence[str | int] | None = None,
    *,
    n_points: int = 20,
    max_rows: int = MOST_ROWS,
    random_state: Any = 0,
) -> list[Dependence]:
    """How the predicted probabilities depend on single columns, with the data's density.

    Parameters
    ----------
    model : fitted classifier
        One of ours, a saved model, or any other with ``predict_proba``.
    X : table
        Rows over which effects are averaged; more than `max_rows` are sampled.
    columns : list of str or int, optional
        Names or positions, such as those of the largest importances; all by default.
    n_points : int, default=20
        Maximum number of intervals of a numeric column.
    max_rows : int, default=500
    random_state : int, RandomState or None, default=0

    Returns
    -------
    list of Dependence
        One per column, in the order of `columns`. Parts of a date, or of free text, that a pipeline made are
        columns of their own here.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = LogisticRegression(max_iter=10_000).fit(X, y)
    >>> [one.column for one in dependence(model, X, ["alcohol", 12])]
    ['alcohol', 'proline']
    """
    looked = _Looked(model, X, max_rows, random_state)
    if n_points < 2:
        raise ValueError(f"n_points must be >= 2, got {n_points}.")
    return [looked.effect(j, n_points) for j in looked.positions(columns)]


def interactions(
    model: Any,
    X: Any,
    columns: Sequence[str | int] | None = None,
    *,
    limit: int = 5,
    n_points: int = 8,
    max_rows: int = 200,
    random_state: Any = 0,
) -> list[Interaction]:
    """The strongest interactions between pairs of numeric columns.

    Parameters
    ----------
    model : fitted classifier
    X : table
        Rows over which effects are averaged; more than `max_rows` are sampled.
    columns : list of str or int, optional
        Names or positions; all pairs of numeric columns among them are tried. All by default.
    limit : int, default=5
        Maximum number of interactions to return.
    n_points : int, default=8
        Maximum number of intervals of a column.
    max_rows : int, default=200
    random_state : int, RandomState or None, default=0

    Returns
    -------
    list of Interaction
        Strongest first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> from surewood import BinnedForestClassifier
    >>> model = BinnedForestClassifier(50, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> strongest = interactions(model, X)[0]
    >>> strongest.first, strongest.second
    ('x0', 'x1')
    """
    looked = _Looked(model, X, max_rows, random_state)
    chosen = [j for j in looked.positions(columns) if looked.edges(j, n_points) is not None]
    pairs = [looked.interaction(i, j, n_points) for i, j in combinations(chosen, 2)]
    return sorted(pairs, key=lambda one: -one.strength)[:limit]


class _Looked:
    """A model with a sample of rows and the numbers that stand in them."""

    def __init__(self, model: Any, X: Any, max_rows: int, random_state: Any) -> None:
        unwrapped = unwrap(model, X)
        self.opened = open_rows(unwrapped)
        self.names = self.opened.pool.columns
        self.parts = _parts(unwrapped, self.names)
        n = self.opened.n_rows
        if not n:
            raise ValueError("X has no rows.")
        rng = np.random.default_rng(draw_seed(random_state))
        self.rows = np.arange(n) if n <= max_rows else np.sort(rng.choice(n, max_rows, replace=False))
        cells = self.opened.cells()
        self.cells = [[cells[row][j] for row in self.rows] for j in range(len(self.names))]

    def positions(self, columns: Sequence[str | int] | None) -> list[int]:
        """Positions of columns; a column that was prepared into parts stands for all of them."""
        if columns is None:
            return list(range(len(self.names)))
        chosen: list[int] = []
        for column in columns:
            if isinstance(column, str) and column in self.parts:
                chosen += self.parts[column]
            elif not isinstance(column, str) and 0 <= column < len(self.names):
                chosen.append(int(column))
            else:
                raise ValueError(f"columns names {column!r}, which the table does not have.")
        return chosen

    def edges(self, j: int, n_points: int) -> Counts | None:
        """Rows that hold the ends of the intervals of a number column; None for other columns."""
        if any(isinstance(value, str | bool) for value in self.cells[j]):
            return None
        values = np.array([np.nan if value is None else float(value) for value in self.cells[j]])
        present = np.flatnonzero(~np.isnan(values))
        order = present[np.argsort(values[present], kind="stable")]
        if len(order) == 0 or len(np.unique(values[present])) <= _FEW_VALUES:
            return None
        at = order[np.round(np.linspace(0, len(order) - 1, n_points + 1)).astype(np.int64)]
        _, first = np.unique(values[at], return_index=True)
        return np.asarray(at[first])

    def intervals(self, j: int, edges: Counts) -> tuple[Floats, Counts, Counts]:
        """Ends of the intervals, the rows with a known value, and the interval of each."""
        values = np.array([np.nan if value is None else float(value) for value in self.cells[j]])
        grid = values[edges]
        present = np.flatnonzero(~np.isnan(values))
        place = np.clip(np.searchsorted(grid, values[present], side="left") - 1, 0, len(grid) - 2)
        return grid, present, place

    def predict(self, rows: Counts, changes: dict[int, Counts]) -> Floats:
        """Predictions of rows with the cells of other rows in some columns."""
        at = np.tile(self.rows[rows][:, None], (1, len(self.names)))
        for j, other in changes.items():
            at[:, j] = self.rows[other]
        return self.opened.predict_mixed(at)

    def effect(self, j: int, n_points: int) -> Dependence:
        """The effect of a column."""
        edges = self.edges(j, n_points)
        if edges is None:
            return self._category_effect(j)
        grid, present, place = self.intervals(j, edges)
        both = np.concatenate([present, present])
        p = self.predict(both, {j: np.concatenate([edges[place], edges[place + 1]])})
        change = p[len(present) :] - p[: len(present)]
        count = np.bincount(place, minlength=len(grid) - 1)
        step = _sums(place, change, len(grid) - 1) / np.maximum(count, 1)[:, None]
        effect = np.concatenate([np.zeros((1, step.shape[1])), np.cumsum(step, axis=0)])
        effect -= count @ ((effect[1:] + effect[:-1]) / 2) / count.sum()
        return Dependence(self.names[j], "number", grid.tolist(), effect, count, self.opened.classes)

    def _category_effect(self, j: int) -> Dependence:
        keys = pd.Series(self.cells[j], dtype=object)
        codes, values = pd.factorize(keys, use_na_sentinel=False)
        count = np.bincount(codes, minlength=len(values))
        chosen = np.argsort(-count, kind="stable")[:_MOST_CATEGORIES]
        holder = np.array([int(np.flatnonzero(codes == k)[0]) for k in chosen])
        n = len(self.rows)
        p = self.predict(np.tile(np.arange(n), len(chosen)), {j: np.repeat(holder, n)})
        effect = p.reshape(len(chosen), n, -1).mean(axis=1)
        effect -= count[chosen] @ effect / count[chosen].sum()
        grid = [None if pd.isna(values[k]) else values[k] for k in chosen]
        return Dependence(self.names[j], "category", grid, effect, count[chosen], self.opened.classes)

    def interaction(self, i: int, j: int, n_points: int) -> Interaction:
        """The joint effect of two number columns."""
        ends = self.edges(i, n_points), self.edges(j, n_points)
        assert ends[0] is not None
        assert ends[1] is not None
        (grid_i, rows_i, place_i), (grid_j, rows_j, place_j) = (
            self.intervals(i, ends[0]),
            self.intervals(j, ends[1]),
        )
        rows, at_i, at_j = np.intersect1d(rows_i, rows_j, return_indices=True)
        a, b = place_i[at_i], place_j[at_j]
        corners = [(0, 0), (1, 0), (0, 1), (1, 1)]
        p = self.predict(
            np.tile(rows, 4),
            {
                i: np.concatenate([ends[0][a + up] for up, _ in corners]),
                j: np.concatenate([ends[1][b + up] for _, up in corners]),
            },
        ).reshape(4, len(rows), -1)
        shape = (len(grid_i) - 1, len(grid_j) - 1)
        cell = a * shape[1] + b
        count = np.bincount(cell, minlength=shape[0] * shape[1])
        second = _sums(cell, p[3] - p[2] - p[1] + p[0], len(count)) / np.maximum(count, 1)[:, None]
        effect = _accumulated(second.reshape(*shape, -1), count.reshape(shape))
        middle = (effect[1:, 1:] + effect[1:, :-1] + effect[:-1, 1:] + effect[:-1, :-1]) / 4
        weight = count.reshape(*shape, 1) / max(int(count.sum()), 1)
        strength = np.sqrt((weight * middle**2).sum(axis=(0, 1)))
        k = int(strength.argmax())
        label = self.opened.classes[k]
        return Interaction(
            self.names[i], self.names[j], float(strength[k]), label, grid_i, grid_j, effect[:, :, k]
        )


def _sums(group: Counts, values: Floats, n_groups: int) -> Floats:
    """Sums of rows of values by group."""
    out = np.zeros((n_groups, values.shape[1]))
    np.add.at(out, group, values)
    return out


def _accumulated(second: Floats, count: Counts) -> Floats:
    """Second differences by cell as an effect on the grid, free of effects of either column alone."""
    effect = np.zeros((second.shape[0] + 1, second.shape[1] + 1, second.shape[2]))
    effect[1:, 1:] = second.cumsum(axis=0).cumsum(axis=1)
    by_first = np.diff(effect, axis=0)  # change over an interval of the first column, at ends of the second
    rows = np.maximum(count.sum(axis=1), 1)[:, None]
    step = (count[:, :, None] * (by_first[:, 1:] + by_first[:, :-1]) / 2).sum(axis=1) / rows
    first = np.concatenate([np.zeros((1, step.shape[1])), step.cumsum(axis=0)])
    by_second = np.diff(effect, axis=1)
    columns = np.maximum(count.sum(axis=0), 1)[:, None]
    step = (count[:, :, None] * (by_second[1:] + by_second[:-1]) / 2).sum(axis=0) / columns
    other = np.concatenate([np.zeros((1, step.shape[1])), step.cumsum(axis=0)])
    effect = effect - first[:, None] - other[None]
    middle = (effect[1:, 1:] + effect[1:, :-1] + effect[:-1, 1:] + effect[:-1, :-1]) / 4
    total = max(int(count.sum()), 1)
    return np.asarray(effect - (count[:, :, None] * middle).sum(axis=(0, 1)) / total)


def _parts(unwrapped: Unwrapped, names: list[str]) -> dict[str, list[int]]:
    """Positions of the columns by name, and of the parts of columns that were prepared."""
    by_name = {name: [j] for j, name in enumerate(names)}
    grouped, positions = group_positions(names, unwrapped.groups)
    return {**dict(zip(grouped, positions)), **by_name}
