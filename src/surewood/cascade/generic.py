"""`DeepCascadeClassifier`: cascades of any families of classifiers and questions (theory.md §3.5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Floats
from surewood.bounds import EstimateEvidence, Evidence
from surewood.cascade import report_facts
from surewood.cascade.explaining import explain_generic, told_rows
from surewood.cascade.explanation_steps import explanation_steps
from surewood.cascade.families import Family, Member
from surewood.cascade.generic_search import GenericResult, GenericSearch, GenericTree, Question
from surewood.cascade.leaf_calibration import LeafCalibrator
from surewood.cascade.named_families import as_families
from surewood.cascade.parameters import real, whole
from surewood.cascade.questions import as_fractions
from surewood.cascade.sample import Sample, deal_folds, make_sample
from surewood.estimators.cost import CostEstimate, check_max_memory, probe_seconds, refuse_beyond
from surewood.svm import gram_limit, kernel_memory
from surewood.tables import begin_fit, begin_predict, plain

_CALIBRATION_FOLDS = 5


def _gives_probabilities(estimator: Any) -> bool:
    return bool(estimator.probability)


@dataclass
class GenericCascade:
    """A fitted chain: the question of every node but the last, and the leaves' classifiers."""

    questions: list[Question]
    leaves: list[Member]
    n_classes: int

    def evaluate(self, design: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Scores and leaf of every row."""
        scores = np.zeros((len(design), self.n_classes))
        leaf = np.zeros(len(design), dtype=np.int64)
        here = np.arange(len(design))
        for k, member in enumerate(self.leaves):
            stay = here
            if k < len(self.questions):
                goes_on = np.zeros(len(here), dtype=bool)
                if len(here):
                    question = self.questions[k]
                    goes_on = question.member.order(design[here]) <= question.threshold
                stay, here = here[~goes_on], here[goes_on]
            if len(stay):
                scores[stay], leaf[stay] = member.scores(design[stay]), k
        return scores, leaf


class DeepCascadeClassifier(ClassifierMixin, BaseEstimator):
    r"""Cascade of any families of classifiers and questions, by the exact minimum of a learning bound.

    A question sends a share μ of its points on; the others stay and are classified by the leaf. Number of
    leaves, μ, leaf families and question families are the exact minimiser of

    .. math:: \widehat R_S+\sum_k\min\Big(4\gamma\Big[\sum_{j\le d_k}\widehat{\mathfrak R}_S(Q_j)
              +\widehat{\mathfrak R}_S(H_k)\Big],\frac{m_k^+}m\Big)

    (with 8c in place of 4 for c > 2 classes).

    Parameters
    ----------
    leaves : list of family or name, default=("constant", "stump", "tree", "linear_svm", "quadratic")
        Families that leaves choose from, in the order of ties. Names: constant, threshold, stump, tree,
        logistic, linear_svm, quadratic, cubic, rbf. `EstimatorFamily` wraps any scikit-learn classifier.
    questions : list of family or name, default=("linear_svm",)
        Families that questions choose from; they must order points.
    max_leaves : int, default=3
    fractions : list of float, default=(0.25, 0.5, 0.75)
        Shares μ, the same for all nodes of a cascade.
    gamma_scale : float, default=0.01
        Multiplier γ of the complexity; below 1 the criterion is a selection score, not a bound.
    max_memory : float or None, default=None
        Bytes that a fit may take beyond the table itself; one that would need more is refused.
    probability : bool, default=True
        Whether to calibrate `predict_proba`, leaf by leaf, on out-of-fold scores.
    class_weight : dict, "balanced" or None, default=None
    categorical_features : "from_dtype", list or mask, default="from_dtype"
    random_state : int, RandomState or None, default=None
        Deals the folds of the calibration.

    Attributes
    ----------
    classes_ : ndarray
    cascade_ : GenericCascade
    search_ : GenericResult
        Chosen families, counts and complexities a leaf, members fitted, prefixes pruned.
    leaf_families_, question_families_ : list of Family
        The chosen ones, node by node.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> model = DeepCascadeClassifier(gamma_scale=1e-3, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.85
    True
    """

    __report_facts__ = report_facts.generic_report_facts
    __explanation_steps__ = explanation_steps
    leaf_terms = report_facts.generic_leaf_terms
    leaf_flow = report_facts.generic_leaf_flow

    def __init__(
        self,
        leaves: Any = ("constant", "stump", "tree", "linear_svm", "quadratic"),
        questions: Any = ("linear_svm",),
        *,
        max_leaves: int = 3,
        fractions: Any = (0.25, 0.5, 0.75),
        gamma_scale: float = 0.01,
        max_memory: float | None = None,
        probability: bool = True,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.leaves = leaves
        self.questions = questions
        self.max_leaves = max_leaves
        self.fractions = fractions
        self.gamma_scale = gamma_scale
        self.max_memory = max_memory
        self.probability = probability
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> DeepCascadeClassifier:
        """Find and fit the best cascade.

        Parameters
        ----------
        X : table of shape (n, n_features)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Whole weights count as equal rows; others are rescaled to mean 1.

        Returns
        -------
        DeepCascadeClassifier
        """
        leaves, questions, fractions = self._families()
        gamma = real("gamma_scale", self.gamma_scale, 0.0)
        check_max_memory(self.max_memory)
        inputs = begin_fit(self, X, y, sample_weight, class_weight=self.class_weight,
                           categorical_features=self.categorical_features)  # fmt: skip
        sample = make_sample(inputs, sample_weight)
        refuse_beyond(self.max_memory, sum(self._memory(sample).values()), "use fewer rows")
        result = self._search(sample, leaves, questions, fractions, gamma)
        chosen = [leaves[f] for f in result.path.leaves], [questions[f] for f in result.path.questions]
        share = fractions[result.path.fraction] if chosen[1] else None
        cascade = build_generic(sample, *chosen, share, np.arange(len(sample.codes)))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        scores, leaf = self._out_of_fold(sample, chosen, share, seed)
        calibrator = None
        if self.probability:
            calibrator = LeafCalibrator().fit(scores, sample.codes, sample.weight, leaf)
        inputs.store(self)
        self.cascade_, self.search_ = cascade, result
        self.leaf_families_, self.question_families_ = chosen
        wrong = scores.argmax(axis=1) != sample.codes
        self.out_of_fold_error_ = float(sample.weight @ wrong / sample.total)
        self._encoder, self._calibrator, self._n_rows = sample.encoder, calibrator, len(sample.codes)
        return self

    def estimate_cost(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> CostEstimate:
        """Memory and a range of time of a fit before it starts, from two small fits (ESTIMATE)."""
        self._families()
        inputs = begin_fit(self, X, y, sample_weight, class_weight=self.class_weight,
                           categorical_features=self.categorical_features)  # fmt: skip
        sample = make_sample(inputs, sample_weight)
        return CostEstimate.of(self._memory(sample), probe_seconds(self, X, y))

    def _memory(self, sample: Sample) -> dict[str, float]:
        """Parts of the memory; a kernel machine of a leaf stores its inner products up to 1 GiB."""
        n, width = sample.design.shape
        parts, _ = kernel_memory(n, width, width, limit=gram_limit(None))
        parts["members"] = 10.0 * n * (8.0 * width + 8.0 * sample.n_classes)
        return parts

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: shape (n,), positive for the second class, or one score a class."""
        scores, _ = self._evaluate(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels."""
        codes = self._evaluate(X)[0].argmax(axis=1)
        return self.classes_[codes]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities calibrated on out-of-fold scores; the largest is that of the predicted class."""
        scores, leaf = self._evaluate(X)
        if self._calibrator is None:
            raise AttributeError("this cascade was fitted with probability=False.")
        return self._calibrator.transform(scores, leaf)

    def decision_path(self, X: Any) -> NDArray[np.int64]:
        """Leaf at which each row stays."""
        return self._evaluate(X)[1]

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Leaf at which each row stays, as :meth:`decision_path`."""
        return self.decision_path(X)

    def explain(self, X: Any) -> list[dict[str, Any]]:
        """How rows were classified: the questions that each met, and the leaf where it stayed.

        Returns
        -------
        list of dict
            As for :class:`DeepCascadeSVMClassifier`; the single cascade's entry names the leaf's ``family``
            and the ``question`` of every node.
        """
        table = begin_predict(self, X)
        design = self._encoder.transform(table)
        scores, _ = self.cascade_.evaluate(design)
        labels = [plain(label) for label in self.classes_]
        ways = explain_generic(self.cascade_, self.leaf_families_, self.question_families_, design, labels)
        proba = self.predict_proba(X) if self.probability else None
        return told_rows(self.classes_, scores.argmax(axis=1), proba, scores, [ways])

    def ledger(self) -> pd.DataFrame:
        """One row a leaf: family, counts, complexity, and which side of the minimum decided."""
        check_is_fitted(self, "search_")
        found, total = self.search_, float(self.search_.plus.sum() + self.search_.minus.sum())
        charge = self._constant(len(self.classes_)) * self.gamma_scale * found.complexity
        return pd.DataFrame(
            {
                "family": [type(one).__name__ for one in self.leaf_families_],
                "question": [*(type(one).__name__ for one in self.question_families_), ""],
                "correct": found.plus,
                "errors": found.minus,
                "complexity": found.complexity,
                "complexity_term": charge,
                "sample_term": found.plus / total,
                "side": np.where(found.plus / total > charge, "complexity", "sample"),
            }
        )

    def __certificate_evidence__(self) -> Iterable[Evidence]:
        """The out-of-fold error; families of the user's own come without a guarantee."""
        name = "out-of-fold error of cascades with the fitted families"
        return [
            EstimateEvidence(
                name=name, value=self.out_of_fold_error_, n=self._n_rows, used_for_selection=True
            )
        ]

    # --- steps of a fit ------------------------------------------------------------------------------------

    def _families(self) -> tuple[list[Family], list[Family], tuple[Fraction, ...]]:
        leaves, questions = as_families("leaves", self.leaves), as_families("questions", self.questions)
        fractions = as_fractions(self.fractions)
        whole("max_leaves", self.max_leaves, 1, "a cascade has at least one leaf")
        if not leaves:
            raise ValueError("leaves is empty: a cascade needs at least one family of classifiers.")
        for family in questions:
            if not family.can_order:
                raise ValueError(
                    f"{type(family).__name__} cannot order points, so it cannot ask questions; "
                    "offer it for leaves only."
                )
        return leaves, questions, fractions

    def _search(
        self,
        sample: Sample,
        leaves: list[Family],
        questions: list[Family],
        fractions: tuple[Fraction, ...],
        gamma: float,
    ) -> GenericResult:
        design, c = sample.design, sample.n_classes
        tree = GenericTree(design, sample.codes, sample.weight, c, leaves, questions)
        search = GenericSearch(
            tree,
            fractions,
            self.max_leaves if questions else 1,
            self._constant(c) * gamma * sample.total,
            np.array([family.rademacher(design, c) for family in leaves]),
            np.array([family.question_rademacher(design, c) for family in questions]),
        )
        return search.run()

    @staticmethod
    def _constant(n_classes: int) -> float:
        """4 for two classes (3.6), 8c for more: the theorem of composite trees with one-hot leaves (2.2)."""
        return 4.0 if n_classes == 2 else 8.0 * n_classes

    def _out_of_fold(
        self, sample: Sample, chosen: tuple[list[Family], list[Family]], share: Fraction | None, seed: int
    ) -> tuple[Floats, NDArray[np.int64]]:
        n = len(sample.codes)
        scores, leaf = np.zeros((n, sample.n_classes)), np.zeros(n, dtype=np.int64)
        for train, held_out in deal_folds(sample.codes, min(_CALIBRATION_FOLDS, n), seed):
            cascade = build_generic(sample, *chosen, share, train)
            scores[held_out], leaf[held_out] = cascade.evaluate(sample.design[held_out])
        return scores, leaf

    def _evaluate(self, X: Any) -> tuple[Floats, NDArray[np.int64]]:
        table = begin_predict(self, X)
        return self.cascade_.evaluate(self._encoder.transform(table))


def build_generic(
    sample: Sample,
    leaves: list[Family],
    questions: list[Family],
    share: Fraction | None,
    part: NDArray[Any],
) -> GenericCascade:
    """Fit the chain of chosen families on some rows; it ends early where no question divides the points."""
    tree = GenericTree(sample.design, sample.codes, sample.weight, sample.n_classes, leaves, questions)
    rows, asked, members = part.astype(np.int32), [], []
    for k in range(len(questions)):
        divided = None if share is None else tree.divide(rows, k, share)
        if divided is None:
            break
        question, stay, rows = divided
        asked.append(question)
        members.append(tree.leaf(stay, k))
    # A chain that ends early keeps the richest classifier it was to have, that of its last leaf.
    members.append(tree.leaf(rows, len(leaves) - 1))
    return GenericCascade(asked, members, sample.n_classes)
