"""Classifiers that take the probabilities of a fitted model and decide by a rule of their own.

`DecidingClassifier` is what they share; `CostClassifier` minimizes an expected cost, `ThresholdedClassifier`
has a threshold that provably meets a requirement (theory.md §11.4). A rule that was chosen on some rows
remembers them: `certify` gives no guarantee on the same rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from surewood._arrays import Floats, check_number
from surewood.base.remembered import RememberedRows
from surewood.bounds import Condition, Entry, Method, issue_guarantee
from surewood.bounds.statements import AT_LEAST

from .certificate import Certificate
from .holdout import probabilities_of, reaches
from .model_parts import FittedState, training_digest
from .wording import between_text, claim_text

__all__ = [
    "ABSTAIN",
    "CostClassifier",
    "Coverage",
    "DecidingClassifier",
    "MetRequirement",
    "ThresholdProof",
    "ThresholdedClassifier",
    "class_position",
]

ABSTAIN = "abstain"
_NOT_SAVED = ("_found_for", "_found_class")


def class_position(classes: NDArray[Any], label: Any) -> int:
    """Position of a class, found by value or by its text."""
    known = list(classes)
    found = [k for k, one in enumerate(known) if one == label] or [
        k for k, one in enumerate(known) if str(one) == str(label)
    ]
    if not found:
        names = ", ".join(str(one) for one in known[:5])
        raise ValueError(f"positive must be a class of the model ({names}), got {label!r}")
    return found[0]


class DecidingClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A fitted model with another rule of decision; probabilities stay the model's."""

    model: Any

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> DecidingClassifier:
        """Refused: a rule belongs to the model it was made for."""
        raise TypeError(f"{type(self).__name__} wraps a fitted model; fit the model, then make the rule anew")

    @property
    def classes_(self) -> NDArray[Any]:
        """The model's classes."""
        return np.asarray(self.model.classes_)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the model."""
        return probabilities_of(self.model, X)

    @abstractmethod
    def decide(self, probabilities: Floats) -> NDArray[Any]:
        """Decisions from probabilities of the model."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Decision for each row."""
        return self.decide(self.predict_proba(X))


class CostClassifier(DecidingClassifier):
    """Predict the class with the smallest expected cost.

    Parameters
    ----------
    model : fitted classifier
        With calibrated probabilities: the expected cost is only as good as they are.
    cost : array of shape (n_classes, n_classes), or dict
        Cost of predicting the column's class where the row's class is true, in the order of ``classes_``;
        gains are negative. Or by labels: ``{(true, predicted): cost}``, where confusions that are not named
        cost 1 and correct predictions nothing.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surewood.certify import Claim, CostClassifier, certify
    >>> X, y = make_classification(1000, flip_y=0.2, random_state=0)
    >>> model = LogisticRegression().fit(X[:500], y[:500])
    >>> cost = [[0, 1], [5, 0]]  # a missed 1 costs five times a false alarm
    >>> careful = CostClassifier(model, cost)
    >>> bool((careful.predict(X) == 1).sum() > (model.predict(X) == 1).sum())
    True
    >>> certificate = certify(careful, X[500:], y[500:], X_train=X[:500], claims=Claim("cost", cost=cost))
    >>> certificate.guarantees[0].quantity
    'expected cost'
    """

    def __init__(self, model: Any, cost: Any) -> None:
        self.model = model
        self.cost = cost_by_labels(cost, self.classes_) if isinstance(cost, Mapping) else cost
        self._check_cost()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._check_cost()

    def _check_cost(self) -> None:
        k = len(self.classes_)
        matrix = np.asarray(self.cost, dtype=np.float64)
        if matrix.shape != (k, k) or not np.isfinite(matrix).all():
            raise ValueError(f"cost must be a finite matrix of shape ({k}, {k}), got shape {matrix.shape}")

    def decide(self, probabilities: Floats) -> NDArray[Any]:
        """The class of smallest expected cost; among equal ones the more probable."""
        expected = probabilities @ np.asarray(self.cost, dtype=np.float64)
        tied = expected <= expected.min(axis=1, keepdims=True) + 1e-12
        return np.asarray(self.classes_[np.where(tied, probabilities, -1.0).argmax(axis=1)])


