"""How well a model predicts some rows: scores beside the baseline's, confusion, calibration, curves.

All values are ESTIMATES; on training rows they are biased, with a note on the page. Then rows worth a look,
what else the holdout can guarantee (errors where the model may abstain, sets of labels; each list shares one
delta of its own, beside the certificate's), and the charts.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import balanced_accuracy_score, log_loss

from surewood.base.describing import short
from surewood.base.wording import percent
from surewood.certify import NoThresholdError, PredictionSets, find_threshold
from surewood.certify.deciding import ABSTAIN
from surewood.certify.model_parts import counted_rows
from surewood.certify.prediction_sets import label_codes, true_scores
from surewood.report.charts import Axis, Plot, figure, fitted_axis
from surewood.report.facts import Predictions, column_names, last_step
from surewood.report.words import cut_names, middle, number, plain_dict, value_text, written

MAX_CLASSES = 100  # of a confusion matrix; the rarest become one
N_BINS = 10
UNSEEN = "not seen in training"


def scores(judged: Predictions, sample: str, y_train: Any = None) -> dict[str, Any]:
    """Error, AUC, log-loss and so on, beside those of the baseline that only knows how frequent classes are.

    With a rule that abstains, the error is that of the rows that are decided.
    """
    counts = np.unique(judged.y, return_counts=True)[1]
    decided = judged.decided | (judged.predicted.astype(str) != ABSTAIN)
    wrong = decided & ~judged.right
    values: dict[str, Any] = {
        "sample": sample,
        "n": judged.n_rows,
        "n_wrong": int(wrong.sum()),
        "decided": float(decided.mean()),
        "error": float(wrong.sum() / max(1, decided.sum())),
        "majority_error": float(1.0 - counts.max() / counts.sum()),
        "balanced_accuracy": None,
        "auc": None,
        "log_loss": None,
        "brier": None,
        "baseline": _baseline(judged, y_train),
    }
    known = judged.codes >= 0
    if len(counts) > 1 and known.all() and decided.all():
        values["balanced_accuracy"] = float(balanced_accuracy_score(judged.codes, judged.guesses))
    if judged.proba is not None and known.any() and len(judged.classes) > 1:
        proba, codes = judged.proba[known], judged.codes[known]
        values["log_loss"] = float(log_loss(codes, proba, labels=np.arange(len(judged.classes))))
        values["brier"] = _brier(proba, codes)
        areas = [area_under_curve(proba[:, k], codes == k) for k in range(len(judged.classes))]
        known_areas = [area for area in areas if area is not None]
        values["auc"] = float(np.mean(known_areas)) if known_areas else None
    return plain_dict(values)


def _brier(proba: NDArray[np.float64], codes: NDArray[np.int64]) -> float:
    truth = np.zeros_like(proba)
    truth[np.arange(len(codes)), codes] = 1.0
    return float(((proba - truth) ** 2).sum(axis=1).mean())


def _baseline(judged: Predictions, y_train: Any) -> dict[str, Any]:
    """Scores of always predicting the frequencies of the classes in training."""
    known = judged.codes >= 0
    place = {label: i for i, label in enumerate(judged.classes.tolist())}
    labels = judged.y if y_train is None else np.asarray(y_train).ravel()
    codes = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    counts = np.bincount(codes[codes >= 0], minlength=len(judged.classes)).astype(float)
    if not known.any() or counts.sum() == 0 or len(judged.classes) < 2:
        return {"error": None, "log_loss": None, "brier": None, "auc": None}
    share = np.tile(counts / counts.sum(), (int(known.sum()), 1))
    truth = judged.codes[known]
    return {
        "error": float(1.0 - np.unique(judged.y, return_counts=True)[1].max() / judged.n_rows),
        "log_loss": float(log_loss(truth, share, labels=np.arange(len(judged.classes)))),
        "brier": _brier(share, truth),
        "auc": 0.5,
    }


_DECIMALS = 12  # of probabilities; p and 1 - p have the same ties


def area_under_curve(score: NDArray[np.float64], positive: NDArray[np.bool_]) -> float | None:
    """Area under the ROC curve; None without both kinds of rows.

    Examples
    --------
    >>> area_under_curve(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    0.75
    """
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if n_positive == 0 or n_negative == 0:
        return None
    ranks = rankdata(score.round(_DECIMALS))[positive].sum()
    return float((ranks - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def class_scores(judged: Predictions) -> list[dict[str, Any]]:
    """Rows, precision, recall, F1 and AUC of each class, in the model's order."""
    rows = []
    for k, label in enumerate(judged.classes.tolist()):
        true, named = judged.codes == k, judged.guesses == k
        hits = int((true & named).sum())
        precision = hits / int(named.sum()) if named.any() else None
        recall = hits / int(true.sum()) if true.any() else None
        both = (precision or 0.0) + (recall or 0.0)
        area = None if judged.proba is None else area_under_curve(judged.proba[:, k], true)
        rows.append(
            plain_dict(
                {
                    "label": str(label),
                    "rows": int(true.sum()),
                    "predicted": int(named.sum()),
                    "precision": precision,
                    "recall": recall,
                    "f1": None if recall is None else 2 * (precision or 0.0) * recall / both if both else 0.0,
                    "auc": area,
                }
            )
        )
    return rows


def confusion(judged: Predictions) -> dict[str, Any]:
    """Counts of (true, predicted); beyond 100 classes the rarest share one row and column."""
    n = len(judged.classes)
    names = [str(label) for label in judged.classes.tolist()]
    codes, guesses = judged.codes.copy(), judged.guesses.copy()
    rows, columns = list(names), list(names)
    if n > MAX_CLASSES:
        kept = np.sort(
            np.argsort(-np.bincount(codes[codes >= 0], minlength=n), kind="stable")[: MAX_CLASSES - 1]
        )
        place = np.full(n, len(kept))
        place[kept] = np.arange(len(kept))
        codes, guesses = (np.where(labels < 0, -1, place[labels]) for labels in (codes, guesses))
        rows = columns = [*(names[k] for k in kept), f"{n - len(kept)} other classes"]
    if (codes < 0).any():
        codes = np.where(codes < 0, len(rows), codes)
        rows = [*rows, UNSEEN]
    if (guesses < 0).any():
        guesses = np.where(guesses < 0, len(columns), guesses)
        columns = [*columns, "abstains"]
    matrix = np.zeros((len(rows), len(columns)), dtype=np.int64)
    np.add.at(matrix, (codes, guesses), 1)
    return {"labels": rows, "predicted_labels": columns, "matrix": matrix.tolist()}


def calibration(judged: Predictions, positive: int = 1) -> dict[str, Any] | None:
    """Predicted and observed probability in bins: of the positive class, else of the most probable one."""
    if judged.proba is None or len(judged.classes) < 2:
        return None
    if len(judged.classes) == 2:
        predicted, happened = judged.proba[:, positive], judged.codes == positive
        of = f"predicted probability of {middle(judged.classes[positive], 28)}"
    else:
        predicted, happened = judged.proba.max(axis=1), judged.codes == judged.proba.argmax(axis=1)
        of = "predicted probability of the most probable class"
    place = np.minimum((predicted * N_BINS).astype(np.int64), N_BINS - 1)
    bins = []
    for k in range(N_BINS):
        here = place == k
        if here.any():
            n, share = int(here.sum()), float(happened[here].mean())
            low, high = _wilson(share, n)
            mean = float(predicted[here].mean())
            bins.append({"predicted": mean, "observed": share, "low": low, "high": high, "rows": n})
    gap = sum(b["rows"] * abs(b["predicted"] - b["observed"]) for b in bins) / max(1, judged.n_rows)
    return plain_dict({"of": of, "bins": bins, "expected_calibration_error": gap})


def _wilson(share: float, n: int) -> tuple[float, float]:
    """Score interval of a fraction, 95 %."""
    z = 1.96
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, float(center - half)), min(1.0, float(center + half))


