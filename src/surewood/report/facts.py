"""What the summary knows about the model, the rows it predicts, the run and the table, as plain values."""

from __future__ import annotations

import inspect
import platform
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

import surewood
from surewood.base.describing import DescribesItself, ReportRows, report_facts, short, take_rows, title_of
from surewood.base.wording import percent
from surewood.certify.deciding import DecidingClassifier
from surewood.report.words import plain_dict, value_text, written
from surewood.tables import TableSchema, plain


def last_step(model: Any, *, with_rule: bool = False) -> Any:
    """The classifier at the end of a pipeline, without its rule of decision by default.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> last_step(make_pipeline("passthrough", DummyClassifier()))
    DummyClassifier()
    """
    if isinstance(model, Pipeline):
        return last_step(model.steps[-1][1], with_rule=with_rule)
    if isinstance(model, DecidingClassifier) and not with_rule:
        return last_step(model.model)
    return model


def model_facts(
    model: Any, judged: Predictions | None = None, *, is_holdout: bool = False, verbose: int = 0
) -> dict[str, Any]:
    """Title, description, key figures and sections of a fitted model, as plain values.

    Parameters
    ----------
    model : fitted classifier or pipeline
    judged : Predictions, optional
        Rows to show; without them only the key figures are given.
    is_holdout : bool
        Whether these rows were held out from training.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model_facts(DummyClassifier().fit([[0], [1]], [0, 1]))["title"]
    'Dummy'
    """
    core = last_step(model)
    if not isinstance(core, DescribesItself):
        return report_facts(title_of(type(core)), "")
    rows = None
    if judged is not None:
        rows = judged.known(is_holdout, verbose)
        if isinstance(model, Pipeline):
            rows = replace(rows, X=model[:-1].transform(rows.X))
    found: dict[str, Any] = plain(core.__report_facts__(rows))
    return found


class Predictions:
    """Labels as text, predictions and probabilities of the rows that are judged.

    Attributes
    ----------
    codes, guesses : ndarray of int64
        Positions of the true and of the predicted classes; -1: a class not seen in training, or no decision.
    decided : ndarray of bool
        Where the model decides; a model with a rule of its own may abstain.
    """

    def __init__(self, model: Any, X: Any, y: Any, proba: NDArray[np.float64] | None = None) -> None:
        self.X = X
        self.classes = np.asarray(getattr(model, "classes_", np.unique(np.asarray(y))))
        self.y = np.asarray(y).ravel()
        if proba is None and callable(getattr(model, "predict_proba", None)):
            proba = np.asarray(model.predict_proba(X), dtype=np.float64)
            self.predicted = self._decisions(model, X, proba)
        elif proba is None:
            self.predicted = np.asarray(model.predict(X)).ravel()
        else:
            self.predicted = self._decisions(model, None, proba)
        self.proba = proba
        place = {label: i for i, label in enumerate(self.classes.tolist())}
        self.codes = np.array([place.get(label, -1) for label in self.y.tolist()], dtype=np.int64)
        self.guesses = np.array([place.get(label, -1) for label in self.predicted.tolist()], dtype=np.int64)

    def _decisions(self, model: Any, X: Any, proba: NDArray[np.float64]) -> NDArray[Any]:
        rule = last_step(model, with_rule=True)
        if isinstance(rule, DecidingClassifier):
            return np.asarray(rule.decide(proba))
        if X is not None and not type(rule).__module__.startswith("surewood"):
            # another library's classifier may decide otherwise than by its probabilities
            return np.asarray(model.predict(X)).ravel()
        return np.asarray(self.classes[proba.argmax(axis=1)])

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Where the model decides."""
        return np.asarray(self.guesses >= 0)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Where it decides for the true class."""
        return np.equal(self.codes, self.guesses) & self.decided

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def known(self, is_holdout: bool = False, verbose: int = 0) -> ReportRows:
        """The rows whose label the model was trained on."""
        at = np.flatnonzero(self.codes >= 0)
        X = self.X if len(at) == self.n_rows else take_rows(self.X, at)
        return ReportRows(X, self.y[at], self.codes[at], is_holdout, verbose)


_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "joblib")


