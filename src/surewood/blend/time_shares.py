"""What a time limit leaves to each member: all it needs, a part of it, or nothing.

The first member, the cheapest, is always fitted; where it would take more than `FIRST_SHARE` of the time it
has fewer trees. Members that know a time limit share what is left: each gets all it needs, or an equal part
with those that wait. One is not started where its part is below `LEAST_SHARE` of its need, since what would
be there by then is not worth its first steps.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from surewood.blend.members import LIMITED, SHORTENED
from surewood.blend.plan import MemberPlan
from surewood.estimators.time_limit import TimeLimit

SPARE = 0.9  # part of the time that is left which members may take; weights and calibration take some
FIRST_SHARE = 0.3
LEAST_SHARE = 0.05
LEAST_TREES = 10
_TAKEN = 0.7  # part of its time that a member took which was stopped: its stages have parts of it


@dataclass(frozen=True)
class Allotted:
    """A member with what the time allows, or None, and a note where that is less than it needs.

    `seconds` is its time limit where it has less than its estimated need: the note holds where it took it.
    """

    member: MemberPlan | None
    note: str = ""
    seconds: float = 0.0

    def note_after(self, seconds: float) -> str:
        """The note about a member whose fit took this long; none where it did not need more than it had."""
        if self.member is not None and self.member.name in SHORTENED:
            boosted: Any = self.member.estimator
            if max(boosted.n_rounds_, default=0) < boosted.n_estimators:
                return ""
        return self.note if seconds >= _TAKEN * self.seconds else ""


def allot(
    member: MemberPlan,
    waiting: list[str],
    fit_arguments: tuple[Any, Any, Any],
    limit: TimeLimit,
    *,
    first: bool,
) -> Allotted:
    """The next member and its time; `waiting` names those that come after it."""
    if limit.deadline is None:
        return Allotted(member)
    if limit.is_over and not first:
        return Allotted(None, "not started: no time was left")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cost = member.estimator.estimate_cost(*fit_arguments)
    needed, left = float(np.sqrt(cost.seconds[0] * cost.seconds[1])), SPARE * limit.left
    shares = (*LIMITED, *SHORTENED)
    if member.name not in shares:
        if first:
            return _with_fewer_trees(member, needed, FIRST_SHARE * left if waiting else left)
        return Allotted(member) if needed <= left else Allotted(None, _not_started(needed, limit))
    part = left / (1 + sum(name in shares for name in waiting))
    if member.name in SHORTENED and (first or part >= LEAST_SHARE * needed):
        return _with_fewer_trees(member, needed, part)
    if first or needed <= part:  # a limit for the case that the estimate is wrong
        return Allotted(_with(member, time_limit=max(left, 1e-3)))
    if part < LEAST_SHARE * needed:
        return Allotted(None, _not_started(needed, limit))
    note = f"stopped after {part:.3g} s by the time limit; a full fit would take about {needed:.3g} s"
    return Allotted(_with(member, time_limit=part), note, part)


def _not_started(needed: float, limit: TimeLimit) -> str:
    return f"not started: it needs about {needed:.3g} s, {limit.left:.3g} s were left"


def _with_fewer_trees(member: MemberPlan, needed: float, share: float) -> Allotted:
    n_trees = int(member.estimator.get_params()["n_estimators"])
    most = max(min(LEAST_TREES, n_trees), int(n_trees * share / max(needed, 1e-9)))
    kind = "rounds" if member.name in SHORTENED else "trees"
    if most >= n_trees:
        return Allotted(member)
    return Allotted(_with(member, n_estimators=most), f"{most} of {n_trees} {kind} in the time that was left")


def _with(member: MemberPlan, **parameters: Any) -> MemberPlan:
    return MemberPlan(member.name, clone(member.estimator).set_params(**parameters))
