"""`find_threshold`: the threshold that meets a requirement, by fixed-sequence testing (theory.md §11.4).

Thresholds, their order and where the tests begin are fixed by out-of-bag or out-of-fold scores before the
holdout is read (`prior_probabilities`): at the strictest threshold that is expected to select enough rows,
and where the scores expect the requirement to be met most clearly, with half of delta each. A model without
such scores has a fixed grid; the tests begin at five fixed places with a fifth of delta each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Counts, Floats, Mask
from surewood.base.calibration import held_out_probabilities
from surewood.base.counted_rows import CountedRows, NoRowsCountError
from surewood.base.remembered import RememberedRows
from surewood.bounds import _arguments as check
from surewood.bounds import (
    clopper_pearson,
    clopper_pearson_lower,
    fixed_sequence_choice,
    rows_needed,
)
from surewood.bounds.statements import AT_LEAST, AT_MOST
from surewood.bounds.thresholds import first_threshold, threshold_grid

from .deciding import (
    ABSTAIN,
    Coverage,
    MetRequirement,
    ThresholdedClassifier,
    ThresholdProof,
    class_position,
)
from .holdout import probabilities_of, reaches, read_labels
from .model_parts import counted_rows, inner_model, training_digest

__all__ = ["NoThresholdError", "find_threshold"]

ABSTENTION = "accepted_error"
_FROM_BELOW = ("precision", "recall")
_WORDS = {
    "precision": "precision of {}",
    "recall": "recall of {}",
    "fpr": "false positive rate of {}",
    ABSTENTION: "error among accepted rows",
}
_SOURCES = ("oob_decision_function_", "held_out_scores_")  # of scores that a model has before the holdout
_FEWEST = 50  # of these from which quantiles are taken
_STEPS = 50
_LOGIT = 7.0  # a fixed grid reaches from 0.0009 to 0.9991
_STARTS = 5
_CLEARLY = 0.98  # a rate nearer to the promised one would need an absurd number of rows


class NoThresholdError(ValueError):
    """No threshold meets the requirement with these rows.

    Attributes
    ----------
    best : float or None
        The best value that could be guaranteed with these rows, as the only requirement.
    rows_needed : int or None
        About this many rows would do; None where more rows are not expected to help.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier, certify
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BinnedForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> try:
    ...     certify.find_threshold(model, X[1::2], y[1::2], positive=2, precision=0.999)
    ... except certify.NoThresholdError as error:
    ...     print(round(error.best, 2))
    0.7
    """

    def __init__(self, sentence: str, best: float | None = None, enough: int | None = None) -> None:
        super().__init__(sentence)
        self.best, self.rows_needed = best, enough


def find_threshold(
    model: Any,
    X: Any,
    y: Any,
    *,
    positive: Any = None,
    precision: float | None = None,
    fpr: float | None = None,
    recall: float | None = None,
    accepted_error: float | None = None,
    delta: float = 0.05,
    n_models: int = 1,
    X_train: Any = None,
    copies: str = "check",
) -> ThresholdedClassifier:
    """Find the threshold that meets a requirement on new rows.

    Parameters
    ----------
    model : fitted classifier with ``predict_proba``
    X, y : array-like
        Rows that were not used for training or tuning, and their labels.
    positive : label, optional
        The class that precision, false positive rate and recall are about. By default the second of two
        classes.
    precision, fpr, recall : float, optional
        Minimum precision, maximum false positive rate, minimum recall of `positive`. Several share `delta`.
        Among the thresholds that meet the requirement the one that selects the most rows is used (for recall
        alone, the fewest).
    accepted_error : float, optional
        Largest error among accepted rows; the classifier abstains on the others.
    delta : float, default=0.05
        Probability that a guarantee fails.
    n_models : int, default=1
        Number of models of which this one was chosen on `X`, `y`.
    X_train : array-like, optional
        The training rows of a model from another library.
    copies : {"check", "count", "leave_out"}
        As in :func:`certify`.

    Returns
    -------
    ThresholdedClassifier
        With ``predict`` (labels, or "abstain"), ``predict_proba``, ``threshold``, ``guarantee`` and
        ``coverage``.

    Raises
    ------
    NoThresholdError
        With the best value that could be guaranteed and the number of rows needed.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from surewood import BinnedForestClassifier
    >>> from surewood.certify import find_threshold
    >>> X, y = make_classification(3000, weights=[0.9], class_sep=1.5, random_state=0)
    >>> forest = BinnedForestClassifier(100, oob_score=True, random_state=0).fit(X[:1500], y[:1500])
    >>> found = find_threshold(forest, X[1500:], y[1500:], recall=0.85)
    >>> found.guarantee.quantity, found.guarantee.value, found.threshold < 0.5
    ('recall of 1', 0.85, True)
    """
    asked = read_requirements(precision=precision, fpr=fpr, recall=recall, accepted_error=accepted_error)
    n_models, part = check.count(n_models, "n_models", 1), check.confidence(delta) / len(asked)
    share = part / n_models
    try:
        holdout = _read(model, X, y, positive, asked, X_train, copies)
    except NoRowsCountError as error:
        raise NoThresholdError(f"no guarantee: {error}") from error
    counts = [
        count_failures(one, holdout.scores, holdout.is_positive, holdout.wrong, holdout.grid) for one in asked
    ]
    proved = [_proved(one, *count, holdout, share) for one, count in zip(asked, counts)]
    both = np.logical_and.reduce(proved)
    if not both.any():
        raise _nothing(asked, counts, proved, holdout, share)
    at = int(np.flatnonzero(both)[0 if len(asked) == 1 and asked[0].lax_first else -1])
    counted = holdout.counted
    conditions = [[one.text, one.source] for one in counted.conditions()]
    promises = [
        MetRequirement(
            one.quantity(holdout.positive),
            one.side,
            one.value,
            part,
            int(failures[at]),
            int(sizes[at]),
            int(mask.sum()),
            n_models,
            counted.population,
            conditions,
        )
        for one, (failures, sizes), mask in zip(asked, counts, proved)
    ]
    proof = ThresholdProof(
        promises,
        _coverage(holdout, at, delta, n_models),
        list(counted.facts),
        _curve(holdout, counts[0], both),
        float(holdout.grid[at]),
        training_digest(model),
        counted.rule,
    )
    rows = RememberedRows.from_table(X)
    return ThresholdedClassifier(model, float(holdout.grid[at]), holdout.positive, proof, rows)


@dataclass(frozen=True)
class Requirement:
    """One requirement: its name and the value that was asked for.

    Examples
    --------
    >>> promise = Requirement("recall", 0.9)
    >>> round(promise.at_most, 10), promise.lax_first, promise.text("bad")
    (0.1, True, "recall of 'bad' at least 0.9")
    """

    name: str
    value: float

    @property
    def at_most(self) -> float:
        """Largest failure rate among the selected rows."""
        return round(1.0 - self.value, 12) if self.name in _FROM_BELOW else self.value

    @property
    def lax_first(self) -> bool:
        """Whether thresholds are tested from lax to strict."""
        return self.name == "recall"

    @property
    def selects_by_threshold(self) -> bool:
        """Whether the number of selected rows changes with the threshold."""
        return self.name in ("precision", ABSTENTION)

    @property
    def side(self) -> str:
        """Direction of the guarantee."""
        return AT_LEAST if self.name in _FROM_BELOW else AT_MOST

    def quantity(self, positive: Any) -> str:
        """What is guaranteed, in words."""
        label = positive.item() if isinstance(positive, np.generic) else positive
        return _WORDS[self.name].format(repr(label))

    def text(self, positive: Any) -> str:
        """The requirement, in words."""
        return f"{self.quantity(positive)} {self.side} {self.value:g}"

    def selected(self, above: Mask, is_positive: Mask) -> Mask:
        """Rows the requirement is about, where `above` are those at or above the threshold."""
        if self.selects_by_threshold:
            return above
        return is_positive if self.name == "recall" else ~is_positive

    def failed(self, above: Mask, is_positive: Mask, wrong: Mask) -> Mask:
        """Rows that fail it, if selected."""
        if self.name == ABSTENTION:
            return wrong
        if self.name == "precision":
            return ~is_positive
        return ~above if self.name == "recall" else above


def read_requirements(**asked: float | None) -> list[Requirement]:
    """The requirements; exactly one, or several about the same class."""
    found = [Requirement(name, check.open_unit(v, name)) for name, v in asked.items() if v is not None]
    if not found:
        raise ValueError(f"ask for one of {', '.join(asked)}")
    if len(found) > 1 and any(one.name == ABSTENTION for one in found):
        raise ValueError("accepted_error cannot be combined with precision, fpr or recall")
    return found


def count_failures(
    requirement: Requirement, scores: Floats, is_positive: Mask, wrong: Mask, grid: Floats
) -> tuple[Counts, Counts]:
    """Failures and selected rows at every threshold."""
    failures, sizes = np.zeros(grid.size, dtype=np.int64), np.zeros(grid.size, dtype=np.int64)
    for position, threshold in enumerate(grid):
        above = reaches(scores, threshold)
        selected = requirement.selected(above, is_positive)
        failed = selected & requirement.failed(above, is_positive, wrong)
        sizes[position], failures[position] = selected.sum(), failed.sum()
    return failures, sizes


def prior_probabilities(model: Any, n_classes: int) -> Floats | None:
    """Out-of-bag or out-of-fold probabilities of the training rows; None for a model without."""
    inner = inner_model(model)
    for name in _SOURCES:
        found = getattr(inner, name, None)
        if found is None:
            continue
        scores = np.asarray(found, dtype=np.float64)
        if scores.ndim != 2 or scores.shape[1] != n_classes:
            continue
        scores = held_out_probabilities(scores, getattr(inner, "calibrator_", None))
        scores = scores[np.isfinite(scores).all(axis=1)]
        if len(scores) >= _FEWEST and np.allclose(scores.sum(axis=1), 1.0, atol=1e-6):
            return np.asarray(scores)
    return None


def grid_from_scores(scores: Floats, *, by_score: bool) -> Floats:
    """Thresholds, strict to lax, at equal steps of coverage; the last one selects every row.

    Parameters
    ----------
    scores : array of shape (n,)
    by_score : bool
        Half of the thresholds at equal steps of the expected number of positive rows instead (each row
        counts with its probability), so that a rare class gets fine steps too.

    Examples
    --------
    >>> import numpy as np
    >>> grid_from_scores(np.array([0.1, 0.2, 0.9]), by_score=False).tolist()
    [0.9, 0.2, 0.1, 0.0]
    """
    if not by_score:
        return np.asarray(np.unique(np.r_[threshold_grid(scores, n_thresholds=_STEPS), 0.0])[::-1])
    plain = threshold_grid(scores, n_thresholds=_STEPS // 2)
    ordered = np.sort(scores)[::-1]
    mass = np.cumsum(ordered)
    goals = np.arange(1, _STEPS // 2 + 1) / (_STEPS // 2) * mass[-1]
    weighted = ordered[np.minimum(np.searchsorted(mass, goals * (1 - 1e-12)), ordered.size - 1)]
    return np.asarray(np.unique(np.r_[plain, weighted, 0.0])[::-1])


def fixed_grid(least: float) -> Floats:
    """Thresholds for a model without such scores: equal steps of the logit, strict to lax, then 0.

    Parameters
    ----------
    least : float
        Smallest possible score: 1/K for the largest of K probabilities.
    """
    lowest = np.log(least / (1.0 - least)) if 0.0 < least < 1.0 else -_LOGIT
    steps = np.linspace(_LOGIT, max(lowest, -_LOGIT), _STEPS - 1)
    return np.asarray(np.r_[1.0 / (1.0 + np.exp(-steps)), 0.0])


@dataclass(frozen=True)
class _Holdout:
    """The counted rows, and the thresholds that were fixed before they were read."""

    counted: CountedRows
    scores: Floats
    is_positive: Mask
    wrong: Mask
    positive: Any
    grid: Floats
    prior_coverage: Floats | None
    prior_failing: Floats | None


def _read(
    model: Any, X: Any, y: Any, positive: Any, asked: Sequence[Requirement], X_train: Any, copies: str
) -> _Holdout:
    truth = read_labels(model, X, y)
    p = probabilities_of(model, X, truth.size)
    classes = np.asarray(model.classes_)
    abstains = asked[0].name == ABSTENTION
    at = None if abstains else _positive(classes, positive)
    if abstains and any(str(label) == ABSTAIN for label in classes):
        raise ValueError(f"the model has a class {ABSTAIN!r}; rename it to use accepted_error")
    prior = prior_probabilities(model, len(classes))
    if prior is None:
        grid, coverage, failing = fixed_grid(1.0 / len(classes) if abstains else 0.0), None, None
    else:
        known = prior.max(axis=1) if at is None else prior[:, at]
        grid = grid_from_scores(known, by_score=not abstains)
        coverage = np.array([(known >= threshold).mean() for threshold in grid])
        failing = np.array([(1.0 - known[known >= threshold]).mean() for threshold in grid])
    counted = counted_rows(model, X, X_train=X_train, copies=copies)
    rows, labels = counted.rows, truth.astype(object)
    scores = p.max(axis=1) if at is None else p[:, at]
    wrong = np.asarray(classes[p.argmax(axis=1)].astype(object) != labels, dtype=bool)
    is_positive = (
        np.zeros(truth.size, dtype=bool) if at is None else np.asarray(labels == classes[at], dtype=bool)
    )
    return _Holdout(
        counted,
        scores[rows],
        is_positive[rows],
        wrong[rows],
        None if at is None else classes[at],
        grid,
        coverage,
        failing,
    )


def _positive(classes: NDArray[Any], positive: Any) -> int:
    if positive is not None:
        return class_position(classes, positive)
    if len(classes) != 2:
        raise ValueError(f"positive must name one of the {len(classes)} classes")
    return 1


def _starts(requirement: Requirement, holdout: _Holdout, delta: float) -> list[int]:
    """Where the tests begin, known before the holdout; several starts divide delta."""
    if not requirement.selects_by_threshold:
        return [0]
    n, r = holdout.counted.rows.size, requirement.at_most
    if holdout.prior_coverage is None or holdout.prior_failing is None:
        return [k * holdout.grid.size // _STARTS for k in range(_STARTS)]
    start = first_threshold(holdout.prior_coverage, n, r, delta=delta)
    strictest = holdout.grid.size - 1 if start is None else start
    # and where the probabilities themselves expect the requirement to be met most clearly
    clearest = int(np.argmax((r - holdout.prior_failing) * np.sqrt(holdout.prior_coverage)))
    return sorted({strictest, clearest})


def _proved(
    requirement: Requirement, failures: Counts, sizes: Counts, holdout: _Holdout, delta: float
) -> Mask:
    """Thresholds at which the requirement is proved, all of them together with probability 1 - delta."""
    order = np.arange(holdout.grid.size)
    if requirement.lax_first:
        order = order[::-1]
    starts = _starts(requirement, holdout, delta)
    proved = np.zeros(order.size, dtype=bool)
    for start in starts:
        last = fixed_sequence_choice(
            failures[order], sizes[order], requirement.at_most, delta=delta / len(starts), start=start
        )
        if last is not None:
            proved[order[start : last + 1]] = True
    return proved


def _coverage(holdout: _Holdout, at: int, delta: float, n_models: int) -> Coverage:
    """Fraction at or above the threshold; limits at delta over twice the number of thresholds."""
    n, k = holdout.scores.size, int(reaches(holdout.scores, holdout.grid[at]).sum())
    share = delta / (2 * holdout.grid.size * n_models)
    return Coverage(
        k / n, clopper_pearson_lower(k, n, delta=share), clopper_pearson(k, n, delta=share), float(delta)
    )


def _curve(holdout: _Holdout, counts: tuple[Counts, Counts], proved: Mask) -> dict[str, Floats]:
    """Every threshold with its coverage and failure rate, for a chart."""
    failures, sizes = counts
    coverage = np.array([reaches(holdout.scores, threshold).mean() for threshold in holdout.grid])
    return {
        "threshold": holdout.grid,
        "coverage": coverage,
        "failure_rate": failures / np.maximum(sizes, 1),
        "proved": proved.astype(np.float64),
    }


def _nothing(
    asked: Sequence[Requirement],
    counts: Sequence[tuple[Counts, Counts]],
    proved: Sequence[Mask],
    holdout: _Holdout,
    delta: float,
) -> NoThresholdError:
    """The sentence for a requirement that cannot be met, with the best one that can and the rows needed."""
    broken = [k for k, mask in enumerate(proved) if not mask.any()]
    n = holdout.counted.rows.size
    if not broken:
        words = " and ".join(one.text(holdout.positive) for one in asked)
        return NoThresholdError(
            f"no threshold guarantees {words} at once with these {n:,} rows; each alone can be guaranteed"
        )
    one, (failures, sizes) = asked[broken[0]], counts[broken[0]]
    limits = np.array(
        [clopper_pearson(int(k), int(m), delta=delta / sizes.size) for k, m in zip(failures, sizes)]
    )
    at = int(limits.argmin())
    best = 1.0 - limits[at] if one.side == AT_LEAST else limits[at]
    about = f"no threshold guarantees {one.text(holdout.positive)} with these {n:,} rows"
    if sizes.max() == 0:
        return NoThresholdError(f"{about}: none of them counts for it")
    # whole thousandths, away from what could be too much
    shown = np.floor(1000 * best) / 1000 if one.side == AT_LEAST else np.ceil(1000 * best) / 1000
    sentence = f"{about}; the best that could be guaranteed, as the only requirement, is {one.side} {shown:g}"
    rates = failures / np.maximum(sizes, 1)
    margin = np.where(sizes > 0, (_CLEARLY * one.at_most - rates) * np.sqrt(sizes), -np.inf)
    clearest = int(margin.argmax())
    if margin[clearest] <= 0:
        return NoThresholdError(f"{sentence}, and more rows are not expected to help", float(best))
    part = min(1.0, sizes[clearest] / n)
    enough = rows_needed(float(rates[clearest]), one.at_most, delta=delta, fraction=part)
    if enough <= n:  # enough rows, but the tests stopped before they came to this threshold
        return NoThresholdError(f"{sentence}; more rows may help", float(best))
    return NoThresholdError(f"{sentence}; about {enough:,} rows would do", float(best), enough)
