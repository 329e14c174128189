"""One line of a certificate: a number with its status word (theory.md §6.6).

`Entry` carries CRITERION, ESTIMATE and HEURISTIC. A GUARANTEE is an entry too, but only
`surewood.bounds.guarantee` can build one. `Withheld` is a guarantee that was not given, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from .condition import Condition
from .status import Status

AT_MOST, AT_LEAST = "at most", "at least"


@dataclass(frozen=True)
class GroupLimit:
    """What a guarantee about every group says of one of them.

    Examples
    --------
    >>> GroupLimit("north", 120, 0.05, 0.11).limit
    0.11
    """

    name: str
    #: Rows of the group.
    n: int
    #: The observed value, and its limit.
    observed: float
    limit: float


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A number with its status word and everything needed to judge it.

    Parameters
    ----------
    method : str
        How the number was found.
    status : Status
        CRITERION, ESTIMATE or HEURISTIC; see :func:`surewood.bounds.issue_guarantee` for a GUARANTEE.
    value : float
    sample : str
        Which rows were used, such as ``"holdout"``, ``"training"``, ``"out-of-bag"``.
    n : int
        Number of independent rows (or groups of rows) behind the value.
    unit : str
        What was counted: ``"rows"``, ``"contents"`` (equal rows count once) or ``"groups"``.
    quantity : str
        What the value is about, such as ``"error"`` or ``"recall of 'bad'"``.
    side : {"at most", "at least"}
        Whether a GUARANTEE limits the quantity from above or from below.
    ceiling : float
        Largest possible value of the quantity.
    variant : str
        Form of the method.
    delta : float, optional
        Probability that a GUARANTEE fails; no other status has one.
    gamma_scale : float, optional
        Scale of the complexity term; only 1 is a bound.
    n_models : int
        Number of models the value is corrected for.
    conditions : tuple of Condition
        What the statement assumes.
    decomposition : mapping of str to float
        Parts of the value.
    biased : bool
        For an ESTIMATE: the rows took part in fitting or selection.
    population : str
        Rows the statement is about, where these are not simply new rows like those in the sample.
    note : str
    groups : tuple of GroupLimit
        Of a statement about every group: its groups.

    Examples
    --------
    >>> from surewood.bounds import Entry, Status
    >>> entry = Entry(method="out-of-bag error", status=Status.ESTIMATE, value=0.1, sample="training", n=100)
    >>> entry.value, entry.quantity
    (0.1, 'error')
    """

    method: str
    status: Status
    value: float
    sample: str
    n: int
    unit: str = "rows"
    quantity: str = "error"
    side: str = AT_MOST
    ceiling: float = 1.0
    variant: str = ""
    delta: float | None = None
    gamma_scale: float | None = None
    n_models: int = 1
    conditions: tuple[Condition, ...] = ()
    decomposition: Mapping[str, float] = field(default_factory=dict)
    biased: bool = False
    population: str = ""
    note: str = ""
    groups: tuple[GroupLimit, ...] = ()

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
        if self.side not in (AT_MOST, AT_LEAST):
            raise ValueError(f"side must be {AT_MOST!r} or {AT_LEAST!r}, got {self.side!r}")
        self._check_status()

    def _check_status(self) -> None:
        if self.status is Status.GUARANTEE:
            raise ValueError("a GUARANTEE is issued by surewood.bounds.issue_guarantee only")
        if self.delta is not None:
            raise ValueError(f"delta belongs to a GUARANTEE only, not to a {self.status}")
        if self.status is Status.CRITERION and self.gamma_scale is None:
            raise ValueError("gamma_scale must be given with a CRITERION")


@dataclass(frozen=True)
class Withheld:
    """A guarantee that was not given, and why.

    Examples
    --------
    >>> from surewood.bounds import Method, Withheld
    >>> Withheld(Method.HOLDOUT, "no holdout").reason
    'no holdout'
    """

    method: str
    reason: str
