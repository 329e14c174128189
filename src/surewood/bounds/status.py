"""The four words every reported number carries (theory.md §6)."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """What a number may be taken for.

    Examples
    --------
    >>> from surewood.bounds import Status
    >>> str(Status.CRITERION)
    'CRITERION'
    """

    GUARANTEE = "GUARANTEE"
    """Holds with probability at least 1 - delta over the draw of the sample."""
    CRITERION = "CRITERION"
    """Used to select a model; proves nothing."""
    ESTIMATE = "ESTIMATE"
    """An error measured on some points; biased when they took part in selection."""
    HEURISTIC = "HEURISTIC"
    """A diagnostic without a finished proof."""
