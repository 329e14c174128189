"""What a threshold may be asked to keep, and what it is once kept (theory.md §11.4).

A `Requirement` says which holdout rows it selects at a threshold and which of them fail. A `MetRequirement`
is the plain record of a proof; the guarantee is issued from it whenever it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Counts, Floats, Mask
from surewood.bounds import AT_LEAST, AT_MOST, Condition, Entry, Method, issue_guarantee
from surewood.bounds import _arguments as check

from .counting import Counted

__all__ = ["ABSTENTION", "MetRequirement", "Requirement", "count_failures", "read_requirements"]

ABSTENTION = "accepted_error"
_FROM_BELOW = ("precision", "recall")
_WORDS = {
    "precision": "precision of {}",
    "recall": "recall of {}",
    "fpr": "false positive rate of {}",
    ABSTENTION: "error among accepted rows",
}


@dataclass(frozen=True)
class Requirement:
    """One requirement: its name and the value that was asked for.

    Examples
    --------
    >>> promise = Requirement("recall", 0.9)
    >>> round(promise.at_most, 10), promise.lax_first, promise.text("bad")
    (0.1, True, "recall of 'bad' at least 0.9")
    """

    name: str
    value: float

    @property
    def at_most(self) -> float:
        """Largest failure rate among the selected rows."""
        return round(1.0 - self.value, 12) if self.name in _FROM_BELOW else self.value

    @property
    def lax_first(self) -> bool:
        """Whether thresholds are tested from lax to strict."""
        return self.name == "recall"

    @property
    def selects_by_threshold(self) -> bool:
        """Whether the number of selected rows changes with the threshold."""
        return self.name in ("precision", ABSTENTION)

    @property
    def side(self) -> str:
        """Direction of the guarantee."""
        return AT_LEAST if self.name in _FROM_BELOW else AT_MOST

    def quantity(self, positive: Any) -> str:
        """What is guaranteed, in words."""
        label = positive.item() if isinstance(positive, np.generic) else positive
        return _WORDS[self.name].format(repr(label))

    def text(self, positive: Any) -> str:
        """The requirement, in words."""
        return f"{self.quantity(positive)} {self.side} {self.value:g}"

    def selected(self, above: Mask, is_positive: Mask) -> Mask:
        """Rows the requirement is about, where `above` are those at or above the threshold."""
        if self.selects_by_threshold:
            return above
        return is_positive if self.name == "recall" else ~is_positive

    def failed(self, above: Mask, is_positive: Mask, wrong: Mask) -> Mask:
        """Rows that fail it, if selected."""
        if self.name == ABSTENTION:
            return wrong
        if self.name == "precision":
            return ~is_positive
        return ~above if self.name == "recall" else above


def read_requirements(**asked: float | None) -> list[Requirement]:
    """The requirements; exactly one, or several about the same class."""
    found = [Requirement(name, check.open_unit(v, name)) for name, v in asked.items() if v is not None]
    if not found:
        raise ValueError(f"ask for one of {', '.join(asked)}")
    if len(found) > 1 and any(one.name == ABSTENTION for one in found):
        raise ValueError("accepted_error cannot be combined with precision, fpr or recall")
    return found


def count_failures(
    requirement: Requirement, scores: Floats, is_positive: Mask, wrong: Mask, grid: Floats, counted: Counted
) -> tuple[Counts, Counts]:
    """Failures and selected units at every threshold.

    A content with several rows counts once, and as failed if any of its selected rows fails: that is at
    least as often as a random one of them does.
    """
    unit, n_units = counted.unit, counted.n_units
    plain = n_units == scores.size
    failures, sizes = np.zeros(grid.size, dtype=np.int64), np.zeros(grid.size, dtype=np.int64)
    for position, threshold in enumerate(grid):
        above = scores >= threshold
        selected = requirement.selected(above, is_positive)
        failed = selected & requirement.failed(above, is_positive, wrong)
        if plain:
            sizes[position], failures[position] = selected.sum(), failed.sum()
        else:
            sizes[position] = np.count_nonzero(np.bincount(unit[selected], minlength=n_units))
            failures[position] = np.count_nonzero(np.bincount(unit[failed], minlength=n_units))
    return failures, sizes


@dataclass(frozen=True)
class MetRequirement:
    """The record of a requirement that a threshold meets: counts at the threshold and what was assumed.

    Attributes
    ----------
    name, quantity, side : str
    value, delta : float
        What is guaranteed, and the probability that it fails.
    failures, n : int
        Holdout units that failed and that were selected, at the threshold.
    n_tested : int
        Thresholds tested before.
    unit, population : str
    conditions : list of [text, source]
    """

    name: str
    quantity: str
    side: str
    value: float
    delta: float
    failures: int
    n: int
    n_tested: int
    unit: str
    population: str
    conditions: list[list[str]]

    @property
    def guarantee(self) -> Entry:
        """The GUARANTEE."""
        observed = self.failures / self.n
        return issue_guarantee(
            Method.HOLDOUT,
            value=self.value,
            delta=self.delta,
            n=self.n,
            sample="holdout",
            variant="exact",
            quantity=self.quantity,
            side=self.side,
            unit=self.unit,
            population=self.population,
            conditions=[Condition(text, True, source) for text, source in self.conditions],
            decomposition={"observed": 1.0 - observed if self.side == AT_LEAST else observed},
            note=f"threshold found by fixed-sequence testing, {self.n_tested} tested",
        )


def labels_as_objects(y: Any) -> NDArray[Any]:
    """Labels that can be compared with any other label."""
    return np.asarray(y).astype(object)
