"""Training as the command does it: prepare the table, fit, judge on the holdout, certify."""

from __future__ import annotations

import copy
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.pipeline import Pipeline

from surewood.certify import Certificate, certify
from surewood.cli.input_table import InputTable, collecting
from surewood.cli.large_table import prepared_table
from surewood.parallel.progress import stage
from surewood.tables import TablePreparer

ROWS_A_BLOCK = 1024


@dataclass
class Trained:
    """A fitted pipeline and what was measured."""

    pipeline: Pipeline
    prepared: pd.DataFrame
    prepared_holdout: pd.DataFrame | None
    seconds: float
    probabilities: np.ndarray[Any, Any] | None = None  # of the holdout, as the three below
    predicted: np.ndarray[Any, Any] | None = None
    error: float | None = None
    log_loss: float | None = None


def prepare(table: InputTable) -> TablePreparer:
    """Learn the columns from the training rows; what was dropped becomes a note."""
    preparer = TablePreparer().fit(table.X)
    table.notes += [f"column {name!r} is not used: {why}." for name, why in preparer.dropped_.items()]
    return preparer


def train(table: InputTable, preparer: TablePreparer, estimator: Any, verbose: int = 0) -> Trained:
    """Fit an estimator on the prepared training rows and measure it on the holdout."""
    prepared = preparer.transform(table.X)
    # So that `explain` can name rows as the table has them; the rows of a streamed table are too many.
    preparer.row_numbers_ = None if table.stream is not None else table.row_numbers
    started = time.perf_counter()
    with collecting(table.notes):
        if table.stream is None:
            estimator.fit(prepared, table.y)
        else:
            with prepared_table(table, preparer, verbose) as rows:
                estimator.fit(rows)
    seconds = time.perf_counter() - started
    trained = Trained(Pipeline([("table", preparer), ("model", estimator)]), prepared, None, seconds)
    if table.holdout is not None:
        X, y = table.holdout
        trained.prepared_holdout = preparer.transform(X)
        probabilities = predict_in_blocks(estimator, trained.prepared_holdout, verbose)
        trained.probabilities = probabilities
        trained.predicted = estimator.classes_[probabilities.argmax(axis=1)]
        trained.error = float(np.mean(trained.predicted != y.to_numpy()))
        trained.log_loss = float(log_loss(y, probabilities, labels=estimator.classes_))
    return trained


def certificate_of(trained: Trained, table: InputTable, delta: float, n_compared: int) -> Certificate:
    """The certificate of a trained model.

    The holdout had no part in the choice of the family; guarantees from the training sample are corrected
    for the families compared on it. Columns dropped because of what the sample showed leave only the holdout.
    """
    estimator, preparer = trained.pipeline[-1], trained.pipeline[0]
    X, y = (None, None) if table.holdout is None else (trained.prepared_holdout, table.holdout[1])
    judged = copy.copy(estimator)
    judged.predict = lambda X: trained.predicted  # the holdout was predicted already
    return certify(
        judged,
        X,
        y,
        delta=delta,
        n_models_in_sample=n_compared,
        fixed_features=not preparer.dropped_,
    )


def predict_in_blocks(estimator: Any, prepared: pd.DataFrame, verbose: int = 0) -> np.ndarray[Any, Any]:
    """Probabilities, some thousand rows at a time: memory stays small and the display moves."""
    parts = []
    with stage(verbose, "predicting", len(prepared)) as advance:
        for start in range(0, len(prepared), ROWS_A_BLOCK):
            block = prepared.iloc[start : start + ROWS_A_BLOCK]
            parts.append(estimator.predict_proba(block))
            advance(len(block))
    return np.concatenate(parts)


def peak_memory() -> int | None:
    """Largest resident memory of this process so far, in bytes; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
