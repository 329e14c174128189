"""Shapley values estimated from random orders of the columns.

For a row x and a background row b, columns of b are replaced by those of x one after another, in a random
order and then in the reverse one; the change of the prediction at each step goes to its column. The steps of
an order sum to f(x) - f(b). Averaged over background rows this estimates the interventional Shapley value,
whose value function is the mean prediction with some columns of x and the others of the background.

Where fewer background rows are drawn for x than there are, one is drawn from each of as many strata by their
predictions, and f(b), whose mean over the whole background is known, serves as control variate: each column
is regressed on it. Without shrinkage the coefficients would sum to -1, because the steps sum to f(x) - f(b),
and the corrected values to f(x) minus the mean prediction; what shrinkage leaves is divided by size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Counts, Floats

EVALUATIONS, EVALUATIONS_PER_ROW = 40_000, (400, 4_000)
LEAST_ORDERS, MOST_ORDERS = 6, 100
_RIDGE = 0.05
_BATCH_VALUES = 4_000_000  # cells of the mixed rows that are predicted at once


def default_orders(n_rows: int, n_columns: int, n_background: int) -> int:
    """Orders per row, each used forwards and backwards.

    Few rows get more predictions each, and a wide table gets fewer orders.

    Examples
    --------
    >>> default_orders(100, 20, 200), default_orders(1, 20, 200), default_orders(100, 1000, 200)
    (10, 100, 6)
    """
    fewest, most = EVALUATIONS_PER_ROW
    evaluations = min(max(EVALUATIONS // max(n_rows, 1), fewest), most)
    wanted = evaluations // (2 * max(n_columns, 1))
    return min(max(LEAST_ORDERS, min(wanted, MOST_ORDERS)), n_background)


def sample_values(
    predict: Callable[[Counts], Floats],
    codes: Counts,
    n_rows: int,
    groups: Sequence[Sequence[int]],
    n_orders: int,
    seed: int,
) -> tuple[Floats, Floats, Floats]:
    """Estimated Shapley values, their standard errors, and the mean prediction of the background.

    Values have the shape (n_rows, n_groups, n_classes).

    Parameters
    ----------
    predict : callable
        Predictions of mixed rows. A mixed row is given by the pool's row whose cell it has in each column.
    codes : ndarray of int64, shape (n_pool, n_columns)
        The pool: the rows to explain, then the background. Equal cells of a column have equal codes.
    n_rows : int
        Rows to explain.
    groups : list of list of int
        Positions of the columns of each group.
    n_orders : int
        Orders per row, each used forwards and backwards; at most as many as background rows.
    seed : int
    """
    n_background = len(codes) - n_rows
    unmixed = np.arange(len(codes))[:, None] + np.zeros((1, codes.shape[1]), dtype=np.int64)
    fixed = predict(unmixed)
    expected = fixed[n_rows:].mean(axis=0)
    rng = np.random.default_rng(seed)
    values = np.zeros((n_rows, len(groups), fixed.shape[1]))
    errors = np.zeros_like(values)
    steps = max(2 * n_orders * len(groups), 1)
    at_once = max(1, _BATCH_VALUES // (steps * max(codes.shape[1], fixed.shape[1])))
    group_of = np.empty(codes.shape[1], dtype=np.int64)
    for g, columns in enumerate(groups):
        group_of[list(columns)] = g
    hashes = _column_hashes(codes, rng)
    spread = _by_prediction(fixed[n_rows:])
    for begin in range(0, n_rows, at_once):
        rows = np.arange(begin, min(begin + at_once, n_rows))
        drawn = n_rows + spread[_one_per_stratum(len(rows), n_orders, n_background, rng)]
        orders = rng.permuted(np.tile(np.arange(len(groups)), (len(rows), n_orders, 1)), axis=2)
        paths = _Paths(rows, drawn, orders, group_of, hashes)
        changes = paths.values(predict, fixed)
        variance = fixed[n_rows:].var(axis=0)
        values[rows], errors[rows] = _combined(changes, fixed[drawn], fixed[rows], expected, variance)
    return values, errors, expected


def _by_prediction(predicted: Floats) -> Counts:
    """Background rows in the order of their predictions, along the direction in which these differ most."""
    apart = predicted - predicted.mean(axis=0)
    _, axes = np.linalg.eigh(apart.T @ apart)
    return np.argsort(apart @ axes[:, -1], kind="stable")


def _one_per_stratum(n_rows: int, n_drawn: int, n_all: int, rng: np.random.Generator) -> Counts:
    """For each row one place out of each of `n_drawn` even parts of `n_all` places, in random order."""
    at = (np.arange(n_drawn) + rng.random((n_rows, n_drawn))) * (n_all / n_drawn)
    return rng.permuted(np.minimum(at.astype(np.int64), n_all - 1), axis=1)


def _column_hashes(codes: Counts, rng: np.random.Generator) -> NDArray[np.uint64]:
    """A random number for each cell of the pool, the same for equal cells of a column."""
    out = np.empty(codes.shape, dtype=np.uint64)
    for j in range(codes.shape[1]):
        keys = rng.integers(0, 2**64 - 1, size=int(codes[:, j].max(initial=0)) + 1, dtype=np.uint64)
        out[:, j] = keys[codes[:, j]]
    return out


def _part(at: tuple[Counts, ...], part: slice) -> tuple[Counts, ...]:
    return tuple(axis[part] for axis in at)


class _Paths:
    """The mixed rows on the way from background rows to rows, in the given orders and their reverses.

    A mixed row is known by the sum of the numbers of its cells (modulo 2^64): equal ones are predicted once.
    """

    def __init__(
        self,
        rows: Counts,
        drawn: Counts,
        orders: Counts,
        group_of: Counts,
        hashes: NDArray[np.uint64],
    ) -> None:
        self.rows, self.drawn, self.group_of, self.hashes = rows, drawn, group_of, hashes
        self.orders = np.stack([orders, orders[:, :, ::-1]], axis=2)  # row, order, direction, step

    def values(self, predict: Callable[[Counts], Floats], fixed: Floats) -> Floats:
        """Changes of the prediction by group, mean of both directions: (rows, orders, groups, classes)."""
        n_rows, n_orders, _, n_groups = self.orders.shape
        place = np.argsort(self.orders, axis=3)  # step at which each group becomes that of the row
        keys = self._keys()
        inner = keys[..., 1:-1].ravel()
        _, first, inverse = np.unique(inner, return_index=True, return_inverse=True)
        k = fixed.shape[1]
        predicted = np.empty((n_rows, n_orders, 2, n_groups + 1, k))
        predicted[..., 0, :] = fixed[self.drawn][:, :, None]
        predicted[..., -1, :] = fixed[self.rows][:, None, None]
        if len(first):
            shape = (n_rows, n_orders, 2, n_groups - 1)
            at = np.unravel_index(first, shape)
            width = max(1, _BATCH_VALUES // len(self.group_of))  # a wide table in parts, else all at once
            slices = [slice(k, k + width) for k in range(0, len(first), width)]
            inner_predictions = np.concatenate(
                [predict(self._mixed(_part(at, part), place)) for part in slices]
            )
            predicted[..., 1:-1, :] = inner_predictions[inverse].reshape(*shape, k)
        change = np.diff(predicted, axis=3)
        by_group = np.take_along_axis(change, place[..., None], axis=3)
        return np.asarray(by_group.mean(axis=2))

    def _keys(self) -> NDArray[np.uint64]:
        """Numbers of the mixed rows: (rows, orders, directions, steps + 1)."""
        difference = self.hashes[self.rows][:, None] - self.hashes[self.drawn]  # modulo 2^64
        by_group = np.zeros((*difference.shape[:2], self.orders.shape[3]), dtype=np.uint64)
        for column, group in enumerate(self.group_of):
            by_group[..., group] += difference[..., column]
        steps = np.take_along_axis(by_group[:, :, None], self.orders, axis=3)
        start = self.hashes[self.drawn].sum(axis=2, dtype=np.uint64)[:, :, None, None]
        added = np.cumsum(steps, axis=3, dtype=np.uint64)
        return np.concatenate([np.broadcast_to(start, (*steps.shape[:3], 1)), start + added], axis=3)

    def _mixed(self, at: tuple[Any, ...], place: Counts) -> Counts:
        """Mixed rows, after step ``at[3] + 1`` of a path, as rows of the pool by column."""
        row, order, direction, step = at
        is_own = (place[row, order, direction] <= step[:, None])[:, self.group_of]
        return np.asarray(np.where(is_own, self.rows[row][:, None], self.drawn[row, order][:, None]))


def _combined(
    changes: Floats, at_background: Floats, at_rows: Floats, expected: Floats, variance: Floats
) -> tuple[Floats, Floats]:
    """Values and standard errors from those of single orders, with f(b) as control variate.

    Parameters
    ----------
    changes : ndarray, shape (rows, orders, groups, classes)
    at_background : ndarray, shape (rows, orders, classes)
    at_rows : ndarray, shape (rows, classes)
    expected, variance : ndarray, shape (classes,)
        Mean and variance of f(b) over the whole background.
    """
    n_orders, n_groups = changes.shape[1:3]
    mean, centre = changes.mean(axis=1), at_background.mean(axis=1)
    apart = at_background - centre[:, None]
    deviation = changes - mean[:, None]
    spread = (apart**2).sum(axis=1)
    slope = (deviation * apart[:, :, None]).sum(axis=1)
    shrunk = (spread + _RIDGE * n_orders * variance)[:, None]
    slope = np.divide(slope, shrunk, out=np.zeros_like(slope), where=shrunk > 0)
    values = mean + slope * (expected - centre)[:, None]
    # What is missing now goes to the columns by the size of their values, so that a column without influence
    # stays at 0.
    size = np.abs(values)
    total = size.sum(axis=1, keepdims=True)
    weight = np.divide(size, total, out=np.full_like(size, 1.0 / n_groups), where=total > 0)
    values += weight * (at_rows - expected - values.sum(axis=1))[:, None]
    residual = deviation - slope[:, None] * apart[:, :, None]
    freedom = max(n_orders - 2, 1)
    return values, np.sqrt((residual**2).sum(axis=1) / freedom / n_orders)
