"""The one door: every GUARANTEE of the package is issued by `issue_guarantee`.

An entry with that word can only be built with a seal that lives in this file, from a method that proves a
bound, in a form that is proved, unscaled, with a delta, and with every condition holding. A test reads all
of `src/` and finds no other place that constructs one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from enum import StrEnum
from typing import Any

from .condition import Condition
from .entry import Entry
from .status import Status


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
    TREE_COMPRESSION = "sample compression (SVM tree)"
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
    Method.TREE_COMPRESSION: {"exact"},
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
        if not 0 <= self.value <= self.ceiling:
            raise ValueError(f"value must be in [0, {self.ceiling:g}] for a GUARANTEE, got {self.value}")
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
