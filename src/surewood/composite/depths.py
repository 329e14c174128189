"""Depths and sizes of leaves that a default fit considers, from the numbers of rows and trees alone."""

from __future__ import annotations

import math

MAX_LEAF_SIZE = 2000
_WORK = 4e8  # trees x rows x rows per leaf that a default fit may cost
_ROWS_PER_LEAF = 20  # that the default depth leaves on average
_DEFAULT_DEPTH = 4


def default_depth(n_rows: int) -> int:
    """Four splits, fewer where an average leaf would have less than 20 rows.

    Examples
    --------
    >>> default_depth(10_000), default_depth(100), default_depth(5)
    (4, 2, 0)
    """
    depth = math.floor(math.log2(max(n_rows, _ROWS_PER_LEAF) / _ROWS_PER_LEAF))
    return min(max(depth, 0), _DEFAULT_DEPTH)


def affordable_leaf(n_rows: int, n_trees: int) -> int:
    """Most rows per leaf so that a default fit stays within its work.

    Examples
    --------
    >>> affordable_leaf(500, 100), affordable_leaf(10_000, 100), affordable_leaf(100_000, 100)
    (2000, 400, 100)
    """
    return int(min(MAX_LEAF_SIZE, max(100.0, _WORK / (n_trees * n_rows))))


def pilot_depths(n_pilot: int, max_size: int) -> tuple[int, ...]:
    """Depths that the pilot compares: from the shallowest affordable one down to leaves of a few rows.

    Examples
    --------
    >>> pilot_depths(500, 2000), pilot_depths(2000, 400)
    ((0, 1, 2, 3, 5), (2, 3, 4, 5, 7))
    """
    first = max(0, math.ceil(math.log2(0.8 * n_pilot / max_size)))
    depths = [first + step for step in (0, 1, 2, 3, 5)]
    return tuple(d for d in depths if d == first or 0.8 * n_pilot / 2**d >= 8)
