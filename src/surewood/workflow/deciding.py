"""Rules of decision (§11.4): a threshold, abstention or costs around a trained model, and what they keep."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from surewood.base.reasons import Reason
from surewood.bounds import Method, Status, Withheld
from surewood.certify import (
    Certificate,
    Claim,
    CostClassifier,
    NoThresholdError,
    certify,
    find_threshold,
)
from surewood.certify.deciding import ABSTAIN
from surewood.workflow.errors import WorkflowError
from surewood.workflow.labelled_table import LabelledTable
from surewood.workflow.training import Trained, certificate_of

_PROMISE_PART = 0.9


@dataclass(frozen=True)
class DecisionRule:
    """Requirements that decisions must meet.

    Attributes
    ----------
    positive : label or None
        The class that precision, false positive rate and recall are about.
    precision, fpr, recall : float or None
    accepted_error : float or None
        Largest error among the rows that are decided.
    cost : str or None
        Costs of confusions, such as ``"bad:good=5,good:bad=1"``: true class, predicted class, cost.

    Examples
    --------
    >>> from surewood.workflow import DecisionRule
    >>> DecisionRule(positive="bad", recall=0.9).has_threshold
    True
    >>> DecisionRule(cost="bad:good=5,good:bad=1").is_given
    True
    """

    positive: Any = None
    precision: float | None = None
    fpr: float | None = None
    recall: float | None = None
    accepted_error: float | None = None
    cost: str | None = None

    def __post_init__(self) -> None:
        if self.has_threshold and self.cost is not None:
            raise WorkflowError("cost= cannot be combined with a requirement about a threshold.")
        if self.positive is not None and not self.has_threshold:
            raise WorkflowError("positive= needs recall=, precision= or fpr=.")

    @property
    def has_threshold(self) -> bool:
        """Whether a threshold is asked for."""
        return any(v is not None for v in (self.precision, self.fpr, self.recall, self.accepted_error))

    @property
    def is_given(self) -> bool:
        """Whether decisions differ from the most probable class."""
        return self.has_threshold or self.cost is not None


def cost_matrix(text: str, classes: Sequence[Any]) -> NDArray[np.float64]:
    """The matrix of costs from text; confusions that are not named cost 1, and gains are negative costs.

    Examples
    --------
    >>> cost_matrix("bad:good=5,bad:bad=-2", ["bad", "good"]).tolist()
    [[-2.0, 5.0], [1.0, 0.0]]
    """
    known = {str(label): k for k, label in enumerate(classes)}
    matrix = 1.0 - np.eye(len(known))
    for word in text.split(","):
        pair, mark, value = word.rpartition("=")
        true, colon, predicted = pair.strip().partition(":")
        try:
            price = float(value)
        except ValueError:
            price = np.nan
        if not mark or not colon or not np.isfinite(price):
            raise WorkflowError(f"cost={word.strip()} is not TRUE:PREDICTED=COST with a number.")
        for label in (true, predicted):
            if label.strip() not in known:
                shown = ", ".join(list(known)[:5])
                raise WorkflowError(f"cost={word.strip()}: {label.strip()!r} is not a class ({shown}).")
        matrix[known[true.strip()], known[predicted.strip()]] = price
    return np.asarray(matrix)


def apply_rule(
    trained: Trained,
    table: LabelledTable,
    rule: DecisionRule,
    delta: float,
    n_compared: int,
) -> tuple[Trained, Certificate]:
    """The model with its rule, and what is guaranteed about its decisions.

    A requirement that no threshold meets becomes a note, and decisions are the most probable class. Which of
    the two is stated depends on the holdout, so the requirement is tested at 0.9 delta and the plain
    certificate has the rest.
    """
    if not rule.is_given:
        return trained, certificate_of(trained, table, delta, n_compared)
    if trained.holdout is None or table.holdout is None:
        raise WorkflowError("a guarantee about decisions needs a holdout; holdout=0 leaves none.")
    if table.sampling.columns:
        raise WorkflowError(
            "a guarantee about decisions needs independent rows: leave groups= and time= out."
        )
    judged = copy.copy(trained.estimator)
    probabilities = trained.holdout.probabilities
    judged.predict_proba = lambda X: probabilities  # the holdout was predicted already
    if rule.cost is not None:
        matrix = cost_matrix(rule.cost, trained.estimator.classes_)
        decider = CostClassifier(trained.estimator, matrix)
        found = certify(
            CostClassifier(judged, matrix),
            trained.holdout.X,
            table.holdout.y,
            claims=[Claim("cost", cost=matrix), "error"],
            copies=table.sampling.copies,
            delta=delta,
        )
        return _with(trained, decider), replace(found, model=type(trained.estimator).__name__)
    certificate = certificate_of(trained, table, (1.0 - _PROMISE_PART) * delta, n_compared)
    try:
        threshold = find_threshold(
            judged,
            trained.holdout.X,
            table.holdout.y,
            positive=rule.positive,
            precision=rule.precision,
            fpr=rule.fpr,
            recall=rule.recall,
            accepted_error=rule.accepted_error,
            delta=_PROMISE_PART * delta,
            copies=table.sampling.copies,
        )
    except NoThresholdError as error:
        sentence = str(error)
        table.notes.append(f"{sentence[:1].upper()}{sentence[1:]}; decisions are the most probable class.")
        return trained, certificate
    threshold = replace(threshold, model=trained.estimator)
    most_probable = trained.estimator.classes_[probabilities.argmax(axis=1)]
    table.notes.append(_measured(threshold.decide(probabilities), most_probable, table.holdout.y))
    estimates = tuple(
        replace(entry, method=f"{entry.method}, without the threshold")
        for entry in certificate.entries
        if entry.status is not Status.GUARANTEE
    )
    own = threshold.certificate
    judged_by = replace(
        own,
        entries=(*own.entries, *estimates),
        withheld=(Withheld(Method.HOLDOUT, Reason.CHOSEN_THRESHOLD.say(), Reason.CHOSEN_THRESHOLD.name),),
        model=certificate.model,
        delta=delta,
        majority_error=certificate.majority_error,
    )
    return _with(trained, threshold), judged_by


def _measured(decided: NDArray[Any], most_probable: NDArray[Any], y: Any) -> str:
    """How often decisions, and the most probable classes, were wrong on the holdout."""
    true = np.asarray(y, dtype=object)
    sure = np.array([label != ABSTAIN for label in decided])
    wrong = 100 * np.mean(decided[sure] != true[sure]) if sure.any() else 0.0
    plain = 100 * np.mean(np.asarray(most_probable, dtype=object) != true)
    rows = "holdout rows" if sure.all() else f"{sure.sum():,} holdout rows that it decides"
    return (
        f"With the threshold {wrong:.2f} % of the {rows} are misclassified; the most probable class is wrong "
        f"for {plain:.2f} % of all."
    )


def _with(trained: Trained, decider: Any) -> Trained:
    return replace(trained, pipeline=Pipeline([("table", trained.preparer), ("model", decider)]))
