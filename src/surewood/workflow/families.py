"""Classifiers by their short names, their settings, and the choice of one by ``model="auto"``.

Short names are in the public list (:data:`surewood.SHORT_NAMES`). What a family needs to know about the size
of a sample it says itself, by ``settings_for`` and ``max_training_rows`` (:mod:`surewood.base.describing`).

The choice goes by out-of-fold scores on a sample of the training rows: the family with the smallest error is
the leader; families whose error exceeds it by at most one standard error of the paired difference are tied
with it; among the tied ones the smallest log-loss wins. The holdout is not used; guarantees from the training
sample are corrected for the number of families compared, those from the holdout need no correction.
"""

from __future__ import annotations

import difflib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss

import surewood
from surewood.base.describing import title_of
from surewood.parallel.progress import stage
from surewood.workflow.dividing import make_splits, stratified_rows
from surewood.workflow.errors import WorkflowError
from surewood.workflow.labelled_table import LabelledRows

AUTO = "auto"


@dataclass(frozen=True)
class Family:
    """A classifier of the public list by its short name; its module is imported when it is first used.

    Examples
    --------
    >>> find_family("mddf").title, find_family("cascade").max_training_rows
    ('margin deep forest', 4000)
    """

    name: str
    estimator_name: str

    @property
    def kind(self) -> type[Any]:
        """The estimator class."""
        found: type[Any] = getattr(surewood, self.estimator_name)
        return found

    @property
    def title(self) -> str:
        """Its name in words."""
        title = title_of(self.kind)
        return title[:1].lower() + title[1:]

    @property
    def max_training_rows(self) -> int | None:
        """Training rows that the family uses by default at most; None: all."""
        limit: int | None = getattr(self.kind, "max_training_rows", None)
        return limit

    def settings_for(self, n_rows: int, n_classes: int) -> dict[str, Any]:
        """Parameters that the family recommends for a sample of this size."""
        recommend = getattr(self.kind, "settings_for", None)
        return {} if recommend is None else dict(recommend(n_rows, n_classes))

    def parameter_names(self) -> list[str]:
        """All parameters of the estimator."""
        return sorted(self.kind().get_params(deep=False))

    def study_names(self) -> list[str]:
        """Its study switches, which can be set like parameters."""
        return sorted(getattr(self.kind, "_study_switches", {}))


def families() -> dict[str, Family]:
    """All families by their short names, in the order of the public list."""
    return {name: Family(name, estimator) for name, estimator in surewood.SHORT_NAMES.items()}


def find_family(name: str) -> Family:
    """The family of a short name.

    Examples
    --------
    >>> try:
    ...     find_family("forest")
    ... except WorkflowError as error:
    ...     print(error)
    model='forest' is unknown; choose among surewood, rcf, cascade, mddf, auto.
    """
    known = families()
    if name not in known:
        raise WorkflowError(f"model={name!r} is unknown; choose among {', '.join((*known, AUTO))}.")
    return known[name]


@dataclass(frozen=True)
class FitSettings:
    """Settings of a fit that hold for any family."""

    random_state: int = 0
    n_jobs: int = -1
    #: Parameters of the estimator.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    verbose: int = 0
    #: Seconds that the fit of an estimator may take, where it has a limit.
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.n_jobs == 0:
            raise WorkflowError("n_jobs=0 is not possible; -1 means all cores.")

    def estimator(self, family: Family, n_rows: int = 1, n_classes: int = 2, *, strict: bool = True) -> Any:
        """An estimator for a sample of this size; with `strict` it must have every parameter that is set."""
        known, switches = family.parameter_names(), family.study_names()
        chosen: dict[str, Any] = {
            "random_state": self.random_state,
            "n_jobs": self.n_jobs,
            "verbose": self.verbose,
            **family.settings_for(n_rows, n_classes),
        }
        if self.time_limit is not None:
            if "time_limit" not in known and strict:
                raise WorkflowError(f"time_limit={self.time_limit:g}: {family.name} has no time limit.")
            chosen["time_limit"] = self.time_limit
        study = dict(chosen.pop("study", None) or {})
        for name, value in self.parameters.items():
            if name == "study" and isinstance(value, Mapping):
                study |= value
            elif name in known:
                chosen[name] = value
            elif name in switches:
                study[name] = value
            elif strict:
                hint = _hint(name, known + switches)
                raise WorkflowError(f"parameters={name}: {family.name} has no such parameter{hint}")
        if study:
            chosen["study"] = study
        return family.kind(**{name: value for name, value in chosen.items() if name in known})