def cost_by_labels(costs: Mapping[tuple[Any, Any], float], classes: NDArray[Any]) -> Floats:
    """The matrix of costs that are given by true and predicted label.

    Examples
    --------
    >>> cost_by_labels({("bad", "good"): 5}, np.array(["bad", "good"])).tolist()
    [[0.0, 5.0], [1.0, 0.0]]
    """
    places = {label: k for k, label in enumerate(classes.tolist())}
    matrix = 1.0 - np.eye(len(places))
    for pair, cost in costs.items():
        if not isinstance(pair, tuple) or len(pair) != 2 or not set(pair) <= places.keys():
            shown = ", ".join(map(repr, list(places)[:5]))
            raise ValueError(f"cost has the key {pair!r}, which is no pair (true, predicted) of {shown}")
        matrix[places[pair[0]], places[pair[1]]] = cost
    return np.asarray(matrix)


@dataclass(frozen=True)
class MetRequirement:
    """The record of a requirement that a threshold meets: counts at the threshold and what was assumed.

    Attributes
    ----------
    quantity, side : str
    value, delta : float
        What is guaranteed, and the probability that it fails.
    failures, n : int
        Holdout rows that failed and that were selected, at the threshold.
    n_tested : int
        Thresholds tested before.
    n_models : int
        Number of models of which this one was chosen on the holdout.
    population : str
    conditions : list of [text, source]
    """

    quantity: str
    side: str
    value: float
    delta: float
    failures: int
    n: int
    n_tested: int
    n_models: int
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
            n_models=self.n_models,
            sample="holdout",
            variant="exact",
            quantity=self.quantity,
            side=self.side,
            population=self.population,
            conditions=[Condition(text, True, source) for text, source in self.conditions],
            decomposition={"observed": 1.0 - observed if self.side == AT_LEAST else observed},
            note=f"threshold found by fixed-sequence testing, {self.n_tested} tested",
        )


@dataclass(frozen=True)
class Coverage:
    """Fraction of rows at or above the threshold, with limits that hold at every threshold tested."""

    fraction: float
    lower: float
    upper: float
    #: Probability that the limits fail; not part of the requirement's.
    delta: float

    def __str__(self) -> str:
        return f"{100 * self.fraction:.1f} % ({between_text(self.lower, self.upper, 1)})"


@dataclass(frozen=True, repr=False)
class ThresholdProof:
    """What was found on the holdout."""

    promises: list[MetRequirement]
    coverage: Coverage
    #: What a reader must know first, such as how many rows equal training rows.
    facts: list[str] = field(default_factory=list)
    #: ``threshold``, ``coverage``, ``failure_rate`` and ``proved`` of every threshold that could be
    #: tested, for the first requirement.
    curve: dict[str, Floats] = field(default_factory=dict)
    threshold: float | None = None
    """The threshold that it is about."""
    trained_on: int | None = None
    """A digest of the rows that the model was fitted to."""
    copies: str | None = None
    """Whether rows that equal a training row were counted."""

    def __repr__(self) -> str:
        return f"<{'; '.join(claim_text(promise.guarantee) for promise in self.promises)}>"


