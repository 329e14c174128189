"""One pool of forests that several blocks take theirs from; forests do not know of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from surewood.deepforest.plan import MarginPlan


def forests_of(plan: MarginPlan) -> list[tuple[Any, int | None]]:
    """Each member with its growth rate: all that its first layer depends on."""
    return list(zip(plan.members, plan.schedule))


def pool_of(blocks: Sequence[list[Any]]) -> list[Any]:
    """The smallest list that has every block's forests.

    Examples
    --------
    >>> pool_of([["r", "r", "c"], ["e", "e", "c"]])
    ['r', 'r', 'c', 'e', 'e']
    """
    pool: list[Any] = []
    for block in blocks:
        lacking = Counter(block) - Counter(pool)
        pool += list(lacking.elements())
    return pool


def places_of(block: Sequence[Any], pool: Sequence[Any]) -> list[int]:
    """Where the pool has a block's forests, each place used once.

    Examples
    --------
    >>> places_of(["e", "e", "c"], ["r", "r", "c", "e", "e"])
    [3, 4, 2]
    """
    free = {forest: [k for k, other in enumerate(pool) if other == forest] for forest in pool}
    return [free[forest].pop(0) for forest in block]
