"""`Monitor`: is the guarantee of a model in use still true? Two alarms, and limits of its error (§11.6)."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats
from surewood.base.base import ClassifierBase
from surewood.base.counted_rows import AS_THEY_COME, COPIES
from surewood.bounds import _arguments as check
from surewood.bounds import error_sequence
from surewood.bounds.monitoring import ShiftEvidence
from surewood.tables import content_hashes
from surewood.tables.mixing import splitmix64

from .certificate import Certificate
from .deciding import ABSTAIN, DecidingClassifier
from .holdout import probabilities_of
from .model_parts import FittedState, counted_rows, memory_of, training_digest
from .monitor_state import MonitorState, MonitorStateError, read_state, write_state

__all__ = ["Look", "Monitor", "batch_key"]

_SEEN = (
    "this batch was seen before; adding it again would count the same rows twice (other rows with the same "
    "values belong in one batch with later rows)"
)
_OTHER_MODEL = "the model was changed or fitted again since the monitor began; begin another one"
_GROUPS = (
    "the certificate is about new groups, and rows of one group are not independent; give the limit as a "
    "number and one row of each new group, drawn at random"
)
_OTHERS = (
    "the certificate is about {population}, and a batch has rows as they come; certify the model on new rows "
    "as they come, or give the limit as a number"
)
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
        Rows of this batch that equal a training row, where the guarantee is about the others.

    Examples
    --------
    >>> from surewood.certify import Monitor
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

    @property
    def alarm(self) -> bool:
        """Whether either alarm was raised."""
        return self.error_alarm or self.shift_alarm


class Monitor:
    """Watch a model in use: has its error risen above the guaranteed one, do new rows look different?

    You may look after every row and stop or go on as you like: as long as the guarantee holds, the error
    alarm is raised with probability at most `alpha` over any number of looks; as long as new rows come from
    the population of the holdout, so is the shift alarm.

    Parameters
    ----------
    limit : Certificate, float or None
        The guaranteed error, and which rows it is about. None: watch for a shift only. A certificate about
        groups is refused: rows of one group are not independent.
    model : fitted classifier, optional
        Needed for :meth:`update`; without one give errors and scores to :meth:`add`.
    holdout : table, optional
        The rows of the holdout, for the shift alarm.
    holdout_scores : array, optional
        Largest probability of each holdout row, where the rows are not at hand. Without either there is no
        shift alarm.
    alpha : float, default=0.05
        Probability of a false alarm, for each alarm.
    seed : int, default=0
        For breaking ties of scores at random.
    name : str
        Which model is watched; kept in the state file.
    copies : {"check", "count", "leave_out"}
        Whether rows that equal a training row count. ``"check"``: as in the certificate; without one as in
        :func:`certify`. Batches must not overlap.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.certify import Monitor
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
        holdout: Any = None,
        holdout_scores: ArrayLike | None = None,
        alpha: float = 0.05,
        seed: int = 0,
        name: str = "",
        copies: str = "check",
    ) -> None:
        state = MonitorState(_limit(limit), check.open_unit(alpha, "alpha"), check.count(seed, "seed"), name)
        state.copies = _rule(check.choice(copies, "copies", COPIES), limit, model)
        if holdout is not None:
            if model is None or holdout_scores is not None:
                raise ValueError("holdout needs a model, and no holdout_scores")
            rows = counted_rows(model, holdout, copies=state.copies).rows
            holdout_scores = probabilities_of(model, holdout).max(axis=1)[rows]
        if holdout_scores is not None:
            scores = np.asarray(holdout_scores, dtype=np.float64)
            check.count(scores.size, "number of holdout_scores", 1)
            state.score_counts = _sparse(ShiftEvidence(scores).counts)
        elif limit is None:
            raise ValueError("limit, holdout or holdout_scores must be given: there is nothing to watch")
        state.trained_on = None if model is None else training_digest(model)
        self.model = model
        self._go_on(state)

    def _go_on(self, state: MonitorState) -> None:
        self.state = state
        self._watched: FittedState | None = None if self.model is None else FittedState(self.model)
        self._errors, self._shift = state.error_evidence(), state.shift_evidence()

    @classmethod
    def load(cls, path: str | Path, *, model: Any = None, name: str | None = None) -> Monitor:
        """Resume from a state file.

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

    def update(self, X: Any, y: Any = None, *, key: str | None = None) -> Look:
        """Look at a batch of new rows, with labels where they are known.

        Labels may come later: give the same batch again with them. A batch that was seen before is refused
        otherwise, and so is one that looks copied or holds training rows. Rows without a label (missing)
        count for the shift only; errors of rows on which the model abstains do not count.

        Parameters
        ----------
        X : table
        y : array-like, optional
        key : str, optional
            Name of the batch, by which it is recognized; by default its rows are. Single rows of a table in
            which equal rows are ordinary need one.
        """
        if self.model is None:
            raise ValueError("update needs a model; give errors and scores to add")
        self._watched = FittedState(self.model) if self._watched is None else self._watched
        if not self._watched.is_of(self.model):
            raise ValueError(_OTHER_MODEL)
        self._check_columns(X)
        rows_key = batch_key(X)
        n = int(rows_key.split("-")[0])
        key = rows_key if key is None else key
        if n == 0:
            raise ValueError("the batch has no row")
        self._refuse_seen(key, labelled=y is not None)
        p = probabilities_of(self.model, X, n)
        rows = np.sort(counted_rows(self.model, X, copies=self.state.copies).rows)
        errors = None
        if y is not None:
            wrong = _errors(self.model, X, p, y)[rows]
            errors = wrong[~np.isnan(wrong)]
        look = self.add(errors=errors, scores=p.max(axis=1)[rows], key=key)
        return replace(look, n_left_out=n - rows.size)

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
        # keyed by all scores: numbers fixed in advance would serve all samples of a few scores alike
        seen = hashlib.sha256(self._shift.counts.tobytes() + scores.tobytes()).digest()
        key_of_scores = np.frombuffer(seen, dtype=np.uint32)
        uniforms = np.random.default_rng([state.seed, *key_of_scores]).random(scores.size)
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
        if limit.best.population not in AS_THEY_COME:
            raise ValueError(_OTHERS.format(population=limit.best.population))
        limit = limit.best.value
        if not 0 < limit < 1:
            raise ValueError(f"the certificate guarantees an error of at most {limit:g}: nothing to watch")
    return None if limit is None else check.open_unit(limit, "limit")


def _rule(copies: str, limit: Certificate | float | None, model: Any) -> str:
    """Whether rows that equal a training row count: as in the certificate, else by the training table."""
    if copies != "check":
        return copies
    if isinstance(limit, Certificate) and limit.copies is not None:
        return limit.copies
    memory = None if model is None else memory_of(model)
    return "leave_out" if memory is not None and memory.copied else "count"


def batch_key(X: Any) -> str:
    """A key of the rows of a batch that does not depend on their order.

    Examples
    --------
    >>> batch_key([[1.0, 2.0], [3.0, 4.0]]) == batch_key([[3.0, 4.0], [1.0, 2.0]])
    True
    >>> batch_key([[1.0, 2.0]]) == batch_key([[1.0, 2.0], [1.0, 2.0]])
    False
    """
    hashes = np.asarray(splitmix64(content_hashes(X)), dtype=np.uint64)
    return f"{hashes.size}-{int(hashes.sum(dtype=np.uint64)):016x}"


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
