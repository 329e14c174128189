"""`time_limit`: how many seconds a fit or a search may still take."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TimeLimit:
    """A limit in seconds that starts when the object is made; None is no limit.

    Examples
    --------
    >>> TimeLimit(None).left, TimeLimit(0.0).is_over
    (inf, True)
    """

    seconds: float | None
    started: float = field(default_factory=lambda: time.monotonic())  # looked up late: tests have a clock

    @property
    def deadline(self) -> float | None:
        """The value of ``time.monotonic()`` at which the time is up."""
        return None if self.seconds is None else self.started + float(self.seconds)

    @property
    def passed(self) -> float:
        """Seconds since it started."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds that remain, never negative; infinite without a limit."""
        return math.inf if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Whether no time remains."""
        return self.left <= 0.0

    def divided(self, n_parts: int) -> TimeLimit:
        """A limit, starting now, for the next of `n_parts` parts of what is left to do."""
        now = time.monotonic()
        if self.deadline is None:
            return TimeLimit(None, now)
        return TimeLimit(max(0.0, self.deadline - now) / n_parts, now)

    def part(self, fraction: float) -> TimeLimit:
        """A limit, starting now, of a fraction of what is left."""
        return TimeLimit(None if self.deadline is None else fraction * self.left)


NO_LIMIT = TimeLimit(None)