MAX_CURVES = 10  # whose curves are kept: those with most rows
MAX_POINTS = 90  # of a curve


def positive_class(model: Any, judged: Predictions, y_train: Any) -> int:
    """The class that a page calls positive: that of the decision rule, else the rarer of two in training."""
    rule = last_step(model, with_rule=True)
    named = getattr(rule, "positive", None)
    if named is not None:
        places = np.flatnonzero(judged.classes == named)
        if places.size:
            return int(places[0])
    if len(judged.classes) != 2:
        return 0
    second = float(np.mean(np.asarray(y_train).ravel() == judged.classes[1]))
    return 1 if second <= 0.5 else 0


def curves(model: Any, judged: Predictions, positive: int) -> dict[str, Any] | None:
    """Curves of the positive class of two, else of the ten classes with most rows, one against the rest."""
    if judged.proba is None or len(judged.classes) < 2:
        return None
    if len(judged.classes) == 2:
        chosen = [positive]
    else:
        rows = np.bincount(judged.codes[judged.codes >= 0], minlength=len(judged.classes))
        chosen = np.argsort(-rows, kind="stable")[:MAX_CURVES].tolist()
    kept = [curve for k in chosen if (curve := _of_class(judged, k)) is not None]
    if not kept:
        return None
    rule = last_step(model, with_rule=True)
    threshold = getattr(rule, "threshold", None)
    if rule is last_step(model) and len(judged.classes) == 2:
        threshold = 0.5
    return plain_dict({"threshold": threshold, "classes": kept})


