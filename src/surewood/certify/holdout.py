"""Reading a holdout: predictions, baseline, what is counted, and the claims made on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from surewood.bounds import Condition, Entry, Method, Status, Withheld, issue_guarantee
from surewood.bounds.condition import CALLER

from .claims import Claim, Scored, claim_fields, read_claims
from .columns import as_times, group_labels
from .conditions import holdout_conditions
from .counting import NO_ROW_COUNTS, Counted, count_rows
from .reading import Pending, Reading
from .training_rows import TrainingRows

__all__ = ["HoldoutRequest", "read_holdout", "read_labels"]

NO_FUTURE = "rows are ordered in time, and the future may differ from the past"


@dataclass(frozen=True)
class HoldoutRequest:
    """What the caller wants to know about the points, and what they are."""

    sample: str
    n_models: int
    copies: str
    claims: Any
    groups: Any
    time: Any


def read_holdout(
    model: Any, X: Any, y: Any, training: TrainingRows, request: HoldoutRequest
) -> tuple[Reading, tuple[str, ...]]:
    """The measured error, the claims that can be made, and the facts a reader must know first."""
    truth = read_labels(model, X, y)
    n = truth.size
    classes = getattr(model, "classes_", None)
    known = list(classes) if isinstance(classes, np.ndarray) and classes.ndim == 1 else None
    claims = read_claims(request.claims, known)
    groups, _ = group_labels(request.groups, X, n) if request.groups is not None else (None, "")
    if request.time is not None:
        as_times(request.time, X, n)
    predicted = np.asarray(model.predict(X))
    if predicted.shape != truth.shape:
        raise ValueError(f"model.predict must return one label per row, got shape {predicted.shape}")
    # as objects: NumPy refuses to compare text with numbers, Python calls them different
    predicted, truth = predicted.astype(object), truth.astype(object)
    if request.sample == "training":
        counted = Counted(np.arange(n), np.arange(n), False, n, 0, "natural", "")
    else:
        counted = count_rows(X, n, training, copies=request.copies, groups=groups, labels=truth)
    rows = counted.rows
    by = {
        k: _picked(group_labels(claim.by, X, n, "error_by"), rows)
        for k, claim in enumerate(claims)
        if claim.quantity == "error_by"
    }
    probabilities = None
    if any(claim.quantity == "brier" for claim in claims):
        probabilities = _probabilities(model, X, n)[rows]
    scored = Scored(counted, truth[rows], predicted[rows], probabilities, known, by)
    reading = _measured(scored, truth, predicted, request)
    _claim(reading, claims, scored, training, request)
    return reading, (*counted.facts, *_other_rule(counted, predicted != truth))


def _other_rule(counted: Counted, wrong: NDArray[Any]) -> list[str]:
    """What the rule that ``copies="auto"`` did not take would give: its count, and the error observed."""
    other = counted.other
    if other is None:
        return []
    what = f"{other.n_units} {other.unit_name}"
    if other.rows.size == 0:
        return [f'copies="{other.rule}" would count no row.']
    error = float(other.means(wrong[other.rows].astype(np.float64)).mean())
    return [f'copies="{other.rule}" would count {what}, with an observed error of {error:.4g}.']


def _picked(labels: tuple[NDArray[Any], str], rows: NDArray[np.intp]) -> tuple[NDArray[Any], str]:
    return labels[0][rows], labels[1]


def read_labels(model: Any, X: Any, y: Any) -> NDArray[Any]:
    """Labels of the rows, checked against the table and the model."""
    truth = np.asarray(column_or_1d(y))
    if truth.shape[0] == 0:
        raise ValueError("X and y must have at least one row")
    check_consistent_length(X, truth)
    if pd.isna(truth).any():
        raise ValueError("y must not have missing labels")
    known = getattr(model, "classes_", None)
    if isinstance(known, np.ndarray) and known.ndim == 1 and not np.isin(truth, known).any():
        raise ValueError(f"y must hold labels the model knows, such as {known[0]}; got {truth[0]}")
    return truth


def _probabilities(model: Any, X: Any, n: int) -> NDArray[np.float64]:
    if not callable(getattr(model, "predict_proba", None)):
        raise ValueError("claim 'brier' needs a model with predict_proba")
    p = np.asarray(model.predict_proba(X), dtype=np.float64)
    if p.ndim != 2 or p.shape[0] != n:
        raise ValueError(f"model.predict_proba must return one row per row of X, got shape {p.shape}")
    return p


def _measured(
    scored: Scored, truth: NDArray[Any], predicted: NDArray[Any], request: HoldoutRequest
) -> Reading:
    """The error on the counted rows, and the baseline; on all rows where none can be counted."""
    none = scored.counted.rows.size == 0
    labels, wrong = (truth, (predicted != truth).astype(float)) if none else (scored.truth, scored.wrong)
    unit = np.arange(labels.size) if none else scored.counted.unit
    weight = 1.0 / np.bincount(unit)[unit]
    _, codes = np.unique(labels.astype(str), return_inverse=True)
    n = int(unit.max()) + 1
    estimate = Entry(
        method=f"{request.sample} error",
        status=Status.ESTIMATE,
        value=float((wrong * weight).sum() / n),
        sample=request.sample,
        n=n,
        biased=request.sample == "training" or request.n_models > 1 or none,
        decomposition={"errors": float(wrong.sum())},
        population=scored.counted.population,
        unit=scored.counted.unit_name,
        note=NO_FUTURE if request.time is not None else "",
    )
    majority = 1.0 - float(np.bincount(codes, weights=weight).max()) / n
    return Reading(entries=[estimate], majority_error=majority)


def _conditions(scored: Scored, training: TrainingRows, request: HoldoutRequest) -> list[Condition]:
    """What the caller only states first, in words; then what was checked."""
    if request.sample == "training":
        return [Condition("these rows were not used for training or tuning", False, CALLER)]
    return holdout_conditions(scored.counted, training)


def _claim(
    reading: Reading,
    claims: Sequence[Claim],
    scored: Scored,
    training: TrainingRows,
    request: HoldoutRequest,
) -> None:
    counted = scored.counted
    reason = ""
    if counted.rows.size == 0:
        reason = NO_ROW_COUNTS
    elif request.time is not None:
        reason = f"no guarantee: {NO_FUTURE}"
    elif counted.grouped and counted.n_units < 2:
        reason = "needs at least two groups, got one"
    conditions = _conditions(scored, training, request)
    broken = [condition.text for condition in conditions if not condition.holds]
    if broken:
        reason = "conditions not met: " + "; ".join(broken)
    if reason:
        reading.withheld.append(Withheld(Method.HOLDOUT, reason))
        return
    for position, claim in enumerate(claims):
        reading.claims.append(_pending(claim, position, scored, conditions, request))


def _pending(
    claim: Claim, position: int, scored: Scored, conditions: list[Condition], request: HoldoutRequest
) -> Pending:
    def issue(delta: float) -> Entry:
        fields = claim_fields(claim, position, scored, delta, request.n_models)
        return issue_guarantee(
            fields.pop("method"),
            delta=delta,
            variant="exact",
            sample=request.sample,
            n_models=request.n_models,
            conditions=conditions,
            population=scored.counted.population,
            unit=scored.counted.unit_name,
            **fields,
        )

    return Pending(Method.HOLDOUT, issue)