def candidates(model: str, settings: FitSettings) -> list[Family]:
    """The one family to fit, or, for "auto", the single families to compare: a mixture of them is none.

    A parameter that none of them has is refused.
    """
    if model != AUTO:
        chosen = find_family(model)
        settings.estimator(chosen)
        return [chosen]
    every = [family for name, family in families().items() if name != surewood.DEFAULT_MODEL]
    known = sorted({name for family in every for name in family.parameter_names() + family.study_names()})
    for name in settings.parameters:
        if name not in known:
            raise WorkflowError(
                f"parameters={name}: no family has such a parameter{_hint(name, known, False)}"
            )
    return every


def _hint(name: str, known: list[str], listed: bool = True) -> str:
    close = difflib.get_close_matches(name, known, n=3)
    if close:
        return f"; did you mean {' or '.join(close)}?"
    return f"; it has {', '.join(known)}." if listed else "."


FOLDS = 3
MAX_ROWS = 2000  # rows of the comparison: a few seconds per family


@dataclass(frozen=True)
class Score:
    """Out-of-fold scores of a family; `gap`: error minus the leader's, `noise`: standard error of the gap."""

    family: Family
    error: float
    log_loss: float
    seconds: float
    gap: float = 0.0
    noise: float = 0.0

    @property
    def is_tied(self) -> bool:
        return self.gap <= self.noise


@dataclass(frozen=True)
class Choice:
    """The chosen family and the scores it was chosen by."""

    family: Family
    scores: tuple[Score, ...]
    n_rows: int
    n_folds: int

    @property
    def why(self) -> str:
        """The rule as it worked here, in one sentence."""
        leader = min(self.scores, key=lambda score: score.error)
        chosen = next(score for score in self.scores if score.family is self.family)
        tied = [score.family.name for score in self.scores if score.is_tied]
        if len(tied) == 1:
            return f"{chosen.family.name} has the smallest out-of-fold error, by more than one standard error"
        among = f"{', '.join(tied[:-1])} and {tied[-1]}"
        if chosen is leader:
            return (
                f"{among} are tied within one standard error; {chosen.family.name} has the smallest log-loss"
            )
        return f"{among} are tied within one standard error; {chosen.family.name} has the smaller log-loss"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "chosen": self.family.name,
            "why": self.why,
            "rows": self.n_rows,
            "folds": self.n_folds,
            "scores": [
                {
                    "family": score.family.name,
                    "error": score.error,
                    "log_loss": score.log_loss,
                    "seconds": score.seconds,
                    "gap": score.gap,
                    "standard_error_of_gap": score.noise,
                }
                for score in self.scores
            ],
        }


def choose_family(
    families: list[Family],
    settings: FitSettings,
    X: pd.DataFrame,
    rows: LabelledRows,
) -> Choice:
    """Cross-validate each family on the same folds and choose one.

    Parameters
    ----------
    families : list of Family
    settings : FitSettings
    X : DataFrame
        The rows prepared for the estimators.
    rows : LabelledRows
        Training rows, at most 2,000 of which are used; groups stay whole in the folds, errors count rows.

    Returns
    -------
    Choice
    """
    places = stratified_rows(rows.y, MAX_ROWS, settings.random_state)
    X, rows = X.iloc[places].reset_index(drop=True), rows.take(places)
    y = rows.y
    n_folds = max(2, min(FOLDS, int(y.value_counts().min())))
    splits = make_splits(y, n_folds, 1, settings.random_state, rows.groups)
    results, classes = [], np.unique(y)
    with stage(settings.verbose, "choosing the family", len(families) * len(splits)) as advance:
        for family in families:
            started = time.perf_counter()
            proba = np.zeros((len(y), len(classes)))
            for train, held in splits:
                model = settings.estimator(family, len(train), len(classes), strict=False)
                model.fit(X.iloc[train], y.iloc[train], **rows.take(train).weights())
                columns = np.searchsorted(classes, model.classes_)
                proba[np.ix_(held, columns)] = model.predict_proba(X.iloc[held])
                advance(1)
            results.append((family, proba, time.perf_counter() - started))
    return _apply_rule(results, classes, y, len(splits))


def _apply_rule(
    results: list[tuple[Family, NDArray[Any], float]], classes: NDArray[Any], y: pd.Series, n_folds: int
) -> Choice:
    truth = y.to_numpy()
    wrong = [classes[proba.argmax(axis=1)] != truth for _, proba, _ in results]
    leader = int(np.argmin([own.mean() for own in wrong]))
    scores = []
    for (family, proba, seconds), own in zip(results, wrong):
        difference = own.astype(float) - wrong[leader]
        scores.append(
            Score(
                family,
                float(own.mean()),
                float(log_loss(truth, proba, labels=classes)),
                seconds,
                float(difference.mean()),
                float(difference.std(ddof=1)) / math.sqrt(len(truth)),
            )
        )
    chosen = min((score for score in scores if score.is_tied), key=lambda score: score.log_loss)
    return Choice(chosen.family, tuple(scores), len(truth), n_folds)
