"""What a fitted model can say about itself, so that `surewood.certify` may promise more than a holdout does.

A model offers evidence through one method, `__certificate_evidence__`, that takes no argument and returns an
iterable of: `TreeEvidence` and `ForestEvidence` (theory.md §2), `CascadeEvidence` (§3), `VoteEvidence`
(§6.3), `CompressionEvidence` (§6.4), `CrossFitEvidence` (§11.9), `EstimateEvidence` and `HeuristicEvidence`
(§6.6). Each states the conditions its guarantee needs as `Condition` objects; one that does not hold turns
the guarantee away, with its sentence as the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from .leaf_evidence import CascadeEvidence, ForestEvidence, TreeEvidence
from .point_evidence import CompressionEvidence, CrossFitEvidence, VoteEvidence


@dataclass(frozen=True, kw_only=True)
class EstimateEvidence:
    """An error the model measured on itself, such as out-of-bag or out-of-fold.

    Examples
    --------
    >>> from surewood.bounds import EstimateEvidence
    >>> EstimateEvidence(name="out-of-bag error", value=0.1, n=500, used_for_selection=False).sample
    'training'
    """

    name: str
    value: float
    n: int
    used_for_selection: bool
    sample: str = "training"


@dataclass(frozen=True, kw_only=True)
class HeuristicEvidence:
    """A diagnostic, such as the margin ratio (4.6) or the value of (4.7).

    Examples
    --------
    >>> from surewood.bounds import HeuristicEvidence
    >>> HeuristicEvidence(name="margin ratio", value=0.4, n=500).sample
    'training'
    """

    name: str
    value: float
    n: int
    sample: str = "training"


Evidence: TypeAlias = (
    TreeEvidence
    | ForestEvidence
    | CascadeEvidence
    | VoteEvidence
    | CompressionEvidence
    | CrossFitEvidence
    | EstimateEvidence
    | HeuristicEvidence
)


@runtime_checkable
class OffersEvidence(Protocol):
    """A fitted model with more to say than its predictions.

    Examples
    --------
    >>> from surewood import BinnedForestClassifier
    >>> from surewood.bounds import OffersEvidence
    >>> isinstance(BinnedForestClassifier(), OffersEvidence)
    True
    """

    def __certificate_evidence__(self) -> Iterable[Evidence]:
        """Return what the model knows about its own sample and structure."""
        ...
