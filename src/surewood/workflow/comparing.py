"""Our families and classifiers of other libraries on the same folds: `compare`.

The best baseline is the one of smallest mean error. Each of our families is tested against it by the paired
t-test over folds, two-sided, with the variance corrected for overlapping training parts (Nadeau and
Bengio), p-values adjusted for the number of families by Holm's method. The best baseline was picked on the
same folds, so the comparison favors it. With ``certify=True`` the best two are compared on rows that no
fold used (§11.7). The result is a page, or a PNG where matplotlib is installed.

The classifiers of other libraries are in :mod:`~surewood.workflow.peers`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter as time_now
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from surewood.base.wording import percent
from surewood.bounds import corrected_paired_t_test
from surewood.certify import compare_models
from surewood.parallel.progress import say, stage
from surewood.report import charts, render_template
from surewood.report.charts import Plot, fitted_axis
from surewood.report.page import page_title, write_text
from surewood.report.quality import area_under_curve
from surewood.report.words import number, seconds
from surewood.workflow.columns import ColumnOptions
from surewood.workflow.dividing import (
    Split,
    make_splits,
    splits_in_time,
    stratified_rows,
)
from surewood.workflow.errors import WorkflowError
from surewood.workflow.families import FitSettings, families
from surewood.workflow.fitting import check_training
from surewood.workflow.folders import check_file
from surewood.workflow.labelled_table import (
    LabelledTable,
    Source,
    TableOptions,
    read_for_training,
    settle_training,
)
from surewood.workflow.peers import PEERS, Entrant
from surewood.workflow.training import prepare

#: Short names, the cheapest first as a rule.
COST = ["majority", "logreg", "hgb", "lightgbm", "rf", "xgboost"]
COST += ["mddf", "rcf", "surewood", "catboost", "cascade", "ebm"]
#: Compared only when named: minutes per fit on some tables.
ON_REQUEST = ("cascade", "ebm")


@dataclass(frozen=True, repr=False)
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
    (142, ['rf', 'hgb'])
    """

    scores: tuple[Scores, ...]
    best_baseline: str | None
    facts: Mapping[str, Any]
    notes: tuple[str, ...]
    file: Path | None = None

    def __repr__(self) -> str:
        ranked = sorted(self.scores, key=lambda one: float(np.mean(one.losses(self.facts["metric"]))))
        lines = [f"{one.title}: error {percent(one.error)}" for one in ranked[:8]]
        lines += ["..."] if len(ranked) > 8 else []
        return "\n".join(
            [f"{self.facts['table']}: {self.facts['rows']:,} rows, {self.facts['folds']} folds", *lines]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **self.facts,
            "best_baseline": self.best_baseline,
            "results": [one.to_dict() for one in self.scores],
            "notes": list(self.notes),
        }