def settings(model: Any) -> list[dict[str, Any]]:
    """Parameters of the estimator, those that differ from their defaults first."""
    if not hasattr(model, "get_params"):
        return []
    default = {
        name: parameter.default for name, parameter in inspect.signature(type(model)).parameters.items()
    }
    rows = [
        {
            "name": name,
            "value": short(value if isinstance(value, str) else repr(value), 160),
            "changed": name in default and not _same(value, default[name]),
        }
        for name, value in model.get_params(deep=False).items()
    ]
    return sorted(rows, key=lambda row: not row["changed"])


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    try:
        return bool(np.all(value == default)) and type(value) is type(default)
    except (TypeError, ValueError):
        return False


def run_facts(model: Any, run: dict[str, Any] | None) -> dict[str, Any]:
    """Time, memory, seed, command, versions; what the caller did not measure is None or of this process."""
    measured = dict(run or {})
    seed = measured.pop("seed", None)
    if seed is None:
        seed = getattr(model, "random_state", None)
    peak = measured.pop("peak_memory_bytes", None)
    packages = {"surewood": surewood.__version__, "Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return plain_dict(
        {
            "seconds": measured.pop("seconds", None),
            "peak_memory_bytes": peak_memory() if peak is None else peak,
            "seed": None if seed is None else short(seed),
            "command": measured.pop("command", None),
            "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "platform": f"{platform.system()} {platform.machine()}",
            "versions": packages,
            **measured,
        }
    )


def peak_memory() -> int | None:
    """Largest resident memory of this process so far, in bytes; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else 1024 * peak)


MAX_COLUMNS = 200  # shown on a page; the summary says how many there are


def n_columns(X: Any) -> int:
    return int(np.shape(X)[1])


def column_names(model: Any, X: Any) -> list[str]:
    """Names of the columns: those of the frame, else x0, x1, ..."""
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(n_columns(X))] if names is None else [str(name) for name in names]


def column_facts(
    model: Any, X: Any, as_written: Mapping[str, Mapping[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """One dictionary per column: name, kind, fraction missing, number of values, and its range in words."""
    schema = getattr(model, "schema_", None)
    if schema is None or len(schema.kinds) != n_columns(X):
        schema = TableSchema.learn(X)
    table = schema.read(X)
    names = column_names(model, X)
    facts = []
    for j in range(min(table.n_columns, MAX_COLUMNS)):
        values = table.column(j)
        present = values[~np.isnan(values)]
        facts.append(
            {
                "name": names[j],
                "kind": schema.kinds[j],
                "missing": float(1.0 - len(present) / max(1, len(values))),
                "distinct": len(np.unique(present)),
                "range": _range_in_words(schema, j, present, (as_written or {}).get(names[j])),
            }
        )
    return facts


def _range_in_words(
    schema: TableSchema, j: int, present: NDArray[np.float64], how: Mapping[str, Any] | None
) -> str:
    if not len(present):
        return "no value"
    if schema.kinds[j] == "category" or (how and "words" in how):
        values = how["words"] if how and "words" in how else schema.categories[j] or []
        codes, counts = np.unique(present.astype(np.int64), return_counts=True)
        order = np.argsort(-counts, kind="stable")[:3]
        shares = [f"{short(values[codes[i]], 24)} ({percent(counts[i] / len(present), 0)})" for i in order]
        return ", ".join(shares) + (" …" if len(codes) > 3 else "")
    if schema.kinds[j] == "time":
        first, last = (pd.Timestamp(float(v), unit="s") for v in (present.min(), present.max()))
        return f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"
    limits = (present.min(), present.max(), np.median(present))
    low, high, middle = (value_text(v) if how is None else str(written(v, how)) for v in limits)
    return f"always {low}" if low == high else f"{low} to {high}, median {middle}"


def class_facts(y: Any, y_hold: Any | None) -> list[dict[str, Any]]:
    """One dictionary per class, most frequent first: rows and fraction in training, rows in the holdout."""
    labels, counts = np.unique(np.asarray(y), return_counts=True)
    held = dict.fromkeys(labels.tolist(), 0)
    if y_hold is not None:
        present, n = np.unique(np.asarray(y_hold), return_counts=True)
        held.update(zip(present.tolist(), n.tolist()))
    total = int(counts.sum())
    order = np.argsort(-counts, kind="stable")
    return [
        plain(
            {
                "label": str(labels[i]),
                "rows": int(counts[i]),
                "share": counts[i] / total,
                "holdout_rows": held[labels[i].item() if hasattr(labels[i], "item") else labels[i]],
            }
        )
        for i in order
    ]
