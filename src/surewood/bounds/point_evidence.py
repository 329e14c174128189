"""What a model says about points it did not use: out-of-bag votes (theory.md §6.3), compression (§6.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surewood._arrays import Floats

from . import _arguments as check
from .condition import CHECKED, Condition, OnSample, stated
from .pac_bayes import OutOfBag, Tandem, out_of_bag_counts, tandem_counts


@dataclass(frozen=True, kw_only=True, eq=False)
class VoteEvidence(OnSample):
    """Out-of-bag statistics of a hard vote whose members saw subsamples (theory.md §6.3).

    Parameters
    ----------
    out_of_bag : OutOfBag
        Errors and sizes of each member's out-of-bag part.
    tandem : Tandem, optional
        The same for pairs; without it only the first-order bound is given.
    weights : array, optional
        Weights of the vote; by default uniform.
    hard_vote, independent_subsamples, in_bag_only, unweighted : bool
        The model predicts by weighted majority of its members' labels; subsamples were drawn without looking
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
    >>> from surewood.bounds import OutOfBag, VoteEvidence
    >>> vote = VoteEvidence(out_of_bag=OutOfBag(np.array([3, 4]), np.array([30, 20])), hard_vote=True,
    ...                     independent_subsamples=True, in_bag_only=True, unweighted=True)
    >>> all(condition.holds for condition in vote.conditions())
    True
    """

    out_of_bag: OutOfBag
    tandem: Tandem | None = None
    weights: Floats | None = None
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
        check.weights(self.weights, sizes.size, "weights")

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

    @property
    def shares(self) -> Floats:
        """Weights of the members, summing to 1."""
        return check.weights(self.weights, len(self.out_of_bag.sizes), "weights")

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
    tree : bool
        Whether it is a tree with SVM leaves; then `log_codes` counts its codes.
    log_codes : float
        See :func:`svm_tree_log_codes`.
    n_models : int
        Settings among which the data chose.
    reproduces, scaling_fixed, unweighted : bool
        Training on the compression set alone gives the same classifier; feature scaling was fixed in advance
        or computed from the compression set; all sample weights are 1.

    Examples
    --------
    >>> from surewood.bounds import CompressionEvidence
    >>> evidence = CompressionEvidence(n_samples=1000, n_compressed=40, errors=20, reproduces=True,
    ...                                scaling_fixed=True, unweighted=True)
    >>> all(condition.holds for condition in evidence.conditions())
    True
    """

    n_samples: int
    n_compressed: int
    errors: int
    tree: bool = False
    log_codes: float = 0.0
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
        check.finite(self.log_codes, "log_codes", minimum=0.0)
        if self.tree and not self.log_codes > 0 and self.n_compressed > 0:
            raise ValueError("log_codes must be > 0 for a tree, see svm_tree_log_codes")

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
    >>> from surewood.bounds import CrossFitEvidence
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