def compare(
    table: Source,
    target: str | None = None,
    *,
    folds: int = 5,
    repeats: int = 1,
    only: Sequence[str] | None = None,
    metric: str = "error",
    max_rows: int = 3000,
    time_limit: float | None = None,
    certify: bool = False,
    out: str | Path | None = None,
    n_jobs: int = -1,
    verbose: int = 0,
    **options: Unpack[TableOptions],
) -> Comparison:
    """Compare surewood's classifiers with those of other libraries on the same folds.

    These are logistic regression, random forest and histogram boosting of scikit-learn, XGBoost, LightGBM and
    CatBoost where installed, and the majority-class baseline. Every classifier has its default settings. They
    run in the order of their usual cost. The rows are those that :func:`fit` with the same arguments would
    train on, and what its columns are is found from all of them.

    Parameters
    ----------
    table : str, Path or list of them
        As in :func:`fit`.
    target : str, optional
        The column to predict; not needed for bundled data sets.
    folds, repeats : int
        Stratified folds, and how many times new ones are drawn.
    only : list of str, optional
        Short names of the classifiers to compare; by default all that are installed but the slowest
        (`ON_REQUEST`).
    metric : {"error", "auc", "log_loss"}
        Metric that picks the best baseline and is tested.
    max_rows : int, default=3000
        Compare on at most this many rows, drawn at random.
    time_limit : float, optional
        Seconds after which no further classifier is started, and the running one is left out.
    certify : bool, default=False
        Hold out a fifth of the rows before comparing, and report whether the best of our families or the best
        baseline is guaranteed to err less often on new rows (or the best two, where only one kind is
        compared).
    out : str or Path, optional
        A page (.html) or a picture (.png) to write.
    n_jobs : int, default=-1
        Threads of each fit.
    verbose : int, default=0
        1: a bar of the fits on standard error.
    **options
        How the table is read and divided, and the seed: see :class:`TableOptions`.

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
    seed, columns = options.get("random_state", 0), options.get("columns") or ColumnOptions()
    rare = options.get("rare", "drop")
    settings = FitSettings(seed, n_jobs, verbose=verbose)
    entrants, notes = choose_entrants(only)
    for option in ("groups", "time"):
        if certify and options.get(option) is not None:
            raise WorkflowError(f"certify=True cannot be combined with {option}=: rows must be independent.")
    reading = options.copy()
    reading["rare"] = "keep" if certify else rare  # settled below, when rows for the guarantee are taken
    data = read_for_training(table, target, **reading)
    n_kept_out = data.n_holdout
    if certify:  # before anything looks at labels or columns
        take_holdout(data, max_rows, seed)
        settle_training(data, rare)
    preparer = prepare(data, columns)  # before rows are drawn: in a sample a row number is an ordinary number
    check_training(data, columns, preparer)
    if n_kept_out:
        data.notes.append(
            f"{n_kept_out:,} rows, the holdout of a fit with the same seed, are kept out: choosing a "
            "model here costs its guarantee nothing."
        )
    _draw(data, folds, max_rows, seed)
    rows = data.rows
    prepared, y = preparer.prepare(rows.X), rows.y
    if rows.times is None:
        splits = make_splits(y, folds, repeats, seed, rows.groups)
    else:
        splits = splits_in_time(y, rows.times, folds)
    scores, left_out = run_comparison(entrants, settings, prepared, y, splits, time_limit)
    data.notes += left_out
    best = None
    rivals = [one.ours for one in scores if not one.floor]
    if any(rivals) and not all(rivals):
        scores, best = judge_against_best_baseline(scores, splits, metric)
    duel = None
    if certify and data.holdout is not None:
        names = best_two({one.name: (one.error, one.ours) for one in scores if not one.floor})
        first, second = (
            entrants[name].estimator(settings, len(y), y.nunique()).fit(prepared, y) for name in names
        )
        X_held, y_held = preparer.prepare(data.holdout.X), data.holdout.y
        copies = data.sampling.copies
        found = compare_models(first, second, X_held, y_held, names=names, X_train=prepared, copies=copies)
        duel = json.loads(found.to_json())
    facts = {
        "certificate": duel,
        "table": data.name,
        "source": data.source,
        "target": data.target,
        "rows": len(y),
        "columns": len(preparer.columns_),
        "classes": int(y.nunique()),
        "metric": metric,
        "folds": folds,
        "repeats": repeats,
        "groups": data.sampling.groups,
        "time": data.sampling.time,
        "seed": seed,
    }
    result = Comparison(tuple(scores), best, facts, tuple(data.notes + notes), path)
    if path is not None:
        write_comparison(result.to_dict(), path)
    return result


def choose_entrants(only: Sequence[str] | None) -> tuple[dict[str, Entrant], list[str]]:
    """The classifiers to compare by name, and a note for each that is not installed."""
    known = {name: Entrant(name, family.title, family=family) for name, family in families().items()}
    known |= {peer.name: peer for peer in PEERS}
    for name in only or []:
        if name not in known:
            raise WorkflowError(f"only={name}: choose among {', '.join(known)}.")
    asked = [name for name in known if name not in ON_REQUEST] if only is None else only
    wanted = [one for name, one in known.items() if name in asked]
    entrants = {one.name: one for one in wanted if one.is_installed}
    if not entrants:
        raise WorkflowError(f"none of {', '.join(only or [])} is installed.")
    notes = [f"{one.title} is not installed and was left out." for one in wanted if not one.is_installed]
    if only is None:
        slow = [name for name in ON_REQUEST if known[name].is_installed]
        notes.append(f"{' and '.join(slow)}: slow, compared only when named.")
    return entrants, notes


def _draw(data: LabelledTable, folds: int, max_rows: int, random_state: int) -> None:
    """Go on with at most `max_rows` training rows; every class in every fold."""
    if len(data.rows) > max_rows:
        n_rows = len(data.rows)
        data.keep(stratified_rows(data.rows.y, max_rows, random_state))
        data.notes.append(
            f"compared on a random sample of {len(data.rows):,} of {n_rows:,} rows (max_rows=)."
        )
    fewest = int(data.rows.y.value_counts().min())
    if fewest < folds:
        raise WorkflowError(
            f"the smallest class of {data.target!r} has {fewest} rows; take folds={max(2, fewest)} or "
            "remove those rows."
        )


def _cost(entrant: Entrant) -> int:
    """Place in the order of costs; a family that is not listed comes last."""
    return COST.index(entrant.name) if entrant.name in COST else len(COST)


def run_comparison(
    entrants: Mapping[str, Entrant],
    settings: FitSettings,
    X: pd.DataFrame,
    y: pd.Series,
    splits: Sequence[Split],
    time_limit: float | None = None,
) -> tuple[list[Scores], list[str]]:
    """Scores of the classifiers on every split, and notes about those for which there was no time.

    The cheapest comes first; with `verbose` a line tells of each that is done.
    """
    classes, started = np.unique(y), time_now()
    scores: dict[str, Scores] = {}
    late: list[str] = []
    with stage(settings.verbose, "comparing", len(entrants) * len(splits)) as advance:
        for name in sorted(entrants, key=lambda name: _cost(entrants[name])):
            one, rows = entrants[name], []
            for train, held in splits:
                if scores and time_limit is not None and time_now() - started > time_limit:
                    break
                model = one.estimator(settings, len(train), len(classes))
                rows.append(_score(model, X, y, classes, train, held))
                advance(1)
            if len(rows) < len(splits):
                late.append(name)
                continue
            errors, losses, fitting, predicting, areas = zip(*rows)
            scores[name] = made = Scores(
                name, one.title, one.ours, errors, losses, fitting, predicting, areas, one.floor
            )
            if settings.verbose:
                took = seconds(float(np.mean(made.fit_seconds)))
                say(f"{one.title}: error {percent(made.error)}, {took} per fit")
    notes = [f"left out, because the time limit was reached: {', '.join(late)}."] if late else []
    return [scores[name] for name in entrants if name in scores], notes


def _score(
    model: Any,
    X: pd.DataFrame,
    y: pd.Series,
    classes: NDArray[Any],
    train: NDArray[np.int64],
    held: NDArray[np.int64],
) -> tuple[float, ...]:
    """Error, log-loss, seconds of the fit, seconds per 1,000 predictions, mean AUC over classes."""
    started = time_now()
    model.fit(X.iloc[train], y.iloc[train])
    fitted = time_now()
    found = model.predict_proba(X.iloc[held])
    predicted = time_now()
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


LEVEL = 0.05
#: What a comparison may be decided by: short name, and name for readers.
METRICS = {"error": "error", "auc": "AUC", "log_loss": "log-loss"}


@dataclass(frozen=True)
class Scores:
    """Scores of a classifier, one value per fold."""

    name: str
    title: str
    ours: bool
    #: Per fold; `predict_seconds` are for 1,000 rows.
    errors: tuple[float, ...]
    log_losses: tuple[float, ...]
    fit_seconds: tuple[float, ...]
    predict_seconds: tuple[float, ...]
    #: Areas under the ROC curve, mean over classes; empty where not measured.
    aucs: tuple[float, ...] = ()
    #: Whether it is the majority-class baseline, which nothing is tested against.
    floor: bool = False
    #: Mean of the metric minus that of the best baseline; None for baselines.
    difference: float | None = None
    p_value: float | None = None

    @property
    def error(self) -> float:
        """Mean error over the folds."""
        return float(np.mean(self.errors))

    def losses(self, metric: str) -> tuple[float, ...]:
        """The metric per fold, as something to make small."""
        if metric == "auc":
            return tuple(1.0 - area for area in self.aucs)
        return self.errors if metric == "error" else self.log_losses

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
        who = {"name": self.name, "title": self.title, "ours": self.ours, "floor": self.floor}
        return {
            **who,
            "error": self.error,
            "error_deviation": float(np.std(self.errors, ddof=1)),
            "log_loss": float(np.mean(self.log_losses)),
            "auc": float(np.mean(self.aucs)) if self.aucs else None,
            "fit_seconds": float(np.mean(self.fit_seconds)),
            "predict_seconds_per_1000_rows": float(np.mean(self.predict_seconds)),
            "errors": list(self.errors),
            "log_losses": list(self.log_losses),
            "aucs": list(self.aucs),
            "fit_times": list(self.fit_seconds),
            "difference_to_best_baseline": self.difference,
            "p_value": self.p_value,
            "verdict": self.verdict,
        }


def judge_against_best_baseline(
    scores: Sequence[Scores], splits: Sequence[Split], metric: str = "error"
) -> tuple[list[Scores], str]:
    """The scores with adjusted p-values of ours, and the name of the best baseline."""
    mean = {one.name: float(np.mean(one.losses(metric))) for one in scores}
    best = min((one for one in scores if not one.ours and not one.floor), key=lambda one: mean[one.name])
    n_train = round(float(np.mean([len(train) for train, _ in splits])))
    n_test = round(float(np.mean([len(held) for _, held in splits])))
    p_values = {}
    for one in scores:
        if one.ours:
            one_sided = corrected_paired_t_test(
                one.losses(metric), best.losses(metric), n_train=n_train, n_test=n_test
            )
            p_values[one.name] = 2 * min(one_sided.p_value, 1 - one_sided.p_value)
            if len(set(np.subtract(one.losses(metric), best.losses(metric)).round(12))) == 1:
                # without spread a t-test knows nothing: the sign test of as many folds
                p_values[one.name] = max(p_values[one.name], 2 * 0.5 ** len(splits))
    adjusted = dict(zip(p_values, holm(list(p_values.values()))))
    judged = [
        replace(one, difference=mean[one.name] - mean[best.name], p_value=adjusted[one.name])
        if one.ours
        else one
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


_LEGEND = (("surewood", "leaf", "dot"), ("other libraries", "peer", "dot"))
#: Name, values per fold, kind of axis, how a value is written, what to say.
_MEASURES: dict[str, tuple[str, str, Any, Callable[[float], str], str]] = {
    "error": ("Error", "errors", "percent", percent, "Fraction of wrong predictions; lower is better."),
    "auc": (
        "AUC",
        "aucs",
        "number",
        lambda v: number(v, 3),
        "Mean over classes, one against the rest; higher is better.",
    ),
    "log_loss": (
        "Log-loss",
        "log_losses",
        "number",
        lambda v: number(v, 3),
        "Quality of the probabilities; lower is better.",
    ),
    "fit": ("Fit time", "fit_times", "log", seconds, "Seconds per fit, logarithmic; lower is better."),
}


def write_comparison(result: dict[str, Any], path: Path) -> None:
    """Write a comparison as .html or .png."""
    if path.suffix.lower() == ".png":
        _write_picture(result, path)
    else:
        values = {
            **result,
            "results": _sorted(result),
            "title": page_title("Comparison", result["table"]),
            "figures": _figures(result),
            "metric_name": METRICS[result["metric"]],
        }
        write_text(render_template("compare.html", values, package="surewood.workflow"), path)


def _figures(result: dict[str, Any]) -> list[dict[str, Any]]:
    """A chart per metric, the one that decides first: a dot per fold and a bar at the mean."""
    rows = _sorted(result)
    order = sorted(_MEASURES, key=lambda key: key != result["metric"])
    found = [{"key": key, "name": _MEASURES[key][0], "figure": _folds(key, rows)} for key in order]
    return [*found, {"key": "time", "name": "Error against time", "figure": _against_time(rows)}]


def _sorted(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The results, best first."""
    metric = result["metric"]
    return sorted(result["results"], key=lambda row: -row["auc"] if metric == "auc" else row[metric])


