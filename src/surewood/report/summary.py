"""``build_summary``: everything a page shows about a fitted model, as plain values.

The same dictionary is the JSON of a report; nothing on the page comes from anywhere else. What is special
about a kind of model comes from the model itself, through ``__report_facts__``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.parallel.progress import stage
from surewood.report import facts as about
from surewood.report import quality
from surewood.report.drivers import driver_facts
from surewood.report.facts import Predictions, last_step, model_facts
from surewood.report.guarantee import certificate_facts, issue
from surewood.report.quality import abstention_facts, curves, hardest_rows, positive_class, set_facts
from surewood.tables import plain

__all__ = ["build_summary"]

FORMAT = 2


def build_summary(
    model: Any,
    X: Any,
    y: Any,
    *,
    holdout: tuple[Any, Any] | None = None,
    certificate: Any = None,
    dataset: dict[str, Any] | None = None,
    run: dict[str, Any] | None = None,
    probabilities: NDArray[np.float64] | None = None,
    choice: dict[str, Any] | None = None,
    parts_of_columns: dict[str, Any] | None = None,
    as_written: Mapping[str, Mapping[str, Any]] | None = None,
    verbose: int = 0,
) -> dict[str, Any]:
    """Collect what there is to know about a fitted classifier.

    Parameters
    ----------
    model : fitted classifier
        Of surewood, or any of scikit-learn, which gets the parts that all models share.
    X, y : table and labels
        What it was trained on.
    holdout : tuple (X, y), optional
        Rows held out from training. Without them the page shows training errors, with a note.
    certificate : Certificate or its dict, optional
        Of :func:`surewood.certify.certify`; issued from the holdout by default.
    dataset : dict, optional
        ``name``, ``source``, ``notes`` (a list of sentences), ``n_columns`` where the table had another
        number of columns than the model has features, and ``plan``: a list with ``name``, ``kind`` and
        ``reason`` of each column of the table.
    run : dict, optional
        ``seconds``, ``peak_memory_bytes``, ``seed``, ``command``.
    probabilities : ndarray of shape (n, n_classes), optional
        Of the rows that are judged, where they are known already.
    choice : dict, optional
        The comparison that the kind of model was chosen by: ``chosen``, ``why``, ``rows``, ``folds`` and
        ``scores``.
    parts_of_columns : dict of str to list of str, optional
        Columns of `X` that count as one, such as the parts of a date.
    as_written : mapping of str to mapping, optional
        How the table writes the values of its columns: ``{"unit": "€"}`` or ``{"words": {1.0: "yes"}}``.
    verbose : int, default=0

    Returns
    -------
    dict
        JSON-able. :func:`write_page` and :func:`write_json` take it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BinnedForestClassifier(10, random_state=0).fit(X[::2], y[::2])
    >>> summary = build_summary(model, X[::2], y[::2], holdout=(X[1::2], y[1::2]))
    >>> summary["model"]["name"], summary["scores"]["n"], summary["data"]["n_columns"]
    ('BinnedForestClassifier', 75, 4)
    """
    core = last_step(model)
    judged = Predictions(model, *(holdout if holdout is not None else (X, y)), probabilities)
    if certificate is None:
        certificate = issue(model, X, y, holdout)
    sample = "training" if holdout is None else "holdout"
    positive = positive_class(model, judged, y)
    summary: dict[str, Any] = {}
    parts: dict[str, Callable[[], Any]] = {
        "format": lambda: FORMAT,
        "model": lambda: {"name": type(core).__name__},
        "data": lambda: _data_facts(model, X, y, holdout, judged, dataset, as_written),
        "scores": lambda: quality.scores(judged, sample, y),
        "class_scores": lambda: quality.class_scores(judged),
        "confusion": lambda: quality.confusion(judged),
        "curves": lambda: curves(model, judged, positive),
        "calibration": lambda: quality.calibration(judged, positive),
        "drivers": lambda: driver_facts(model, judged, X, positive, parts_of_columns, as_written),
        "hardest": lambda: hardest_rows(model, judged, _important(summary["drivers"]), as_written),
        "certificate": lambda: None if certificate is None else certificate_facts(certificate),
        "abstention": lambda: _abstention(model, judged, summary) if holdout is not None else None,
        "sets": lambda: _sets(model, judged, summary) if holdout is not None else None,
        "inside": lambda: model_facts(model, judged, is_holdout=holdout is not None, verbose=verbose),
        "choice": lambda: plain(choice),
        "settings": lambda: about.settings(core),
        "run": lambda: about.run_facts(core, run),
    }
    with stage(verbose, "collecting what the page shows", len(parts)) as advance:
        for name, make in parts.items():
            summary[name] = make()
            advance(1)
    summary["model"] |= {key: summary["inside"].pop(key) for key in ("title", "description")}
    return summary


def _data_facts(
    model: Any,
    X: Any,
    y: Any,
    holdout: tuple[Any, Any] | None,
    judged: Predictions,
    dataset: dict[str, Any] | None,
    as_written: Mapping[str, Mapping[str, Any]] | None,
) -> dict[str, Any]:
    return {
        "n_columns": about.n_columns(X),
        **plain(
            {
                "name": None,
                "source": None,
                "notes": [],
                "plan": None,
                "described": "training",
                **(dataset or {}),
            }
        ),
        "n_rows": len(judged.y) if holdout is None else len(y),
        "n_holdout": None if holdout is None else judged.n_rows,
        "n_features": about.n_columns(X),
        "n_classes": len(judged.classes),
        "columns": about.column_facts(last_step(model), X, as_written),
        "classes": about.class_facts(y, None if holdout is None else holdout[1]),
    }


def _important(drivers: dict[str, Any] | None) -> list[str] | None:
    """Columns in the order of their importance."""
    if not drivers or not drivers["importances"]:
        return None
    return [one["column"] for one in drivers["importances"]["columns"]]


def _abstention(model: Any, judged: Predictions, summary: dict[str, Any]) -> dict[str, Any] | None:
    """What abstaining would buy, below the guaranteed error (or the measured one, where a rule decides)."""
    certificate = summary["certificate"]
    if not _has_independent_rows(certificate):
        return None
    limits = [claim["limit"] for claim in certificate["claims"] if claim["quantity"] == "error"]
    limit, delta = limits[0] if limits else None, _own_delta(certificate)
    return abstention_facts(model, judged, limit, delta, certificate["copies"] or "check")


def _sets(model: Any, judged: Predictions, summary: dict[str, Any]) -> dict[str, Any] | None:
    certificate = summary["certificate"]
    if not _has_independent_rows(certificate):
        return None
    return set_facts(model, judged, _own_delta(certificate), certificate["copies"] or "check")


def _own_delta(certificate: dict[str, Any]) -> float:
    """Delta of a list beside the certificate, divided by the models that were compared on the holdout."""
    compared = [entry["n_models"] for entry in certificate["entries"] if entry["sample"] == "holdout"]
    return float(certificate["delta"] / max(compared, default=1))


def _has_independent_rows(certificate: dict[str, Any] | None) -> bool:
    """Whether a guarantee from single rows of the holdout was given."""
    claims = [] if certificate is None else certificate["claims"]
    return any(claim["sample"] == "holdout" and claim["unit"] == "rows" for claim in claims)
