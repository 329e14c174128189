"""How deep the trees of each layer may grow: a (t + 1) at layer t, one growth rate a per forest ([D-27])."""

from __future__ import annotations

from typing import Any, TypeAlias

from surewood.estimators.rules import Integer

Schedule: TypeAlias = tuple[int | None, ...]

#: Growth rates that ``depth_schedule="auto"`` compares at the first layer.
AUTO_SCHEDULES: tuple[int, ...] = (8, 16)
_RATE = Integer(1)


def depths(schedule: Schedule, layer: int) -> list[int | None]:
    """Depth limits of the forests at layer 1, 2, ...

    Examples
    --------
    >>> depths((2, None), 1), depths((2, None), 3)
    ([4, None], [8, None])
    """
    return [None if rate is None else rate * (layer + 1) for rate in schedule]


def parse_schedules(depth_schedule: Any, n_members: int) -> list[Schedule]:
    """The schedules to compare, each with one growth rate per forest.

    Examples
    --------
    >>> parse_schedules(8, 2), parse_schedules(None, 1)
    ([(8, 8)], [(None,)])
    """
    if isinstance(depth_schedule, str) and depth_schedule == "auto":
        return [(rate,) * n_members for rate in AUTO_SCHEDULES]
    if depth_schedule is None or _is_rate(depth_schedule):
        return [(depth_schedule,) * n_members]
    is_list = isinstance(depth_schedule, list | tuple) and len(depth_schedule) == n_members
    if is_list and all(rate is None or _is_rate(rate) for rate in depth_schedule):
        return [tuple(depth_schedule)]
    raise ValueError(
        "depth_schedule must be 'auto', an integer of at least 1, None or a list with one of these for each "
        f"of the {n_members} forests, got {depth_schedule!r}."
    )


def short(schedule: Schedule) -> Any:
    """A schedule as a user would write it: one number where all forests share it.

    Examples
    --------
    >>> short((8, 8)), short((8, None))
    (8, (8, None))
    """
    return schedule[0] if len(set(schedule)) == 1 else schedule


def _is_rate(value: Any) -> bool:
    return _RATE.is_kind(value) and _RATE.holds(value)