@dataclass(eq=False, repr=False)
class ThresholdedClassifier(DecidingClassifier):
    """A fitted model that decides by a threshold, with what the threshold is guaranteed to keep.

    Made by :func:`find_threshold`; can be saved by :func:`surewood.save`.

    Parameters
    ----------
    model : fitted classifier
    threshold : float
    positive : label or None
        The class predicted where its probability is at least `threshold`. None: rows whose largest
        probability is below `threshold` get the answer ``"abstain"``.
    proof : ThresholdProof, optional
    choice_rows : RememberedRows, optional
        The rows the threshold was chosen on; `certify` gives no guarantee on them.

    Attributes
    ----------
    guarantees : tuple of Entry
    guarantee : Entry
        The first of them.
    coverage : Coverage

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surewood.certify import ThresholdedClassifier
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["good", "good", "bad", "bad"])
    >>> careful = ThresholdedClassifier(model, threshold=0.2, positive="bad")
    >>> model.predict([[1.2]]), careful.predict([[1.2]]), careful.guarantees
    (array(['good'], dtype='<U4'), array(['bad'], dtype='<U4'), ())
    """

    model: Any
    threshold: float
    positive: Any = None
    proof: ThresholdProof | None = None
    choice_rows: RememberedRows | None = None

    def __post_init__(self) -> None:
        self._found_for, self._found_class = FittedState(self.model), self.positive

    def __getstate__(self) -> dict[str, Any]:
        """What is saved: a proof only while it holds."""
        state = {name: value for name, value in super().__getstate__().items() if name not in _NOT_SAVED}
        return {**state, "proof": None} if self._given_up else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._found_for, self._found_class = FittedState(self.model), self.positive
        check_number("threshold", self.threshold, -1.0, 2.0)
        if self.positive is not None and not (self.classes_ == self.positive).any():
            raise ValueError(f"positive must be a class of the model, got {self.positive!r}")
        if self.proof is not None:
            for name in ("fraction", "lower", "upper"):
                check_number(name, getattr(self.proof.coverage, name), 0.0, 1.0)
            _ = self.guarantees  # which check what they are made of

    @property
    def choice_rows_(self) -> RememberedRows:
        """Rows the threshold was chosen on."""
        if self.choice_rows is None:
            raise AttributeError("the threshold was not chosen on rows")
        return self.choice_rows

    @property
    def guarantees(self) -> tuple[Entry, ...]:
        """What the threshold is guaranteed to keep, issued from the counts of the holdout.

        Nothing where the threshold was changed since, or the model fitted again.
        """
        return () if self.proof is None or self._given_up else tuple(p.guarantee for p in self.proof.promises)

    @property
    def _given_up(self) -> str:
        """Why what was found does not hold any more, or nothing."""
        if self.proof is None:
            return ""
        if self.proof.threshold not in (None, self.threshold):
            return "the threshold was changed after it was found"
        if self.positive is not self._found_class and self.positive != self._found_class:
            return "the positive class was changed after the threshold was found"
        same_rows = self.proof.trained_on in (None, training_digest(self.model))
        if not same_rows or not self._found_for.is_of(self.model):
            return "the model was changed or fitted again after the threshold was found"
        return ""

    def set_params(self, **params: Any) -> ThresholdedClassifier:
        """Set parameters; what was proved for another model, threshold or class is given up ([D-37])."""
        proved = self.model, self.threshold, self.positive
        super().set_params(**params)
        if self.model is not proved[0] or (self.threshold, self.positive) != proved[1:]:
            self.proof = None
        return self

    def __sklearn_clone__(self) -> ThresholdedClassifier:
        """The same rule for a model that is not fitted: nothing is proved about it."""
        return ThresholdedClassifier(clone(self.model), self.threshold, self.positive)

    @property
    def guarantee(self) -> Entry:
        """The guarantee; the first where several were asked for."""
        if not self.guarantees:
            reason = self._given_up or "this threshold was not found by find_threshold"
            raise AttributeError(f"{reason}: it has no guarantee")
        return self.guarantees[0]

    @property
    def coverage(self) -> Coverage:
        """Fraction of rows at or above the threshold."""
        if self.proof is None or self._given_up:
            reason = self._given_up or "this threshold was not found by find_threshold"
            raise AttributeError(f"{reason}: its coverage is not known")
        return self.proof.coverage

    @property
    def certificate(self) -> Certificate:
        """The guarantees as a certificate."""
        delta = sum(entry.delta or 0.0 for entry in self.guarantees) or 0.05
        facts = (
            () if self.proof is None else (*self.proof.facts, str(self) if self._given_up else self.decision)
        )
        copies = None if self.proof is None else self.proof.copies
        return Certificate(
            self.guarantees, (), type(self.model).__name__, min(delta, 1.0), facts=facts, copies=copies
        )

    @property
    def decision(self) -> str:
        """The rule, in one sentence."""
        if self.positive is None:
            rule = f"Decides where the largest probability is at least {self.threshold:.4g}, else abstains"
        else:
            rule = f"Predicts {self._label()!r} where its probability is at least {self.threshold:.4g}"
        return f"{rule}." if self.proof is None or self._given_up else f"{rule}: {self.coverage} of rows."

    def _label(self) -> Any:
        return self.positive.item() if isinstance(self.positive, np.generic) else self.positive

    def decide(self, probabilities: Floats) -> NDArray[Any]:
        """Labels, or "abstain", from probabilities of the model."""
        classes = self.classes_
        if self.positive is None:
            decided = classes[probabilities.argmax(axis=1)].astype(object)
            decided[~reaches(probabilities.max(axis=1), self.threshold)] = ABSTAIN
            return np.asarray(decided)
        at = int(np.flatnonzero(classes == self.positive)[0])
        others = np.delete(probabilities, at, axis=1)
        rest = np.delete(classes, at)[others.argmax(axis=1)]
        return np.asarray(np.where(reaches(probabilities[:, at], self.threshold), classes[at], rest))

    def __str__(self) -> str:
        if self._given_up:
            return f"{self.decision} No guarantee: {self._given_up}."
        claims = "; ".join(claim_text(entry) for entry in self.guarantees)
        return f"{self.decision} Guaranteed: {claims}." if claims else self.decision
