"""What a fitted model can say about itself, so that `surewood.certify` may promise more than a holdout does.

A model offers evidence through one method, `__certificate_evidence__`, that takes no argument and returns an
iterable of: `TreeEvidence` and `ForestEvidence` (theory.md §2), `CascadeEvidence` (§3), `VoteEvidence`
(§6.3), `CompressionEvidence` (§6.4), `EstimateEvidence` and `HeuristicEvidence` (§6.6). Each states the
conditions its guarantee needs as `Condition` objects; one that does not hold turns the guarantee away, with
its sentence as the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from . import _arguments as check
from ._arguments import Counts, Floats
from .cascade import cascade_complexity, cascade_family_count
from .complexity import leaf_log_growth, question_log_growth
from .composite import composite_complexity, composite_family_count
from .pac_bayes import OutOfBag, Tandem, out_of_bag_errors, tandem_losses

__all__ = [
    "CascadeEvidence",
    "CompressionEvidence",
    "Condition",
    "EstimateEvidence",
    "Evidence",
    "ForestEvidence",
    "HeuristicEvidence",
    "OffersEvidence",
    "TreeEvidence",
    "VoteEvidence",
]


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
    source: str = "stated by the model"

    def __str__(self) -> str:
        return f"{self.text}: {'yes' if self.holds else 'no'} ({self.source})"


def _stated(**conditions: bool) -> tuple[Condition, ...]:
    return tuple(Condition(text.replace("_", " "), bool(holds)) for text, holds in conditions.items())


@dataclass(frozen=True, kw_only=True)
class _OnSample:
    """What all evidence about a training sample may add: the error of always naming its largest class."""

    majority_error: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeEvidence(_OnSample):
    """Counts of a composite tree on the sample it was grown on (theory.md §2).

    Parameters
    ----------
    correct, errors, depth, degree : array of shape (n_leaves,)
        Training points classified correctly and wrongly, number of questions, degree (0: constant leaf).
    n_classes, n_features : int
        Classes of the problem; features the leaf machines see.
    n_question_features, max_features : int
        Features offered to questions; features drawn at a node.
    n_degrees, max_depth : int
        Degrees offered (0 not counted) and largest depth allowed, both fixed before seeing data.
    gamma_scale : float, optional
        Scale of the criterion that selected the degrees; without it no criterion is reported.
    question_growth : float, optional
        Log-growth of one question where it is not a threshold on one of the features (category subsets, a
        direction for missing values).
    one_hot, whole_sample, unweighted, affine_features : bool
        Leaves output one class; counts refer to the whole i.i.d. sample (no bootstrap); all weights 1; the
        machines' features are an affine image of features fixed in advance.
    homogeneous : bool
        Kernel without constant term.
    """

    correct: Counts
    errors: Counts
    depth: Counts
    degree: Counts
    n_classes: int
    n_features: int
    n_question_features: int
    max_features: int
    n_degrees: int
    max_depth: int
    gamma_scale: float | None = None
    question_growth: float | None = None
    one_hot: bool = True
    whole_sample: bool = True
    unweighted: bool = True
    affine_features: bool = True
    homogeneous: bool = False

    def __post_init__(self) -> None:
        for name in ("correct", "errors", "depth", "degree"):
            object.__setattr__(self, name, check.counts(getattr(self, name), name))
        check.same_length(correct=self.correct, errors=self.errors, depth=self.depth, degree=self.degree)
        check.count(self.n_samples, "number of training points", 1)
        if self.depth.max() > check.count(self.max_depth, "max_depth"):
            raise ValueError(f"depth must be <= max_depth={self.max_depth}, got {self.depth.max()}")

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

    def _complexity(self, machine: str, questions: str, form: str) -> Floats:
        m = self.n_samples
        growth = leaf_log_growth(
            self.degree, self.n_features, m, self.n_classes, machine=machine, homogeneous=self.homogeneous
        )
        question = self.question_growth
        if question is None or questions == "paper":
            question = question_log_growth(m, self.max_features, self.n_question_features, mode=questions)
        return np.atleast_1d(composite_complexity(self.depth, growth, question, m, form=form))

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions under which (2.6) is a guarantee."""
        return _stated(
            leaves_output_one_class=self.one_hot,
            counts_refer_to_the_whole_sample=self.whole_sample,
            sample_is_unweighted=self.unweighted,
            # polynomials with constant term are closed under affine maps, homogeneous ones are not
            features_are_an_affine_image_fixed_in_advance=self.affine_features and not self.homogeneous,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ForestEvidence(_OnSample):
    """The trees of a hard vote grown on one sample; (2.6) holds for all of them at once ([D-15])."""

    trees: tuple[TreeEvidence, ...]
    hard_vote: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "trees", tuple(self.trees))
        check.count(len(self.trees), "number of trees", 1)
        shared = {(tree.n_samples, tree.n_classes, tree.n_families, tree.max_depth) for tree in self.trees}
        if len(shared) > 1:
            raise ValueError("trees must share their sample, classes, degrees offered and max_depth")

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions of the trees, and the hard vote."""
        per_tree = zip(*(tree.conditions() for tree in self.trees))
        merged = tuple(Condition(same[0].text, all(c.holds for c in same)) for same in per_tree)
        return (*merged, *_stated(hard_vote_of_the_trees=self.hard_vote))


@dataclass(frozen=True, kw_only=True, eq=False)
class CascadeEvidence(_OnSample):
    """Counts of a cascade on the sample it was built on (theory.md §3).

    Parameters
    ----------
    correct, errors : array of int, shape (n_leaves,)
        Training points classified correctly and wrongly at each leaf.
    complexity : array of shape (n_leaves,)
        Complexities valid for every sample ([D-20]).
    n_families, max_leaves : int
        Families and largest number of leaves, fixed before seeing data.
    criterion_complexity : array, optional
        Complexities of the selection score.
    gamma_scale : float, optional
        Scale of the criterion that selected the cascade.
    signed_outputs, whole_sample, unweighted, affine_features, distribution_free : bool
        Leaves output -1 or 1; counts refer to the whole i.i.d. sample; all weights 1; the machines' features
        are an affine image of features fixed in advance; `complexity` does not depend on the sample.
    """

    correct: Counts
    errors: Counts
    complexity: Floats
    n_families: int
    max_leaves: int
    criterion_complexity: Floats | None = None
    gamma_scale: float | None = None
    signed_outputs: bool = True
    whole_sample: bool = True
    unweighted: bool = True
    affine_features: bool = True
    distribution_free: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "correct", check.counts(self.correct, "correct"))
        object.__setattr__(self, "errors", check.counts(self.errors, "errors"))
        r = check.finite(self.complexity, "complexity", minimum=0.0, ndim=1)
        object.__setattr__(self, "complexity", r)
        check.same_length(correct=self.correct, errors=self.errors, complexity=r)
        check.count(self.n_samples, "number of training points", 1)
        if r.size > check.count(self.max_leaves, "max_leaves", 1):
            raise ValueError(f"correct must have at most max_leaves={self.max_leaves} entries, got {r.size}")
        if (self.gamma_scale is None) != (self.criterion_complexity is None):
            raise ValueError("gamma_scale and criterion_complexity must be given together")

    @classmethod
    def from_degrees(
        cls,
        correct: ArrayLike,
        errors: ArrayLike,
        degree: ArrayLike,
        *,
        n_features: int,
        n_degrees: int,
        max_leaves: int,
        gamma_scale: float | None = None,
        **fields: Any,
    ) -> CascadeEvidence:
        """Evidence of a cascade of polynomial SVMs with the degree of every node."""
        plus, minus = check.counts(correct, "correct"), check.counts(errors, "errors")
        m = int(plus.sum() + minus.sum())
        growth = leaf_log_growth(check.counts(degree, "degree"), n_features, m)
        return cls(
            correct=plus,
            errors=minus,
            complexity=cascade_complexity(growth, m, variant="smaller"),
            n_families=cascade_family_count(n_degrees, max_leaves),
            max_leaves=max_leaves,
            criterion_complexity=None if gamma_scale is None else cascade_complexity(growth, m),
            gamma_scale=gamma_scale,
            **fields,
        )

    @property
    def n_samples(self) -> int:
        """Training points, all leaves together."""
        return int(self.correct.sum() + self.errors.sum())

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions under which (3.2), uniform in rho, is a guarantee."""
        return _stated(
            leaves_output_minus_one_or_one=self.signed_outputs,
            counts_refer_to_the_whole_sample=self.whole_sample,
            sample_is_unweighted=self.unweighted,
            features_are_an_affine_image_fixed_in_advance=self.affine_features,
            complexities_hold_for_every_sample=self.distribution_free,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class VoteEvidence(_OnSample):
    """Out-of-bag statistics of a hard vote whose members saw subsamples (theory.md §6.3).

    Parameters
    ----------
    out_of_bag : OutOfBag
        Errors and sizes of each member's out-of-bag part.
    tandem : Tandem, optional
        The same for pairs; without it only the first-order bound is given.
    weights : array, optional
        Weights of the vote; uniform unless given.
    hard_vote, independent_subsamples, in_bag_only, unweighted : bool
        The model predicts by weighted majority of its members' labels; subsamples were drawn without looking
        at the data; everything about a member (splits, machines, degrees, C, scaling, bins) came from its
        in-bag points or from data outside the sample; all sample weights are 1.
    n_models : int
        Settings compared by out-of-bag errors or certificates on this sample.
    """

    out_of_bag: OutOfBag
    tandem: Tandem | None = None
    weights: Floats | None = None
    hard_vote: bool
    independent_subsamples: bool
    in_bag_only: bool
    unweighted: bool = True
    n_models: int = 1

    def __post_init__(self) -> None:
        errors, sizes = self.out_of_bag
        check.count(len(sizes), "number of members", 1)
        if np.min(sizes) < 1 or np.any(np.asarray(errors) > np.asarray(sizes)) or np.min(errors) < 0:
            raise ValueError("out_of_bag must have sizes >= 1 and errors between 0 and sizes")
        if self.tandem is not None and self.tandem.sizes.shape != (len(sizes), len(sizes)):
            raise ValueError(
                f"tandem must have shape {(len(sizes), len(sizes))}, got {self.tandem.sizes.shape}"
            )
        check.weights(self.weights, len(sizes), "weights")
        check.count(self.n_models, "n_models", 1)

    @classmethod
    def from_predictions(
        cls, predictions: ArrayLike, in_bag: ArrayLike, y: ArrayLike, *, tandem: bool = True, **fields: Any
    ) -> VoteEvidence:
        """Evidence from each member's predictions of the training points and its in-bag mask."""
        pairs = tandem_losses(predictions, in_bag, y) if tandem else None
        return cls(out_of_bag=out_of_bag_errors(predictions, in_bag, y), tandem=pairs, **fields)

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions (i)-(v) of §6.3 that the model can speak for."""
        return _stated(
            subsamples_were_drawn_without_looking_at_the_data=self.independent_subsamples,
            members_were_determined_by_their_in_bag_points=self.in_bag_only,
            the_model_predicts_by_hard_vote=self.hard_vote,
            sample_is_unweighted=self.unweighted,
        )


@dataclass(frozen=True, kw_only=True)
class CompressionEvidence(_OnSample):
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
    """

    n_samples: int
    n_compressed: int
    errors: int
    tree: bool = False
    log_codes: float = 0.0
    n_models: int = 1
    reproduces: bool
    scaling_fixed: bool
    unweighted: bool = True

    def __post_init__(self) -> None:
        m = check.count(self.n_samples, "n_samples", 1)
        left = m - check.count(self.n_compressed, "n_compressed")
        if not 0 <= check.count(self.errors, "errors") <= left:
            raise ValueError(
                f"errors must be between 0 and n_samples - n_compressed = {left}, got {self.errors}"
            )
        check.finite(self.log_codes, "log_codes", minimum=0.0)
        check.count(self.n_models, "n_models", 1)
        if self.tree and not self.log_codes > 0 and self.n_compressed > 0:
            raise ValueError("log_codes must be > 0 for a tree, see svm_tree_log_codes")

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions under which (6.4) is a guarantee."""
        return _stated(
            training_on_the_compression_set_gives_the_same_classifier=self.reproduces,
            scaling_was_fixed_or_computed_from_the_compression_set=self.scaling_fixed,
            sample_is_unweighted=self.unweighted,
        )


@dataclass(frozen=True, kw_only=True)
class EstimateEvidence:
    """An error the model measured on itself, such as out-of-bag or out-of-fold."""

    name: str
    value: float
    n: int
    used_for_selection: bool
    sample: str = "training"


@dataclass(frozen=True, kw_only=True)
class HeuristicEvidence:
    """A diagnostic, such as the margin ratio (4.6) or the value of (4.7)."""

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
    | EstimateEvidence
    | HeuristicEvidence
)


@runtime_checkable
class OffersEvidence(Protocol):
    """A fitted model with more to say than its predictions."""

    def __certificate_evidence__(self) -> Iterable[Evidence]:
        """Return what the model knows about its own sample and structure."""
        ...
