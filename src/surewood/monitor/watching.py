"""`Monitor`: the two alarms of a model in use, and the limits of its error so far (theory.md §11.6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats, Mask
from surewood.bounds import ShiftEvidence, error_sequence
from surewood.bounds import _arguments as check
from surewood.certify import Certificate
from surewood.certify.columns import discrete_columns, values_repeat
from surewood.certify.counting import COPIES, count_rows
from surewood.certify.deciding import DecidingClassifier, probabilities_of
from surewood.certify.fitted_state import FittedState
from surewood.certify.thresholded import ABSTAIN
from surewood.certify.training_rows import TrainingRows, training_digest
from surewood.estimators.base import ClassifierBase

from .batches import batch_key
from .seen_rows import SeenRows
from .state import MonitorState, MonitorStateError, read_state, write_state

__all__ = ["Look", "Monitor"]

_SEEN = "this batch was seen before; adding it again would count the same rows twice"
_OTHER_MODEL = "the model was changed or fitted again since the monitor began; begin another one"
_GROUPS = (
    "the certificate is about new groups, and rows of one group are not independent; give the limit as a "
    "number and one row of each new group, drawn at random"
)
_MANY_COPIES = 0.01  # fraction of equal training rows above which equal rows are natural
_POINTS_PER_BATCH, _MOST_POINTS = 25, 1000  # of the path of the evidence that is kept


@dataclass(frozen=True)
class Look:
    """What a monitor knows after a batch.

    Attributes
    ----------
    error_alarm, shift_alarm : bool
        Whether the alarm was raised, now or before.
    error_evidence, shift_evidence : float
        Largest evidence so far, as odds against "all is well"; an alarm at 1 / `alpha`.
    n_labelled, n_errors, n_scored : int
        Rows since the start.
    lower, upper : float
        Limits of the error since the start that hold at all times together.
    alpha : float
    n_left_out : int
        Rows of this batch that are copies of training rows, about which the guarantee says nothing.
    n_seen_before : int
        Rows of this batch that were counted before, in an earlier batch or in this one.

    Examples
    --------
    >>> from surewood.monitor import Monitor
    >>> look = Monitor(0.05).add(errors=[False] * 90 + [True] * 10)
    >>> look.n_labelled, look.n_errors, look.alarm
    (100, 10, False)
    """

    error_alarm: bool
    shift_alarm: bool
    error_evidence: float
    shift_evidence: float
    n_labelled: int
    n_errors: int
    n_scored: int
    lower: float
    upper: float
    alpha: float
    n_left_out: int = 0
    n_seen_before: int = 0

    @property
    def alarm(self) -> bool:
        """Whether either alarm was raised."""
        return self.error_alarm or self.shift_alarm


class Monitor:
    """Watch a model in use: has its error risen above the guaranteed one, do new rows look different?

    You may look after every row and stop or go on as you like: while the guarantee is true, the error alarm
    is raised with probability at most `alpha` over any number of looks; while new rows are like the
    holdout's, so is the shift alarm.

    Parameters
    ----------
    limit : Certificate, float or None
        The guaranteed error. None: watch for a shift only. A certificate about groups is refused: rows of one
        group are not independent.
    model : fitted classifier, optional
        Needed for :meth:`update`; without one give errors and scores to :meth:`add`.
    holdout_scores : array, optional
        Largest probability of each holdout row. Without them there is no shift alarm.
    alpha : float, default=0.05
        Probability of a false alarm, for each alarm.
    seed : int, default=0
        Of the uniform numbers that decide among equal scores.
    name : str
        Which model is watched; kept in the state file.
    copies : {"auto", "natural", "exclude"}
        ``"exclude"``: a row that equals a training row, or one that was counted before, does not count, so
        batches may overlap. ``"natural"``: equal rows are different rows, and batches must not overlap.
        ``"auto"``: ``"natural"`` where every column of the first batch is discrete, as in :func:`certify`,
        and training rows, or the values of the batch, repeat.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.monitor import Monitor
    >>> rng, monitor = np.random.default_rng(0), Monitor(0.05)
    >>> monitor.add(errors=rng.random(500) < 0.04).error_alarm
    False
    >>> look = monitor.add(errors=rng.random(500) < 0.15)
    >>> look.error_alarm, look.n_labelled, look.lower > 0.05
    (True, 1000, True)
    """

    def __init__(
        self,
        limit: Certificate | float | None,
        *,
        model: Any = None,
        holdout_scores: ArrayLike | None = None,
        alpha: float = 0.05,
        seed: int = 0,
        name: str = "",
        copies: str = "auto",
    ) -> None:
        state = MonitorState(_limit(limit), check.open_unit(alpha, "alpha"), check.count(seed, "seed"), name)
        state.copies = check.choice(copies, "copies", COPIES)
        if holdout_scores is not None:
            scores = np.asarray(holdout_scores, dtype=np.float64)
            check.count(scores.size, "number of holdout_scores", 1)
            state.score_counts = _sparse(ShiftEvidence(scores).counts)
        elif limit is None:
            raise ValueError("limit or holdout_scores must be given: there is nothing to watch")
        state.trained_on = None if model is None else training_digest(model)
        self.model = model
        self._go_on(state)

    def _go_on(self, state: MonitorState) -> None:
        self.state = state
        self._watched: FittedState | None = None if self.model is None else FittedState(self.model)
        self._errors, self._shift = state.error_evidence(), state.shift_evidence()

    @classmethod
    def load(cls, path: str | Path, *, model: Any = None, name: str | None = None) -> Monitor:
        """Go on from a state file.

        Parameters
        ----------
        path : str or Path
        model : fitted classifier, optional
        name : str, optional
            Which model is watched; a state file of another one is refused, and so is one of a model of this
            package that was fitted to other rows.
        """
        state = read_state(path)
        if model is not None and state.trained_on not in (None, training_digest(model)):
            raise MonitorStateError(f"{path} is the state of another model; give another file.")
        if name is not None and state.model != name:
            raise MonitorStateError(f"{path} is the state of another model; give another file.")
        monitor = cls.__new__(cls)
        monitor.model = model
        monitor._go_on(state)
        return monitor

    def save(self, path: str | Path) -> Path:
        """Write the state file, all or nothing."""
        return write_state(self.state, path)

    def update(self, X: Any, y: Any = None) -> Look:
        """Look at a batch of new rows, with labels where they are known.

        Labels may come later: give the same batch again with them. Rows without a label (missing) count for
        the shift only; copies of training rows and rows that were counted before (see `copies`) do not
        count, nor errors of rows on which the model abstains.

        Parameters
        ----------
        X : table
        y : array-like, optional
        """
        if self.model is None:
            raise ValueError("update needs a model; give errors and scores to add")
        self._watched = FittedState(self.model) if self._watched is None else self._watched
        if not self._watched.is_of(self.model):
            raise ValueError(_OTHER_MODEL)
        self._check_columns(X)
        key = batch_key(X)
        n = int(key.split("-")[0])
        if n == 0:
            raise ValueError("the batch has no row")
        self._refuse_seen(key, labelled=y is not None)
        p = probabilities_of(self.model, X, n)
        training = TrainingRows(self.model)
        if self.state.copies == "auto":
            self.state.copies = _rule(X, training)
        scored = np.zeros(n, dtype=bool)
        scored[count_rows(X, n, training, copies=self.state.copies).rows] = True
        n_left_out = n - int(scored.sum())
        wrong = np.zeros(n) if y is None else _errors(self.model, X, p, y)
        labelled = scored & ~np.isnan(wrong) if y is not None else np.zeros(n, dtype=bool)
        if self.state.copies == "exclude":
            scored, labelled = self._count_once(X, scored, labelled)
        errors = None if y is None else wrong[labelled]
        look = self.add(errors=errors, scores=p.max(axis=1)[scored], key=key)
        again = n - n_left_out - int((scored | labelled).sum())
        return Look(**{**look.__dict__, "n_left_out": n_left_out, "n_seen_before": again})

    def _count_once(self, X: Any, scored: Mask, labelled: Mask) -> tuple[Mask, Mask]:
        """Rows that count for the shift and for the error; a batch that has none of either is refused."""
        seen = SeenRows(self.state.seen_rows)
        hashes = SeenRows.hashes(X, self.state.columns if hasattr(X, "columns") else None)
        first = seen.new(hashes, labelled=False, among=scored)
        errors = seen.new(hashes, labelled=True, among=labelled)
        if scored.any() and not first.any() and not errors.any():
            raise ValueError(_SEEN)
        seen.remember(hashes[first], np.zeros(int(first.sum()), dtype=bool))
        seen.remember(hashes[errors], np.ones(int(errors.sum()), dtype=bool))
        self.state.seen_rows = seen.text()
        return first, errors

    def add(
        self, *, errors: ArrayLike | None = None, scores: ArrayLike | None = None, key: str | None = None
    ) -> Look:
        """Add errors (0 or 1) and scores (largest probabilities) of new rows.

        Parameters
        ----------
        errors, scores : array of shape (n,), optional
        key : str, optional
            Name of the batch. One whose errors (or, without errors, scores) were added before is refused.
        """
        if errors is None and scores is None:
            raise ValueError("errors or scores must be given")
        self._refuse_seen(key, labelled=errors is not None)
        if errors is not None:
            wrong = check.unit(np.asarray(errors, dtype=np.float64), "errors", ndim=1)
            if not np.isin(wrong, (0.0, 1.0)).all():
                raise ValueError("errors must be 0 or 1")
            self._add_errors(wrong, key)
        if scores is not None and (key is None or key not in self.state.scored_batches):
            self._add_scores(check.unit(scores, "scores", ndim=1), key)
        return self.look()

    def look(self) -> Look:
        """What is known so far; looking changes nothing."""
        state = self.state
        goal = -math.log(state.alpha)
        low, high = error_sequence(state.n_errors, state.n_labelled, alpha=state.alpha)
        return Look(
            self._errors is not None and state.error_peak >= goal,
            self._shift is not None and state.shift_peak >= goal,
            math.exp(min(state.error_peak, 700.0)),
            math.exp(min(state.shift_peak, 700.0)),
            state.n_labelled,
            state.n_errors,
            state.n_scored,
            low,
            high,
            state.alpha,
        )

    def _refuse_seen(self, key: str | None, *, labelled: bool) -> None:
        seen = self.state.labelled_batches if labelled else self.state.scored_batches
        if key is not None and key in seen:
            raise ValueError(_SEEN)

    def _add_errors(self, errors: Floats, key: str | None) -> None:
        state = self.state
        if key is not None:
            state.labelled_batches.append(key)
        before = state.n_labelled
        state.n_labelled += errors.size
        state.n_errors += int(np.count_nonzero(errors))
        if self._errors is None or errors.size == 0:
            return
        path = self._errors.update(errors)
        state.error_capital = self._errors.log_capital.tolist()
        state.error_peak = max(state.error_peak, float(path.max()))
        low, high = error_sequence(state.n_errors, state.n_labelled, alpha=state.alpha)
        self._remember("error", before, path, {"lower": low, "upper": high})

    def _add_scores(self, scores: Floats, key: str | None) -> None:
        state = self.state
        if key is not None:
            state.scored_batches.append(key)
        if self._shift is None or scores.size == 0:
            return
        before = state.n_scored
        uniforms = np.random.default_rng([state.seed, before]).random(scores.size)
        path = self._shift.update(scores, uniforms)
        state.score_counts, state.n_scored = _sparse(self._shift.counts), self._shift.n_seen
        state.log_p_sum = self._shift.log_p_sum
        state.shift_peak = max(state.shift_peak, float(path.max()))
        self._remember("shift", before, path, {})

    def _remember(self, kind: str, before: int, path: Floats, last: dict[str, float]) -> None:
        """Keep some points of the path; when there are too many, every other one."""
        at = np.unique(np.linspace(0, path.size - 1, min(path.size, _POINTS_PER_BATCH)).astype(int))
        points: list[dict[str, Any]] = [
            {"kind": kind, "rows": before + int(k) + 1, "log_evidence": float(path[k])} for k in at
        ]
        points[-1] |= last
        kept = [*self.state.path, *points]
        self.state.path = kept if len(kept) <= _MOST_POINTS else [*kept[:-1][::2], kept[-1]]

    def _check_columns(self, X: Any) -> None:
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        if names is None:
            return
        if self.state.columns is None:
            self.state.columns = names
        missing = [name for name in self.state.columns if name not in names]
        if missing:
            raise ValueError(f"this batch has other columns than those before: {missing[0]!r} is missing")


def _limit(limit: Certificate | float | None) -> float | None:
    if isinstance(limit, Certificate):
        if limit.best is None:
            raise ValueError("the certificate does not guarantee the error: there is no limit to watch")
        if limit.best.unit == "groups":
            raise ValueError(_GROUPS)
        limit = limit.best.value
        if not 0 < limit < 1:
            raise ValueError(f"the certificate guarantees an error of at most {limit:g}: nothing to watch")
    return None if limit is None else check.open_unit(limit, "limit")


def _rule(X: Any, training: TrainingRows) -> str:
    """Whether equal rows are different rows: the columns are discrete, and not only because rows are few.

    A few rows of any integer column have few values, so equal training rows have to confirm that columns are
    discrete, or values that repeat.
    """
    if not discrete_columns(X):
        return "exclude"
    if training.copied_fraction > _MANY_COPIES or values_repeat(X):
        return "natural"
    if training.known:
        return "exclude"
    raise ValueError(
        "the first batch has too few rows to tell whether equal rows are different rows; give copies"
    )


def _sparse(counts: NDArray[np.int64]) -> dict[str, int]:
    return {str(k): int(counts[k]) for k in np.flatnonzero(counts)}


def _errors(model: Any, X: Any, p: Floats, y: Any) -> Floats:
    """Whether each row's prediction is wrong; NaN without a label, or where the model abstains."""
    truth = np.asarray(y, dtype=object)
    if truth.shape != (len(p),):
        raise ValueError(f"y must have one label per row ({len(p)}), got shape {truth.shape}")
    if isinstance(model, DecidingClassifier):
        predicted = model.decide(p).astype(object)
    elif isinstance(model, ClassifierBase):
        predicted = np.asarray(model.classes_)[p.argmax(axis=1)].astype(object)
    else:
        predicted = np.asarray(model.predict(X)).astype(object)
    counted = ~pd.isna(truth) & (predicted != ABSTAIN)
    known = [label for label in np.asarray(model.classes_).tolist() if label in set(truth[counted].tolist())]
    if counted.any() and not known:
        first = truth[counted][0]
        raise ValueError(f"y must hold labels the model knows, such as {model.classes_[0]}; got {first}")
    return np.where(counted, predicted != truth, np.nan).astype(np.float64)
