"""One line of a certificate, and the rules of theory.md §6.6 that its type enforces.

A GUARANTEE can only be built from a method that proves one, in a rigorous variant, unscaled, with a delta,
and with every condition holding. Anything else must carry another word, and then it has no delta.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from surewood.bounds import Condition, Status

__all__ = ["Entry", "Method", "Withheld"]


class Method(StrEnum):
    """The methods that can prove a bound on the risk."""

    HOLDOUT = "holdout (Clopper-Pearson)"
    PAC_BAYES = "PAC-Bayes, first order"
    TANDEM = "PAC-Bayes, tandem"
    COMPRESSION = "sample compression (SVM)"
    TREE_COMPRESSION = "sample compression (SVM tree)"
    COMPOSITE_TREE = "composite tree bound"
    COMPOSITE_FOREST = "composite forest bound"
    CASCADE = "cascade bound"


# The only forms of each method that are proved; printed readings and paper growth are not among them.
_RIGOROUS = {
    Method.HOLDOUT: {"exact"},
    Method.PAC_BAYES: {"kl", "lambda"},
    Method.TANDEM: {"kl", "lambda"},
    Method.COMPRESSION: {"exact"},
    Method.TREE_COMPRESSION: {"exact"},
    Method.COMPOSITE_TREE: {"rigorous"},
    Method.COMPOSITE_FOREST: {"rigorous"},
    Method.CASCADE: {"rigorous"},
}

_WITH_COMPLEXITY = {Method.COMPOSITE_TREE, Method.COMPOSITE_FOREST, Method.CASCADE}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A number with its status word and everything needed to judge it.

    Parameters
    ----------
    method : str
        A :class:`Method` for a GUARANTEE, any name otherwise.
    status : Status
    value : float
    sample : str
        Which points were used, such as ``"holdout"``, ``"training"``, ``"out-of-bag"``.
    n : int
        How many.
    variant : str
        Form of the method.
    delta : float, optional
        Probability that a GUARANTEE fails; no other status has one.
    gamma_scale : float, optional
        Scale of the complexity term; only 1 is a bound.
    n_models : int
        Number of models the value is corrected for.
    conditions : tuple of Condition
        What the statement rests on.
    decomposition : mapping of str to float
        Parts of the value.
    biased : bool
        For an ESTIMATE: the points took part in fitting or selection.
    note : str

    Examples
    --------
    >>> from surewood.certify import Entry, Method
    >>> from surewood.bounds import Condition, Status
    >>> entry = Entry(method=Method.HOLDOUT, status=Status.GUARANTEE, value=0.1, sample="holdout", n=100,
    ...               variant="exact", delta=0.05, conditions=(Condition("untouched points", True),))
    >>> entry.value
    0.1
    """

    method: str
    status: Status
    value: float
    sample: str
    n: int
    variant: str = ""
    delta: float | None = None
    gamma_scale: float | None = None
    n_models: int = 1
    conditions: tuple[Condition, ...] = ()
    decomposition: Mapping[str, float] = field(default_factory=dict)
    biased: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", Status(self.status))
        object.__setattr__(self, "value", float(self.value))
        object.__setattr__(self, "conditions", tuple(self.conditions))
        object.__setattr__(self, "decomposition", {k: float(v) for k, v in self.decomposition.items()})
        if math.isnan(self.value):
            raise ValueError("value must not be NaN")
        if self.n < 1:
            raise ValueError(f"n must be >= 1, got {self.n}")
        if self.n_models < 1:
            raise ValueError(f"n_models must be >= 1, got {self.n_models}")
        if self.status is Status.GUARANTEE:
            self._check_guarantee()
        elif self.delta is not None:
            raise ValueError(f"delta belongs to a GUARANTEE only, not to a {self.status}")
        if self.status is Status.CRITERION and self.gamma_scale is None:
            raise ValueError("gamma_scale must be given with a CRITERION")

    def _check_guarantee(self) -> None:
        if self.method not in list(Method):
            raise ValueError(f"method {self.method!r} proves nothing: it cannot be a GUARANTEE")
        rigorous = _RIGOROUS[Method(self.method)]
        if self.variant not in rigorous:
            proved = ", ".join(sorted(rigorous))
            raise ValueError(
                f"variant {self.variant!r} of {self.method} cannot be a GUARANTEE, only {proved}"
            )
        # the papers' bounds have a complexity term and must say that it is not scaled; the others have none
        if self.gamma_scale != 1 and (self.gamma_scale is not None or self.method in _WITH_COMPLEXITY):
            raise ValueError(f"gamma_scale must be 1 for a GUARANTEE, got {self.gamma_scale}")
        if self.delta is None or not 0 < self.delta < 1:
            raise ValueError(f"delta must be in (0, 1) for a GUARANTEE, got {self.delta}")
        if not 0 <= self.value <= 1:
            raise ValueError(f"value must be in [0, 1] for a GUARANTEE, got {self.value}")
        if self.biased:
            raise ValueError("a GUARANTEE cannot be biased")
        if not self.conditions:
            raise ValueError("conditions must be listed for a GUARANTEE")
        broken = [condition.text for condition in self.conditions if not condition.holds]
        if broken:
            raise ValueError(f"a GUARANTEE needs every condition to hold; not so: {'; '.join(broken)}")


@dataclass(frozen=True)
class Withheld:
    """A guarantee that was not given, and why."""

    method: str
    reason: str
