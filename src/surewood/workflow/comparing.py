"""Our families and classifiers of other libraries on the same folds: `compare`.

The best baseline is the one of smallest mean error. Each of our families is tested against it by the paired
t-test over folds, two-sided, with the variance corrected for overlapping training parts (Nadeau and Bengio),
p-values adjusted for the number of families by Holm's method. The best baseline was picked on the same folds,
so the comparison favors it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from surewood.parallel.progress import stage
from surewood.report.quality import area_under_curve
from surewood.workflow.comparison_page import write_comparison
from surewood.workflow.comparison_scores import METRICS, Scores, judge_against_best_baseline
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


@dataclass(frozen=True)
class Entrant:
    """A classifier to compare; `make` takes the numbers of training rows and of classes."""

    name: str
    title: str
    ours: bool
    make: Callable[[int, int], Any]
    floor: bool = False


@dataclass(frozen=True)
class Comparison:
    """Result of :func:`compare`.

    Attributes
    ----------
    scores : tuple of Scores
        One per classifier, ours first.
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
    metric: str = "error",
    max_rows: int = 3000,
    groups: str | Sequence[str] | None = None,
    certify: bool = False,
    out: str | Path | None = None,
    random_state: int = 0,
    n_jobs: int = -1,
    verbose: int = 0,
) -> Comparison:
    """Compare surewood's classifiers with those of other libraries on the same folds.

    These are logistic regression, random forest and histogram boosting of scikit-learn, XGBoost, LightGBM,
    CatBoost and EBM where installed, and the majority-class baseline. Every classifier has its default
    settings.

    Parameters
    ----------
    table : str or Path
        A CSV or Parquet file, or the name of a built-in data set.
    target : str, optional
        The column to predict; not needed for built-in data sets.
    folds, repeats : int
        Stratified folds, and how many times new ones are drawn.
    only : list of str, optional
        Short names of the classifiers to compare; all that are installed by default.
    metric : {"error", "auc", "log_loss"}
        What the best baseline is picked by and ours are tested on.
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
        Seed of the folds and of every classifier.
    n_jobs : int, default=-1
        Threads of each fit.
    verbose : int, default=0
        1: a bar of the fits on standard error.

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
    if metric not in METRICS:
        raise WorkflowError(f"metric={metric}: choose among {', '.join(METRICS)}.")
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
    rivals = [one.ours for one in scores if not one.floor]
    if any(rivals) and not all(rivals):
        scores, best = judge_against_best_baseline(scores, splits, metric)
    duel = None
    if held is not None:
        fitted = {
            name: next(e for e in entrants if e.name == name)
            .make(len(data.y), data.y.nunique())
            .fit(prepared, data.y)
            for name in best_two({one.name: (one.error, one.ours) for one in scores if not one.floor})
        }
        duel = certificate_of_two(fitted, preparer.transform(held[0]), held[1], prepared)
    facts = {
        "certificate": duel,
        "table": data.name,
        "source": data.source,
        "target": data.target,
        "rows": len(data.y),
        "columns": len(preparer.columns_),
        "classes": int(data.y.nunique()),
        "metric": metric,
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
            peer.floor,
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
    rows: dict[str, list[tuple[float, ...]]] = {entrant.name: [] for entrant in entrants}
    with stage(verbose, "comparing", len(entrants) * len(splits)) as advance:
        for train, held in splits:
            for entrant in entrants:
                rows[entrant.name].append(_score(entrant, X, y, classes, train, held))
                advance(1)
    found = []
    for one in entrants:
        errors, losses, fitting, predicting, areas = zip(*rows[one.name])
        found.append(
            Scores(one.name, one.title, one.ours, errors, losses, fitting, predicting, areas, one.floor)
        )
    return found


def _score(
    entrant: Entrant,
    X: pd.DataFrame,
    y: pd.Series,
    classes: NDArray[Any],
    train: NDArray[np.int64],
    held: NDArray[np.int64],
) -> tuple[float, ...]:
    """Error, log-loss, seconds of the fit, seconds per 1,000 predictions, mean AUC over classes."""
    model = entrant.make(len(train), len(classes))
    started = time.perf_counter()
    model.fit(X.iloc[train], y.iloc[train])
    fitted = time.perf_counter()
    found = model.predict_proba(X.iloc[held])
    predicted = time.perf_counter()
    proba = np.zeros((len(held), len(classes)))
    proba[:, np.searchsorted(classes, model.classes_)] = found
    truth = y.iloc[held].to_numpy()
    areas = [area_under_curve(proba[:, k], truth == label) for k, label in enumerate(classes)]
    return (
        float(np.mean(classes[proba.argmax(axis=1)] != truth)),
        float(log_loss(truth, proba, labels=classes)),
        fitted - started,
        (predicted - fitted) * 1000 / len(held),
        float(np.mean([area for area in areas if area is not None])) if any(areas) else 0.5,
    )
