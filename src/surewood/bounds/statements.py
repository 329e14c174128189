"""A number with its status word, and the one door through which guarantees are issued (theory.md §6.6).

`Entry` carries CRITERION, ESTIMATE and HEURISTIC. A GUARANTEE is an entry too, but it can only be built with
a seal that lives in this file, from a method that proves a bound, in a form that is proved, unscaled, with a
delta, and with every condition holding. A test reads all of `src/` and finds no other place that constructs
one. `Withheld` is a guarantee that was not given, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from enum import StrEnum
from typing import Any

from . import _arguments as check


class Status(StrEnum):
    """What kind of statement a number is.

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


STATED = "stated by the model"

CHECKED = "checked"

CALLER = "your responsibility"


@dataclass(frozen=True)
class Condition:
    """One condition of a guarantee: a sentence, whether it holds, and who says so.

    Examples
    --------
    >>> from surewood.bounds import Condition
    >>> str(Condition("hard votes", True, "stated by the model"))
    'hard votes: yes (stated by the model)'
    """

    text: str
    holds: bool
    source: str = STATED

    def __str__(self) -> str:
        if self.source == CALLER and self.holds:
            return f"assumes {self.text} ({CALLER})"
        return f"{self.text}: {'yes' if self.holds else 'no'} ({self.source})"


def stated(conditions: dict[str, bool], source: str = STATED) -> tuple[Condition, ...]:
    """Conditions from sentences and whether they hold."""
    return tuple(Condition(text, bool(holds), source) for text, holds in conditions.items())


@dataclass(frozen=True, kw_only=True)
class OnSample:
    """What all evidence about a training sample may add.

    Parameters
    ----------
    majority_error : float, optional
        Error of always predicting the majority class of the sample.
    n_models : int
        Settings among which the model chose on this sample, as far as the bound does not hold for all of
        them at once.
    learned_representation : str
        What was learned from the sample before the bound's features existed (one-hot width, target
        statistics, bins, imputation), in words; empty where nothing was. Not empty: no guarantee ([D-39]).
    """

    majority_error: float | None = None
    n_models: int = 1
    learned_representation: str = ""

    def __post_init__(self) -> None:
        check.count(self.n_models, "n_models", 1)

    def representation(self) -> tuple[Condition, ...]:
        """The condition of [D-39], where it does not hold."""
        if not self.learned_representation:
            return ()
        text = f"features were fixed before the sample was seen (learned: {self.learned_representation})"
        return stated({text: False})


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
        What was counted: ``"rows"`` or ``"groups"``.
    quantity : str
        What the value is about, such as ``"error"`` or ``"recall of 'bad'"``.
    side : {"at most", "at least"}
        Whether a GUARANTEE limits the quantity from above or from below.
    floor, ceiling : float
        Smallest and largest possible value of the quantity.
    percent : bool
        Whether it is a fraction, to be shown in percent.
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
    floor: float = 0.0
    ceiling: float = 1.0
    percent: bool = True
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
    #: Name of the reason, for programs.
    code: str = ""


class Method(StrEnum):
    """The methods that can prove a bound.

    Examples
    --------
    >>> from surewood.bounds import Method
    >>> print(Method.HOLDOUT)
    holdout (Clopper-Pearson)
    """

    HOLDOUT = "holdout (Clopper-Pearson)"
    BETTING = "holdout (betting)"
    CROSS_FIT = "cross-fitting"
    PAC_BAYES = "PAC-Bayes, first order"
    TANDEM = "PAC-Bayes, tandem"
    COMPRESSION = "sample compression (SVM)"
    COMPOSITE_TREE = "composite tree bound"
    COMPOSITE_FOREST = "composite forest bound"
    CASCADE = "cascade bound"


# The only forms of each method that are proved; printed readings and paper growth are not among them.
_RIGOROUS = {
    Method.HOLDOUT: {"exact"},
    Method.BETTING: {"exact"},
    Method.CROSS_FIT: {"kl"},
    Method.PAC_BAYES: {"kl", "lambda"},
    Method.TANDEM: {"kl", "lambda"},
    Method.COMPRESSION: {"exact"},
    Method.COMPOSITE_TREE: {"rigorous"},
    Method.COMPOSITE_FOREST: {"rigorous"},
    Method.CASCADE: {"rigorous"},
}

_WITH_COMPLEXITY = {Method.COMPOSITE_TREE, Method.COMPOSITE_FOREST, Method.CASCADE}

_SEAL = object()


@dataclass(frozen=True, kw_only=True)
class _Guarantee(Entry):
    """An entry that passed the checks below; nothing outside this file can build or change one."""

    seal: InitVar[object] = None

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise ValueError("a GUARANTEE is issued by surewood.bounds.issue_guarantee only")
        super().__post_init__()

    def _check_status(self) -> None:
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
        if not self.floor <= self.value <= self.ceiling:
            limits = f"[{self.floor:g}, {self.ceiling:g}]"
            raise ValueError(f"value must be in {limits} for a GUARANTEE, got {self.value}")
        if self.biased:
            raise ValueError("a GUARANTEE cannot be biased")
        if not self.conditions:
            raise ValueError("conditions must be listed for a GUARANTEE")
        broken = [condition.text for condition in self.conditions if not condition.holds]
        if broken:
            raise ValueError(f"a GUARANTEE needs every condition to hold; not so: {'; '.join(broken)}")


def issue_guarantee(
    method: Method,
    *,
    value: float,
    delta: float,
    n: int,
    sample: str,
    variant: str,
    conditions: Sequence[Condition],
    **fields: Any,
) -> Entry:
    """Issue a GUARANTEE, the only way there is.

    Parameters
    ----------
    method : Method
        What proves it.
    value : float
        The limit.
    delta : float
        Probability that it fails.
    n, sample, variant
        Number of independent rows, which rows they are, and the form of the method.
    conditions : sequence of Condition
        Everything the proof needs; each must hold.
    **fields
        Other fields of :class:`surewood.bounds.Entry`.

    Returns
    -------
    Entry
        With ``status=Status.GUARANTEE``.

    Raises
    ------
    ValueError
        One sentence that says which requirement is not met.

    Examples
    --------
    >>> from surewood.bounds import Condition, Method, clopper_pearson, issue_guarantee
    >>> entry = issue_guarantee(Method.HOLDOUT, value=clopper_pearson(3, 100), delta=0.05, n=100,
    ...                         sample="holdout", variant="exact",
    ...                         conditions=[Condition("rows not used for training or tuning", True)])
    >>> str(entry.status), round(entry.value, 4)
    ('GUARANTEE', 0.0757)
    """
    return _Guarantee(
        method=method,
        status=Status.GUARANTEE,
        value=value,
        delta=delta,
        n=n,
        sample=sample,
        variant=variant,
        conditions=tuple(conditions),
        seal=_SEAL,
        **fields,
    )