def _folds(key: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    name, values_key, kind, text, caption = _MEASURES[key]
    near = [value for row in rows if not row["floor"] for value in row[values_key]]
    # The baseline may lie far off: the scale is for the others, and the baseline's value stands beside it.
    limits = None if kind == "log" else (0.0, 1.0 if key in ("error", "auc") else 1e9)
    axis = fitted_axis(near or [0.0, 1.0], kind, limits=limits)
    drawn = []
    for row in rows:
        color, values = _color(row), row[values_key]
        mean = sum(values) / len(values)
        parts = [
            charts.Part(value, value, color, f"fold {k + 1}: {text(value)}", "dot faint")
            for k, value in enumerate(values)
            if axis.low <= value <= axis.high
        ]
        if axis.low <= mean <= axis.high:
            parts.append(charts.Part(mean, mean, color, f"mean {text(mean)}", "tick"))
        drawn.append(charts.BarRow(row["title"], parts, text(mean), strong=row["ours"]))
    return charts.figure(
        name,
        charts.bar_rows(drawn, axis=axis, names=_LEGEND),
        caption=f"{caption} A dot per fold, a bar at the mean; the best on top.",
        alt=f"{name}: " + ", ".join(f"{row.name} {row.value}" for row in drawn),
    )


def _against_time(rows: list[dict[str, Any]]) -> dict[str, Any]:
    shown = [row for row in rows if not row["floor"]] or rows
    across = fitted_axis([row["fit_seconds"] for row in shown], "log", "seconds per fit", margin=0.15)
    plot = Plot(
        across,
        fitted_axis([row["error"] for row in shown], "percent", "error", margin=0.12),
        height=320,
    )
    for row in shown:
        told = f"{row['title']}: error {percent(row['error'])}, {number(row['fit_seconds'])} s per fit"
        plot.points([row["fit_seconds"]], [row["error"]], _color(row), size=11, tips=[told])
        plot.text(row["fit_seconds"], row["error"], row["name"])
    caption = "Left and down is better: fast and with few errors. Without the majority-class baseline."
    return charts.figure("Error against time", plot.render(), caption=caption)


def _color(row: dict[str, Any]) -> str:
    return "leaf" if row["ours"] else "bark" if row["floor"] else "peer"


def _write_picture(result: dict[str, Any], path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise WorkflowError(
            "a .png needs matplotlib (pip install 'surewood[plots]'); an .html does not."
        ) from None
    rows = result["results"][::-1]
    figure = Figure(figsize=(9, 1.2 + 0.42 * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, key, title, scale in (
        (left, "errors", "error, percent", 100.0),
        (right, "log_losses", "log-loss", 1.0),
    ):
        for place, row in enumerate(rows):
            color = "#2f7d4f" if row["ours"] else "#8a8f98"
            values = [scale * value for value in row[key]]
            axes.plot(values, [place] * len(values), "o", color=color, alpha=0.35, markersize=5)
            axes.plot(sum(values) / len(values), place, "|", color=color, markersize=22, markeredgewidth=3)
        axes.set_xlabel(title)
        axes.spines[["top", "right"]].set_visible(False)
    left.set_yticks(range(len(rows)), [row["title"] for row in rows])
    figure.suptitle(f"{result['table']}: {result['folds']} folds, bars are means", x=0.01, ha="left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def take_holdout(table: LabelledTable, max_rows: int, random_state: int) -> None:
    """Hold out a random fifth of the training rows, but no more than a fifth of `max_rows`."""
    order = np.random.default_rng(random_state).permutation(len(table.rows))
    n_held = min(len(order), max_rows) // 5
    table.holdout = table.rows.take(np.sort(order[:n_held]))
    table.keep(np.sort(order[n_held:]))
    table.notes.append(f"{n_held:,} rows were held out from the comparison for the guarantee.")


def best_two(errors: Mapping[str, tuple[float, bool]]) -> tuple[str, str]:
    """The best of ours and the best baseline, or the best two where there is only one kind.

    Examples
    --------
    >>> best_two({"rcf": (0.10, True), "mddf": (0.09, True), "rf": (0.12, False)})
    ('mddf', 'rf')
    """
    ranked = sorted(errors, key=lambda name: errors[name][0])
    if len(ranked) < 2:
        raise WorkflowError("certify=True needs at least two classifiers.")
    ours = [name for name in ranked if errors[name][1]]
    others = [name for name in ranked if not errors[name][1]]
    return (ours[0], others[0]) if ours and others else (ranked[0], ranked[1])
