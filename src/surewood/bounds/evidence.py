"""What a fitted model says about itself, so that `surewood.certify` can guarantee more than a holdout does.

A model offers evidence through one method, `__certificate_evidence__`, that takes no argument and returns an
iterable of: `TreeEvidence` and `ForestEvidence` (theory.md §2), `CascadeEvidence` (§3), `VoteEvidence`
(§6.3), `CompressionEvidence` (§6.4), `CrossFitEvidence` (§11.9), `EstimateEvidence` and `HeuristicEvidence`
(§6.6). Each states the conditions its guarantee needs as `Condition` objects; one that does not hold turns
the guarantee away, with its sentence as the reason. Conditions have no default where a model of this package
can break them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from surewood._arrays import Counts, Floats

from . import _arguments as check
from .complexity import leaf_log_growth, split_log_growth
from .composite import composite_complexity, composite_family_count
from .statements import CHECKED, Condition, OnSample, stated
from .without_holdout import OutOfBag, Tandem, out_of_bag_counts, tandem_counts


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeEvidence(OnSample):
    """Counts of a composite tree on the sample it was grown on (theory.md §2).

    Parameters
    ----------
    correct, errors, depth, degree : array of shape (n_leaves,)
        Training points classified correctly and wrongly, number of splits, degree (0: constant leaf).
    n_classes, n_features : int
        Classes of the problem; features the leaf SVMs see.
    n_split_features, max_features : int
        Features offered to splits; features drawn at a node.
    n_degrees, max_depth : int
        Degrees offered (0 not counted) and largest depth allowed, both fixed before seeing data. Where the
        depth was tuned, the largest one offered, or `n_models` counts those offered.
    gamma_scale : float, optional
        Scale of the criterion that selected the degrees; without it no criterion is reported.
    split_growth : float, optional
        Log-growth of one split where it is not a threshold on one of the features (category subsets, a
        direction for missing values).
    one_hot, whole_sample, unweighted, affine_features : bool
        Leaves output one class; counts refer to the whole i.i.d. sample (no bootstrap); all weights 1; the
        SVMs' features are an affine image of features fixed in advance.
    homogeneous : bool
        Kernel without constant term.

    Examples
    --------
    >>> from surewood.bounds.evidence import TreeEvidence
    >>> tree = TreeEvidence(correct=[50, 40], errors=[5, 5], depth=[1, 1], degree=[1, 2], n_classes=2,
    ...                     n_features=3, n_split_features=3, max_features=2, n_degrees=2, max_depth=3,
    ...                     one_hot=True, whole_sample=True, unweighted=False, affine_features=True)
    >>> [condition.text for condition in tree.conditions() if not condition.holds]
    ['sample is unweighted']
    """

    correct: Counts
    errors: Counts
    depth: Counts
    degree: Counts
    n_classes: int
    n_features: int
    n_split_features: int
    max_features: int
    n_degrees: int
    max_depth: int
    gamma_scale: float | None = None
    split_growth: float | None = None
    one_hot: bool
    whole_sample: bool
    unweighted: bool
    affine_features: bool
    homogeneous: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("correct", "errors", "depth", "degree"):
            object.__setattr__(self, name, check.counts(getattr(self, name), name))
        check.same_length(correct=self.correct, errors=self.errors, depth=self.depth, degree=self.degree)
        check.count(self.n_samples, "number of training points", 1)
        if self.depth.max() > check.count(self.max_depth, "max_depth"):
            raise ValueError(f"depth must be <= max_depth={self.max_depth}, got {self.depth.max()}")
        used = np.unique(self.degree[self.degree > 0]).size  # fewer offered than used: families uncounted
        if used > check.count(self.n_degrees, "n_degrees"):
            raise ValueError(
                f"n_degrees must count every degree offered, got {self.n_degrees} with {used} used"
            )

    @property
    def n_samples(self) -> int:
        """Training points, all leaves together."""
        return int(self.correct.sum() + self.errors.sum())

    @property
    def n_families(self) -> int:
        """Families fixed in advance ([D-08])."""
        return composite_family_count(self.n_degrees, self.max_depth)

    def guarantee_complexity(self) -> Floats:
        """Tightest valid complexity of each leaf: all pairs, union over features, half root (§2.6)."""
        return self._complexity("ovo", "union", "half_root")

    def criterion_complexity(self) -> Floats:
        """Complexity of each leaf in the selection score (2.8)."""
        return self._complexity("paper", "paper", "two_roots")

    def _complexity(self, svm: str, splits: str, form: str) -> Floats:
        m = self.n_samples
        growth = leaf_log_growth(
            self.degree, self.n_features, m, self.n_classes, svm=svm, homogeneous=self.homogeneous
        )
        split = self.split_growth
        if split is None or splits == "paper":
            split = split_log_growth(m, self.max_features, self.n_split_features, mode=splits)
        return np.atleast_1d(composite_complexity(self.depth, growth, split, m, form=form))

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions under which (2.6) is a guarantee."""
        # polynomials with constant term are closed under affine maps, homogeneous ones are not
        closed = self.affine_features and not self.homogeneous
        return stated(
            {
                "leaves output one class": self.one_hot,
                "counts refer to the whole sample": self.whole_sample,
                "sample is unweighted": self.unweighted,
                "leaf classes do not change with the scaling of the features": closed,
            }
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ForestEvidence(OnSample):
    """The trees of a hard vote grown on one sample; (2.6) holds for all of them at once ([D-15]).

    Examples
    --------
    >>> from surewood.bounds.evidence import ForestEvidence, TreeEvidence
    >>> tree = TreeEvidence(correct=[50, 40], errors=[5, 5], depth=[1, 1], degree=[1, 2], n_classes=2,
    ...                     n_features=3, n_split_features=3, max_features=2, n_degrees=2, max_depth=3,
    ...                     one_hot=True, whole_sample=True, unweighted=True, affine_features=True)
    >>> forest = ForestEvidence(trees=(tree, tree), hard_vote=True)
    >>> all(condition.holds for condition in forest.conditions())
    True
    """

    trees: tuple[TreeEvidence, ...]
    hard_vote: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "trees", tuple(self.trees))
        check.count(len(self.trees), "number of trees", 1)
        # a family is a (degree, depth) only among trees that agree in all of these ([D-08]); the counts of
        # weighted trees are rounded one by one, and prove nothing ([D-35])
        counted = all(t.unweighted for t in self.trees)
        shared = {
            (
                t.n_samples if counted else 0,
                t.n_classes,
                t.n_families,
                t.max_depth,
                t.n_features,
                t.n_split_features,
            )
            for t in self.trees
        }
        if len(shared) > 1:
            raise ValueError(
                "trees must share their sample, classes, features, degrees offered and max_depth"
            )

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions of the trees, and the hard vote."""
        per_tree = zip(*(tree.conditions() for tree in self.trees))
        merged = tuple(Condition(same[0].text, all(c.holds for c in same)) for same in per_tree)
        return (*merged, *stated({"hard vote of the trees": self.hard_vote}))


@dataclass(frozen=True, kw_only=True, eq=False)
class CascadeEvidence(OnSample):
    """Counts of a cascade on the sample it was built on (theory.md §3).

    Parameters
    ----------
    correct, errors : array of int, shape (n_leaves,)
        Training points classified correctly and wrongly at each leaf.
    complexity : array of shape (n_leaves,)
        Complexities valid for every sample ([D-20]).
    n_families, max_leaves : int
        Families and largest number of leaves, fixed before seeing data.
    n_classes : int, default=2
        With more, leaves output one class, and the cascade is a composite tree ([D-47]).
    criterion_complexity : array, optional
        Complexities of the selection score.
    gamma_scale : float, optional
        Scale of the criterion that selected the cascade.
    unweighted, affine_features : bool
        All weights 1; the SVMs' features are an affine image of features fixed in advance.

    Examples
    --------
    >>> from surewood.bounds.evidence import CascadeEvidence
    >>> evidence = CascadeEvidence(correct=[70, 25], errors=[3, 2], complexity=[0.1, 0.2], n_families=4,
    ...                            max_leaves=3, unweighted=True, affine_features=True)
    >>> evidence.n_samples, all(condition.holds for condition in evidence.conditions())
    (100, True)
    """

    correct: Counts
    errors: Counts
    complexity: Floats
    n_families: int
    max_leaves: int
    n_classes: int = 2
    criterion_complexity: Floats | None = None
    gamma_scale: float | None = None
    unweighted: bool
    affine_features: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "correct", check.counts(self.correct, "correct"))
        object.__setattr__(self, "errors", check.counts(self.errors, "errors"))
        r = check.finite(self.complexity, "complexity", minimum=0.0, ndim=1)
        object.__setattr__(self, "complexity", r)
        check.same_length(correct=self.correct, errors=self.errors, complexity=r)
        check.count(self.n_samples, "number of training points", 1)
        check.count(self.n_classes, "n_classes", 2)
        if r.size > check.count(self.max_leaves, "max_leaves", 1):
            raise ValueError(f"correct must have at most max_leaves={self.max_leaves} entries, got {r.size}")
        if (self.gamma_scale is None) != (self.criterion_complexity is None):
            raise ValueError("gamma_scale and criterion_complexity must be given together")

    @property
    def n_samples(self) -> int:
        """Training points, all leaves together."""
        return int(self.correct.sum() + self.errors.sum())

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions under which (3.2), uniform in rho, is a guarantee."""
        return stated(
            {
                "sample is unweighted": self.unweighted,
                "leaf classes do not change with the scaling of the features": self.affine_features,
            }
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class VoteEvidence(OnSample):
    """Out-of-bag statistics of a hard vote whose members saw subsamples (theory.md §6.3).

    Parameters
    ----------
    out_of_bag : OutOfBag
        Errors and sizes of each member's out-of-bag part.
    tandem : Tandem, optional
        The same for pairs; without it only the first-order bound is given.
    hard_vote, independent_subsamples, in_bag_only, unweighted : bool
        The model predicts by majority of its members' labels; subsamples were drawn without looking
        at the data; everything about a member (splits, SVMs, degrees, C, scaling, bins) came from its
        in-bag points or from data outside the sample; all sample weights are 1.
    n_models : int
        Settings compared by out-of-bag errors or certificates on this sample.
    n_samples : int, optional
        Rows of the sample.
    vote_error : float, optional
        Error of the out-of-bag votes: what a holdout would see, about.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds.without_holdout import OutOfBag
    >>> from surewood.bounds.evidence import VoteEvidence
    >>> vote = VoteEvidence(out_of_bag=OutOfBag(np.array([3, 4]), np.array([30, 20])), hard_vote=True,
    ...                     independent_subsamples=True, in_bag_only=True, unweighted=True)
    >>> all(condition.holds for condition in vote.conditions())
    True
    """

    out_of_bag: OutOfBag
    tandem: Tandem | None = None
    hard_vote: bool
    independent_subsamples: bool
    in_bag_only: bool
    unweighted: bool
    n_samples: int | None = None
    vote_error: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        errors, sizes = (check.counts(part, "out_of_bag") for part in self.out_of_bag)
        check.count(sizes.size, "number of members", 1)
        if errors.shape != sizes.shape or np.any(errors > sizes):
            raise ValueError("out_of_bag must have errors between 0 and sizes")
        if self.tandem is not None:
            pairs = (sizes.size, sizes.size)
            if self.tandem.sizes.shape != pairs or self.tandem.errors.shape != pairs:
                raise ValueError(f"tandem must have shape {pairs}, got {self.tandem.sizes.shape}")
            if np.any(self.tandem.errors < 0) or np.any(self.tandem.errors > self.tandem.sizes):
                raise ValueError("tandem must have errors between 0 and sizes")

    @classmethod
    def from_predictions(
        cls, predictions: ArrayLike, in_bag: ArrayLike, y: ArrayLike, *, tandem: bool = True, **fields: Any
    ) -> VoteEvidence:
        """Evidence from each member's predictions of the training points and its in-bag mask.

        Members without an out-of-bag point, or pairs without a common one, turn the bound that needs them
        away; they are no error here.
        """
        pairs = tandem_counts(predictions, in_bag, y) if tandem else None
        return cls(out_of_bag=out_of_bag_counts(predictions, in_bag, y), tandem=pairs, **fields)

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions (i)-(iii) of §6.3 that the model speaks for, and that every member has unused points."""
        spoken = stated(
            {
                "subsamples were drawn without looking at the data": self.independent_subsamples,
                "members were determined by their in-bag points": self.in_bag_only,
                "the model predicts by hard vote": self.hard_vote,
                "sample is unweighted": self.unweighted,
            }
        )
        unused = {"every member has out-of-bag points": bool(np.min(self.out_of_bag.sizes) > 0)}
        return (*spoken, *stated(unused, CHECKED))

    def tandem_conditions(self) -> tuple[Condition, ...]:
        """Conditions of the second-order bound: also common unused points for every pair."""
        common = self.tandem is not None and bool(self.tandem.sizes.min() > 0)
        return (*self.conditions(), *stated({"every pair has common out-of-bag points": common}, CHECKED))


@dataclass(frozen=True, kw_only=True)
class CompressionEvidence(OnSample):
    """A classifier that few of its training points rebuild (theory.md §6.4).

    Parameters
    ----------
    n_samples, n_compressed, errors : int
        Training points, those that suffice, errors on the others.
    n_models : int
        Settings among which the data chose.
    reproduces, scaling_fixed, unweighted : bool
        Training on the compression set alone gives the same classifier; feature scaling was fixed in advance
        or computed from the compression set; all sample weights are 1.

    Examples
    --------
    >>> from surewood.bounds.evidence import CompressionEvidence
    >>> evidence = CompressionEvidence(n_samples=1000, n_compressed=40, errors=20, reproduces=True,
    ...                                scaling_fixed=True, unweighted=True)
    >>> all(condition.holds for condition in evidence.conditions())
    True
    """

    n_samples: int
    n_compressed: int
    errors: int
    reproduces: bool
    scaling_fixed: bool
    unweighted: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        m = check.count(self.n_samples, "n_samples", 1)
        left = m - check.count(self.n_compressed, "n_compressed")
        if not 0 <= check.count(self.errors, "errors") <= left:
            raise ValueError(
                f"errors must be between 0 and n_samples - n_compressed = {left}, got {self.errors}"
            )

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions under which (6.4) is a guarantee."""
        return stated(
            {
                "training on the compression set gives the same classifier": self.reproduces,
                "scaling was fixed or computed from the compression set": self.scaling_fixed,
                "sample is unweighted": self.unweighted,
            }
        )


@dataclass(frozen=True, kw_only=True)
class CrossFitEvidence(OnSample):
    """Held-out Brier scores of fold models whose average predicts (theory.md §11.9, [D-44]).

    Parameters
    ----------
    mean_brier : float
        Mean over folds of the mean Brier score on the held-out rows, between 0 and 2.
    n_samples, fold_size : int
        Rows of the sample and of the smallest fold.
    outside_only, averaged, unweighted : bool
        Every fold model is a function of the rows outside its fold alone (weights, stopping, bins and
        calibration included); the model predicts by the mean of their probabilities; all weights are 1.
    losses : ndarray, optional
        Quantiles, at equal steps, of half the Brier scores of held-out rows: what a holdout would see.

    Examples
    --------
    >>> from surewood.bounds.evidence import CrossFitEvidence
    >>> evidence = CrossFitEvidence(mean_brier=0.1, n_samples=30, fold_size=6, outside_only=True,
    ...                             averaged=True, unweighted=True)
    >>> [condition.text for condition in evidence.conditions() if not condition.holds]
    ['folds have at least 8 rows']
    """

    mean_brier: float
    n_samples: int
    fold_size: int
    outside_only: bool
    averaged: bool
    unweighted: bool
    losses: Floats | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check.unit(self.mean_brier / 2.0, "mean_brier / 2")
        check.count(self.fold_size, "fold_size", 1)

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions of [D-44]."""
        spoken = stated(
            {
                "fold models are functions of the rows outside their fold": self.outside_only,
                "the model predicts by the mean of the fold models' probabilities": self.averaged,
                "sample is unweighted": self.unweighted,
            }
        )
        return (*spoken, *stated({"folds have at least 8 rows": self.fold_size >= 8}, CHECKED))


@dataclass(frozen=True, kw_only=True)
class EstimateEvidence:
    """An error the model measured on itself, such as out-of-bag or out-of-fold.

    Examples
    --------
    >>> from surewood.bounds.evidence import EstimateEvidence
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
    >>> from surewood.bounds.evidence import HeuristicEvidence
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
    >>> from surewood.bounds.evidence import OffersEvidence
    >>> isinstance(BinnedForestClassifier(), OffersEvidence)
    True
    """

    def __certificate_evidence__(self) -> Iterable[Evidence]:
        """Return what the model knows about its own sample and structure."""
        ...