def _of_class(judged: Predictions, k: int) -> dict[str, Any] | None:
    """All curves of one class against the rest; None where the rows are all of one kind."""
    assert judged.proba is not None
    score, true = judged.proba[:, k], judged.codes == k
    area = area_under_curve(score, true)
    if area is None:
        return None
    order = np.argsort(-score, kind="stable")
    ends = np.flatnonzero(np.r_[np.diff(score[order]) != 0, True])
    hits = np.cumsum(true[order])[ends].astype(float)
    named = (ends + 1).astype(float)
    n_true, n = float(true.sum()), float(len(true))
    fpr, tpr = np.r_[0.0, (named - hits) / (n - n_true)], np.r_[0.0, hits / n_true]
    precision, recall = hits / named, hits / n_true
    average = float(np.sum(np.diff(np.r_[0.0, recall]) * precision))
    wide, narrow = _thinned(len(tpr)), _thinned(len(recall))
    return {
        "label": str(judged.classes[k]),
        "rate": n_true / n,
        "auc": area,
        "average_precision": average,
        "roc": {"fpr": fpr[wide], "tpr": tpr[wide]},
        "precision_recall": {"recall": recall[narrow], "precision": precision[narrow]},
        "lift": {"fraction": (named / n)[narrow], "lift": (precision * n / n_true)[narrow]},
        "chosen": _chosen(judged.guesses == k, true),
    }


def _thinned(n: int) -> NDArray[np.int64]:
    """Positions of at most 90 points of a curve, both ends among them."""
    return np.unique(np.linspace(0, n - 1, min(n, MAX_POINTS)).round().astype(np.int64))


def _chosen(named: NDArray[np.bool_], true: NDArray[np.bool_]) -> dict[str, Any]:
    """Where the model's decisions are on the curves."""
    hits = float((named & true).sum())
    return {
        "fpr": float((named & ~true).sum()) / float((~true).sum()),
        "recall": hits / float(true.sum()),
        "precision": hits / float(named.sum()) if named.any() else None,
        "fraction": float(named.mean()),
    }


N_HARDEST = 12
N_VALUES = 6
N_TYPICAL = 3


def hardest_positions(judged: Predictions, count: int = N_HARDEST) -> NDArray[np.int64]:
    """Positions of the rows whose true class got the smallest probability, hardest first."""
    if judged.proba is None:
        return np.empty(0, dtype=np.int64)
    known = np.flatnonzero(judged.codes >= 0)
    of_truth = judged.proba[known, judged.codes[known]]
    return np.asarray(known[np.argsort(of_truth, kind="stable")[:count]])


