"""Our families and classifiers of other libraries on the same folds: `compare`.

The best baseline is the one of smallest mean error. Each of our families is tested against it by the paired
t-test over folds, two-sided, with the variance corrected for overlapping training parts (Nadeau and Bengio),
p-values adjusted for the number of families by Holm's method. The best baseline was picked on the same folds,
so the comparison favors it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from surewood.bounds import corrected_paired_t_test
from surewood.parallel.progress import stage
from surewood.workflow.comparison_page import write_comparison
from surewood.workflow.duel import best_two, certificate_of_two, take_holdout
from surewood.workflow.errors import WorkflowError
from surewood.workflow.families import FitSettings, families
from surewood.workflow.holdout import stratified_rows
from surewood.workflow.labelled_table import LabelledTable, hold_out, read_labelled, settle_training
from surewood.workflow.output_place import check_file
from surewood.workflow.peers import PEERS
from surewood.workflow.sampling import Sampling
from surewood.workflow.splits import Split, make_splits
from surewood.workflow.training import prepare

LEVEL = 0.05


@dataclass(frozen=True)
class Entrant:
    """A classifier to compare; `make` takes the numbers of training rows and of classes."""

    name: str
    title: str
    ours: bool
    make: Callable[[int, int], Any]


@dataclass(frozen=True)
class Scores:
    """Scores of a classifier, one value per fold.

    Attributes
    ----------
    name, title : str
    ours : bool
    errors, log_losses, fit_seconds, predict_seconds : tuple of float
        Per fold; `predict_seconds` are for 1,000 rows.
    difference : float or None
        Mean error minus that of the best baseline; None for baselines.
    p_value : float or None
    """

    name: str
    title: str
    ours: bool
    errors: tuple[float, ...]
    log_losses: tuple[float, ...]
    fit_seconds: tuple[float, ...]
    predict_seconds: tuple[float, ...]
    difference: float | None = None
    p_value: float | None = None

    @property
    def error(self) -> float:
        """Mean error over the folds."""
        return float(np.mean(self.errors))

    @property
    def verdict(self) -> str:
        """Result of the test against the best baseline: better, worse, no difference shown, or nothing."""
        if self.p_value is None or self.difference is None:
            return ""
        if self.p_value >= LEVEL:
            return "no difference shown"
        return "better" if self.difference < 0 else "worse"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "title": self.title,
            "ours": self.ours,
            "error": self.error,
            "error_deviation": float(np.std(self.errors, ddof=1)),
            "log_loss": float(np.mean(self.log_losses)),
            "fit_seconds": float(np.mean(self.fit_seconds)),
            "predict_seconds_per_1000_rows": float(np.mean(self.predict_seconds)),
            "errors": list(self.errors),
            "log_losses": list(self.log_losses),
            "difference_to_best_baseline": self.difference,
            "p_value": self.p_value,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Comparison:
    """Result of :func:`compare`.

    Attributes
    ----------
    scores : tuple of Scores
        One per classifier.
    best_baseline : str or None
        Name of the best classifier of another library.
    facts : dict
        Table, sizes, folds and seed, as plain values.
    notes : tuple of str
    file : Path or None
        The page or picture that was written.

    Examples
    --------
    >>> from surewood import workflow
    >>> result = workflow.compare("wine", folds=2, only=["rf", "hgb"], n_jobs=1)
    >>> result.facts["rows"], [one.name for one in result.scores]
    (178, ['rf', 'hgb'])
    """

    scores: tuple[Scores, ...]
    best_baseline: str | None
    facts: Mapping[str, Any]
    notes: tuple[str, ...]
    file: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **self.facts,
            "best_baseline": self.best_baseline,
            "results": [one.to_dict() for one in self.scores],
            "notes": list(self.notes),
        }


def compare(
    table: str | Path,
    target: str | None = None,
    *,
    folds: int = 5,
    repeats: int = 1,
    only: Sequence[str] | None = None,
    max_rows: int = 3000,
    groups: str | Sequence[str] | None = None,
    certify: bool = False,
    out: str | Path | None = None,
    random_state: int = 0,
    n_jobs: int = -1,
    verbose: int = 0,
) -> Comparison:
    """Compare our families with random forest, histogram boosting, XGBoost and LightGBM on the same folds.

    Every classifier has its default settings.

    Parameters
    ----------
    table : str or Path
        A CSV or Parquet file, or the name of a built-in data set.
    target : str, optional
        The column to predict; not needed for built-in data sets.
    folds, repeats : int
        Stratified folds, and how many times new ones are drawn.
    only : list of str, optional
        Short names of the classifiers to compare; all by default.
    max_rows : int, default=3000
        Compare on at most this many rows, drawn at random.
    groups : str or list of str, optional
        Column that names the group of a row; groups stay whole in the folds. Not a feature.
    certify : bool, default=False
        Hold out a fifth of the rows before comparing, and report whether the best of our families or the best
        baseline is guaranteed to err less often on new rows (or the best two, where only one kind is
        compared).
    out : str or Path, optional
        A page (.html) or a picture (.png) to write.
    random_state : int, default=0
    n_jobs : int, default=-1
    verbose : int, default=0

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from surewood import workflow
    >>> result = workflow.compare("iris", folds=2, only=["rf"], n_jobs=1)
    >>> [one.name for one in result.scores], len(result.scores[0].errors)
    (['rf'], 2)
    """
    path = None if out is None else Path(out)
    if path is not None:
        check_file(path, (".html", ".png"))
    settings = FitSettings(random_state, n_jobs, verbose=verbose)
    entrants, notes = choose_entrants(only, settings)
    sampling = Sampling.of("auto", groups, None)
    data = _read(str(table), target, folds, max_rows, random_state, sampling)
    if certify and data.groups is not None:
        raise WorkflowError(
            "certify=True cannot be combined with groups=: rows of a group are not independent."
        )
    held = take_holdout(data, random_state) if certify else None
    preparer = prepare(data)
    prepared = preparer.transform(data.X)
    splits = make_splits(data.y, folds, repeats, random_state, data.groups)
    scores = run_comparison(entrants, prepared, data.y, splits, verbose)
    best = None
    if any(one.ours for one in scores) and not all(one.ours for one in scores):
        scores, best = judge_against_best_baseline(scores, splits)
    duel = None
    if held is not None:
        fitted = {
            name: next(e for e in entrants if e.name == name)
            .make(len(data.y), data.y.nunique())
            .fit(prepared, data.y)
            for name in best_two({one.name: (one.error, one.ours) for one in scores})
        }
        duel = certificate_of_two(fitted, preparer.transform(held[0]), held[1], prepared)
    facts = {
        "certificate": duel,
        "table": data.name,
        "source": data.source,
        "target": data.target,
        "rows": len(data.y),
        "columns": data.X.shape[1],
        "classes": int(data.y.nunique()),
        "folds": folds,
        "repeats": repeats,
        "groups": data.sampling.groups,
        "seed": random_state,
    }
    result = Comparison(tuple(scores), best, facts, tuple(data.notes + notes), path)
    if path is not None:
        write_comparison(result.to_dict(), path)
    return result


def choose_entrants(only: Sequence[str] | None, settings: FitSettings) -> tuple[list[Entrant], list[str]]:
    """The classifiers to compare, and a note for each that is not installed."""
    known = [*families(), *(peer.name for peer in PEERS)]
    for name in only or []:
        if name not in known:
            raise WorkflowError(f"only={name}: choose among {', '.join(known)}.")
    ours = [
        Entrant(
            family.name,
            family.title,
            True,
            lambda n_rows, n_classes, family=family: settings.estimator(family, n_rows, n_classes),  # type: ignore[misc]
        )
        for family in families().values()
    ]
    theirs = [
        Entrant(
            peer.name,
            peer.title,
            False,
            lambda n_rows, n_classes, peer=peer: peer.build(settings.random_state, settings.n_jobs),  # type: ignore[misc]
        )
        for peer in PEERS
        if peer.is_installed
    ]
    entrants = [entrant for entrant in ours + theirs if only is None or entrant.name in only]
    if not entrants:
        raise WorkflowError(f"none of {', '.join(only or [])} is installed.")
    absent = [p.title for p in PEERS if not p.is_installed and (only is None or p.name in only)]
    return entrants, [f"{title} is not installed and was left out." for title in absent]


def _read(
    source: str, target: str | None, folds: int, max_rows: int, random_state: int, sampling: Sampling
) -> LabelledTable:
    """All rows of a table, or a random subset of them; every class must be in every fold."""
    data = read_labelled(source, target)
    sampling.check_columns(data.X.columns, data.name, data.target)
    data.sampling = sampling
    hold_out(data, 0.0, random_state)
    settle_training(data, "drop")
    if len(data.y) > max_rows:
        n_rows = len(data.y)
        data.keep(stratified_rows(data.y, max_rows, random_state))
        data.notes.append(f"compared on a random sample of {len(data.y):,} of {n_rows:,} rows (max_rows=).")
    fewest = int(data.y.value_counts().min())
    if fewest < folds:
        raise WorkflowError(
            f"the smallest class of {data.target!r} has {fewest} rows; take folds={max(2, fewest)} or "
            "remove those rows."
        )
    return data


def run_comparison(
    entrants: Sequence[Entrant], X: pd.DataFrame, y: pd.Series, splits: Sequence[Split], verbose: int = 0
) -> list[Scores]:
    """Fit every classifier on every split; fold by fold, so that all meet the same load of the computer."""
    classes = np.unique(y)
    rows: dict[str, list[tuple[float, float, float, float]]] = {entrant.name: [] for entrant in entrants}
    with stage(verbose, "comparing", len(entrants) * len(splits)) as advance:
        for train, held in splits:
            for entrant in entrants:
                rows[entrant.name].append(_score(entrant, X, y, classes, train, held))
                advance(1)
    found = []
    for one in entrants:
        errors, losses, fitting, predicting = zip(*rows[one.name])
        found.append(Scores(one.name, one.title, one.ours, errors, losses, fitting, predicting))
    return found


def _score(
    entrant: Entrant,
    X: pd.DataFrame,
    y: pd.Series,
    classes: NDArray[Any],
    train: NDArray[np.int64],
    held: NDArray[np.int64],
) -> tuple[float, float, float, float]:
    """Error, log-loss, seconds of the fit, seconds per 1,000 predictions."""
    model = entrant.make(len(train), len(classes))
    started = time.perf_counter()
    model.fit(X.iloc[train], y.iloc[train])
    fitted = time.perf_counter()
    found = model.predict_proba(X.iloc[held])
    predicted = time.perf_counter()
    proba = np.zeros((len(held), len(classes)))
    proba[:, np.searchsorted(classes, model.classes_)] = found
    truth = y.iloc[held].to_numpy()
    return (
        float(np.mean(classes[proba.argmax(axis=1)] != truth)),
        float(log_loss(truth, proba, labels=classes)),
        fitted - started,
        (predicted - fitted) * 1000 / len(held),
    )


def judge_against_best_baseline(
    scores: Sequence[Scores], splits: Sequence[Split]
) -> tuple[list[Scores], str]:
    """The scores with adjusted p-values of ours, and the name of the best baseline."""
    best = min((one for one in scores if not one.ours), key=lambda one: one.error)
    n_train = round(float(np.mean([len(train) for train, _ in splits])))
    n_test = round(float(np.mean([len(held) for _, held in splits])))
    p_values = {}
    for one in scores:
        if one.ours:
            one_sided = corrected_paired_t_test(one.errors, best.errors, n_train=n_train, n_test=n_test)
            p_values[one.name] = 2 * min(one_sided.p_value, 1 - one_sided.p_value)
    adjusted = dict(zip(p_values, holm(list(p_values.values()))))
    judged = [
        replace(one, difference=one.error - best.error, p_value=adjusted[one.name]) if one.ours else one
        for one in scores
    ]
    return judged, best.name


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number by Holm's method.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, k in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[k]))
        adjusted[k] = largest
    return adjusted