def typical_positions(judged: Predictions, count: int = N_TYPICAL) -> NDArray[np.int64]:
    """Positions of rows that are predicted correctly with middling confidence, one per frequent class."""
    if judged.proba is None:
        return np.empty(0, dtype=np.int64)
    places: list[int] = []
    rows = np.bincount(judged.codes[judged.codes >= 0], minlength=len(judged.classes))
    for k in np.argsort(-rows, kind="stable").tolist():
        correct = np.flatnonzero((judged.codes == k) & (judged.guesses == k))
        if correct.size and len(places) < count:
            confidence = judged.proba[correct, k]
            places.append(int(correct[np.argsort(confidence, kind="stable")[correct.size // 2]]))
    return np.array(places, dtype=np.int64)


def hardest_rows(
    model: Any,
    judged: Predictions,
    important: list[str] | None = None,
    as_written: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any] | None:
    """The rows whose true class got the smallest probability, with their most important values."""
    if judged.proba is None:
        return None
    names = column_names(last_step(model), judged.X)
    ranked = [names.index(name) for name in important or [] if name in names]
    columns = [*ranked, *(j for j in range(len(names)) if j not in ranked)][:N_VALUES]
    rows = []
    for i in hardest_positions(judged).tolist():
        guess = judged.guesses[i]
        rows.append(
            {
                "row": row_name(judged.X, i),
                "truth": str(judged.y[i]),
                "predicted": str(judged.predicted[i]),
                "probability_of_truth": judged.proba[i, judged.codes[i]],
                "probability_of_prediction": judged.proba[i, guess] if guess >= 0 else None,
                "values": [cell_text(judged.X, i, j, (as_written or {}).get(names[j])) for j in columns],
            }
        )
    return plain_dict({"columns": [names[j] for j in columns], "rows": rows})


def row_name(X: Any, i: int) -> str:
    """A row as its table names it."""
    return short(X.index[i] if isinstance(X, pd.DataFrame) else i, 28)


def cell_text(X: Any, i: int, j: int, how: Mapping[str, Any] | None = None) -> str:
    """A value of a table as text."""
    if hasattr(X, "iloc"):
        value = X.iloc[i, j]
    elif hasattr(X, "tocsr"):
        value = X.tocsr()[i, j]
    else:
        value = X[i, j] if hasattr(X, "shape") else X[i][j]
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    value = written(value, how)
    if isinstance(value, float | np.floating):
        return value_text(float(value))
    return short(value, 30)


LEVELS = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001)
MOST_LEVELS = 6
COVERAGES = (0.8, 0.9, 0.95, 0.99)
LEAST_ROWS, MOST_ROWS = 50, 50_000


def abstention_facts(
    model: Any, judged: Predictions, limit: float | None, delta: float, copies: str
) -> dict[str, Any] | None:
    """How many rows could be decided with a guaranteed error, for levels below the guaranteed error.

    Which levels are shown depends on the holdout, so each has its part of delta as if all of them were.
    """
    if limit is None or not _can(judged):
        return None
    levels = [level for level in LEVELS if level < 0.95 * limit][:MOST_LEVELS]
    fixed, rows = _with_known_probabilities(model, judged)
    reached = []
    for level in levels:
        try:
            rule = find_threshold(
                fixed,
                judged.X[:rows],
                judged.y[:rows],
                accepted_error=level,
                delta=delta / len(LEVELS),
                copies=copies,
            )
        except NoThresholdError:
            break  # a smaller error is harder still
        population = rule.guarantee.population
        reached.append({"error": level, "threshold": rule.threshold, "decided": rule.coverage.fraction})
    if not reached:
        return None
    return plain_dict({"delta": delta, "levels": reached, "without": limit, "population": population})


def set_facts(model: Any, judged: Predictions, delta: float, copies: str) -> dict[str, Any] | None:
    """Sizes of sets of labels that have the true one with a guaranteed frequency."""
    if not _can(judged):
        return None
    assert judged.proba is not None
    fixed, rows = _with_known_probabilities(model, judged)
    counted = counted_rows(fixed, judged.X[:rows], copies=copies)
    codes = label_codes(np.asarray(judged.y[:rows], dtype=object), np.asarray(fixed.classes_))[counted.rows]
    scores = true_scores(judged.proba[counted.rows], codes, "threshold", None)
    conditions = [[condition.text, condition.source] for condition in counted.conditions()]
    reached = []
    for coverage in COVERAGES:
        sets = PredictionSets(fixed, alpha=1.0 - coverage, delta=delta / len(COVERAGES))
        sets.fit_scores(scores, codes, unknown=[], population=counted.population, conditions=conditions)
        threshold = float(sets.thresholds_[0])
        if not np.isfinite(threshold) or not sets.guarantees_:
            break
        sizes = (judged.proba >= threshold).sum(axis=1)
        mean, single = float(sizes.mean()), float((sizes == 1).mean())
        reached.append({"coverage": coverage, "threshold": threshold, "mean_size": mean, "single": single})
    return (
        plain_dict({"delta": delta, "levels": reached, "population": counted.population}) if reached else None
    )


def _can(judged: Predictions) -> bool:
    return judged.proba is not None and judged.n_rows >= LEAST_ROWS and len(judged.classes) > 1


def _with_known_probabilities(model: Any, judged: Predictions) -> tuple[Any, int]:
    """The model with the probabilities that are known already, and how many of the rows are used."""
    rows = min(judged.n_rows, MOST_ROWS)
    assert judged.proba is not None
    proba = judged.proba[:rows]
    fixed = copy.copy(last_step(model))
    fixed.predict_proba = lambda X: proba
    return fixed, rows


def quality_charts(facts: dict[str, Any] | None, sample: str) -> list[dict[str, Any]]:
    """ROC, precision against recall, and lift; nothing where a model has no probabilities."""
    if facts is None:
        return []
    several = len(facts["classes"]) > 1
    first = facts["classes"][0]
    of = "each class against the rest" if several else middle(first["label"], 30)
    chosen = "The dot is where the model decides"
    if facts["threshold"] is not None and not several:
        chosen += f" (threshold {number(facts['threshold'])})"

    def made(title: str, draw: Callable[[dict[str, Any]], Markup], caption: str, alt: str) -> dict[str, Any]:
        names = cut_names([curve["label"] for curve in facts["classes"]], 40)
        variants = [(name, draw(curve)) for name, curve in zip(names, facts["classes"])]
        return figure(
            title, variants=variants, caption=caption, alt=f"{title} of {of}: {alt}", choose="class"
        )

    area, mean = percent(first["auc"], 1), percent(first["average_precision"], 1)
    return [
        made(
            "ROC",
            _roc,
            f"Area under the curve {number(first['auc'], 3)}; the dashed line is guessing. {chosen}."
            if not several
            else f"One class against the rest, on the {sample}; the dashed line is guessing. {chosen}.",
            f"area under the curve {area}",
        ),
        made(
            "Precision and recall",
            _precision_recall,
            f"Average precision {number(first['average_precision'], 3)}; the dashed line is the frequency of "
            f"{of}. {chosen}."
            if not several
            else f"The dashed line is the frequency of the class. {chosen}.",
            f"average precision {mean}",
        ),
        made(
            "Lift",
            _lift,
            "Of the rows with the highest predicted probability: how many times more often the class occurs "
            "there than overall.",
            f"largest lift {number(max(first['lift']['lift']), 2)}",
        ),
    ]


def _roc(curve: dict[str, Any]) -> Markup:
    plot = Plot(
        Axis(0, 1, "percent", "false positive rate"), Axis(0, 1, "percent", "true positive rate (recall)")
    )
    plot.line([0, 1], [0, 1], "peer", dashed=True, width=1.4)
    plot.line(curve["roc"]["fpr"], curve["roc"]["tpr"], "leaf")
    at = curve["chosen"]
    tip = f"recall {percent(at['recall'], 1)}, false positive rate {percent(at['fpr'], 1)}"
    plot.points([at["fpr"]], [at["recall"]], "bark", size=11, tips=[tip])
    return plot.render()


def _precision_recall(curve: dict[str, Any]) -> Markup:
    plot = Plot(Axis(0, 1, "percent", "recall"), Axis(0, 1, "percent", "precision"))
    plot.mark(y=curve["rate"])
    plot.line(curve["precision_recall"]["recall"], curve["precision_recall"]["precision"], "leaf")
    at = curve["chosen"]
    if at["precision"] is not None:
        tip = f"precision {percent(at['precision'], 1)}, recall {percent(at['recall'], 1)}"
        plot.points([at["recall"]], [at["precision"]], "bark", size=11, tips=[tip])
    return plot.render()


def _lift(curve: dict[str, Any]) -> Markup:
    x, y = curve["lift"]["fraction"], curve["lift"]["lift"]
    up = fitted_axis(y, "number", "lift", include=(0.0, 1.0))
    plot = Plot(Axis(0, 1, "percent", "rows with the highest probability"), up)
    plot.mark(y=1.0)
    plot.line(x, y, "leaf")
    at = curve["chosen"]
    if at["precision"] is not None and curve["rate"]:
        lift = at["precision"] / curve["rate"]
        tip = f"lift {number(lift, 2)} among {percent(at['fraction'], 1)} of the rows"
        plot.points([at["fraction"]], [lift], "bark", size=11, tips=[tip])
    return plot.render()


def calibration_chart(facts: dict[str, Any], sample: str) -> dict[str, Any]:
    """Observed against predicted probability."""
    bins = facts["bins"]
    most = max(b["rows"] for b in bins)
    plot = Plot(Axis(-0.03, 1.03, "percent", facts["of"]), Axis(-0.03, 1.03, "percent", "observed frequency"))
    plot.line([0, 1], [0, 1], "peer", dashed=True, width=1.4)
    for b in bins:
        plot.interval(b["predicted"], b["low"], b["high"])
    tips = [
        f"predicted {percent(b['predicted'], 1)}, observed {percent(b['observed'], 1)}, {b['rows']:,} rows"
        for b in bins
    ]
    sizes = [6 + 11 * (b["rows"] / most) ** 0.5 for b in bins]
    plot.points([b["predicted"] for b in bins], [b["observed"] for b in bins], "leaf", size=sizes, tips=tips)
    gap = 100 * facts["expected_calibration_error"]
    return figure(
        "Calibration",
        plot.render(),
        caption="On the dashed line, a prediction of 80 % comes true in 80 of 100 cases. Mean gap on the "
        f"{sample}: {gap:.1f} points; lines are 95 % intervals; large dots have many rows.",
        alt=f"Calibration: mean gap between predicted and observed probability {gap:.1f} points",
    )
